"""The scorecard form over HTTP: who may, what is saved in place, what a refusal keeps."""

import pytest
from django.urls import reverse

from scorecards import remarks, reviewing
from scorecards.models import EvidenceItem, NextStep, Remark, Revision
from scorecards.reviewing import HeadPart
from tests.scorecards import making

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
POSTS = [
    ("review-head", ()),
    ("review-dimension", ("guardrails",)),
    ("dimension-confirm", ("guardrails",)),
    ("markdown-preview", ()),
    ("review-runs", ()),
    ("review-override", ()),
    ("evidence-create", ("guardrails",)),
    ("step-create", ("guardrails",)),
    ("review-state", ()),
    ("review-publish", ()),
    ("review-discard", ()),
    ("fact-check-open", ()),
    ("fact-check-close", ()),
    ("remark-create", ()),
]


@pytest.fixture
def draft(agent, alice):
    return making.draft_for(agent, alice)


@pytest.fixture
def desk(sign_in, alice):
    return sign_in(alice)


def at(name, *more):
    return reverse(name, args=["acme", "support-agent", 1, *more])


def typed(score, **changes):
    values = {"version": score.version, "level": "2", "rationale": "Seen.", "confidence": "low"}
    return values | changes


@pytest.mark.parametrize(("name", "more"), POSTS)
@pytest.mark.parametrize("who", ["bob", "carol", "dora", "charlie", "frank"])
def test_nobody_else_finds_a_draft(draft, name, more, who, sign_in, request):
    browser = sign_in(request.getfixturevalue(who))
    assert browser.post(at(name, *more)).status_code == 404
    assert browser.get(at("review-edit")).status_code == 404


def test_stranger_is_sent_to_sign_in(draft, sign_in):
    response = sign_in(None).get(at("review-edit"))
    assert response.status_code == 302
    assert "login" in response["Location"]


def test_form_shows_every_dimension_with_its_practices(draft, desk):
    page = desk.get(at("review-edit")).content.decode()
    assert page.count('class="dimension"') == 8
    assert page.count('class="practice"') == sum(len(d.practices) for d in making.rubric_of(draft.rubric).dimensions)
    assert "undecided: all 8 dimensions" in page


def test_saving_a_dimension_swaps_state_line_index_and_notices_but_no_input(draft, desk):
    score = making.score_of(draft)
    response = desk.post(at("review-dimension", "guardrails"), typed(score, level="3"), headers=HTMX)
    html = response.content.decode()

    assert response.status_code == 200
    assert 'name="version" value="2"' in html
    for part in ("score-line", "score-index", "notices-guardrails", "scale-guardrails"):
        assert f'id="{part}"' in html
    assert "Level 3 does not hold" in html
    assert "<textarea" not in html
    assert making.score_of(draft).level == 3


def test_plain_post_saves_and_returns_to_the_dimension(draft, desk):
    response = desk.post(at("review-dimension", "guardrails"), typed(making.score_of(draft)))
    assert response.status_code == 303
    assert response["Location"].endswith("/edit/#dimension-guardrails")
    assert making.score_of(draft).rationale == "Seen."


def test_unknown_level_is_422_and_keeps_what_was_typed(draft, desk):
    data = typed(making.score_of(draft), level="9", rationale="Half a thought")
    response = desk.post(at("review-dimension", "guardrails"), data)
    assert response.status_code == 422
    assert "Half a thought" in response.content.decode()
    assert making.score_of(draft).level is None


def test_conflict_is_409_with_both_versions_and_keeps_both(draft, desk, erin):
    score = making.score_of(draft)
    making.assess(score, 1, erin, rationale="Theirs")
    response = desk.post(at("review-dimension", "guardrails"), typed(score, rationale="Mine"), headers=HTMX)
    html = response.content.decode()

    assert response.status_code == 409
    assert "Mine" in html
    assert "Theirs" in html
    assert "Saved by Erin" in html
    assert 'name="keep" value="2"' in html
    assert making.score_of(draft).rationale == "Theirs"


def test_conflict_stands_until_somebody_decides(draft, desk, erin):
    score = making.score_of(draft)
    making.assess(score, 1, erin, rationale="Theirs")
    data = typed(score, rationale="Mine")
    first = desk.post(at("review-dimension", "guardrails"), data, headers=HTMX).content.decode()
    assert 'name="version" value="1"' in first
    assert desk.post(at("review-dimension", "guardrails"), data, headers=HTMX).status_code == 409
    assert making.score_of(draft).rationale == "Theirs"


def test_refusal_does_not_hand_out_a_newer_version(draft, desk, erin):
    score = making.score_of(draft)
    making.assess(score, 1, erin, rationale="Theirs")
    refused = desk.post(at("review-dimension", "guardrails"), typed(score, level="9"), headers=HTMX)
    assert refused.status_code == 422
    assert 'name="version" value="1"' in refused.content.decode()
    head = {"part": "subject", "version": "1", "model": "mine"}
    reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "theirs"}, expected_version=1, by=erin)
    refused = desk.post(at("review-head"), head, headers=HTMX)
    assert (refused.status_code, 'name="version" value="1"' in refused.content.decode()) == (409, True)


def test_keeping_mine_overwrites_the_version_that_was_shown(draft, desk, erin):
    score = making.score_of(draft)
    making.assess(score, 1, erin, rationale="Theirs")
    data = typed(score, rationale="Mine", keep="2")
    assert desk.post(at("review-dimension", "guardrails"), data, headers=HTMX).status_code == 200
    assert making.score_of(draft).rationale == "Mine"


def test_taking_theirs_brings_the_dimension_as_stored(draft, desk, erin):
    making.assess(making.score_of(draft), 1, erin, rationale="Theirs")
    html = desk.get(at("review-dimension", "guardrails"), headers=HTMX).content.decode()
    assert "Theirs</textarea>" in html
    assert 'name="version" value="2"' in html


def test_plain_conflict_answers_with_the_whole_page(draft, desk, erin):
    score = making.score_of(draft)
    making.assess(score, 1, erin, rationale="Theirs")
    response = desk.post(at("review-dimension", "guardrails"), typed(score, rationale="Mine"))
    page = response.content.decode()
    assert response.status_code == 409
    assert "Mine</textarea>" in page
    assert page.count('class="dimension"') == 8


def test_unknown_dimension_is_404(draft, desk):
    assert desk.post(at("review-dimension", "nonsense"), {}).status_code == 404


def test_head_is_saved_with_lists_and_tools(draft, desk):
    data = {
        "part": "subject",
        "version": "1",
        "model": "m1",
        "main_flows": "Refund\n\nWhere is my order\n",
        "tool_name": ["orders.read", "refunds.pay", ""],
        "tool_reversible": ["yes", "no", ""],
    }
    response = desk.post(at("review-head"), data, headers=HTMX)
    saved = Revision.objects.get(pk=draft.pk)

    assert response.status_code == 200
    assert saved.main_flows == ["Refund", "Where is my order"]
    assert saved.tools == [{"name": "orders.read", "reversible": True}, {"name": "refunds.pay", "reversible": False}]


def test_tool_of_which_nobody_said_whether_it_can_be_undone_is_kept_and_named(draft, desk):
    data = {"part": "subject", "version": "1", "tool_name": ["refunds.pay", ""], "tool_reversible": ["", ""]}
    assert desk.post(at("review-head"), data, headers=HTMX).status_code == 200
    page = desk.get(at("review-edit")).content.decode()

    assert Revision.objects.get(pk=draft.pk).tools == [{"name": "refunds.pay", "reversible": None}]
    assert 'value="refunds.pay"' in page
    assert 'value="yes" selected' not in page
    assert "Tools: say for refunds.pay whether it can be undone" in desk.get(at("review-publish")).content.decode()


def test_head_with_a_period_that_ends_before_it_starts_is_422(draft, desk):
    data = {"part": "subject", "version": "1", "period_from": "2026-10-02", "period_to": "2026-10-01"}
    response = desk.post(at("review-head"), data, headers=HTMX)
    assert response.status_code == 422
    assert "The period ends before it starts." in response.content.decode()


def test_head_conflict_shows_both(draft, desk, erin):
    reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "theirs"}, expected_version=1, by=erin)
    response = desk.post(at("review-head"), {"part": "subject", "version": "1", "model": "mine"}, headers=HTMX)
    html = response.content.decode()
    assert response.status_code == 409
    assert "<dt>Model</dt><dd>theirs</dd>" in html


def test_preview_renders_markdown_and_nothing_dangerous(draft, desk):
    text = "**bold** <script>alert(1)</script> ![x](http://example.org/x.png) [y](javascript:alert(1))"
    html = desk.post(at("markdown-preview"), {"preview": "rationale", "rationale": text}, headers=HTMX).content.decode()
    assert "<strong>bold</strong>" in html
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


def test_evidence_chooser_finds_runs_classes_and_attempts_by_typing(draft, desk, agent):
    run = making.make_run(agent, label="nightly 41")
    page = desk.get(at("evidence-create", "guardrails"), {"q": "refund"}, headers=HTMX).content.decode()
    assert f"source=run%3A{run.pk}" in page
    assert "Refund to a stranger" in page
    page = desk.get(at("evidence-create", "guardrails"), {"q": "hijack", "results": "1"}, headers=HTMX).content.decode()
    assert f"source=class%3A{run.pk}%3Agoal_hijack" in page
    assert "<form" not in page


def test_evidence_of_another_agent_cannot_be_picked(draft, desk, other_agent):
    run = making.make_run(other_agent)
    assert desk.get(at("evidence-create", "guardrails"), {"source": f"run:{run.pk}"}).status_code == 404


def test_run_is_attached_to_practices(draft, desk, agent):
    run = making.make_run(agent)
    form = desk.get(at("evidence-create", "guardrails"), {"source": f"class:{run.pk}:goal_hijack"}, headers=HTMX)
    assert "Class Goal hijack of nightly" in form.content.decode()

    data = {
        "source": f"class:{run.pk}:goal_hijack",
        "claim": "Injection cases ran.",
        "shows": "operation",
        "stance": "supports",
        "visibility": "client",
        "practices": ["injection-cases-run"],
    }
    response = desk.post(at("evidence-create", "guardrails"), data, headers=HTMX)
    item = EvidenceItem.objects.get()

    assert response.status_code == 200
    assert 'id="evidence-guardrails"' in response.content.decode()
    assert (item.run, item.class_id, item.source) == (run, "goal_hijack", "class_result")
    assert [link.practice_id for link in item.links.all()] == ["injection-cases-run"]


def test_evidence_without_a_claim_is_422_and_keeps_the_rest(draft, desk):
    data = {"source": "link", "url": "https://example.org/typed", "shows": "design", "stance": "supports"}
    response = desk.post(at("evidence-create", "guardrails"), {**data, "visibility": "client"}, headers=HTMX)
    assert response.status_code == 422
    assert "https://example.org/typed" in response.content.decode()
    assert EvidenceItem.objects.count() == 0


def test_evidence_is_verified_changed_and_taken_off(draft, desk, alice):
    item = making.link_item(making.score_of(draft), alice)
    place = at("evidence-change", "guardrails", item.pk)
    checked = {"action": "verify", "verified_on": "2026-10-20", "verified_how": "Read it with the owner."}
    assert desk.post(place, checked, headers=HTMX).status_code == 200
    assert EvidenceItem.objects.get().grade == "verified"
    assert desk.post(place, {"action": "verify", "verified_on": "x"}, headers=HTMX).status_code == 422
    assert desk.post(place, {"action": "unverify"}).status_code == 303
    assert EvidenceItem.objects.get().grade == "declared"
    assert desk.post(place, {"action": "detach"}, headers=HTMX).status_code == 200
    assert EvidenceItem.objects.count() == 0


def test_evidence_of_a_stranger_is_404(draft, desk, other_agent, erin):
    theirs = making.link_item(making.score_of(making.draft_for(other_agent, erin)), erin)
    assert desk.get(at("evidence-change", "guardrails", theirs.pk)).status_code == 404


def test_step_starts_from_a_template_with_one_click(draft, desk):
    response = desk.post(at("step-create", "guardrails"), {"template": "gr-deny-default"}, headers=HTMX)
    step = NextStep.objects.get()
    html = response.content.decode()
    assert step.text.startswith("Deny by default")
    assert step.effort == "M"
    assert f'id="step-{step.pk}"' in html
    assert 'value="gr-deny-default"' not in html


def test_step_conflict_shows_both(draft, desk, alice):
    step = making.step_for(draft, alice, "Old text.")
    making.steps.save_step(step, {"text": "Theirs."}, expected_version=1, by=alice)
    data = {"version": "1", "text": "Mine.", "priority": "2", "visibility": "client"}
    response = desk.post(at("step-change", step.pk), data, headers=HTMX)
    html = response.content.decode()
    assert response.status_code == 409
    assert "Mine." in html
    assert "Theirs." in html
    assert NextStep.objects.get().text == "Theirs."


def test_step_with_a_bad_date_is_422(draft, desk, alice):
    step = making.step_for(draft, alice)
    data = {"version": "1", "text": "Kept words", "due": "soon", "priority": "2", "visibility": "client"}
    response = desk.post(at("step-change", step.pk), data, headers=HTMX)
    assert response.status_code == 422
    assert "Kept words" in response.content.decode()


def test_remark_is_made_and_answered_by_somebody_else(draft, desk, sign_in, alice, erin):
    making.assess(making.score_of(draft), 2, alice)
    desk.post(at("remark-create"), {"text": "Which tool?", "dimension": "guardrails"})
    remark = Remark.objects.get()
    answer = {"answer": "decline", "reason": "It is listed."}

    assert desk.post(at("remark-answer", remark.pk), answer).status_code == 403
    assert sign_in(erin).post(at("remark-answer", remark.pk), answer).status_code == 303
    assert Remark.objects.get().state == "declined"


@pytest.mark.parametrize("count", [1, 3])
def test_form_query_count(draft, desk, agent, alice, count, django_assert_num_queries):
    score = making.score_of(draft)
    for number in range(count):
        making.run_item(score, making.make_run(agent, label=f"r{number}"), alice)
        making.step_for(draft, alice, f"Step {number}")
        remarks.add_remark(draft, f"Remark {number}", by=alice)
    # session, user, client, assignment, agent, draft (for the right to it, and for the page); scores, marks, links,
    # items, runs of items; remarks; steps, their evidence; pinned runs; open fact check, open remarks
    with django_assert_num_queries(18):
        desk.get(at("review-edit"))
