"""What an Inspect log says of itself in its results: totals and scorers, compared with what its samples hold."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evals.parsers.cases import counted
from evals.parsers.reading import member
from evals.parsers.values import as_count, as_id

MAX_SCORERS = 50
MAX_NOTES = 10
WHOLE = ("", "*")  # “*” is what Inspect calls the keys of a scorer of which all values are NaN


class Scored:
    """Counts samples by scorer, and by key of a scorer with several values: those with a score, those with a value."""

    def __init__(self) -> None:
        self._all: dict[tuple[str, str], set[str]] = {}
        self._valued: dict[tuple[str, str], set[str]] = {}

    def add(self, scorer: str, key: str, sample: str, *, has_value: bool) -> None:
        for name in {"", key}:
            self._all.setdefault((scorer, name), set()).add(sample)
            if has_value:
                self._valued.setdefault((scorer, name), set()).add(sample)

    def counts(self, scorer: str, name: str) -> tuple[int, int]:
        """Return (scored, unscored) samples; epochs of a sample count once, as in Inspect's results."""
        key = (scorer, name) if (scorer, name) in self._all else (scorer, "")
        everything, valued = self._all.get(key, set()), self._valued.get(key, set())
        return len(valued), len(everything) - len(valued)


@dataclass(frozen=True, slots=True)
class ScorerResult:
    scorer: str
    name: str  # a key of its values; '' = the scorer as a whole
    params: Any
    scored: int | None
    unscored: int | None

    @property
    def label(self) -> str:
        return as_id(f"{self.scorer}.{self.name}" if self.name else self.scorer, limit=100)


class Results:
    """The member “results”, which is null where a run broke off or all of its samples did."""

    def __init__(self, results: Any) -> None:
        self.total = as_count(member(results, "total_samples"))
        self.completed = as_count(member(results, "completed_samples"))
        self.scorers = tuple(_scorers(member(results, "scores")))

    @property
    def params(self) -> dict[str, Any]:
        """Return the parameters of the scorers by the names that samples use."""
        return {result.scorer: result.params for result in self.scorers if result.params}

    @property
    def totals(self) -> dict[str, int]:
        """Return the counts in Inspect's words, those of the first scorers only."""
        told = {"total_samples": self.total, "completed_samples": self.completed}
        for result in self.scorers[:MAX_SCORERS]:
            told[f"scored_samples of {result.label}"] = result.scored
            told[f"unscored_samples of {result.label}"] = result.unscored or None
        return {name: count for name, count in told.items() if count is not None}

    def notes(self, *, recorded: int, planned: int | None, scored: Scored) -> Iterator[str]:
        if self.total is not None and (self.completed or 0) < self.total:
            yield (
                f"Inspect completed {self.completed or 0} of {counted(self.total, 'sample')}; its own metrics are over "
                "the completed ones."
            )
        if self.total is not None and recorded != self.total:
            yield f"Inspect counts {counted(self.total, 'sample')}, the log holds {recorded}."
        if self.total is None and planned is not None and recorded != planned:
            yield f"The log plans {counted(planned, 'sample')} (its data set × epochs) and holds {recorded}."
        differing = [note for result in self.scorers if (note := _difference(result, scored))]
        yield from differing[:MAX_NOTES]
        if len(differing) > MAX_NOTES:
            yield f"{counted(len(differing) - MAX_NOTES, 'more scorer')} counted otherwise by Inspect than here."
        if len(self.scorers) > MAX_SCORERS:
            yield f"Of {len(self.scorers)} scorers’ own totals the first {MAX_SCORERS} are kept."


def _difference(result: ScorerResult, scored: Scored) -> str:
    if result.scored is None:
        return ""
    told = (result.scored, result.unscored or 0)
    ours = scored.counts(result.scorer, result.name)
    if told == ours:
        return ""
    return (
        f"Inspect says {told[0]} samples scored and {told[1]} unscored by {result.label}; "
        f"the samples give {ours[0]} and {ours[1]}."
    )


def _scorers(scores: Any) -> Iterator[ScorerResult]:
    """Yield each scorer once: two reducers of epochs make two entries of the same evidence."""
    seen = set()
    for score in scores if isinstance(scores, list) else ():
        name = member(score, "name")
        scorer = member(score, "scorer") or name
        if not isinstance(name, str) or not isinstance(scorer, str) or (scorer, name) in seen:
            continue
        seen.add((scorer, name))
        counts = (as_count(member(score, f"{kind}_samples")) for kind in ("scored", "unscored"))
        yield ScorerResult(scorer, "" if name in (*WHOLE, scorer) else name, member(score, "params"), *counts)
