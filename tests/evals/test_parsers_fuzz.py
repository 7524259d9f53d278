"""Whatever the bytes, a parser gives records or refuses; nothing else, and soon."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from evals.errors import ImportRefused
from evals.parsers import FORMATS, open_records
from evals.parsers.reading import UNSTORABLE
from evals.records import AggregateRecord, AttemptRecord, EndRecord, Plain, RunRecord, ScenarioRecord

ARTIFACTS = Path(__file__).parent.parent / "artifacts"
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Folder of real files and the format that reads them.
FOLDERS = {
    "run-v1": "run-v1",
    "promptfoo": "promptfoo",
    "pytest": "junit",
    "inspect": "inspect",
    "deepeval": "deepeval",
    "pydantic-evals": "pydantic-evals",
    "otel-genai": "otel-genai",
    "garak": "garak",
    "agent-reliability": "agent-reliability",
}


def real_files():
    """Every real file, the largest ones cut down so that a reading stays quick."""
    for folder, format in FOLDERS.items():
        for path in sorted((ARTIFACTS / folder).iterdir()) if format in FORMATS else ():
            if path.name == "results.json":
                trimmed = json.loads(path.read_text())
                trimmed["results"]["results"] = trimmed["results"]["results"][::9]
                yield f"{folder}/{path.name}", json.dumps(trimmed).encode()
            elif path.name == "results.jsonl":
                yield f"{folder}/{path.name}", b"".join(path.read_bytes().splitlines(keepends=True)[:6])
            elif path.suffix != ".csv":
                yield f"{folder}/{path.name}", path.read_bytes()


REAL = dict(real_files())
DOCUMENTS = [name for name in REAL if name.endswith(".json")]
LINES = [name for name in REAL if name.endswith(("jsonl", "ndjson"))]

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["PASS", "FAIL", "run/v1", "\x00", "\ud800", "2026-11-02T09:14:03Z", 10**400, -(2**63)])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.just("x_a"), inner, max_size=3)
    ),
    max_leaves=6,
)


def check_refusal(refusal):
    """A refusal is one of four kinds, and can be sent as it is."""
    assert refusal.status in (400, 413, 415, 422)
    assert refusal.code
    assert refusal.problems
    for text in (refusal.detail, *(p.message + p.pointer + p.expected for p in refusal.problems)):
        assert text.encode("utf-8")


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for member in value.items() for text in texts_of(member))
    elif isinstance(value, list | tuple | frozenset):
        yield from (text for member in value for text in texts_of(member))
    elif isinstance(value, Plain):
        yield from texts_of(asdict(value))


def check(content, format=None):
    """Read to the end; the records that come are in order and may be stored."""
    try:
        _, records = open_records(io.BytesIO(content), format=format)
        found = list(records)
    except ImportRefused as refusal:
        check_refusal(refusal)
        return None
    assert isinstance(found[0], RunRecord)
    assert isinstance(found[-1], EndRecord)
    known, places = set(), set()
    for record in found[1:-1]:
        if isinstance(record, ScenarioRecord):
            assert 1 <= len(record.key) <= 200
            known.add(record.key)
        elif isinstance(record, AggregateRecord):
            assert min(record.passed, record.failed, record.unknown, record.error) >= 0
        else:
            assert isinstance(record, AttemptRecord)
            assert record.scenario in known | {""}
            if record.scenario:
                places.add((record.scenario, record.variant, record.ordinal))
    assert len(places) == sum(isinstance(record, AttemptRecord) and record.scenario != "" for record in found)
    assert not any(UNSTORABLE.search(text) for record in found for text in texts_of(asdict(record)))
    return found


def parts_of(value, path=()):
    """Yield the path of each part of a JSON value, itself first."""
    yield path
    if isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from parts_of(member, (*path, name))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("name", REAL)
def test_the_files_themselves_are_read(name):
    assert check(REAL[name]) is not None


@pytest.mark.parametrize("name", REAL)
@QUICK
@given(st.data())
def test_cut_or_changed_bytes(name, data):
    content = bytearray(REAL[name])
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position : position + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    check(bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content))


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(parent=QUICK, max_examples=60)
@given(st.data())
def test_changed_members(name, data):
    document = json.loads(REAL[name])
    path = data.draw(st.sampled_from(list(parts_of(document))))
    content = json.dumps(replaced(document, path, data.draw(VALUES))).encode()
    check(content)
    check(content, format=FOLDERS[name.partition("/")[0]])


@pytest.mark.parametrize("name", LINES)
@settings(parent=QUICK, max_examples=60)
@given(st.data())
def test_changed_lines(name, data):
    lines = [json.loads(line) for line in REAL[name].splitlines()]
    number = data.draw(st.integers(0, len(lines) - 1))
    path = data.draw(st.sampled_from(list(parts_of(lines[number]))))
    lines[number] = replaced(lines[number], path, data.draw(VALUES))
    check("\n".join(map(json.dumps, lines)).encode())


@pytest.mark.parametrize("format", [None, *FORMATS])
@QUICK
@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes(format, content):
    check(content, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("start", [b"[", b'{"a":', b"<testsuite>", b'{"schema": "run/v1", "run": ', b'{"results": ['])
def test_bottomless_content(format, start):
    check(start * 200_000, format)
    check(start * 200_000)
