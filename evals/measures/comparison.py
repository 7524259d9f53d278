"""Two runs side by side (DESIGN 4, Two runs): are they comparable, what changed, and is it more than chance."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from .comparability import Difference, RunFacts, name_differences
from .intervals import ALPHA
from .outcomes import ScenarioOutcome


class Bucket(StrEnum):
    FIXED = "fixed"
    NEWLY_FAILING = "newly_failing"
    STILL_FAILING = "still_failing"
    STILL_PASSING = "still_passing"
    FLAKY = "flaky"
    BECAME_UNKNOWN = "became_unknown"
    BECAME_KNOWN = "became_known"
    STILL_UNKNOWN = "still_unknown"
    ONLY_IN_A = "only_in_a"
    ONLY_IN_B = "only_in_b"


TESTED = (Bucket.FIXED, Bucket.NEWLY_FAILING, Bucket.STILL_PASSING, Bucket.STILL_FAILING)


class Verdict(StrEnum):
    NOT_COMPARABLE = "not_comparable"
    NOTHING_SHARED = "nothing_shared"
    TOO_FEW_CHANGES = "too_few_changes"
    NO_DIFFERENCE_SHOWN = "no_difference_shown"
    BETTER = "better"
    WORSE = "worse"


VERDICT_WORDS = {
    Verdict.NOT_COMPARABLE: "not comparable: read the two runs side by side",
    Verdict.NOTHING_SHARED: "no scenario passes or fails on both sides",
    Verdict.TOO_FEW_CHANGES: "too few changes to tell",
    Verdict.NO_DIFFERENCE_SHOWN: "changes in both directions: no difference shown",
    Verdict.BETTER: "better: more fixed than newly failing, beyond chance",
    Verdict.WORSE: "worse: more newly failing than fixed, beyond chance",
}


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One scenario and variant of a run. `definitions` are digests; empty means that they are not given.

    `errors` counts its attempts that ended in ERROR: a scenario that nothing decided is then no mere UNKNOWN.
    """

    key: str
    outcome: ScenarioOutcome
    variant: str = ""
    title: str = ""
    class_id: str = ""
    definitions: frozenset[str] = frozenset()
    errors: int = 0

    @property
    def shown(self) -> str:
        """Return pass, fail, flaky, unknown or error: ERROR where nothing decided it and an attempt ended in ERROR."""
        if self.outcome is ScenarioOutcome.UNKNOWN and self.errors:
            return "error"
        return self.outcome.value


@dataclass(frozen=True, slots=True)
class ComparedScenario:
    """A scenario as both runs saw it; the side that lacks it is None."""

    a: ScenarioResult | None
    b: ScenarioResult | None
    bucket: Bucket

    @property
    def latest(self) -> ScenarioResult:
        found = self.b or self.a
        if found is None:
            raise ValueError("a compared scenario is in at least one run")
        return found

    @property
    def judged_alike(self) -> bool:
        """Say whether the same definitions judged both sides; a side that does not name them is trusted."""
        if self.a is None or self.b is None or not (self.a.definitions and self.b.definitions):
            return True
        return self.a.definitions == self.b.definitions


@dataclass(frozen=True, slots=True)
class Comparison:
    """`pairs` pass or fail on both sides by the same definitions and are tested; `dropped` are shared but not."""

    differences: tuple[Difference, ...]
    scenarios: tuple[ComparedScenario, ...]
    pairs: int
    dropped: int
    p_value: Fraction
    verdict: Verdict

    @property
    def is_comparable(self) -> bool:
        return not any(difference.hard for difference in self.differences)

    @property
    def counts(self) -> dict[Bucket, int]:
        """Return every bucket with its size, also the empty ones."""
        sizes = Counter(scenario.bucket for scenario in self.scenarios)
        return {bucket: sizes[bucket] for bucket in Bucket}

    def in_bucket(self, bucket: Bucket) -> tuple[ComparedScenario, ...]:
        return tuple(scenario for scenario in self.scenarios if scenario.bucket is bucket)

    def split(self, bucket: Bucket) -> tuple[Counter[str], Counter[str]]:
        """Return how often each result as shown occurs in the bucket, in A and in B."""
        within = self.in_bucket(bucket)
        return Counter(s.a.shown for s in within if s.a), Counter(s.b.shown for s in within if s.b)


def compare_runs(
    a: Iterable[ScenarioResult],
    b: Iterable[ScenarioResult],
    *,
    facts_a: RunFacts,
    facts_b: RunFacts,
) -> Comparison:
    """Pair the scenarios of two runs of one agent, earlier run first.

    Scenarios pair by key and variant; when each side has one variant, by key alone. A scenario is known by
    its suite too, so nothing pairs across two suites that are both named and differ.
    """
    scenarios = _pair(tuple(a), tuple(b), across=facts_a.shares_suite_with(facts_b))
    shared = [scenario for scenario in scenarios if scenario.a and scenario.b]
    alike = [scenario for scenario in shared if scenario.judged_alike]
    differences = name_differences(
        facts_a, facts_b, shared_scenarios=len(shared), judged_otherwise=len(shared) - len(alike)
    )
    changes = Counter(scenario.bucket for scenario in alike)
    fixed, newly_failing = changes[Bucket.FIXED], changes[Bucket.NEWLY_FAILING]
    pairs = sum(changes[bucket] for bucket in TESTED)
    p_value = mcnemar_exact(fixed, newly_failing)
    comparable = not any(difference.hard for difference in differences)
    return Comparison(
        differences=differences,
        scenarios=scenarios,
        pairs=pairs,
        dropped=len(shared) - pairs,
        p_value=p_value,
        verdict=_verdict(fixed, newly_failing, pairs=pairs, p_value=p_value, comparable=comparable),
    )


def choose_bucket(a: ScenarioOutcome | None, b: ScenarioOutcome | None) -> Bucket:
    """Put a scenario into exactly one bucket. The first that applies wins:

    1. missing on one side: only in A, only in B;
    2. undecided (UNKNOWN or ERROR) in B: still unknown if it was undecided in A too, else became unknown;
    3. flaky on either side: flaky, whatever the other side says;
    4. undecided in A: became known;
    5. pass or fail on both sides: fixed, newly failing, still passing, still failing.
    """
    if a is None and b is None:
        raise ValueError("a compared scenario is in at least one run")
    if b is None:
        return Bucket.ONLY_IN_A
    if a is None:
        return Bucket.ONLY_IN_B
    if b is ScenarioOutcome.UNKNOWN:
        return Bucket.STILL_UNKNOWN if a is ScenarioOutcome.UNKNOWN else Bucket.BECAME_UNKNOWN
    if ScenarioOutcome.FLAKY in (a, b):
        return Bucket.FLAKY
    if a is ScenarioOutcome.UNKNOWN:
        return Bucket.BECAME_KNOWN
    if a is b:
        return Bucket.STILL_PASSING if b is ScenarioOutcome.PASS else Bucket.STILL_FAILING
    return Bucket.FIXED if b is ScenarioOutcome.PASS else Bucket.NEWLY_FAILING


def mcnemar_exact(fixed: int, newly_failing: int) -> Fraction:
    """Return the two-sided p of the exact McNemar test: 2·P(X ≤ fewer), X binomial over the changes with ½, at most 1.

    Q. McNemar, Psychometrika 12 (1947), with the binomial in place of chi-squared.
    """
    changes, fewer = fixed + newly_failing, min(fixed, newly_failing)
    term = tail = 1
    for k in range(fewer):
        term = term * (changes - k) // (k + 1)
        tail += term
    return min(Fraction(1), Fraction(2 * tail, 2**changes))


def _verdict(fixed: int, newly_failing: int, *, pairs: int, p_value: Fraction, comparable: bool) -> Verdict:
    if not comparable:
        return Verdict.NOT_COMPARABLE
    if pairs == 0:
        return Verdict.NOTHING_SHARED
    # Were all changes in one direction and still not beyond chance, the test could never have told: up to five.
    if mcnemar_exact(fixed + newly_failing, 0) > ALPHA:
        return Verdict.TOO_FEW_CHANGES
    if p_value > ALPHA:
        return Verdict.NO_DIFFERENCE_SHOWN
    return Verdict.BETTER if fixed > newly_failing else Verdict.WORSE


type _Key = tuple[str, str]


def _pair(
    a: tuple[ScenarioResult, ...], b: tuple[ScenarioResult, ...], *, across: bool
) -> tuple[ComparedScenario, ...]:
    # Re-running a suite with another model renames the only variant; that is the comparison people want.
    by_key_alone = len({result.variant for result in a}) == 1 == len({result.variant for result in b})
    of_a, of_b = (_index(results, by_key_alone=by_key_alone) for results in (a, b))
    if not across:
        return _only(of_a, Bucket.ONLY_IN_A) + _only(of_b, Bucket.ONLY_IN_B)
    keys = sorted(of_a.keys() | of_b.keys())
    return tuple(_compared(of_a.get(key), of_b.get(key)) for key in keys)


def _index(results: tuple[ScenarioResult, ...], *, by_key_alone: bool) -> dict[_Key, ScenarioResult]:
    index: dict[_Key, ScenarioResult] = {}
    for result in results:
        key = (result.key, "" if by_key_alone else result.variant)
        if key in index:
            raise ValueError(f"scenario {result.key!r} with variant {result.variant!r} occurs twice in one run")
        index[key] = result
    return index


def _only(results: Mapping[_Key, ScenarioResult], bucket: Bucket) -> tuple[ComparedScenario, ...]:
    in_a = bucket is Bucket.ONLY_IN_A
    return tuple(
        ComparedScenario(a=result if in_a else None, b=None if in_a else result, bucket=bucket)
        for _, result in sorted(results.items(), key=lambda item: item[0])
    )


def _compared(a: ScenarioResult | None, b: ScenarioResult | None) -> ComparedScenario:
    bucket = choose_bucket(a.outcome if a else None, b.outcome if b else None)
    return ComparedScenario(a=a, b=b, bucket=bucket)
