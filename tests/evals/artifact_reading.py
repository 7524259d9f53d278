"""Read artifacts in tests of parsers: to records, to counts, or to the refusal."""

import gzip
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from evals.errors import ImportRefused
from evals.parsers import open_records
from evals.records import AttemptRecord, Outcome, ScenarioRecord

ARTIFACTS = Path(__file__).parent.parent / "artifacts"


def encoded(content):
    return content if isinstance(content, bytes) else json.dumps(content).encode()


def lines(*values):
    return b"".join(encoded(value) + b"\n" for value in values)


def read(content, name, **options):
    """Return all records of bytes or of a value to be written as JSON, detected as `name`."""
    found, records = open_records(io.BytesIO(encoded(content)), **options)
    assert found == name
    return list(records)


def refused(content, **options):
    with pytest.raises(ImportRefused) as refusal:
        list(open_records(io.BytesIO(encoded(content)), **options)[1])
    return refusal.value


def attempts(records):
    return [record for record in records if isinstance(record, AttemptRecord)]


def scenarios(records):
    return [record for record in records if isinstance(record, ScenarioRecord)]


def evaluations(records):
    return [evaluation for attempt in attempts(records) for evaluation in attempt.evaluations]


def counts(found):
    """Return (total, pass, fail, unknown, error) of evaluations."""
    by_outcome = Counter(evaluation.outcome for evaluation in found)
    return len(found), *(by_outcome[outcome] for outcome in Outcome)


def repacked(content):
    """Yield the same text as other tools save it."""
    text = content.decode()
    yield content
    yield b"\xef\xbb\xbf" + content
    yield text.encode("utf-16")
    yield text.replace("\r\n", "\n").replace("\n", "\r\n").encode()
    yield gzip.compress(content)
