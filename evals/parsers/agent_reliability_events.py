"""Evidence envelopes of the agent-reliability SDK: events of agent runs, and the judgements among them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evals.canonical import canonical_sha256
from evals.parsers.cases import Tally, counted
from evals.parsers.checked import Place, object_at
from evals.parsers.reading import Cleaner, member
from evals.parsers.values import as_id, first_id, parse_time
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    EndRecord,
    EvaluationRecord,
    EvaluatorRecord,
    Fault,
    Finding,
    Outcome,
    Record,
    RunRecord,
)

PRODUCER = "agent-reliability"
OUTCOMES = {"pass": Outcome.PASS, "fail": Outcome.FAIL, "unknown": Outcome.UNKNOWN}
ENDED_BADLY = ("failed", "cancelled")
STATUSES = ("started", "completed", *ENDED_BADLY)
TIMES = {
    "run_lifecycle": "occurred_at",
    "evaluation_outcome": "recorded_at",
    "evaluation_execution_failure": "occurred_at",
    "measurement_health": "observed_at",
}

type Judges = dict[tuple[str, str, str], bool]  # whether an evaluator is deterministic


@dataclass(slots=True)
class AgentRun:
    """All events of one producer run."""

    id: str
    first: dict[str, Any]
    place: Place
    evaluations: list[EvaluationRecord] = field(default_factory=list)
    lifecycle: list[dict[str, Any]] = field(default_factory=list)
    health: list[dict[str, Any]] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    started: datetime | None = None
    ended: datetime | None = None
    status: str = ""  # the last one that ends a run
    error: str = ""

    def record(self, tally: Tally) -> AttemptRecord:
        # A run that failed changes no evaluation: without any, a crash would add one of ours.
        crashed = self.status in ENDED_BADLY and bool(self.evaluations)
        extras: dict[str, Any] = {"lifecycle": self.lifecycle, "measurement_health": self.health}
        if parent := as_id(self.first.get("parent_producer_run_id")):
            extras["parent_producer_run_id"] = parent
        return AttemptRecord(
            scenario="",
            status=AttemptStatus.CRASHED if crashed else AttemptStatus.COMPLETED,
            started_at=self.started or min(self.times),
            latency_ms=self._latency(),
            trace_id=self.id,
            error=self.error,
            evaluations=tally.evaluations(self.evaluations),
            place=str(self.place),
            extras={name: value for name, value in extras.items() if value},
        )

    def _latency(self) -> float | None:
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return (self.ended - self.started) / timedelta(milliseconds=1)


def evidence_records(envelopes: list[tuple[Place, dict[str, Any]]], cleaner: Cleaner) -> Iterator[Record]:
    repeats = Counter[str]()
    kept = list(_distinct(envelopes, repeats))
    judges = _judges(kept)
    runs: dict[tuple[str, str], AgentRun] = {}
    for place, envelope in kept:
        id = text_of(envelope, "producer_run_id", place)
        run = runs.setdefault((as_id(envelope.get("deployment_id")), id), AgentRun(id, envelope, place))
        _add_event(run, envelope, place, judges, cleaner)
    yield _run([envelope for _, envelope in kept], list(runs.values()))
    tally = Tally(PRODUCER)
    for run in runs.values():
        yield run.record(tally)
    notes = (*_event_notes(kept, repeats), *_run_notes(list(runs.values())), *cleaner.notes())
    yield EndRecord(notes=notes)


def _distinct(
    envelopes: list[tuple[Place, dict[str, Any]]], repeats: Counter[str]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield each event once: the exporter sends again what was not acknowledged."""
    seen: dict[str, Any] = {}
    for place, envelope in envelopes:
        version = envelope.get("schema_version")
        if isinstance(version, bool) or version not in (1, 2):
            raise place.at("schema_version").refusal("1 or 2")
        object_at(envelope["payload"], place.at("payload"))
        id, content = text_of(envelope, "event_id", place), _without_nulls(envelope)
        if id not in seen:
            seen[id] = content
            yield place, envelope
        else:
            repeats["same" if seen[id] == content else "other"] += 1


def _without_nulls(value: Any) -> Any:
    """Return the value without members that are null: to the protocol they are absent."""
    if not isinstance(value, dict):
        return value
    return {name: _without_nulls(member) for name, member in value.items() if member is not None}


def _add_event(run: AgentRun, envelope: dict[str, Any], place: Place, judges: Judges, cleaner: Cleaner) -> None:
    payload, at = envelope["payload"], place.at("payload")
    kind = payload.get("kind")
    if not isinstance(kind, str) or kind not in TIMES:
        raise at.at("kind").refusal("one of " + ", ".join(TIMES))
    time = _time(payload, TIMES[kind], at)
    run.times.append(time)
    event = {name: value for name, value in payload.items() if name != "kind" and value not in (None, [])}
    if kind == "run_lifecycle":
        _add_lifecycle(run, payload, time, at)
        run.lifecycle.append(cleaner.value(event))
    elif kind == "measurement_health":
        text_of(payload, "health", at)
        run.health.append(cleaner.value(event))
    else:
        ids = {"event_id": as_id(envelope["event_id"]), "evaluation_id": as_id(payload.get("evaluation_id"))}
        about: dict[str, Any] = {"indicator": text_of(payload, "indicator", at), "observed_at": time, "extras": ids}
        is_outcome = kind == "evaluation_outcome"
        run.evaluations.append(
            _outcome(payload, at, about) if is_outcome else _execution_failure(payload, at, judges, about)
        )


def _add_lifecycle(run: AgentRun, payload: dict[str, Any], time: datetime, place: Place) -> None:
    status = payload.get("status")
    if status not in STATUSES:
        raise place.at("status").refusal("one of " + ", ".join(STATUSES))
    if status == "started":
        run.started = run.started or time
        return
    run.ended = time
    if run.status not in ENDED_BADLY:  # a later “completed” does not undo a failure
        run.status = status
    if status in ENDED_BADLY:
        run.error = as_id(payload.get("exception_type")) or status


def _outcome(payload: dict[str, Any], place: Place, about: dict[str, Any]) -> EvaluationRecord:
    outcome = payload.get("outcome")
    if not isinstance(outcome, str) or outcome not in OUTCOMES:
        raise place.at("outcome").refusal("pass, fail or unknown")
    return EvaluationRecord(
        **about,
        outcome=OUTCOMES[outcome],
        evaluator=_provenance(payload, place),
        finding=Finding.UNCLASSIFIED if outcome == "fail" else None,
        reason_code=as_id(payload.get("reason_code")),
    )


def _provenance(payload: dict[str, Any], place: Place) -> EvaluatorRecord | None:
    given, at = payload.get("provenance"), place.at("provenance")
    if given is None:
        return None  # asserted by hand
    return evaluator_of(object_at(given, at), given.get("deterministic"), at)


def _execution_failure(
    payload: dict[str, Any], place: Place, judges: Judges, about: dict[str, Any]
) -> EvaluationRecord:
    stage = as_id(payload.get("stage"))
    evaluator = EvaluatorRecord(name="unnamed", version="")
    if payload.get("evaluator_name") is not None:
        flat = {name: payload.get(f"evaluator_{name}") for name in ("name", "version", "configuration_id")}
        # The event does not say whether its evaluator is deterministic; its outcomes do.
        known = judges.get(_identity(evaluator_of(flat, True, place, prefix="evaluator_")), True)
        evaluator = evaluator_of(flat, known, place, prefix="evaluator_")
    return EvaluationRecord(
        **about,
        outcome=Outcome.ERROR,
        evaluator=evaluator,
        fault=Fault.GRADER,
        reason_code=f"{stage}_failure" if stage else "execution_failure",
        reason=as_id(payload.get("exception_type")),
    )


def _judges(envelopes: list[tuple[Place, dict[str, Any]]]) -> Judges:
    found: Judges = {}
    for place, envelope in envelopes:
        if envelope["payload"].get("kind") == "evaluation_outcome":
            evaluator = _provenance(envelope["payload"], place.at("payload"))
            if evaluator:
                found.setdefault(_identity(evaluator), evaluator.deterministic)
    return found


def _identity(evaluator: EvaluatorRecord) -> tuple[str, str, str]:
    return evaluator.name, evaluator.version, evaluator.configuration_sha256


# -- the run


def _run(envelopes: list[dict[str, Any]], runs: list[AgentRun]) -> RunRecord:
    identities = _identities(envelopes)
    times = [time for run in runs for time in run.times]
    versions, environments = ({identity[index] for identity in identities} for index in (1, 2))
    deployments = sorted({first_id(envelope, "deployment_id") for envelope in envelopes} - {""})
    agents = [{"agent_id": agent, "version": v, "environment": e} for agent, v, e in identities]
    return RunRecord(
        agent_version=versions.pop() if len(versions) == 1 else "",
        environment=environments.pop() if len(environments) == 1 else "",
        started_at=min(times, default=None),
        finished_at=max(times, default=None),
        producer_name=PRODUCER,
        extras={"agents": agents, "deployments": deployments},
    )


def _identities(envelopes: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return (agent, version, environment) of those that name them, in order."""
    names = ("agent_id", "version", "environment")
    given = [envelope["producer_identity"] for envelope in envelopes if envelope.get("producer_identity")]
    return sorted({tuple(as_id(member(identity, name)) for name in names) for identity in given})


def _event_notes(kept: list[tuple[Place, dict[str, Any]]], repeats: Counter[str]) -> Iterator[str]:
    if same := repeats["same"]:
        yield f"{counted(same, 'event')} repeated in the file; each was counted once."
    if other := repeats["other"]:
        yield f"{counted(other, 'event')} with an earlier event_id and other content left out; the first was kept."
    envelopes = [envelope for _, envelope in kept]
    agents = [f"{agent} {version} ({environment})" for agent, version, environment in _identities(envelopes)]
    if len(agents) > 1:
        yield f"The file holds {len(agents)} agents, versions or environments: {as_id(', '.join(agents))}."
    if unnamed := sum(not envelope.get("producer_identity") for envelope in envelopes):
        yield f"{counted(unnamed, 'event')} of schema version 1 or without an agent's identity."
    deployments = {first_id(envelope, "deployment_id") for envelope in envelopes}
    if len(deployments) > 1:
        yield f"The file holds {len(deployments)} deployments."


def _run_notes(runs: list[AgentRun]) -> Iterator[str]:
    of = f"of {counted(len(runs), 'agent run')}"
    for status in ENDED_BADLY:
        if number := sum(run.status == status for run in runs):
            yield f"{number} {of} {status}."
    if open := sum(not run.status for run in runs):
        yield f"{open} {of} without an end in the file."
    if bare := sum(not run.evaluations for run in runs):
        yield f"{bare} {of} without any evaluation."
    unhealthy: Counter[str] = Counter()
    for run in runs:
        for health in run.health[-1:]:
            if health["health"] != "healthy":
                unhealthy[f"{as_id(health['health'])}{in_brackets(health.get('reasons'))}"] += 1
    for state, number in sorted(unhealthy.items()):
        yield f"{number} {of} with measurement health {state}."


def in_brackets(reasons: Any) -> str:
    words = sorted({as_id(reason, limit=60) for reason in reasons} - {""}) if isinstance(reasons, list) else []
    return f" ({', '.join(words)})" if words else ""


# -- values


def text_of(parent: dict[str, Any], name: str, place: Place, *, prefix: str = "") -> str:
    value = parent.get(name)
    text = as_id(value) if isinstance(value, str) else ""
    if not text:
        raise place.at(prefix + name).refusal("a text")
    return text


def _time(parent: dict[str, Any], name: str, place: Place) -> datetime:
    value = parent.get(name)
    time = parse_time(value) if isinstance(value, str) else None
    if time is None:
        raise place.at(name).refusal("a time with a zone, as 2026-11-30T17:56:58Z")
    return time


def evaluator_of(told: dict[str, Any], deterministic: Any, place: Place, *, prefix: str = "") -> EvaluatorRecord:
    if not isinstance(deterministic, bool):
        raise place.at("deterministic").refusal("true or false")
    configuration = as_id(told.get("configuration_id"))
    return EvaluatorRecord(
        name=text_of(told, "name", place, prefix=prefix),
        version=text_of(told, "version", place, prefix=prefix),
        configuration_sha256=canonical_sha256(configuration) if configuration else "",
        deterministic=deterministic,
    )
