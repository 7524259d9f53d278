"""What several formats say alike about a case: class, category, attack, repeats, tool calls, plain texts."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evals.parsers.reading import Cleaner
from evals.parsers.values import as_id, as_positive, as_url, first_id
from evals.records import (
    Category,
    EvaluationRecord,
    Outcome,
    StepKind,
    StepRecord,
)

CATEGORIES = {category.value: category for category in Category}
MAX_STEPS = 1_000
MAX_KEPT = 20_480  # characters of JSON, of arguments and results
NO_START = "The file has no start time."


@dataclass(frozen=True, slots=True)
class CaseFacts:
    class_id: str = ""
    categories: frozenset[Category] | None = None
    adversarial: bool = False


def facts_of(metadata: dict[str, Any], tags: Iterable[str] = ()) -> CaseFacts:
    """Read class, category and attack. A `category` that is none of the four is a class; so is another tag."""
    others = [tag for tag in tags if tag not in CATEGORIES and tag != "adversarial"]
    category = metadata.get("category")
    categories = {CATEGORIES[word] for word in (category, *tags) if isinstance(word, str) and word in CATEGORIES}
    named = (metadata.get("class"), None if _is_category(category) else category, *others)
    return CaseFacts(
        class_id=next((found for value in named if (found := as_id(value))), ""),
        categories=frozenset(categories) or None,
        adversarial=metadata.get("adversarial") in (True, "true") or "adversarial" in tags,
    )


def _is_category(value: Any) -> bool:
    return isinstance(value, str) and value in CATEGORIES


def told_of_run(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return members of a RunRecord from what users wrote beside a run, by the names that they use."""
    return {
        "agent_version": first_id(told, "version", "agent_version", "agentVersion"),
        "commit": first_id(told, "commit", "git_sha", "sha"),
        "branch": first_id(told, "branch"),
        "environment": first_id(told, "environment"),
        "ci_url": as_url(told.get("ci_url")),
    }


class Ordinals:
    """Numbers the attempts of a scenario and variant; a wanted number that is taken becomes the next free one."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str, int]] = set()
        self._next: Counter[tuple[str, str]] = Counter()

    def take(self, scenario: str, variant: str = "", *, wanted: int | None = None) -> int:
        number = wanted
        if number is None or (scenario, variant, number) in self._taken:
            number = self._next[scenario, variant] + 1
            while (scenario, variant, number) in self._taken:
                number += 1
            self._next[scenario, variant] = number
        self._taken.add((scenario, variant, number))
        return number


def as_text(value: Any, cleaner: Cleaner) -> str:
    """Return a text as it is and any other value as JSON; '' for none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        value = json.dumps(cleaner.value(value), ensure_ascii=False)
    return cleaner.text(value)


def as_milliseconds(seconds: Any) -> float | None:
    number = as_positive(seconds)
    return None if number is None else as_positive(number * 1000)  # which may be beyond all floats


def tool_step(tool: str, arguments: Any, result: Any, cleaner: Cleaner, **members: Any) -> StepRecord:
    """Make a step; arguments and a result that are too large are left out, and it says so."""
    kept = {"arguments": cleaner.value(arguments), "result": cleaner.value(result)}
    large = [name for name, value in kept.items() if len(json.dumps(value)) > MAX_KEPT]
    return StepRecord(
        kind=StepKind.TOOL,
        tool=tool or "unnamed tool",
        arguments_sha256="" if arguments is None else cleaner.digest(arguments),
        extras={"too_large": large} if large else {},
        **(kept | dict.fromkeys(large) | members),
    )


class Tally:
    """Counts what the end of a run has to say in sentences."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.outcomes: Counter[Outcome] = Counter()
        self._differing: Counter[str] = Counter()
        self._steps_cut = 0

    def evaluations(self, evaluations: Iterable[EvaluationRecord]) -> tuple[EvaluationRecord, ...]:
        """Count the evaluations of an attempt and return them."""
        found = tuple(evaluations)
        for evaluation in found:
            self.outcomes[evaluation.outcome] += 1
            if evaluation.reported_outcome:
                difference = f"{evaluation.outcome} where {self.tool} says {evaluation.reported_outcome}"
                self._differing[f"{difference} ({evaluation.reason_code})"] += 1
        return found

    def steps(self, steps: Iterable[StepRecord]) -> tuple[StepRecord, ...]:
        """Return the first steps of an attempt; what is over the limit is counted."""
        found = tuple(steps)
        self._steps_cut += max(0, len(found) - MAX_STEPS)
        return found[:MAX_STEPS]

    def notes(self) -> Iterator[str]:
        for difference, count in self._differing.items():
            yield f"{counted(count, 'evaluation')} {'is' if count == 1 else 'are'} {difference}."
        if self._steps_cut:
            yield f"{counted(self._steps_cut, 'tool call')} beyond {MAX_STEPS} of an attempt left out."


def counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
