"""The two seed cases as run/v1 documents: reconstructions, so their origin is synthetic."""

from itertools import cycle, islice
from typing import Any

HOST, VISIBLE, GUARDED, UNCLASSIFIED = "host_corrected", "user_visible", "guarded_or_disclosed", "unclassified"
NOTE = "The totals are the seed's; how they spread over indicators is invented."

# indicator: passed, unknown, and the findings of its failures
SHOPPING: dict[str, tuple[int, int, dict[str, int]]] = {
    "tool_call_valid": (331, 0, {HOST: 24}),
    "response_complete": (190, 0, {HOST: 5, VISIBLE: 1}),
    "budget_compliance": (118, 3, {GUARDED: 1}),
    "requirement_match": (121, 4, {VISIBLE: 1, UNCLASSIFIED: 1}),
    "recommendation_grounding": (112, 6, {VISIBLE: 1, GUARDED: 2}),
    "material_caveat_disclosed": (88, 2, {VISIBLE: 2, GUARDED: 2}),
    "task_success": (40, 0, {UNCLASSIFIED: 1}),
    "conversation_closed": (30, 1, {}),
}
ATTEMPTS = 41
VISIBLE_ATTEMPTS = (7, 23)  # the five user-visible findings fall in these two


def shopping_document() -> dict[str, Any]:
    """Return the run of 41 attempts with 1,087 evaluations."""
    evaluations: dict[int, list[dict[str, Any]]] = {n: [] for n in range(1, ATTEMPTS + 1)}
    visible = cycle(VISIBLE_ATTEMPTS)
    for indicator, (passed, unknown, failed) in SHOPPING.items():
        turn = cycle(range(1, ATTEMPTS + 1))
        for number in islice(turn, passed):
            evaluations[number].append({"indicator": indicator, "outcome": "PASS"})
        for number in islice(turn, unknown):
            evaluations[number].append(
                {"indicator": indicator, "outcome": "UNKNOWN", "reason_code": "evidence_not_kept"}
            )
        for finding, count in failed.items():
            for _ in range(count):
                number = next(visible) if finding == VISIBLE else next(turn)
                evaluations[number].append(_fail(indicator, finding))
    return {
        "schema": "run/v1",
        "run": {
            "id": "shopping-seed",
            "suite": "shopping-sessions",
            "agent_version": "2026.10",
            "mode": "live",
            "origin": "synthetic",
            "started_at": "2026-10-19T08:00:00Z",
            "finished_at": "2026-10-19T19:40:00Z",
            "planned": ATTEMPTS,
            "x_note": NOTE,
        },
        "attempts": [
            {
                "scenario": f"shopping session {number:02}",
                "started_at": f"2026-10-19T{8 + number // 4:02}:{15 * (number % 4):02}:00Z",
                "evaluations": found,
            }
            for number, found in evaluations.items()
        ],
    }


def _fail(indicator: str, finding: str) -> dict[str, Any]:
    fault = {HOST: "agent", VISIBLE: "agent", GUARDED: "agent"}.get(finding, "unknown")
    return {
        "indicator": indicator,
        "outcome": "FAIL",
        "finding": finding,
        "fault": fault,
        "reason_code": f"{indicator}_missed",
    }


def healthcare_documents() -> list[dict[str, Any]]:
    """Return two runs on `task_success`: one PASS; then one UNKNOWN and one FAIL."""
    outcomes = [["PASS"], ["UNKNOWN", "FAIL"]]
    days = ["2026-09-07", "2026-09-21"]
    return [
        {
            "schema": "run/v1",
            "run": {
                "id": f"healthcare-{number}",
                "suite": "appointments",
                "agent_version": f"0.9.{number}",
                "mode": "live",
                "origin": "synthetic",
                "started_at": f"{day}T10:00:00Z",
                "planned": len(found),
            },
            "attempts": [
                {"scenario": f"patient request {place}", "evaluations": [_healthcare(outcome)]}
                for place, outcome in enumerate(found, 1)
            ],
        }
        for number, (day, found) in enumerate(zip(days, outcomes, strict=True), 1)
    ]


def _healthcare(outcome: str) -> dict[str, Any]:
    reasons = {
        "UNKNOWN": ("record_unavailable", "The appointment system did not say whether the slot was booked."),
        "FAIL": ("wrong_appointment", "The appointment was booked for another patient of the same name."),
    }
    evaluation: dict[str, Any] = {"indicator": "task_success", "outcome": outcome}
    if outcome in reasons:
        evaluation["reason_code"], evaluation["reason"] = reasons[outcome]
    if outcome == "FAIL":
        evaluation |= {"finding": "user_visible", "fault": "agent"}
    return evaluation
