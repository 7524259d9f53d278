"""What goes over the wire, said by hand. msgspec encodes it: schemas per row cost many times the query (DESIGN 10)."""

from datetime import datetime
from fractions import Fraction
from typing import Any

import msgspec

from evals.measures.counts import AttemptCounts, Counts
from evals.measures.display import format_execution, format_interval, format_range, format_rate
from evals.measures.summary import Measure


class Out(msgspec.Struct, kw_only=True):
    """A JSON object of the API."""


class RatioOut(Out):
    """An exact ratio. `text` is how page and report print it."""

    numerator: int
    denominator: int
    text: str


class RangeOut(Out):
    low: float
    high: float
    text: str


class IntervalOut(Out):
    low: float
    high: float
    level: float
    method: str
    text: str


class FailuresOut(Out):
    """FAIL by how far the failure reached."""

    user_visible: int
    host_corrected: int
    guarded_or_disclosed: int
    unclassified: int


class CountsOut(Out):
    """Evaluations by outcome; `total` is their sum, `determinate` is pass + fail."""

    total: int
    determinate: int
    passed: int = msgspec.field(name="pass")
    failed: int = msgspec.field(name="fail")
    unknown: int
    error: int
    failures: FailuresOut


class AttemptsOut(Out):
    """Attempts of a run. `range` is widened by planned attempts that are missing."""

    planned: int | None
    recorded: int
    missing: int
    passed: int = msgspec.field(name="pass")
    failed: int = msgspec.field(name="fail")
    unknown: int
    error: int
    range: RangeOut | None
    execution_rate: RatioOut | None
    execution_text: str


class ContainmentOut(Out):
    """Attempts of adversarial scenarios with guarded tools. The three never merge into one rate."""

    proven: int
    unproven: int
    breached: int


class DifferenceOut(Out):
    """Evaluations whose outcome is not the tool's own, and why."""

    ours: str
    reported: str
    reason_code: str
    count: int


class ClassOut(Out):
    """One line of class results: one class, category set and definition."""

    class_id: str = msgspec.field(name="class")
    title: str
    known: bool
    categories: list[str]
    adversarial: bool
    indicator: str
    kind: str
    evaluator: str
    definitions: int
    counts: CountsOut
    reliability: RatioOut | None
    range: RangeOut | None
    interval: IntervalOut | None


class RunOut(Out):
    id: str
    label: str
    agent: str
    suite: str
    suite_version: str
    agent_version: str
    model: str
    environment: str
    commit: str
    branch: str
    ci_url: str
    mode: str
    origin: str
    kind: str
    made_by: str
    session: str
    session_reason: str
    invalidated: bool
    intake: str
    shards_expected: int | None
    is_aggregate: bool
    at: datetime
    at_assumed: bool
    started_at: datetime | None
    finished_at: datetime | None
    created_at: datetime
    format: str
    parser_version: str
    taxonomy_version: str
    counts: CountsOut
    attempts: AttemptsOut
    containment: ContainmentOut
    differing: int
    reported_totals: dict[str, Any]
    notes: list[str]
    url: str


class LinksOut(Out):
    run: str = ""
    api: str = ""
    classes: str = ""
    compare: str = ""
    import_: str = msgspec.field(name="import", default="")


class ProgressOut(Out):
    bytes_total: int
    bytes_read: int
    rows_read: int
    rows_stored: int


class ImportOut(Out):
    """A job; what a person looks for in a CI log comes first.

    `run`, `classes` and `differences` come when it is done; `errors` when it was refused.
    """

    summary: str
    state: str
    links: LinksOut
    id: str
    agent: str
    phase: str
    dry_run: bool
    progress: ProgressOut
    created_at: datetime
    finished_at: datetime | None
    status: int | None
    code: str
    detail: str
    errors: list[dict[str, Any]]
    run: dict[str, Any] | None
    classes: list[dict[str, Any]]
    differences: list[dict[str, Any]]


class ScenarioOut(Out):
    key: str
    title: str
    class_id: str = msgspec.field(name="class")
    adversarial: bool
    variant: str
    outcome: str
    attempts: int
    passed: int = msgspec.field(name="pass")
    failed: int = msgspec.field(name="fail")
    unknown: int
    error: int
    containment: str | None


class DifferingOut(Out):
    """Something the two runs do not share; a hard difference forbids a verdict."""

    name: str
    a: str
    b: str
    hard: bool
    text: str


class SideOut(Out):
    """Scenarios of a bucket on one side by result; `error` are those that nothing decided and an ERROR ended."""

    passed: int = msgspec.field(name="pass")
    failed: int = msgspec.field(name="fail")
    flaky: int
    unknown: int
    error: int


class BucketOut(Out):
    """Scenarios by what became of them; those that pass on both sides are counted, not listed.

    In the names of the buckets, unknown means undecided: UNKNOWN or ERROR. `a` and `b` tell the two apart.
    """

    bucket: str
    count: int
    a: SideOut
    b: SideOut
    scenarios: list[str]


class ComparisonOut(Out):
    """Run A (earlier) and run B. `p_value` is of the exact McNemar test over `pairs`; `dropped` are shared but not
    determinate, or judged otherwise."""

    a: str
    b: str
    comparable: bool
    differences: list[DifferingOut]
    verdict: str
    text: str
    pairs: int
    dropped: int
    p_value: float
    buckets: list[BucketOut]


class AgentOut(Out):
    id: str
    slug: str
    name: str
    purpose: str
    risk_tier: str
    owner: str
    repository: str
    url: str


class PageOut(Out):
    """A page of a list. `next` is the address of the following one, null at the end."""

    items: list[Any]
    next: str | None


def ratio_out(rate: Fraction | None) -> RatioOut | None:
    if rate is None:
        return None
    return RatioOut(numerator=rate.numerator, denominator=rate.denominator, text=format_rate(rate))


def range_out(ends: tuple[Fraction, Fraction] | None) -> RangeOut | None:
    if ends is None:
        return None
    return RangeOut(low=float(ends[0]), high=float(ends[1]), text=format_range(ends))


def interval_out(measure: Measure) -> IntervalOut | None:
    found = measure.interval
    if found is None:
        return None
    return IntervalOut(
        low=float(found.low),
        high=float(found.high),
        level=float(found.level),
        method=found.method.value,
        text=format_interval(found),
    )


def counts_out(counts: Counts) -> CountsOut:
    return CountsOut(
        total=counts.total,
        determinate=counts.determinate,
        passed=counts.passed,
        failed=counts.failed,
        unknown=counts.unknown,
        error=counts.error,
        failures=FailuresOut(
            user_visible=counts.fail_user_visible,
            host_corrected=counts.fail_host_corrected,
            guarded_or_disclosed=counts.fail_guarded,
            unclassified=counts.fail_unclassified,
        ),
    )


def attempts_out(attempts: AttemptCounts) -> AttemptsOut:
    return AttemptsOut(
        planned=attempts.planned,
        recorded=attempts.recorded,
        missing=attempts.missing,
        passed=attempts.passed,
        failed=attempts.failed,
        unknown=attempts.unknown,
        error=attempts.error,
        range=range_out(attempts.value_range),
        execution_rate=ratio_out(attempts.execution.rate),
        execution_text=format_execution(attempts.execution),
    )
