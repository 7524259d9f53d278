"""Artifacts to measure with: run/v1 lines of any number, a promptfoo document, an Inspect archive."""

import io
import json
from collections.abc import Iterator
from typing import Any

from backports.zstd import zipfile as zip_files

SCENARIOS = 200
STARTED = "2026-11-02T09:14:05Z"


def ndjson(attempts: int) -> Iterator[bytes]:
    """A run/v1 of so many attempts, one evaluation each; one in ten fails with a reason."""
    yield _line({"schema": "run/v1", "run": {"id": "bench", "suite": "bench", "planned": attempts}})
    for number in range(SCENARIOS):
        yield _line({"scenario": {"key": f"scenario {number}", "class": "task_not_done"}})
    for number in range(attempts):
        evaluation = {"indicator": "task_success", "outcome": "PASS", "observed_at": "2026-11-02T09:14:06Z"}
        if number % 10 == 0:
            evaluation |= {"outcome": "FAIL", "reason_code": "goal_missed", "reason": "the goal was missed"}
        attempt = {
            "scenario": f"scenario {number % SCENARIOS}",
            "ordinal": number // SCENARIOS + 1,
            "started_at": STARTED,
            "latency_ms": 812,
            "cost_usd": 0.0031,
            "evaluations": [evaluation],
        }
        yield _line({"attempt": attempt})
    yield _line({"end": {"attempts": attempts}})


def _line(part: dict[str, Any]) -> bytes:
    return json.dumps(part).encode() + b"\n"


def promptfoo_document(rows: int) -> bytes:
    """Results of so many rows, about 4 kB each, one in ten failing."""
    results = [_promptfoo_row(number) for number in range(rows)]
    stats = {"successes": rows - len(range(0, rows, 10)), "failures": len(range(0, rows, 10)), "errors": 0}
    summary = {"version": 3, "timestamp": STARTED, "prompts": [], "results": results, "stats": stats}
    return json.dumps({"evalId": "eval-bench", "results": summary, "config": {}}).encode()


def _promptfoo_row(number: int) -> dict[str, Any]:
    passed = number % 10 != 0
    asserted = {"type": "contains", "value": "30 days"}
    part = {"pass": passed, "score": int(passed), "reason": "as expected", "assertion": asserted}
    return {
        "success": passed,
        "failureReason": 0 if passed else 1,
        "score": int(passed),
        "latencyMs": 31,
        "cost": 0.00051,
        "testIdx": number,
        "promptIdx": 0,
        "id": f"row-{number}",
        "provider": {"id": "example-model", "label": "example"},
        "prompt": {"raw": f"Question {number}: what is the refund window? " + "context " * 150, "label": "v1"},
        "response": {
            "output": "Refunds are accepted within 30 days. " * 20,
            "tokenUsage": {"prompt": 51, "completion": 36, "total": 87},
        },
        "testCase": {"metadata": {"id": f"case-{number}", "class": "task_not_done"}, "assert": [asserted]},
        "gradingResult": {**part, "componentResults": [part]},
        "vars": {"q": "what is the refund window?", "context": "context " * 150},
    }


def inspect_archive(samples: int) -> bytes:
    """An `.eval` file of so many samples with Zstandard members, one scorer, a tool call each."""
    packed = io.BytesIO()
    with zip_files.ZipFile(packed, "w", zip_files.ZIP_ZSTANDARD) as archive:
        archive.writestr("header.json", json.dumps(_inspect_header(samples)))
        for number in range(samples):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(_inspect_sample(number)))
    return packed.getvalue()


def _inspect_header(samples: int) -> dict[str, Any]:
    evaluation = {
        "eval_id": "bench",
        "run_id": "bench",
        "created": "2026-11-02T09:14:05+00:00",
        "task": "support",
        "task_version": 1,
        "model": "example/model",
        "dataset": {"samples": samples},
        "config": {},
    }
    return {
        "version": 2,
        "status": "success",
        "eval": evaluation,
        "plan": {},
        "results": {"total_samples": samples, "completed_samples": samples, "scores": []},
        "stats": {"started_at": "2026-11-02T09:14:05+00:00", "completed_at": "2026-11-02T09:15:05+00:00"},
    }


def _inspect_sample(number: int) -> dict[str, Any]:
    call = {"id": "call_1", "function": "lookup_order", "arguments": {"order": number}, "type": "function"}
    return {
        "id": number,
        "epoch": 1,
        "input": f"Where is order {number}? " + "context " * 100,
        "target": "shipped",
        "messages": [
            {"role": "user", "content": f"Where is order {number}?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "shipped", "tool_call_id": "call_1", "function": "lookup_order"},
            {"role": "assistant", "content": "It is shipped. " * 30},
        ],
        "output": {"model": "example/model", "completion": "It is shipped. " * 30},
        "scores": {"includes": {"value": "I" if number % 10 == 0 else "C", "answer": "shipped"}},
        "metadata": {"class": "task_not_done"},
        "events": [{"event": "state", "changes": ["context " * 100]}],
        "model_usage": {"example/model": {"input_tokens": 17, "output_tokens": 8, "total_tokens": 25}},
        "total_time": 2.19,
        "uuid": f"sample-{number}",
    }
