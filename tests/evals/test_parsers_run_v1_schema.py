"""The published JSON Schema of run/v1 agrees with the decoder, wherever a schema can say it."""

import io
import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from evals import parsers
from evals.errors import ImportRefused
from evals.parsers import open_records
from evals.parsers.run_v1 import wire

SCHEMA = json.loads((Path(parsers.__file__).parent / "run-v1.schema.json").read_text())
ARTIFACTS = Path(__file__).parent.parent / "artifacts" / "run-v1"
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FULL = json.loads((ARTIFACTS / "injected.json").read_text())

# Where to put a value, and the values that are right and wrong there.
TEXTS = (["", "a" * 300, "line\nbreak", None], [3, [], {}, True])
IDS = (["a", "返金 🚀", "a" * 200, "<b>"], ["", "a" * 201, "a\nb", "a\x7f", 3, []])
OPTIONAL_IDS = ([*IDS[0], None], IDS[1])
COUNTS = ([0, 3, 3.0, 2**63 - 1, None], [-1, 1.5, "3", True, 2**63, []])
NUMBERS = ([0, 0.5, 12, 1e300, None], [-0.1, "1", True, []])
TIMES = (
    ["2026-11-02T09:14:03Z", "2026-11-02T09:14:03.5+01:00", None],
    ["2026-11-02", "2026-11-02T09:14:03", "yesterday", 1, "2026-11-02T09:14:03+0100"],
)
JSON_VALUES = ([1, "a", None, {"a": [None]}, [1.5]], [])


def words(*right):
    return [*right, None], ["other", "", 1, []]


TABLE = {
    "run": ([], [None, [], "run", {}, {"id": "a"}, {"suite": "a"}]),
    "run/id": IDS,
    "run/suite": IDS,
    "run/suite_version": OPTIONAL_IDS,
    "run/agent_version": OPTIONAL_IDS,
    "run/model": OPTIONAL_IDS,
    "run/environment": OPTIONAL_IDS,
    "run/commit": OPTIONAL_IDS,
    "run/branch": OPTIONAL_IDS,
    "run/ci_url": (["https://ci.example.org/1?a=b#c", "HTTP://x", None], ["ftp://x", "//x", "https://", "x y", 1]),
    "run/mode": words("scripted", "live"),
    "run/origin": words("observed", "synthetic"),
    "run/started_at": TIMES,
    "run/finished_at": TIMES,
    "run/session": words("complete", "aborted", "cancelled", "errored"),
    "run/session_reason": TEXTS,
    "run/planned": COUNTS,
    "run/shard": (
        [{"index": 1, "of": 1}, None],
        [{}, {"index": 1}, {"index": 0, "of": 1}, {"index": 1, "of": 1, "n": 1}],
    ),
    "run/producer": ([{}, {"name": "a"}, {"name": "a", "version": None}, None], [{"name": ""}, {"url": "a"}, "a"]),
    "run/x_own": JSON_VALUES,
    "run/own": ([], [1, None]),
    "evaluators/denied:send_email/name": IDS,
    "evaluators/denied:send_email/version": IDS,
    "evaluators/denied:send_email/configuration": JSON_VALUES,
    "evaluators/denied:send_email/deterministic": ([True, False, None], [0, "true"]),
    "scenarios": ([None, []], [{}, [None], [[]], [{"title": "no key"}]]),
    "scenarios/0/key": IDS,
    "scenarios/0/title": TEXTS,
    "scenarios/0/class": OPTIONAL_IDS,
    "scenarios/0/adversarial": ([True, False, None], [0, "true"]),
    "scenarios/0/twin_of": ([None, "injected-exfiltration"], ["", 3]),
    "scenarios/0/guards": ([[], ["a", "b"], None], ["a", [""], [None], {}]),
    "scenarios/0/controls": ([[], ["a", "b"], None], ["a", [""], [None], {}]),
    "scenarios/0/expects": words("completed", "denied", "paused", "escalated"),
    "scenarios/0/source": (
        [{}, {"kind": "trace"}, {"date": "2026-01-31"}, None],
        [{"kind": "a"}, {"date": "2026"}, []],
    ),
    "attempts": ([None, []], [{}, [None], [[]], [{}]]),
    "attempts/0/scenario": IDS,
    "attempts/0/ordinal": ([1, 2**31 - 1, 2.0, None], [0, -1, 2**31, "1", 1.5]),
    "attempts/0/variant": (["", "a", "a" * 200, None], ["a" * 201, "a\tb", 3]),
    "attempts/0/status": words("completed", "denied", "paused", "escalated", "timed_out", "crashed"),
    "attempts/0/started_at": TIMES,
    "attempts/0/latency_ms": NUMBERS,
    "attempts/0/cost_usd": ([0, 0.1, 999_999_999, None], [-1, 10**9, "0.1", True]),
    "attempts/0/tokens": ([{}, {"input": 1, "output": None}, None], [{"input": -1}, {"total": 1}, 3]),
    "attempts/0/trace_id": OPTIONAL_IDS,
    "attempts/0/output": TEXTS,
    "attempts/0/error": TEXTS,
    "attempts/0/own": ([], [1]),
    "attempts/0/steps": (
        [[], [{"kind": "model"}], [{"kind": "tool", "tool": "a", "decision": "paused", "approved": True}], None],
        [
            [{}],
            [{"kind": "tool"}],
            [{"kind": "tool", "tool": None}],
            [{"kind": "model", "approved": True}],
            [{"kind": "tool", "tool": "a", "decision": "denied", "approved": False}],
        ],
    ),
    "attempts/0/steps/1/tool": (["a"], ["", 3, None]),
    "attempts/0/steps/1/decision": words("allowed", "denied", "paused", "failed"),
    "attempts/0/steps/1/reason_code": OPTIONAL_IDS,
    "attempts/0/steps/1/arguments_sha256": (["a" * 64, "A" * 64, None], ["a" * 63, "g" * 64, 1]),
    "attempts/0/steps/1/arguments": JSON_VALUES,
    "attempts/0/steps/1/result": JSON_VALUES,
    "attempts/0/steps/1/started_at": TIMES,
    "attempts/0/steps/1/latency_ms": NUMBERS,
    "attempts/0/side_effects": (
        [[], None, [{"tool": "a", "checked": True, "happened": True}]],
        [[{"tool": "a", "checked": False, "happened": True}], [{"tool": "a", "checked": True}], [{}], {}],
    ),
    "attempts/0/evaluations/0/indicator": (["a", "a" * 200, "line\nbreak"], ["", "a" * 201, None, 3]),
    "attempts/0/evaluations/0/evaluator": (["denied:send_email", None], ["", 3]),
    "attempts/0/evaluations/0/outcome": (["PASS", "FAIL", "UNKNOWN", "ERROR"], ["pass", "", None, 1]),
    "attempts/0/evaluations/0/categories": ([[], ["cost", "security"], None], ["cost", ["safety"], [None], {}]),
    "attempts/0/evaluations/0/finding": ([None], ["user_visible", "unclassified"]),
    "attempts/0/evaluations/2/finding": words(
        "user_visible", "host_corrected", "guarded_or_disclosed", "unclassified"
    ),
    "attempts/0/evaluations/0/fault": words(
        "agent", "host", "tool", "user", "grader", "infrastructure", "unknown"
    ),
    "attempts/0/evaluations/0/reason_code": OPTIONAL_IDS,
    "attempts/0/evaluations/0/reason": TEXTS,
    "attempts/0/evaluations/0/score": ([0, -1.5, 1e300, None], ["1", True, []]),
    "attempts/0/evaluations/0/evidence": ([{}, {"a": [1]}, None], [[], "a", 1]),
    "attempts/0/evaluations/0/observed_at": TIMES,
    "x_own": JSON_VALUES,
    "own": ([], [1, None]),
}  # fmt: skip


def changed(path, value):
    content = json.loads(json.dumps(FULL))
    target = content
    *steps, last = path.split("/")
    for step in steps:
        target = target[int(step) if isinstance(target, list) else step]
    target[int(last) if isinstance(target, list) else last] = value
    return content


def decoded(content):
    """Return the pointers of what the decoder refuses, none if it takes the document."""
    _, records = open_records(io.BytesIO(json.dumps(content).encode()), format="run-v1")
    try:
        list(records)
    except ImportRefused as refusal:
        return [problem.pointer for problem in refusal.problems]
    return []


def test_the_schema_is_valid_itself():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", ["injected.json", "short.json"])
def test_the_examples_fit(name):
    VALIDATOR.validate(json.loads((ARTIFACTS / name).read_text()))


@pytest.mark.parametrize(("path", "value"), [(path, value) for path, (right, _) in TABLE.items() for value in right])
def test_both_take_what_is_right(path, value):
    content = changed(path, value)
    assert [error.message for error in VALIDATOR.iter_errors(content)] == []
    assert decoded(content) == []


@pytest.mark.parametrize(("path", "value"), [(path, value) for path, (_, wrong) in TABLE.items() for value in wrong])
def test_both_refuse_what_is_wrong(path, value):
    content = changed(path, value)
    assert not VALIDATOR.is_valid(content)
    assert any(pointer.startswith(f"/{path}") for pointer in decoded(content))


@pytest.mark.parametrize("schema", ["run/v2", None, 1])
def test_both_refuse_another_schema(schema):
    content = FULL | {"schema": schema}
    assert not VALIDATOR.is_valid(content)
    assert decoded(content) == ["/schema"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run", wire.Run),
        ("shard", wire.Shard),
        ("producer", wire.Producer),
        ("evaluator", wire.Evaluator),
        ("scenario", wire.Scenario),
        ("source", wire.Source),
        ("attempt", wire.Attempt),
        ("tokens", wire.Tokens),
        ("step", wire.Step),
        ("side_effect", wire.SideEffect),
        ("evaluation", wire.Evaluation),
    ],
)
def test_the_schema_has_the_members_of_the_decoder(name, kind):
    definition = SCHEMA["$defs"][name]
    members = {member.encode_name: member.required for member in msgspec.structs.fields(kind)}
    assert list(definition["properties"]) == list(members)
    assert definition.get("required", []) == [member for member, required in members.items() if required]
    assert definition["additionalProperties"] is False
