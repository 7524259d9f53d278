"""What one evaluation result of OpenTelemetry says, and what its repeats say."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evals.parsers.cases import as_text, counted
from evals.parsers.otlp import Attributes, Entry
from evals.parsers.reading import Cleaner
from evals.parsers.values import as_id, as_number
from evals.records import EvaluationRecord, EvaluatorRecord, Fault, Finding, Outcome

LABEL, SCORE = "gen_ai.evaluation.score.label", "gen_ai.evaluation.score.value"
ERROR = "error.type"
LABELS = dict.fromkeys(("pass", "passed", "true", "yes"), Outcome.PASS)
LABELS |= dict.fromkeys(("fail", "failed", "false", "no"), Outcome.FAIL)
MAX_REPEATS = 20  # of one evaluation, kept as evidence


@dataclass(frozen=True, slots=True)
class Said:
    outcome: Outcome
    score: float | None
    label: str
    place: str


class Repeats:
    """Results of the same trace, span and evaluation: one evaluation, though it may be in the logs and the traces."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str, str], Said] = {}
        self._others: defaultdict[tuple[str, str, str], list[Said]] = defaultdict(list)  # those that say otherwise
        self._results: Counter[tuple[str, str, str]] = Counter()

    def is_first(self, entry: Entry, name: str) -> bool:
        key = (entry.trace_id, entry.span_id, name)
        said = _said(entry)
        first = self._said.setdefault(key, said)
        self._results[key] += 1
        if (first.outcome, first.score) != (said.outcome, said.score):
            self._others[key].append(said)
        return first is said

    def others(self, entry: Entry) -> Sequence[Said]:
        """Return what repeats of a result say that it does not say itself."""
        return self._others.get((entry.trace_id, entry.span_id, _name(entry)), ())

    def notes(self) -> Iterator[str]:
        opposed = {
            key
            for key, others in self._others.items()
            if any(other.outcome is not self._said[key].outcome for other in others)
        }
        differing = sum(len(others) for key, others in self._others.items() if key not in opposed)
        same = sum(number - 1 for key, number in self._results.items() if key not in opposed) - differing
        if same:
            yield f"Not counted: {counted(same, 'repeated result')}."
        if differing:
            differ = "differs" if differing == 1 else "differ"
            repeated = counted(differing, "repeated result")
            yield f"Not counted: {repeated} whose score {differ} and whose verdict does not."
        if opposed:
            results = sum(self._results[key] for key in opposed)
            have = "1 evaluation has" if len(opposed) == 1 else f"{len(opposed)} evaluations have"
            yield f"{have} {results} results that contradict each other: UNKNOWN (contradiction)."


def _name(entry: Entry) -> str:
    return as_id(entry.attributes.get("gen_ai.evaluation.name"))


def _said(entry: Entry) -> Said:
    told = entry.attributes
    return Said(_verdict(told)[0], as_number(told.get(SCORE)), as_id(told.get(LABEL)), str(entry.place))


def evaluation_of(result: Entry, others: Sequence[Said], cleaner: Cleaner) -> EvaluationRecord:
    """Return the evaluation that a result is. Where its repeats have another outcome, nothing says which holds."""
    told = result.attributes
    outcome, code, reported = _verdict(told)
    score = as_number(told.get(SCORE))
    error = as_text(told.get(ERROR), cleaner)
    kept: dict[str, Any] = {name: told[name] for name in (LABEL, ERROR, "gen_ai.response.id") if name in told}
    if others:
        kept["repeats"] = [_as_evidence(other) for other in others[:MAX_REPEATS]]
    if any(other.outcome is not outcome for other in others):
        outcome, code, reported, score = Outcome.UNKNOWN, "contradiction", None, None
        kept[SCORE] = told.get(SCORE)
    return EvaluationRecord(
        indicator=_name(result),
        outcome=outcome,
        evaluator=EvaluatorRecord(
            name=as_id(result.resource.get("service.name")) or as_id(result.scope) or "opentelemetry",
            version=as_id(result.resource.get("service.version")),
            deterministic=False,  # the convention does not say, and most of these judges are models
        ),
        finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
        fault=Fault.GRADER if outcome is Outcome.ERROR else Fault.UNKNOWN,
        reason_code=code,
        reason=as_text(told.get("gen_ai.evaluation.explanation"), cleaner) or error,
        score=score,
        evidence=cleaner.value(kept) or None,
        observed_at=result.time,
        reported_outcome=reported if reported is not outcome else None,
    )


def _as_evidence(said: Said) -> dict[str, Any]:
    return {"outcome": said.outcome.value, "score": said.score, "label": said.label, "place": said.place}


def _verdict(told: Attributes) -> tuple[Outcome, str, Outcome | None]:
    """Return our outcome, why, and what the label says. A score alone says nothing: 1 may be good or bad."""
    label, score = told.get(LABEL), told.get(SCORE)
    reported = LABELS.get(str(label).strip().lower()) if isinstance(label, str | bool) else None
    if ERROR in told:  # whatever it holds: it must be there for errors only
        return Outcome.ERROR, "evaluation_error", reported
    if isinstance(score, float) and not math.isfinite(score):
        return Outcome.UNKNOWN, "score_not_finite", reported
    if reported:
        return reported, "", reported
    return Outcome.UNKNOWN, "no_label" if label is None else "unknown_label", None
