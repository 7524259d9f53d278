"""The members of run/v1 with their types and bounds, as msgspec decodes them.

Whatever does not fit is read again by `careful`, which walks over these same types and says where and why.
After a careful reading that found problems, a required member may be None.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Raw, Struct, field

from evals.records import (
    AttemptStatus,
    Category,
    Decision,
    Expectation,
    Fault,
    Finding,
    Mode,
    Origin,
    Outcome,
    SourceKind,
    StepKind,
)

SCHEMA = "run/v1"
MAX_ID = 200
MAX_URL = 2_000
MAX_EVIDENCE_BYTES = 20_480
MAX_COUNT = 2**63 - 1  # what a database column holds
MAX_ORDINAL = 2**31 - 1
MONEY_LIMIT = 10**9


def _kind(name: str) -> dict[str, Any]:
    """Name the rule that types can't say; `careful` and `build` apply it."""
    return {"kind": name}


Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID, extra=_kind("id"))]
Variant = Annotated[str, Meta(max_length=MAX_ID, extra=_kind("id"))]  # '' is its default and may be written
Label = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]
Sha256 = Annotated[str, Meta(min_length=64, max_length=64, extra=_kind("sha256"))]
Time = Annotated[str, Meta(extra=_kind("time"))]
Day = Annotated[str, Meta(extra=_kind("date"))]
Url = Annotated[str, Meta(max_length=MAX_URL, extra=_kind("url"))]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Ordinal = Annotated[int, Meta(ge=1, le=MAX_ORDINAL)]
Number = Annotated[float, Meta(ge=0)]
Money = Annotated[float, Meta(ge=0, lt=MONEY_LIMIT)]


class Wire(Struct, forbid_unknown_fields=True, gc=False):
    pass


class Shard(Wire):
    index: Ordinal
    of: Ordinal


class Producer(Wire):
    name: Id | None = None
    version: Id | None = None


class Run(Wire):
    id: Id
    suite: Id
    suite_version: Id | None = None
    agent_version: Id | None = None
    model: Id | None = None
    environment: Id | None = None
    commit: Id | None = None
    branch: Id | None = None
    ci_url: Url | None = None
    mode: Mode | None = None
    origin: Origin | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    session: Literal["complete", "aborted", "cancelled", "errored"] | None = None
    session_reason: str | None = None
    planned: Count | None = None
    shard: Shard | None = None
    producer: Producer | None = None


class Evaluator(Wire):
    name: Id
    version: Id
    configuration: Any = None
    deterministic: bool | None = None


class KeyedEvaluator(Evaluator, kw_only=True):
    """As NDJSON has it."""

    key: Id


class Source(Wire):
    kind: SourceKind | None = None
    reference: str | None = None
    date: Day | None = None


class Scenario(Wire):
    key: Id
    title: str | None = None
    class_: Id | None = field(default=None, name="class")
    adversarial: bool | None = None
    twin_of: Id | None = None
    guards: list[Id] | None = None
    controls: list[Id] | None = None
    expects: Expectation | None = None
    source: Source | None = None


class Tokens(Wire):
    input: Count | None = None
    output: Count | None = None


class Step(Wire):
    kind: StepKind
    tool: Id | None = None
    decision: Decision | None = None
    approved: bool | None = None
    reason_code: Id | None = None
    arguments_sha256: Sha256 | None = None
    arguments: Any = None
    result: Any = None
    started_at: Time | None = None
    latency_ms: Number | None = None
    cost_usd: Money | None = None


class SideEffect(Wire):
    tool: Id
    checked: bool
    happened: bool


class Evaluation(Wire):
    indicator: Label
    outcome: Outcome
    evaluator: Id | None = None
    categories: list[Category] | None = None
    finding: Finding | None = None
    fault: Fault | None = None
    reason_code: Id | None = None
    reason: str | None = None
    score: float | None = None
    evidence: dict[str, Any] | None = None
    observed_at: Time | None = None


class Attempt(Wire):
    scenario: Id
    ordinal: Ordinal | None = None
    variant: Variant | None = None
    status: AttemptStatus | None = None
    started_at: Time | None = None
    latency_ms: Number | None = None
    cost_usd: Money | None = None
    tokens: Tokens | None = None
    trace_id: Id | None = None
    output: str | None = None
    error: str | None = None
    steps: list[Step] | None = None
    side_effects: list[SideEffect] | None = None
    evaluations: list[Evaluation] | None = None


class End(Wire):
    attempts: Count


class Document(Wire):
    """The whole of a JSON document; its parts are decoded one by one."""

    schema: str
    run: Raw
    evaluators: dict[str, Raw] | None = None
    scenarios: list[Raw] | None = None
    attempts: list[Raw] | None = None


class FirstLine(Wire):
    schema: str
    run: Run


class Line(Wire):
    """Any later line of NDJSON: exactly one of the four."""

    evaluator: KeyedEvaluator | None = None
    scenario: Scenario | None = None
    attempt: Attempt | None = None
    end: End | None = None
