"""Reviews side by side: levels with their causes, evidence, steps, and what the runs say."""

import pytest
from msgspec.structs import replace

from evals.measures.comparison import Bucket
from evals.models import Run
from reliability.access import Rank, Standing
from reliability.models import Token
from scorecards.comparing import compare_snapshots
from scorecards.comparing_runs import compare_run_results
from scorecards.snapshot_reading import Snapshot, read_snapshot
from tests.scorecards.finished import finished_engagement

pytestmark = pytest.mark.django_db


def numbered(snapshot: Snapshot, number: int) -> Snapshot:
    return replace(snapshot, review=replace(snapshot.review, number=number))


def changed(snapshot: Snapshot, dimension: str, **fields) -> Snapshot:
    scores = [replace(s, **fields) if s.dimension == dimension else s for s in snapshot.scores]
    return replace(snapshot, scores=scores)


def words(gap) -> dict[str, str]:
    return {change.found.dimension.id: change.words for change in gap.changes}


@pytest.fixture
def gap(spring, autumn):
    return compare_snapshots([autumn, spring]).gaps[0]


def test_levels_are_better_only_where_the_agent_changed(gap):
    said = words(gap)
    assert said["guardrails"] == "1 → 2, better: the agent changed"
    assert said["human_control"] == "2 → 3, we know more"
    assert said["recovery"] == "1, unchanged"
    assert [change.title for change in gap.not_comparable] == []


def test_oldest_review_stands_first(spring, autumn):
    found = compare_snapshots([autumn, spring])
    assert found.names == ["Review 1", "Review 2"]
    assert found.rows[2].title == "Guardrails"
    assert [cell.score.level for cell in found.rows[2].cells] == [1, 2]
    assert found.rows[2].cells[0].change is None


def test_practices_gained_are_told(gap):
    told = {c.found.dimension.id: [p.id for p in c.found.gained] for c in gap.practices}
    assert told["observability"] == ["five-runs-explained"]


def test_not_assessed_is_not_comparable(spring, autumn):
    later = changed(autumn, "recovery", standing="not_assessed", level=None)
    gap = compare_snapshots([spring, later]).gaps[0]
    assert words(gap)["recovery"] == "not comparable: not assessed in the later review"


def test_reworded_dimension_is_not_comparable(spring, autumn):
    dimensions = [replace(d, states=["x", "y", "z"]) if d.id == "recovery" else d for d in autumn.rubric.dimensions]
    rubric = replace(autumn.rubric, version="1.1.0", sha256="f" * 64, dimensions=dimensions)
    gap = compare_snapshots([spring, replace(autumn, rubric=rubric)]).gaps[0]
    assert words(gap)["recovery"] == "not comparable: its states or practices are worded differently"
    assert gap.rubric_words.startswith("The rubric changed from agent-reliability-default@1.0.0 to ")


def test_removed_and_new_dimensions_are_named(spring, autumn):
    kept = [d for d in autumn.rubric.dimensions if d.id != "recovery"]
    rubric = replace(autumn.rubric, sha256="f" * 64, dimensions=kept)
    scores = [score for score in autumn.scores if score.dimension != "recovery"]
    found = compare_snapshots([spring, replace(autumn, rubric=rubric, scores=scores)])
    assert words(found.gaps[0])["recovery"] == "not comparable: the later rubric does not have it"
    assert [cell.score is None for cell in found.rows[-1].cells] == [False, True]


def test_causes_on_the_way_count_when_a_review_is_left_out(spring, autumn):
    third = numbered(changed(autumn, "guardrails", level=3, previous_level=2, cause="know_more"), 3)
    gap = compare_snapshots([spring, third], [autumn]).gaps[0]
    assert words(gap)["guardrails"] == "1 → 3, for several causes: the agent changed, we know more"
    alone = numbered(changed(autumn, "guardrails", level=3, previous_level=2, cause="agent_changed"), 3)
    assert words(compare_snapshots([spring, alone], [autumn]).gaps[0])["guardrails"].startswith("1 → 3, better")


def test_four_reviews_have_three_gaps(spring, autumn):
    reviews = [spring, autumn, numbered(autumn, 3), numbered(autumn, 4)]
    found = compare_snapshots(reviews)
    assert [gap.name for gap in found.gaps] == [
        "From review 1 to review 2",
        "From review 2 to review 3",
        "From review 3 to review 4",
    ]
    assert all(len(row.scores) == 4 for row in found.profile_rows)


def test_evidence_is_new_gone_or_regraded(spring, autumn):
    old = spring.evidence[0]
    upgraded = replace(old, grade="verified" if old.grade != "verified" else "observed")
    later = replace(autumn, evidence=[upgraded, *autumn.evidence[-2:]])
    changes = compare_snapshots([spring, later]).gaps[0].evidence
    assert [item.id for item in changes.new] == [item.id for item in autumn.evidence[-2:]]
    assert len(changes.gone) == len(spring.evidence) - 1
    assert [(r.before, r.after, r.is_upgrade) for r in changes.regraded] == [
        (old.grade, upgraded.grade, old.grade != "verified")
    ]


def test_steps_are_closed_opened_still_open_or_came_back(spring, autumn):
    changes = compare_snapshots([spring, autumn]).gaps[0].steps
    assert [step.text for step in changes.closed] == ["Refuse tools that are not on the list."]
    assert [step.text for step in changes.still_open] == ["Keep a versioned case for each listed flow."]
    assert len(changes.opened) == 4
    steps = [replace(step, state="came_back") if "Refuse" in step.text else step for step in autumn.steps]
    back = compare_snapshots([autumn, numbered(replace(autumn, steps=steps), 3)]).gaps[0].steps
    assert [step.text for step in back.came_back] == ["Refuse tools that are not on the list."]
    gone = compare_snapshots([autumn, numbered(replace(autumn, steps=[]), 3)]).gaps[0].steps
    assert len(gone.unlisted) == len(autumn.open_steps)


def standing(agent, by) -> Standing:
    return Standing(agent.client, Rank.VIEWER, by)


def test_classes_without_their_runs_are_compared_by_intervals(agent, bob, spring, autumn):
    found = compare_run_results(standing(agent, bob), spring, autumn)
    assert [(pair.before.suite, pair.paired) for pair in found.pairs] == [("support", None)]
    said = {(line.line.class_id, line.line.indicator): line.words for line in found.pairs[0].lines}
    assert said["goal_hijack", "goal_kept"] == "the intervals overlap: no difference shown"
    assert [name.partition(" (")[2] for name in found.alone] == ["only in review 2)"]


def test_intervals_apart_and_other_evaluators_are_told(agent, bob, spring, autumn):
    def with_line(snapshot, **fields):
        runs = [replace(r, classes=[replace(line, **fields) for line in r.classes]) for r in snapshot.runs]
        return replace(snapshot, runs=runs)

    counts = autumn.runs[0].counts
    many = replace(counts, passed=990, failed={"unclassified": 10}, unknown=0, error=0)
    few = replace(counts, passed=500, failed={"unclassified": 500}, unknown=0, error=0)
    none = replace(counts, passed=0, failed={}, unknown=3, error=0)

    def first(before, after):
        return compare_run_results(standing(agent, bob), before, after).pairs[0].lines[0]

    assert first(with_line(spring, counts=few), with_line(autumn, counts=many)).words.startswith(
        "higher: the intervals"
    )
    assert first(with_line(spring, counts=many), with_line(autumn, counts=few)).words.startswith("lower: the intervals")
    assert first(with_line(spring, counts=none), with_line(autumn, counts=few)).words == "no determinate results before"
    other = first(with_line(spring, evaluator="rule 2"), autumn)
    assert other.words.startswith("not comparable: judged by rule 2 before")
    assert other.points == ""


@pytest.fixture
def stored(agent, alice, erin, upload_token) -> list[Snapshot]:
    """Both reviews with their runs in the database."""
    done = finished_engagement(agent, alice, erin, Token.objects.get())
    return [read_snapshot(r.snapshots.get(kind="client").body) for r in (done.spring, done.autumn)]


def test_runs_at_hand_are_paired_by_scenario(agent, bob, stored):
    pair = compare_run_results(standing(agent, bob), *stored).pairs[0]
    assert pair.paired.counts[Bucket.FIXED] > 0
    assert pair.words.startswith("Better: more fixed than newly failing, beyond chance (85 shared scenarios")
    said = {line.line.class_id: line.words for line in pair.lines}
    assert said["fabrication"] == "too few changes to tell (0 fixed, 0 newly failing)"


def test_runs_that_a_client_may_no_longer_see_are_not_paired(agent, bob, stored):
    Run.objects.update(visibility="internal")
    pair = compare_run_results(standing(agent, bob), *stored).pairs[0]
    assert pair.paired is None
    assert pair.words == "Compared by the intervals of each class: the runs themselves are not at hand."


def test_same_run_in_both_is_said(agent, bob, autumn):
    pairs = compare_run_results(standing(agent, bob), autumn, numbered(autumn, 3)).pairs
    assert {pair.words for pair in pairs} == {"Both reviews rest on this run: nothing to compare."}
