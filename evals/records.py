"""What a parser yields: plain frozen records of one run.

The run comes first and the end last; between them each scenario precedes the attempts that use it.
"""

from datetime import date, datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, field


class Outcome(StrEnum):
    """Result of one evaluation or attempt (DESIGN: PASS, FAIL, UNKNOWN; ERROR is no observation)."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


class Finding(StrEnum):
    """How far a FAIL reached; on screen "reach of the failure"."""

    USER_VISIBLE = "user_visible"
    HOST_CORRECTED = "host_corrected"
    GUARDED_OR_DISCLOSED = "guarded_or_disclosed"
    UNCLASSIFIED = "unclassified"


class Fault(StrEnum):
    AGENT = "agent"
    HOST = "host"
    TOOL = "tool"
    USER = "user"
    GRADER = "grader"
    INFRASTRUCTURE = "infrastructure"
    UNKNOWN = "unknown"


class Category(StrEnum):
    SECURITY = "security"
    POLICY = "policy"
    COST = "cost"
    QUALITY = "quality"


class Mode(StrEnum):
    SCRIPTED = "scripted"
    LIVE = "live"


class Origin(StrEnum):
    OBSERVED = "observed"
    SYNTHETIC = "synthetic"


class Session(StrEnum):
    """How the evaluation session itself ended."""

    COMPLETE = "complete"
    ABORTED = "aborted"
    CANCELLED = "cancelled"
    ERRORED = "errored"
    UNFINISHED = "unfinished"


class AttemptStatus(StrEnum):
    COMPLETED = "completed"
    DENIED = "denied"
    PAUSED = "paused"
    ESCALATED = "escalated"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"


class StepKind(StrEnum):
    TOOL = "tool"
    MODEL = "model"


class Decision(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    PAUSED = "paused"
    FAILED = "failed"


class Expectation(StrEnum):
    COMPLETED = "completed"
    DENIED = "denied"
    PAUSED = "paused"
    ESCALATED = "escalated"


class SourceKind(StrEnum):
    DESIGNED = "designed"
    INCIDENT = "incident"
    TRACE = "trace"


class Containment(StrEnum):
    """Did the control hold? Of an attempt of an adversarial scenario with guarded tools (DESIGN 2.3)."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    BREACHED = "breached"


class Plain(Struct, frozen=True, gc=False):
    """Immutable, and ten times quicker to make than a frozen dataclass: an import makes millions. They hold no cycles,
    so the garbage collector need not know them."""


class RunRecord(Plain, frozen=True):
    """The session as a whole. `''` means the artifact does not say; times carry a zone."""

    label: str = ""
    suite: str = ""
    suite_version: str = ""
    agent_version: str = ""
    model: str = ""
    environment: str = ""
    commit: str = ""
    branch: str = ""
    ci_url: str = ""
    mode: Mode | None = None
    origin: Origin | None = None
    started_at: datetime | None = None
    started_at_assumed: bool = False  # the artifact's time had no zone: read as UTC
    finished_at: datetime | None = None
    session: Session = Session.COMPLETE
    session_reason: str = ""
    planned: int | None = None  # attempts
    invalidated: bool = False  # somebody marked the session as not to be relied on
    shard_index: int | None = None
    shard_of: int | None = None
    producer_name: str = ""
    producer_version: str = ""
    reported_totals: dict[str, int] = field(default_factory=dict)  # the tool's own, by its words
    extras: dict[str, Any] = field(default_factory=dict)  # members beginning with x_


class EvaluatorRecord(Plain, frozen=True):
    """Who judged. With the indicator it makes the definition; None in an evaluation = a person did."""

    name: str
    version: str
    configuration_sha256: str = ""  # of the canonical JSON; '' = no configuration
    deterministic: bool = True
    per_case: bool = False  # the version names the case's own assertions (promptfoo rows)


class ScenarioRecord(Plain, frozen=True):
    """A case as this run describes it. `key` is stable across runs, models and commits."""

    key: str
    title: str = ""
    class_id: str = ""
    adversarial: bool = False
    twin_of: str = ""
    guards: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    expects: Expectation | None = None
    source_kind: SourceKind = SourceKind.DESIGNED
    source_reference: str = ""
    source_date: date | None = None
    extras: dict[str, Any] = field(default_factory=dict)


class StepRecord(Plain, frozen=True):
    """One tool or model call, in order. `cost_nano` is in billionths of a US dollar, `latency_ms` in milliseconds."""

    kind: StepKind
    tool: str = ""
    decision: Decision = Decision.ALLOWED
    approved: bool = False  # only with PAUSED: a person lifted the pause
    reason_code: str = ""
    arguments_sha256: str = ""
    arguments: Any = None
    result: Any = None
    started_at: datetime | None = None
    latency_ms: float | None = None
    cost_nano: int | None = None
    extras: dict[str, Any] = field(default_factory=dict)


class SideEffectRecord(Plain, frozen=True):
    tool: str
    checked: bool
    happened: bool


class EvaluationRecord(Plain, frozen=True):
    """One judgement. `categories` None = the class's own; an empty set = none."""

    indicator: str
    outcome: Outcome
    evaluator: EvaluatorRecord | None = None
    categories: frozenset[Category] | None = None
    finding: Finding | None = None  # only for FAIL
    fault: Fault = Fault.UNKNOWN
    reason_code: str = ""
    reason: str = ""
    score: float | None = None
    evidence: dict[str, Any] | None = None
    observed_at: datetime | None = None
    reported_outcome: Outcome | None = None  # the tool's own, where it differs from `outcome`
    components: tuple[dict[str, Any], ...] = ()  # parts of the judgement; kept, not counted
    extras: dict[str, Any] = field(default_factory=dict)


class AttemptRecord(Plain, frozen=True):
    """One execution of a scenario by a variant (provider or model). `place` names it in the artifact.

    `cost_nano` is in billionths of a US dollar. `scenario` is '' where the format has no cases, only executions (a
    producer run of a live agent).
    """

    scenario: str
    ordinal: int = 1
    variant: str = ""
    status: AttemptStatus = AttemptStatus.COMPLETED
    started_at: datetime | None = None
    latency_ms: float | None = None
    cost_nano: int | None = None
    tokens_input: int | None = None
    tokens_output: int | None = None
    trace_id: str = ""
    input: str = ""
    output: str = ""
    error: str = ""
    steps: tuple[StepRecord, ...] = ()
    side_effects: tuple[SideEffectRecord, ...] = ()
    evaluations: tuple[EvaluationRecord, ...] = ()
    place: str = ""  # JSON pointer, or "line 7"
    extras: dict[str, Any] = field(default_factory=dict)


class AggregateRecord(Plain, frozen=True):
    """Counts of one indicator where the artifact holds no single evaluations: a class result without attempts."""

    indicator: str
    passed: int
    failed: int
    unknown: int
    error: int = 0
    evaluator: EvaluatorRecord | None = None
    variant: str = ""


class EndRecord(Plain, frozen=True):
    """Closes the records. What it sets replaces what the run said; None leaves it."""

    session: Session | None = None
    session_reason: str = ""
    finished_at: datetime | None = None
    reported_totals: dict[str, int] | None = None
    notes: tuple[str, ...] = ()  # sentences for people: what was cut, assumed or lost by the tool
    extras: dict[str, Any] = field(default_factory=dict)  # x_ members outside run, scenarios and attempts


type Record = RunRecord | ScenarioRecord | AttemptRecord | AggregateRecord | EndRecord
