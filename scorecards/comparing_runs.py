"""Class results of the runs that two reviews rest on. Paired where both runs are still here and may be seen: then the
scenarios that changed say whether it is more than chance; else the intervals of the snapshots say it, in words."""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evals.access import list_runs
from evals.measures.comparison import VERDICT_WORDS, Bucket, Comparison, mcnemar_exact
from evals.measures.display import format_p_value, format_points, format_quantity
from evals.measures.intervals import ALPHA
from evals.models import Run
from evals.scenario_results import compare
from reliability.access import Standing
from scorecards.snapshot_reading import ClassPart, RunPart, Snapshot

TOO_FEW = "too few changes to tell"
type _Key = tuple[str, tuple[str, ...], bool, str]


@dataclass(frozen=True, slots=True)
class ClassChange:
    """One line of class results in both runs. `words` say what may be said about the difference."""

    before: ClassPart | None
    after: ClassPart | None
    words: str

    @property
    def line(self) -> ClassPart:
        found = self.after or self.before
        if found is None:
            raise ValueError("a compared line is in at least one run")
        return found

    @property
    def points(self) -> str:
        """Return the difference of the rates, '' where there is none to speak of."""
        if self.before is None or self.after is None or self.before.evaluator != self.after.evaluator:
            return ""
        old, new = self.before.measure.reliability, self.after.measure.reliability
        return "" if old is None or new is None else format_points(new - old)


@dataclass(frozen=True, slots=True)
class RunPair:
    """The newest run of one suite in each review. `paired` is the comparison of their scenarios, if both are here."""

    before: RunPart
    after: RunPart
    paired: Comparison | None
    lines: tuple[ClassChange, ...]

    @property
    def is_same(self) -> bool:
        return self.before.id == self.after.id

    @property
    def words(self) -> str:
        if self.is_same:
            return "Both reviews rest on this run: nothing to compare."
        if self.paired is None:
            return "Compared by the intervals of each class: the runs themselves are not at hand."
        if not self.paired.is_comparable:
            return VERDICT_WORDS[self.paired.verdict].capitalize() + "."
        pairs = format_quantity(self.paired.pairs, "shared scenario")
        said = VERDICT_WORDS[self.paired.verdict]
        return f"{said.capitalize()} ({pairs}, {format_p_value(self.paired.p_value)}, exact McNemar)."

    @property
    def differences(self) -> list[str]:
        return [difference.sentence for difference in self.paired.differences] if self.paired else []


@dataclass(frozen=True, slots=True)
class RunChanges:
    """`alone` names suites that only one of the reviews rests on."""

    pairs: tuple[RunPair, ...]
    alone: tuple[str, ...]


def compare_run_results(standing: Standing, before: Snapshot, after: Snapshot) -> RunChanges:
    """Pair the newest runs of each suite, mode and origin."""
    old, new = _newest(before), _newest(after)
    shared = [key for key in new if key in old]
    ids = [uuid.UUID(run.id) for key in shared for run in (old[key], new[key])]
    here = {str(run.pk): run for run in list_runs(standing).filter(pk__in=ids)}
    alone = [
        f"{run.name} (only in review {snapshot.review.number})"
        for snapshot, runs, others in ((before, old, new), (after, new, old))
        for key, run in runs.items()
        if key not in others
    ]
    return RunChanges(tuple(_pair(old[key], new[key], here) for key in shared), tuple(alone))


def _newest(snapshot: Snapshot) -> dict[tuple[str, str, str], RunPart]:
    newest: dict[tuple[str, str, str], RunPart] = {}
    for run in snapshot.runs:  # newest first
        newest.setdefault((run.suite, run.mode, run.origin), run)
    return newest


def _pair(before: RunPart, after: RunPart, here: Mapping[str, Run]) -> RunPair:
    both = before.id in here and after.id in here and before.id != after.id
    paired = compare(here[before.id], here[after.id]) if both else None
    return RunPair(before, after, paired, () if before.id == after.id else tuple(_lines(before, after, paired)))


def _lines(before: RunPart, after: RunPart, paired: Comparison | None) -> list[ClassChange]:
    old, new = ({_key(line): line for line in run.classes if line.kind != "execution"} for run in (before, after))
    shown = {_key(line): line for line in (*after.classes, *before.classes) if line.kind != "execution"}
    single = Counter(line.class_id for line in shown.values())
    return [
        ClassChange(
            old.get(key), new.get(key), _say(old.get(key), new.get(key), paired, alone=single[line.class_id] == 1)
        )
        for key, line in shown.items()
    ]


def _key(line: ClassPart) -> _Key:
    return (line.class_id, tuple(line.categories), line.adversarial, line.indicator)


def _say(before: ClassPart | None, after: ClassPart | None, paired: Comparison | None, *, alone: bool) -> str:
    """Return what may be said. Scenarios speak for a line only where it is its class's only one."""
    if before is None or after is None:
        return "only in the later review" if before is None else "only in the earlier review"
    if before.evaluator != after.evaluator:
        return f"not comparable: judged by {before.evaluator or 'others'} before, by {after.evaluator or 'others'} now"
    if paired is not None and not paired.is_comparable:
        return "side by side only: the runs do not measure the same"
    if paired is not None and alone:
        return _say_paired(after.class_id, paired)
    return _say_apart(before, after)


def _say_paired(class_id: str, paired: Comparison) -> str:
    alike = [s for s in paired.scenarios if s.judged_alike and s.latest.class_id == class_id]
    buckets = Counter(scenario.bucket for scenario in alike)
    fixed, newly = buckets[Bucket.FIXED], buckets[Bucket.NEWLY_FAILING]
    counted = f"{fixed:,} fixed, {newly:,} newly failing"
    if mcnemar_exact(fixed + newly, 0) > ALPHA:
        return f"{TOO_FEW} ({counted})"
    p_value = mcnemar_exact(fixed, newly)
    if p_value > ALPHA:
        return f"no difference shown ({counted})"
    return f"{'better' if fixed > newly else 'worse'} beyond chance ({counted}, {format_p_value(p_value)})"


def _say_apart(before: ClassPart, after: ClassPart) -> str:
    old, new = before.measure.interval, after.measure.interval
    if old is None or new is None:
        return "no determinate results " + ("in either" if old is new else "before" if old is None else "now")
    if old.high < new.low:
        return "higher: the intervals do not overlap"
    if new.high < old.low:
        return "lower: the intervals do not overlap"
    return "the intervals overlap: no difference shown"


def list_run_changes(standing: Standing, reviews: Sequence[Snapshot]) -> list[RunChanges]:
    """Return the changes from each review to the next."""
    return [compare_run_results(standing, one, other) for one, other in pairwise(reviews)]
