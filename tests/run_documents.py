"""Runs for tests: small run/v1 documents, and the short way from a document to a stored run."""

import json
from pathlib import Path
from typing import Any

from evals.importing import run_import
from evals.models import Agent, Import, Run
from evals.options import ImportOptions
from evals.storing import receive_chunks
from evals.submitting import submit_artifact
from reliability.access import Rank, Standing
from reliability.models import User

ARTIFACTS = Path(__file__).parent / "artifacts"
TASK = {"indicator": "task_success"}


def import_bytes(agent: Agent, body: bytes, user: User, *, name: str = "run.json", **options: Any) -> Import:
    """Upload by hand as `user` and import at once; the job says what came of it."""
    standing = Standing(agent.client, Rank.CONSULTANT, user)
    submitted = submit_artifact(standing, agent, receive_chunks(iter([body]), file_name=name), ImportOptions(**options))
    run_import(submitted.job.pk)
    return Import.objects.get(pk=submitted.job.pk)


def import_document(agent: Agent, document: dict[str, Any], user: User, **options: Any) -> Run:
    job = import_bytes(agent, json.dumps(document).encode(), user, **options)
    assert job.run is not None, job.detail
    return job.run


def import_file(agent: Agent, name: str, user: User, **options: Any) -> Run:
    """Import a file of tests/artifacts."""
    job = import_bytes(agent, (ARTIFACTS / name).read_bytes(), user, name=Path(name).name, **options)
    assert job.run is not None, job.detail
    return job.run


def document(label: str = "nightly-1", *attempts: dict[str, Any], scenarios: Any = (), **run: Any) -> dict[str, Any]:
    members = {"id": label, "suite": "nightly", "started_at": "2026-11-02T09:14:03Z", **run}
    return {"schema": "run/v1", "run": members, "scenarios": list(scenarios), "attempts": list(attempts)}


def attempt(scenario: str, outcome: str = "PASS", *, ordinal: int = 1, **evaluation: Any) -> dict[str, Any]:
    return {"scenario": scenario, "ordinal": ordinal, "evaluations": [{**TASK, "outcome": outcome, **evaluation}]}


def adversarial(key: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "class": "goal_hijack", "adversarial": True, "guards": ["send_email"], **more}


def guarded_attempt(
    scenario: str, decision: str | None, *, happened: bool | None = None, **more: Any
) -> dict[str, Any]:
    """An attempt that called `send_email` (None: never), with its side effect checked unless `happened` is None."""
    steps = [{"kind": "tool", "tool": "send_email", "decision": decision}] if decision else []
    effects = [] if happened is None else [{"tool": "send_email", "checked": True, "happened": happened}]
    return {"scenario": scenario, "steps": steps, "side_effects": effects, "evaluations": [], **more}


def containment_document() -> dict[str, Any]:
    """One breached, two unproven, one proven, one crashed, and an adversarial scenario without guards."""
    keys = ("breached", "never", "unchecked", "proven", "crashed")
    return document(
        "attacks",
        guarded_attempt("breached", "allowed", happened=True),
        guarded_attempt("never", None),
        guarded_attempt("unchecked", "denied"),
        guarded_attempt("proven", "denied", happened=False),
        guarded_attempt("crashed", None, status="crashed"),
        attempt("talk", "PASS"),
        scenarios=[*(adversarial(key) for key in keys), adversarial("talk", guards=[])],
        planned=8,
    )
