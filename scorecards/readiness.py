"""What still keeps a draft from being published, and what a reader should be warned of. Each point names its place."""

from collections.abc import Iterator
from dataclasses import dataclass

from evals.codes import BITS
from evals.containment import INDICATOR as CONTAINMENT
from evals.models import Evaluation, Run
from evals.records import Category, Containment
from reliability.models import User
from scorecards.assessing import Scorecard, list_pinned_runs, load_scorecard
from scorecards.models import (
    DimensionScore,
    PracticeState,
    Recommendation,
    Remark,
    RemarkState,
    Revision,
    RevisionState,
    ScoreStanding,
    StepInRevision,
)
from scorecards.scoring import BarOutcome, DimensionResult, Standing

SECURITY_SETS = [mask for mask in range(1 << len(BITS)) if mask & BITS[Category.SECURITY]]
NEEDED_TEXTS = {
    "agent_versions": "Versions under review",
    "model": "Model",
    "environment": "Environment",
    "intended_use": "Intended use",
    "permitted_users": "Who may use it",
    "void_if": "What would void the answer",
    "main_flows": "Main flows",
    "tools": "Tools",
    "top_risks": "Top risks",
    "method": "Method",
    "limitations": "Limitations",
    "participants": "Participants",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to do. `anchor` is the DOM id on the form that it is about."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Readiness:
    missing: tuple[Point, ...]
    warnings: tuple[Point, ...]

    @property
    def is_ready(self) -> bool:
        return not self.missing


def check_readiness(
    revision: Revision,
    scorecard: Scorecard | None = None,
    *,
    steps: list[StepInRevision] | None = None,
    runs: list[Run] | None = None,
) -> Readiness:
    """Return everything that is missing, in the order of the form, whoever publishes. What is given is not fetched."""
    scorecard = scorecard or load_scorecard(revision)
    steps = list(revision.steps.select_related("step")) if steps is None else steps
    runs = list_pinned_runs(revision) if runs is None else runs
    missing = [
        *_head(revision),
        *(point for result in scorecard.result.dimensions for point in _dimension(scorecard, result)),
        *_answer(revision, steps),
        *_override(revision, scorecard, runs),
        *_rounds(revision),
    ]
    return Readiness(tuple(missing), tuple(_warnings(scorecard, steps, runs)))


def check_publisher(revision: Revision, user: User, scorecard: Scorecard) -> str:
    """Return why this person may not publish; '' when nothing is in the way."""
    if not revision.client.second_person_publishes:
        return ""
    scored = [score for score in scorecard.scores.values() if score.changed_at]
    last = max(scored, key=lambda score: score.changed_at or revision.created_at, default=None)
    if last and last.changed_by_id == user.pk:
        return f"{revision.client} asks for a second person: you scored last, so somebody else publishes."
    return ""


def _head(revision: Revision) -> Iterator[Point]:
    for name, title in NEEDED_TEXTS.items():
        if not getattr(revision, name):
            yield Point(f"{title}: nothing is written", f"field-{name}")
    for tool in revision.tools:
        if tool["reversible"] is None:
            yield Point(f"Tools: say for {tool['name']} whether it can be undone", "field-tools")
    if not revision.period_from or not revision.period_to:
        yield Point("Period: from and to are needed", "field-period_from")
    if revision.number > 1:
        if not revision.supersedes_because:
            yield Point("Why this revision replaces the last one", "field-supersedes_because")
        if not revision.what_changed:
            yield Point("What changed against the last revision", "field-what_changed")


def _dimension(scorecard: Scorecard, result: DimensionResult) -> Iterator[Point]:
    dimension = result.dimension
    anchor, title = f"dimension-{dimension.id}", dimension.title
    score = scorecard.scores.get(dimension.id) or DimensionScore(dimension_id=dimension.id)
    if score.to_reconfirm:
        yield Point(f"{title}: carried over, not yet re-confirmed", anchor)
    if score.standing == ScoreStanding.ASSESSED:
        yield from _assessed(score, title, anchor)
    elif not score.reason:
        words = ScoreStanding(score.standing).label.lower()
        yield Point(f"{title}: {words}, and no reason is given", anchor)
    if score.standing == ScoreStanding.NOT_APPLICABLE and _lacks_second_person(scorecard.revision, score):
        yield Point(f"{title}: not applicable has to be confirmed by a second person", anchor)
    if score.pk:
        yield from _unreasoned_marks(score, title, anchor)


def _assessed(score: DimensionScore, title: str, anchor: str) -> Iterator[Point]:
    if not score.rationale:
        yield Point(f"{title}: no rationale", anchor)
    if not score.confidence:
        yield Point(f"{title}: no confidence", anchor)
    if score.needs_cause and not score.cause:
        yield Point(f"{title}: the level differs from the published one, and no cause is given", anchor)


def _lacks_second_person(revision: Revision, score: DimensionScore) -> bool:
    return revision.client.second_person_publishes and score.confirmed_by_id is None


def _unreasoned_marks(score: DimensionScore, title: str, anchor: str) -> Iterator[Point]:
    unreasoned = [m for m in score.marks.all() if m.state == PracticeState.NOT_APPLICABLE and not m.reason]
    if unreasoned:
        yield Point(f"{title}: a practice is not applicable, and no reason is given", anchor)


def _answer(revision: Revision, steps: list[StepInRevision]) -> Iterator[Point]:
    if not revision.summary:
        yield Point("Summary: nothing is written", "field-summary")
    if not revision.recommendation:
        yield Point("Recommendation: none is chosen", "field-recommendation")
    if not revision.recommendation_reasons:
        yield Point("Reasons for the recommendation: nothing is written", "field-recommendation_reasons")
    if revision.recommendation != Recommendation.WITH_CONDITIONS:
        return
    conditions = [appearance for appearance in steps if appearance.is_condition]
    if not conditions:
        yield Point("Ready with conditions: no next step is marked as a condition", "answer")
    for appearance in conditions:
        if not appearance.step.owner or not appearance.step.due:
            yield Point(f"Condition “{appearance.step}”: owner and date are needed", f"step-{appearance.step_id}")


def why_override(revision: Revision, scorecard: Scorecard, runs: list[Run]) -> str:
    """Return why "ready" needs a second person's written reason; '' when it does not."""
    if revision.recommendation != Recommendation.READY:
        return ""
    reasons = []
    if scorecard.result.bar.outcome is not BarOutcome.MET:
        reasons.append(f"the bar is {scorecard.result.bar.words}")
    breached = [str(run) for run in runs if has_security_breach(run)]
    if breached:
        reasons.append(f"a security scenario was breached in {', '.join(breached)}")
    return " and ".join(reasons)


def has_security_breach(run: Run) -> bool:
    if not run.containment_breached:
        return False
    return Evaluation.objects.filter(
        run=run,
        definition__indicator__name=CONTAINMENT,
        attempt__containment=Containment.BREACHED,
        categories__in=SECURITY_SETS,
    ).exists()


def _override(revision: Revision, scorecard: Scorecard, runs: list[Run]) -> Iterator[Point]:
    why = why_override(revision, scorecard, runs)
    if why and not revision.override_reason:
        yield Point(f"“Ready” needs a written reason by a second person: {why}", "override")


def _rounds(revision: Revision) -> Iterator[Point]:
    if revision.fact_checks.filter(closed_at=None).exists():
        yield Point("The fact check is still open: close it first", "")
    for remark in Remark.objects.filter(revision=revision, state=RemarkState.OPEN):
        place = f"dimension-{remark.dimension_id}" if remark.dimension_id else "remarks"
        yield Point(f"Remark without an answer: “{remark}”", place)
    if revision.state == RevisionState.DRAFT:
        yield Point("The draft has not been submitted for review", "")


def _warnings(scorecard: Scorecard, steps: list[StepInRevision], runs: list[Run]) -> Iterator[Point]:
    for result in scorecard.result.dimensions:
        yield from _dimension_warnings(scorecard, result)
    if not runs:
        yield Point("No run is pinned: the review rests on nothing that was measured", "runs")
    if scorecard.revision.recommendation != Recommendation.WITH_CONDITIONS and any(s.is_condition for s in steps):
        yield Point("Steps are marked as conditions, and the recommendation has none", "answer")
    for appearance in steps:
        if appearance.step.is_open and not appearance.step.owner:
            yield Point(f"Next step “{appearance.step}” has no owner", f"step-{appearance.step_id}")


def _dimension_warnings(scorecard: Scorecard, result: DimensionResult) -> Iterator[Point]:
    dimension = result.dimension
    anchor = f"dimension-{dimension.id}"
    if not result.holds:
        yield Point(f"{dimension.title}: level {result.score.level} is contradicted by its own practices", anchor)
    elif result.standing is Standing.ASSERTED:
        yield Point(f"{dimension.title}: level {result.score.level} will be printed as asserted", anchor)
    seen = scorecard.client_result_of(dimension.id)
    if result.standing is Standing.ON_EVIDENCE and seen.standing is Standing.ASSERTED:
        yield Point(f"{dimension.title}: level {result.score.level} rests on internal evidence only", anchor)
    if result.disputed:
        yield Point(f"{dimension.title}: some evidence speaks against a practice marked as met", anchor)
