"""Inspect logs for tests: documents and archives, made of a few members."""

import io
import json
import warnings
from pathlib import Path

from backports.zstd import zipfile

from evals.parsers import open_records
from tests.evals.artifact_reading import counts as counts_of
from tests.evals.artifact_reading import evaluations

FOLDER = Path(__file__).parent.parent / "artifacts" / "inspect"
SAMPLE = {"id": "a", "epoch": 1, "input": "hello", "scores": {"includes": {"value": "C"}}}


def read(content, **options):
    return list(open_records(io.BytesIO(content), **options)[1])


def log(*samples, **members):
    evaluation = {"eval_id": "e1", "run_id": "r1", "task": "support", "task_version": 2, "model": "example/model"}
    evaluation |= members.pop("eval", {})
    document = {"version": 2, "status": "success", "eval": evaluation, "plan": {}, "samples": list(samples)}
    return json.dumps(document | members).encode()


def archive(members, compression=zipfile.ZIP_ZSTANDARD):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as target:
        for name, value in members.items():
            target.writestr(name, value if isinstance(value, bytes | str) else json.dumps(value))
    return packed.getvalue()


def counts(records):
    return counts_of(evaluations(records))


HEADER = {name: value for name, value in json.loads(log(SAMPLE)).items() if name != "samples"}


def repeated(*members):
    """An archive whose members may repeat, as when a log is opened again."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_ZSTANDARD) as target, warnings.catch_warnings(action="ignore"):
        for name, value in members:
            target.writestr(name, json.dumps(value))
    return packed.getvalue()
