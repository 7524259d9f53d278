"""One row of promptfoo results: what it is a result of, and what it says."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evals.parsers.cases import CATEGORIES, MAX_STEPS, as_text
from evals.parsers.promptfoo_shapes import Column, UnreadRow
from evals.parsers.reading import Cleaner, member
from evals.parsers.values import as_count, as_id, as_nano_dollars, as_number, as_positive
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    Category,
    EvaluationRecord,
    EvaluatorRecord,
    Fault,
    Finding,
    Outcome,
    ScenarioRecord,
    StepKind,
    StepRecord,
)

PROVIDER_FAILED = 2  # of failureReason; 1 is a failed assertion, 0 none
MAX_ARGUMENTS = 20_480  # characters of JSON
# What promptfoo writes as the reason where the assertion's own code broke.
THREW = ("Custom function threw error", "Python code execution failed", "Ruby code execution failed")
NO_JUDGEMENT = "Could not extract JSON from"  # of a judge's answer, in versions without a word for a broken judge
MODEL_GRADED = (
    "answer-relevance",
    "context-",
    "conversation-relevance",
    "factuality",
    "g-eval",
    "llm-rubric",
    "model-graded",
    "moderation",
    "search-rubric",
    "select-best",
    "similar",
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The variant of each column, which is one provider and prompt; equal columns are numbered from the left."""

    variants: dict[Column, str]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.variants.values()))


def columns_of(columns: Iterable[Column]) -> Columns:
    variants: dict[Column, str] = {}
    numbers: dict[tuple[str, str], int] = {}
    for provider, label, column in sorted(set(columns)):
        number = numbers[provider, label] = numbers.get((provider, label), 0) + 1
        variants[provider, label, column] = provider if number == 1 else f"{provider} #{number}"
    return Columns(variants)


class Row:
    def __init__(self, unread: UnreadRow, columns: Columns, cleaner: Cleaner) -> None:
        self.content = content = unread.load()
        self.place = unread.place
        self.cleaner = cleaner
        self.variant, self.prompt_label = columns.variants[unread.column], unread.column[1]
        self.case = _object(content.get("testCase"))
        self.response = _object(content.get("response"))
        self.metadata = _object(self.case.get("metadata") or content.get("metadata"))
        self.grading = content.get("gradingResult")
        self.judged = _object(self.grading)
        self.parts = list(_leaves(self.grading))
        self.is_nameless = False  # no name, no variables: nothing tells its case from others
        self.scenario_key = self._scenario_key()

    def _scenario_key(self) -> str:
        case = as_id(self.metadata.get("id"), limit=120) or as_id(self._description(), limit=120)
        if not case:
            variables = self.content.get("vars") or self.case.get("vars") or {}
            self.is_nameless = not variables
            case = f"vars-{self.cleaner.digest(variables)[:16]}"
        return f"{case} | {self.prompt_label}" if self.prompt_label else case

    def _description(self) -> str:
        description = self.case.get("description") or self.content.get("description")
        return description if isinstance(description, str) else ""

    # -- records

    def scenario(self) -> ScenarioRecord:
        category = self.metadata.get("category")
        class_id = self.metadata.get("class") or ("" if self._categories() else category)
        red_team = {name: self._meta_text(name) for name in ("pluginId", "strategyId", "severity")}
        red_team = {name: text for name, text in red_team.items() if text}
        return ScenarioRecord(
            key=self.scenario_key,
            title=self.cleaner.text(self._description()),
            class_id=as_id(class_id),
            adversarial=self.metadata.get("adversarial") in (True, "true") or bool(red_team),
            extras=red_team,
        )

    def attempt(self, ordinal: int) -> AttemptRecord:
        usage = _object(self.content.get("tokenUsage") or self.response.get("tokenUsage"))
        cost = self.content.get("cost")
        evaluation = self._evaluation()
        failed = evaluation.reason_code == "provider_error"
        return AttemptRecord(
            scenario=self.scenario_key,
            ordinal=ordinal,
            variant=self.variant,
            status=AttemptStatus.CRASHED if failed else AttemptStatus.COMPLETED,
            latency_ms=as_positive(self.content.get("latencyMs")),
            cost_nano=as_nano_dollars(self.response.get("cost") if cost is None else cost),
            tokens_input=as_count(usage.get("prompt")),
            tokens_output=as_count(usage.get("completion")),
            input=as_text(member(self.content, "prompt", "raw"), self.cleaner),
            output=as_text(self.response.get("output"), self.cleaner),
            error=as_text(self.content.get("error"), self.cleaner) if evaluation.outcome is Outcome.ERROR else "",
            steps=tuple(self._steps()),
            evaluations=(evaluation,),
            place=self.place,
            extras={"row_id": row_id} if (row_id := as_id(self.content.get("id"))) else {},
        )

    def _evaluation(self) -> EvaluationRecord:
        reported = self._reported()
        outcome, code = self._verdict(reported)
        scores = self.content.get("namedScores")
        return EvaluationRecord(
            indicator="row",
            outcome=outcome,
            evaluator=self._evaluator(),
            categories=self._categories(),
            finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
            fault=Fault.GRADER if code in ("grader_error", "assertion_error") else Fault.UNKNOWN,
            reason_code=code,
            reason=as_text(self.judged.get("reason") or self.content.get("error"), self.cleaner),
            score=as_number(self.content.get("score")),
            evidence={"named_scores": self.cleaner.value(scores)} if isinstance(scores, dict) and scores else None,
            reported_outcome=reported if reported is not outcome else None,
            components=tuple(self._component(part) for part in self.parts),
        )

    def _evaluator(self) -> EvaluatorRecord:
        assertions = self._assertions()
        digest = self.cleaner.digest(assertions)
        return EvaluatorRecord(
            name="promptfoo",
            version=digest[:16],
            configuration_sha256=self.cleaner.digest({"assert": assertions, "threshold": self.case.get("threshold")}),
            per_case=True,
            deterministic=not any(kind.removeprefix("not-").startswith(MODEL_GRADED) for kind in _kinds(assertions)),
        )

    def _assertions(self) -> list[Any]:
        assertions = self.case.get("assert")
        if isinstance(assertions, list):
            return assertions
        return [member(part, "assertion") for part in self.parts]

    def _categories(self) -> frozenset[Category] | None:
        category = self.metadata.get("category")
        known = CATEGORIES.get(category) if isinstance(category, str) else None
        return frozenset({known}) if known else None

    def _component(self, part: dict[str, Any]) -> dict[str, Any]:
        assertion = _object(part.get("assertion"))
        component = {
            "pass": passed if isinstance(passed := part.get("pass"), bool) else None,
            "score": as_number(part.get("score")),
            "reason": as_text(part.get("reason"), self.cleaner),
            "type": as_id(assertion.get("type")),
            "metric": as_id(assertion.get("metric")),
        }
        return component | ({"broken": code} if (code := _broken(part)) else {})

    def _steps(self) -> Iterator[StepRecord]:
        calls = member(self.response, "metadata", "toolCalls")
        for call in calls[:MAX_STEPS] if isinstance(calls, list) else ():
            tool = as_id(member(call, "name") or member(call, "function", "name") or member(call, "tool"))
            if not tool:
                continue
            arguments = member(call, "arguments") or member(call, "args") or member(call, "function", "arguments")
            kept = None if arguments is None else self.cleaner.value(arguments)
            yield StepRecord(
                kind=StepKind.TOOL,
                tool=tool,
                arguments_sha256="" if arguments is None else self.cleaner.digest(arguments),
                arguments=kept if len(json.dumps(kept)) <= MAX_ARGUMENTS else None,
            )

    # -- the verdict

    def _reported(self) -> Outcome | None:
        """Return promptfoo's own outcome. `error` alone says nothing: failed assertions set it too."""
        success, failure = self.content.get("success"), self.content.get("failureReason")
        if success is True:
            return Outcome.PASS
        if success is not False:
            return None
        without_grading = failure != 1 and not self.grading and bool(self.content.get("error"))
        return Outcome.ERROR if failure == PROVIDER_FAILED or without_grading else Outcome.FAIL

    def _verdict(self, reported: Outcome | None) -> tuple[Outcome, str]:
        """Return our outcome with its reason code: stricter than the tool where nothing was judged."""
        if reported is None:
            return Outcome.UNKNOWN, "no_verdict"
        if reported is Outcome.ERROR:
            return Outcome.ERROR, "provider_error"
        broken = [code for part in self.parts if (code := _broken(part))]
        failed = any(part.get("pass") is False and not _broken(part) for part in self.parts)
        if broken and not failed:
            return Outcome.ERROR, "grader_error" if "grader_error" in broken else "assertion_error"
        if reported is Outcome.FAIL:
            return (reported, "") if failed or not self._has_open_part() else (Outcome.UNKNOWN, "not_judged")
        if self._contradicts_a_pass():
            return Outcome.UNKNOWN, "contradiction"
        if not self._is_judged():
            return Outcome.UNKNOWN, "no_assertions"
        if self.judged.get("pass") is not True or self._has_open_part():
            return Outcome.UNKNOWN, "not_judged"
        return Outcome.PASS, ""

    def _contradicts_a_pass(self) -> bool:
        """Whether a row that is said to have passed says elsewhere that it failed or broke."""
        has_failure = self.content.get("failureReason") not in (None, 0)
        return has_failure or bool(self.content.get("error")) or self.judged.get("pass") is False

    def _has_open_part(self) -> bool:
        """Whether the judgement or a part of it is there and says neither yes nor no."""
        judgements = (*((self.judged,) if "pass" in self.judged else ()), *self.parts)
        return any(not isinstance(part.get("pass"), bool) for part in judgements)

    def _is_judged(self) -> bool:
        if self.judged.get("reason") == "No assertions":
            return False
        if isinstance(self.judged.get("componentResults"), list):
            return bool(self.parts)
        return bool(self._assertions())

    # -- values

    def _meta_text(self, name: str) -> str:
        return as_id(self.metadata.get(name))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _leaves(grading: Any) -> Iterator[dict[str, Any]]:
    """Yield the parts of a judgement that judged themselves, not those that only add up others."""
    waiting = [grading]
    while waiting:
        part = waiting.pop()
        inner = member(part, "componentResults")
        if isinstance(inner, list) and inner:
            waiting.extend(reversed(inner))
        elif isinstance(part, dict) and (part is not grading or _broken(part)):
            yield part


def _broken(part: dict[str, Any]) -> str:
    """Return why a part could not judge, or ''."""
    if part.get("pass") is True:
        return ""
    if member(part, "metadata", "graderError") is True:
        return "grader_error"
    reason = str(part.get("reason") or "")
    if reason.startswith(NO_JUDGEMENT):
        return "grader_error"
    return "assertion_error" if reason.startswith(THREW) else ""


def _kinds(assertions: list[Any]) -> Iterator[str]:
    """Yield the types of assertions, also of those inside a set."""
    waiting = list(assertions)
    while waiting:
        assertion = waiting.pop()
        kind, inner = member(assertion, "type"), member(assertion, "assert")
        if isinstance(kind, str):
            yield kind
        if isinstance(inner, list):
            waiting.extend(inner)
