"""What a snapshot holds, typed and frozen: pages, API, PDF and comparison read this and nothing else.

The JSON of schema "snapshot/v1" decodes into `Snapshot`. Old snapshots stay readable: members are only ever added,
with a default. Numbers are integers; ratios are derived here by the measures that every page uses.
"""

from datetime import date, datetime
from fractions import Fraction
from typing import Literal

import msgspec

from evals.measures.counts import AttemptCounts, Counts
from evals.measures.display import format_counts, format_execution, format_range
from evals.measures.summary import Measure
from evals.records import Finding

SCHEMA = "snapshot/v1"


class Part(msgspec.Struct, frozen=True):
    """A JSON object of a snapshot."""


class ClientPart(Part, frozen=True, kw_only=True):
    slug: str
    name: str


class AgentPart(Part, frozen=True, kw_only=True):
    id: str
    slug: str
    name: str
    purpose: str
    risk_tier: str
    owner: str
    repository: str


class EngagementPart(Part, frozen=True, kw_only=True):
    id: str
    name: str


class ReviewPart(Part, frozen=True, kw_only=True):
    """`previous` is the number of the review that this one started from."""

    id: str
    number: int
    as_of: date
    previous: int | None


class RevisionPart(Part, frozen=True, kw_only=True):
    id: str
    number: int
    state: str
    published_at: datetime | None
    published_by: str
    supersedes: int | None
    supersedes_because: str
    what_changed: str


class PracticeText(Part, frozen=True, kw_only=True):
    id: str
    level: int
    text: str
    shows: str


class DimensionText(Part, frozen=True, kw_only=True):
    id: str
    title: str
    weight: int
    question: str
    states: list[str]  # levels 0 to 2
    practices: list[PracticeText]

    def practices_at(self, level: int) -> list[PracticeText]:
        return [practice for practice in self.practices if practice.level == level]


class RubricPart(Part, frozen=True, kw_only=True):
    id: str
    version: str
    sha256: str
    title: str
    bar: int
    level_words: list[str]
    dimensions: list[DimensionText]

    @property
    def name(self) -> str:
        return f"{self.id}@{self.version}"


class SubjectPart(Part, frozen=True, kw_only=True):
    agent_versions: str
    model: str
    environment: str
    intended_use: str
    permitted_users: str
    void_if: str


class ToolPart(Part, frozen=True, kw_only=True):
    """`reversible` is null in a fact check of a draft in which nobody has said it yet."""

    name: str
    reversible: bool | None


class ListsPart(Part, frozen=True, kw_only=True):
    main_flows: list[str]
    tools: list[ToolPart]
    top_risks: list[str]


class TextsPart(Part, frozen=True, kw_only=True):
    """Markdown, as written."""

    summary: str
    limitations: str
    method: str
    participants: str
    period_from: date | None
    period_to: date | None


class RecommendationPart(Part, frozen=True, kw_only=True):
    """`value` and `words` are '' in a fact check without levels."""

    value: str
    words: str
    reasons: str
    override_reason: str
    override_by: str


class PracticePart(Part, frozen=True, kw_only=True):
    """A practice as scored. `lacking` says what its evidence does not reach; '' when nothing."""

    id: str
    state: Literal["met", "not_met", "not_seen", "not_applicable"]
    reason: str
    lacking: str
    contradicts: bool  # it keeps the chosen level from holding
    disputed: bool  # met, and some evidence speaks against it


class LinkPart(Part, frozen=True, kw_only=True):
    """`practice` is '' where the item bears on the dimension as a whole."""

    item: str
    practice: str
    supports: bool


class ScorePart(Part, frozen=True, kw_only=True):
    """`basis` is "on_evidence" or "asserted" for levels from 3 on, else ''. `previous_level` was published before."""

    dimension: str
    standing: Literal["not_assessed", "assessed", "not_applicable"]
    level: int | None
    basis: Literal["on_evidence", "asserted", ""]
    holds: bool
    previous_level: int | None
    cause: str
    cause_words: str
    rationale: str
    confidence: str
    reason: str
    confirmed_by: str
    scored_by: str
    practices: list[PracticePart]
    evidence: list[LinkPart]

    @property
    def mark_basis(self) -> str:
        """Return the basis in the words of the level scale."""
        if self.standing != "assessed":
            return self.standing
        return "asserted" if self.basis == "asserted" else "evidence"

    def practice(self, practice_id: str) -> PracticePart:
        found = (practice for practice in self.practices if practice.id == practice_id)
        default = PracticePart(
            id=practice_id, state="not_seen", reason="", lacking="", contradicts=False, disputed=False
        )
        return next(found, default)

    def practices_met(self) -> list[str]:
        return [practice.id for practice in self.practices if practice.state == "met"]


class VerdictPart(Part, frozen=True, kw_only=True):
    """The bar. Each list holds dimension ids."""

    outcome: Literal["met", "met_on_assertion", "not_met", "undecided"]
    words: str
    bar: int
    failing: list[str]
    asserted: list[str]
    undecided: list[str]


class RatioPart(Part, frozen=True, kw_only=True):
    numerator: int
    denominator: int

    @property
    def fraction(self) -> Fraction:
        return Fraction(self.numerator, self.denominator)


class OverallPart(Part, frozen=True, kw_only=True):
    """A range while something is not assessed; null when no dimension applies."""

    low: RatioPart | None
    high: RatioPart | None
    percentage: str
    basis: str
    at_the_bar: str


class VerificationPart(Part, frozen=True, kw_only=True):
    """`rerun` of `rerun_of` scenarios were run again, `agreed` of them agreed; null where nothing was re-run."""

    by: str
    on: date | None
    how: str
    rerun: int | None
    rerun_of: int | None
    agreed: int | None

    @property
    def how_sentence(self) -> str:
        """Return `how` with a full stop, so that another sentence may follow."""
        how = self.how.rstrip()
        return how if not how or how.endswith((".", "!", "?", "…")) else f"{how}."


class EvidencePart(Part, frozen=True, kw_only=True):
    id: str
    claim: str
    source: Literal["run", "class_result", "attempt", "link", "file", "interview"]
    source_words: str
    grade: Literal["declared", "observed", "verified"]
    verification: VerificationPart | None
    shows: Literal["design", "operation"]
    operated_from: date | None
    operated_to: date | None
    visibility: str
    made_by: str
    sha256: str
    run: str
    class_id: str
    attempt: int | None
    attempt_outcome: str
    scenario: str
    url: str
    file_name: str
    file_size: int
    interviewee: str
    interviewed_on: date | None


class StepPart(Part, frozen=True, kw_only=True):
    id: str
    dimension: str
    text: str
    seen: str
    matters: str
    cause: str
    severity: str
    practices: list[str]
    evidence: list[str]
    owner: str
    due: date | None
    priority: int
    priority_words: str
    effort: str
    state: Literal["open", "done_untested", "verified_done", "came_back", "accepted"]
    state_words: str
    accepted_by: str
    accepted_until: date | None
    is_condition: bool
    visibility: str
    opened_on: date

    @property
    def is_open(self) -> bool:
        return self.state in ("open", "done_untested", "came_back")


class CountsPart(Part, frozen=True, kw_only=True):
    passed: int
    failed: dict[str, int]  # by finding
    unknown: int
    error: int

    @property
    def counts(self) -> Counts:
        return Counts(
            self.passed,
            self.failed.get(Finding.USER_VISIBLE, 0),
            self.failed.get(Finding.HOST_CORRECTED, 0),
            self.failed.get(Finding.GUARDED_OR_DISCLOSED, 0),
            self.failed.get(Finding.UNCLASSIFIED, 0),
            self.unknown,
            self.error,
        )

    @property
    def measure(self) -> Measure:
        return Measure(self.counts)


class ClassPart(Part, frozen=True, kw_only=True):
    """One line of class results: one class, category set and definition."""

    class_id: str
    title: str
    known: bool
    categories: list[str]
    adversarial: bool
    indicator: str
    kind: str
    evaluator: str
    definitions: int
    counts: CountsPart

    @property
    def measure(self) -> Measure:
        return self.counts.measure


class ArtifactPart(Part, frozen=True, kw_only=True):
    sha256: str
    size: int
    file_name: str
    by_hand: bool


class AttemptsPart(Part, frozen=True, kw_only=True):
    passed: int
    failed: int
    unknown: int
    error: int
    planned: int | None

    @property
    def counts(self) -> AttemptCounts:
        return AttemptCounts(self.passed, self.failed, self.unknown, self.error, self.planned)

    @property
    def range_words(self) -> str:
        return format_range(self.counts.value_range)

    @property
    def execution_words(self) -> str:
        return format_execution(self.counts.execution)


class RunPart(Part, frozen=True, kw_only=True):
    id: str
    name: str
    suite: str
    suite_version: str
    agent_version: str
    model: str
    environment: str
    commit: str
    branch: str
    mode: str
    origin: str
    made_by: str
    visibility: str
    session: str
    session_reason: str
    at: datetime
    format: str
    parser_version: str
    taxonomy_version: str
    counts: CountsPart
    attempts: AttemptsPart
    containment_proven: int
    containment_unproven: int
    containment_breached: int
    notes: list[str]
    artifacts: list[ArtifactPart]
    classes: list[ClassPart]

    @property
    def measure(self) -> Measure:
        return self.counts.measure

    @property
    def measurements(self) -> int:
        """How many unrelated measurements the run holds: with several there is no rate of the run."""
        return len({(tuple(c.categories), c.adversarial, c.indicator, c.evaluator) for c in self.classes})

    @property
    def has_rate(self) -> bool:
        return self.measurements == 1

    @property
    def counts_words(self) -> str:
        return format_counts(self.counts.counts)

    @property
    def has_containment(self) -> bool:
        return bool(self.containment_proven + self.containment_unproven + self.containment_breached)


class RemarkPart(Part, frozen=True, kw_only=True):
    """Full snapshots only."""

    internal: bool
    dimension: str
    practice: str
    text: str
    by: str
    at: datetime
    state: str
    answer: str
    answered_by: str


class AuditPart(Part, frozen=True, kw_only=True):
    """Where the client's audit chain stood: `verify --expect COUNT:HEAD` finds what was cut off since."""

    count: int
    head: str


class Snapshot(Part, frozen=True, kw_only=True):
    """One published (or fact-checked) revision. `kind` is full, client or fact_check.

    In a fact check without levels, `levels_shown` is false, and verdict, overall and each level are null.
    """

    schema: str
    kind: Literal["full", "client", "fact_check"]
    consultancy: str
    levels_shown: bool
    client: ClientPart
    agent: AgentPart
    engagement: EngagementPart
    review: ReviewPart
    revision: RevisionPart
    rubric: RubricPart
    subject: SubjectPart
    lists: ListsPart
    texts: TextsPart
    recommendation: RecommendationPart
    scores: list[ScorePart]  # in the rubric's order
    verdict: VerdictPart | None
    overall: OverallPart | None
    evidence: list[EvidencePart]
    steps: list[StepPart]  # most urgent first
    runs: list[RunPart]  # newest first
    remarks: list[RemarkPart]
    audit: AuditPart

    def dimension(self, dimension_id: str) -> DimensionText:
        return next(dimension for dimension in self.rubric.dimensions if dimension.id == dimension_id)

    def title_of(self, dimension_id: str) -> str:
        found = (dimension.title for dimension in self.rubric.dimensions if dimension.id == dimension_id)
        return next(found, dimension_id)

    def score(self, dimension_id: str) -> ScorePart | None:
        return next((score for score in self.scores if score.dimension == dimension_id), None)

    def item(self, item_id: str) -> EvidencePart | None:
        return next((item for item in self.evidence if item.id == item_id), None)

    def run(self, run_id: str) -> RunPart | None:
        return next((run for run in self.runs if run.id == run_id), None)

    def steps_of(self, dimension_id: str) -> list[StepPart]:
        return [step for step in self.steps if step.dimension == dimension_id]

    @property
    def conditions(self) -> list[StepPart]:
        return [step for step in self.steps if step.is_condition]

    @property
    def open_steps(self) -> list[StepPart]:
        return [step for step in self.steps if step.is_open]


_decoder = msgspec.json.Decoder(Snapshot)


def read_snapshot(body: bytes | memoryview) -> Snapshot:
    """Return the snapshot that the stored bytes hold. Raises `msgspec.ValidationError` for anything else."""
    return _decoder.decode(bytes(body))
