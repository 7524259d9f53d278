"""One sample of an Inspect log: a scenario, its attempt, one evaluation per scorer, and what the agent did."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evals.parsers.cases import Ordinals, Tally, as_milliseconds, counted, facts_of
from evals.parsers.checked import Place
from evals.parsers.inspect_results import Scored
from evals.parsers.inspect_steps import steps_of, text_of
from evals.parsers.reading import Cleaner, Limits, member
from evals.parsers.values import as_count, as_id, as_number, parse_loose_time
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    EvaluationRecord,
    EvaluatorRecord,
    Expectation,
    Finding,
    Outcome,
    Record,
    ScenarioRecord,
)

CANCELLED = "Cancelled via cancel scope"
MODEL_GRADED = "model_graded"
UNSCORED = "unscored"
EXPECTATIONS = {expectation.value: expectation for expectation in Expectation}
WORDS = {
    "C": (Outcome.PASS, ""),
    "I": (Outcome.FAIL, ""),
    "P": (Outcome.UNKNOWN, "partial"),
    "N": (Outcome.UNKNOWN, "no_answer"),
}


class SampleReader:
    """Reads the samples of one log, in their order."""

    def __init__(self, evaluation: dict[str, Any], params: dict[str, Any], limits: Limits) -> None:
        self.cleaner = Cleaner(limits)
        self.tally = Tally("Inspect")
        self.task = as_id(evaluation.get("task"), limit=90)
        self.version = as_id(evaluation.get("task_version"))
        self.model = as_id(evaluation.get("model"))
        self.options = _scorer_options(evaluation, params)
        self.attempts = 0
        self.scored = Scored()
        self._ordinals = Ordinals()
        self._declared: set[str] = set()
        self._repeated = 0
        self._invalidated = 0
        self._evaluators: dict[str, EvaluatorRecord] = {}

    def records(self, sample: dict[str, Any], place: Place, where: str) -> Iterator[Record]:
        key = self._key(sample, place)
        metadata = sample.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        facts = facts_of(metadata)
        if key not in self._declared:
            self._declared.add(key)
            yield ScenarioRecord(
                key=key,
                class_id=facts.class_id,
                adversarial=facts.adversarial,
                guards=_names(metadata.get("guards")),
                controls=_names(metadata.get("controls")),
                expects=EXPECTATIONS.get(str(metadata.get("expects"))),
            )
        epoch = as_count(sample.get("epoch")) or 1
        ordinal = self._ordinals.take(key, self.model, wanted=epoch if epoch < 2**31 else None)
        self._repeated += ordinal != epoch
        self.attempts += 1
        self._invalidated += bool(sample.get("invalidation"))
        judged = self.tally.evaluations(self._evaluations(sample, key, place, facts.categories))
        yield self._attempt(sample, key, ordinal, where, judged)

    def _key(self, sample: dict[str, Any], place: Place) -> str:
        """Name the sample by task and id. A text that looks like a number is another id than that number."""
        own = sample.get("id")
        if isinstance(own, bool) or not isinstance(own, str | int) or own == "":
            raise place.at("id").refusal("the sample's id, a text or a whole number", code="invalid_sample")
        text = as_id(own, limit=100)
        if isinstance(own, str) and own.strip().lstrip("-").isdigit():
            text = f'"{text}"'
        return f"{self.task} | {text}" if self.task else text or '""'

    def _attempt(
        self, s: dict[str, Any], key: str, ordinal: int, where: str, judged: tuple[EvaluationRecord, ...]
    ) -> AttemptRecord:
        by_model = s.get("model_usage")
        usage = list(by_model.values()) if isinstance(by_model, dict) else []
        attachments = s.get("attachments")
        attachments = attachments if isinstance(attachments, dict) else {}
        error = _error_message(s)
        return AttemptRecord(
            scenario=key,
            ordinal=ordinal,
            variant=self.model,
            status=AttemptStatus.CRASHED if _has_error(s) else AttemptStatus.COMPLETED,
            started_at=parse_loose_time(s.get("started_at"))[0],
            latency_ms=as_milliseconds(s.get("total_time")),
            tokens_input=_sum(usage, "input_tokens"),
            tokens_output=_sum(usage, "output_tokens"),
            trace_id=as_id(s.get("uuid")),
            input=self.cleaner.text(text_of(s.get("input"), attachments)),
            output=self.cleaner.text(_completion(s, attachments)),
            error=self.cleaner.text(error),
            steps=self.tally.steps(steps_of(s, attachments, self.cleaner)),
            evaluations=judged,
            place=where[:300],
            extras=self._extras(s),
        )

    def _extras(self, s: dict[str, Any]) -> dict[str, Any]:
        retries = s.get("error_retries")
        found: dict[str, Any] = {"limit": self.cleaner.value(s.get("limit"))} if s.get("limit") else {}
        if s.get("invalidation"):
            found["invalidation"] = self.cleaner.value(s["invalidation"])
        return found | ({"error_retries": len(retries)} if isinstance(retries, list) and retries else {})

    # -- judgements

    def _evaluations(self, s: dict[str, Any], sample: str, place: Place, categories: Any) -> Iterator[EvaluationRecord]:
        scores = s.get("scores")
        if scores is None and s.get("score") is not None:  # before 2024 there was one scorer
            scores = {next(iter(self.options), "score"): s["score"]}
        if scores is not None and not isinstance(scores, dict):
            raise place.at("scores").refusal("an object with a score for each scorer", code="invalid_sample")
        limit = as_id(member(s, "limit", "type"), limit=60)
        for name, score in (scores or {}).items():
            value = score.get("value") if isinstance(score, dict) else score
            told = member(score, "explanation")
            for key, part in value.items() if isinstance(value, dict) and value else (("", value),):
                self.scored.add(str(name), str(key), sample, has_value=judge_value(part)[1] != UNSCORED)
                yield self._judged(str(name), str(key), part, told, limit, categories)
        if not scores:
            yield self._unjudged(s, categories)

    def _judged(self, scorer: str, key: str, value: Any, told: Any, limit: str, categories: Any) -> EvaluationRecord:
        outcome, code = judge_value(value)
        if limit and outcome is not Outcome.PASS:
            code = f"limit_{limit}"
        is_text = isinstance(value, str) and value not in WORDS
        return EvaluationRecord(
            indicator=as_id(f"{scorer}.{key}" if key else scorer) or "score",
            outcome=outcome,
            evaluator=self._evaluator(scorer),
            categories=categories,
            finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
            reason_code=code,
            reason=self.cleaner.text(told) if isinstance(told, str) else "",
            score=as_number(value) if isinstance(value, int | float) else None,
            extras={"value": self.cleaner.value(value)} if is_text or isinstance(value, list | dict) else {},
        )

    def _unjudged(self, s: dict[str, Any], categories: Any) -> EvaluationRecord:
        message = _error_message(s)
        if _has_error(s):
            outcome, code = Outcome.ERROR, "cancelled" if message == CANCELLED else "sample_error"
        else:
            outcome, code = Outcome.UNKNOWN, "not_scored"
        return EvaluationRecord(
            indicator="sample",
            outcome=outcome,
            evaluator=EvaluatorRecord("inspect_ai", self.version),
            categories=categories,
            reason_code=code,
            reason=self.cleaner.text(message),
        )

    def _evaluator(self, scorer: str) -> EvaluatorRecord:
        if scorer not in self._evaluators:
            options = self.options.get(scorer)
            self._evaluators[scorer] = EvaluatorRecord(
                name=as_id(scorer) or "score",
                version=self.version,
                configuration_sha256=self.cleaner.digest(options) if options else "",
                deterministic=MODEL_GRADED not in scorer,
            )
        return self._evaluators[scorer]

    def notes(self) -> Iterator[str]:
        if self._repeated:
            yield f"{counted(self._repeated, 'sample')} had an id and epoch that another one has: both are kept."
        if self._invalidated:
            yield (
                f"{counted(self._invalidated, 'sample')} marked as not to be relied on (invalidation); "
                "counted all the same."
            )
        yield from self.tally.notes()
        yield from self.cleaner.notes()


def judge_value(value: Any) -> tuple[Outcome, str]:
    """Return what a score says. No threshold is in a log, so only plain verdicts are PASS or FAIL."""
    if isinstance(value, str):
        return WORDS.get(value, (Outcome.UNKNOWN, "no_verdict"))
    if isinstance(value, bool) or value in (0, 1):
        return (Outcome.PASS, "") if value else (Outcome.FAIL, "")
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return Outcome.UNKNOWN, UNSCORED
    return Outcome.UNKNOWN, "no_threshold" if isinstance(value, int | float) else "several_values"


def _scorer_options(evaluation: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """Return the scorers' options by the names that samples use: a name that repeats gets a number. Where the log's
    head has none, they are those of its results."""
    scorers = evaluation.get("scorers")
    found: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for scorer in scorers if isinstance(scorers, list) else ():
        name = str(member(scorer, "name") or "").rpartition("/")[2]
        found[f"{name}{seen[name] or ''}"] = member(scorer, "options")
        seen[name] += 1
    return params | {name: options for name, options in found.items() if options is not None or name not in params}


def _has_error(s: dict[str, Any]) -> bool:
    """Whether a sample broke; an error object that says nothing is an error, too."""
    return s.get("error") not in (None, False, "")


def _error_message(s: dict[str, Any]) -> str:
    error = s.get("error")
    message = member(error, "message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _completion(s: dict[str, Any], attachments: dict[str, Any]) -> str:
    output = s.get("output")
    told = member(output, "completion")
    if told is None:
        choices = member(output, "choices")
        told = member(choices[0], "message", "content") if isinstance(choices, list) and choices else None
    return text_of(told, attachments)


def _sum(usage: list[Any], name: str) -> int | None:
    numbers = [number for used in usage if (number := as_count(member(used, name))) is not None]
    return as_count(sum(numbers)) if numbers else None


def _names(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return tuple(dict.fromkeys(found for name in names[:100] if (found := as_id(name))))
