"""Published reviews, history, steps and fact checks: who sees what, and that nothing internal is among it."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evals.models import Visibility
from reliability.models.audit import AuditEntry
from scorecards import remarks, reviewing
from scorecards.fact_checks import open_fact_check
from scorecards.models import EvidenceItem, FactCheck, Remark, Revision, Snapshot
from tests.scorecards import making

pytestmark = pytest.mark.django_db

MARKER = "zanzibar"
CONFIRMED = {"confirmed": "on"}
CLIENT_PAGES = ["review-list", "step-list", "review", "revision", "revision-snapshot"]


@pytest.fixture
def published(agent, alice):
    """A published review with something internal of each kind, and a draft of the next one."""
    draft = making.fill(making.draft_for(agent, alice), alice)
    score = making.score_of(draft)
    making.link_item(score, alice, "Seen by all.")
    making.file_item(score, alice)
    making.link_item(score, alice, f"{MARKER} link", visibility=Visibility.INTERNAL)
    hidden = making.make_run(agent, label=f"{MARKER} run", visibility=Visibility.INTERNAL)
    making.run_item(score, hidden, alice, f"{MARKER} of a hidden run")
    making.step_for(draft, alice, "Visible step.")
    making.step_for(draft, alice, f"{MARKER} step", visibility=Visibility.INTERNAL)
    revision = making.publish(draft, alice)
    engagement = revision.review.engagement
    engagement.purpose = f"{MARKER} purpose"
    engagement.save()
    following = making.draft_for(agent, alice, engagement)
    making.assess(making.score_of(following), 5, alice, rationale=f"{MARKER} rationale", cause="know_more")
    making.step_for(following, alice, f"{MARKER} step of a draft")
    return revision


def at(name, *more):
    short = {"review-list": (), "step-list": (), "review-start": ()}
    longer = {"revision": (1, 1), "revision-snapshot": (1, 1)}
    own = short.get(name, longer.get(name, (1,)))
    return reverse(name, args=["acme", "support-agent", *own, *more])


@pytest.mark.parametrize("name", CLIENT_PAGES)
@pytest.mark.parametrize("who", ["bob", "carol", "dora"])
def test_client_reads_published_things_and_nothing_internal(published, name, who, sign_in, request):
    response = sign_in(request.getfixturevalue(who)).get(at(name))
    assert response.status_code == 200
    assert MARKER not in response.content.decode()


@pytest.mark.parametrize("name", CLIENT_PAGES)
@pytest.mark.parametrize("who", ["charlie", "frank"])
def test_others_find_nothing(published, name, who, sign_in, request):
    assert sign_in(request.getfixturevalue(who)).get(at(name)).status_code == 404


def test_client_does_not_find_a_draft_by_its_number(published, sign_in, bob):
    assert sign_in(bob).get(reverse("review", args=["acme", "support-agent", 2])).status_code == 404
    assert sign_in(bob).get(reverse("review", args=["acme", "support-agent", 10**12])).status_code == 404


def test_client_does_not_find_the_full_snapshot(published, sign_in, bob, alice):
    assert sign_in(bob).get(at("revision-snapshot") + "?full=1").status_code == 404
    assert MARKER in sign_in(alice).get(at("revision-snapshot") + "?full=1").content.decode()


def test_snapshot_download_is_the_stored_bytes(published, sign_in, bob):
    stored = Snapshot.objects.get(revision=published, kind="client")
    assert sign_in(bob).get(at("revision-snapshot")).content == bytes(stored.body)


def test_review_page_leads_with_the_answer(published, sign_in, bob):
    page = sign_in(bob).get(at("review")).content.decode()
    assert page.index("Not ready") < page.index("Guardrails are below the bar") < page.index('id="profile"')
    assert "not met: all 8 dimensions" in page
    assert "Where is my order" in page
    assert "Seen by all." in page
    assert "Visible step." in page
    assert Snapshot.objects.get(revision=published, kind="client").sha256 in page


def test_consultant_is_led_to_the_draft(published, sign_in, alice):
    response = sign_in(alice).get(reverse("review", args=["acme", "support-agent", 2]))
    assert response.status_code == 303
    assert response["Location"].endswith("/reviews/2/edit/")


def test_superseded_revision_stays_readable_and_says_so(published, sign_in, alice, bob):
    Revision.objects.filter(review__number=2).delete()
    browser = sign_in(alice)
    browser.post(at("review-revise"), {"because": "A number was wrong."})
    second = Revision.objects.get(review=published.review, number=2)
    reviewing.save_head(
        second,
        reviewing.HeadPart.SUBJECT,
        {"what_changed": "The level of guardrails."},
        expected_version=second.version,
        by=alice,
    )
    making.publish(second, alice)

    latest = sign_in(bob).get(at("review")).content.decode()
    first = sign_in(bob).get(at("revision")).content.decode()
    assert "A number was wrong." in latest
    assert "The level of guardrails." in latest
    assert "Revision 2 replaces this one." in first


@pytest.mark.parametrize("who", ["bob", "carol", "dora"])
@pytest.mark.parametrize("name", ["review-revise", "review-start"])
def test_client_may_not_begin_anything(published, who, name, sign_in, request):
    assert sign_in(request.getfixturevalue(who)).post(at(name)).status_code == 403


def test_client_may_see_a_step_but_not_change_its_state(published, sign_in, bob, agent):
    visible, hidden = (agent.next_steps.get(text__startswith=text) for text in ("Visible", f"{MARKER} step of"))
    browser = sign_in(bob)
    assert browser.post(reverse("step-state", args=["acme", "support-agent", visible.pk])).status_code == 403
    assert browser.post(reverse("step-state", args=["acme", "support-agent", hidden.pk])).status_code == 404


def test_consultant_changes_the_state_of_a_step(published, sign_in, alice, agent):
    step = agent.next_steps.get(text="Visible step.")
    place = reverse("step-state", args=["acme", "support-agent", step.pk])
    assert sign_in(alice).post(place, {"state": "accepted"}).status_code == 422
    data = {"state": "accepted", "accepted_by": "Nia", "accepted_until": "2027-06-01"}
    assert sign_in(alice).post(place, data).status_code == 303
    step.refresh_from_db()
    assert (step.state, step.accepted_by) == ("accepted", "Nia")


def test_evidence_file_is_a_download_and_audited(published, sign_in, bob, charlie):
    item = EvidenceItem.objects.get(source="file")
    place = reverse("evidence-file", args=["acme", "support-agent", item.pk])
    response = sign_in(bob).get(place)
    assert b"".join(response.streaming_content) == b"minutes"
    assert response["Content-Disposition"] == 'attachment; filename="minutes.txt"'
    assert response["Content-Type"] == "application/octet-stream"
    assert AuditEntry.objects.filter(action="evidence.downloaded").count() == 1
    assert sign_in(charlie).get(place).status_code == 404


def test_internal_evidence_file_is_404_for_the_client(published, sign_in, bob):
    item = EvidenceItem.objects.get(source="file")
    EvidenceItem.objects.filter(pk=item.pk).update(visibility="internal")
    assert sign_in(bob).get(reverse("evidence-file", args=["acme", "support-agent", item.pk])).status_code == 404


@pytest.mark.parametrize("reviews", [1, 3])
def test_review_list_query_count(agent, alice, bob, sign_in, reviews, django_assert_num_queries):
    engagement = making.engagement_for(agent, alice)
    for _ in range(reviews):
        making.published_review(agent, alice, engagement=engagement)
    browser = sign_in(bob)
    # session, user, client, assignment or membership, agent, reviews, snapshots
    with django_assert_num_queries(7):
        browser.get(at("review-list"))


@pytest.mark.parametrize("steps", [1, 3])
def test_step_list_query_count(agent, alice, sign_in, steps, django_assert_num_queries):
    draft = making.draft_for(agent, alice)
    for number in range(steps):
        making.step_for(draft, alice, f"Step {number}")
    browser = sign_in(alice)
    # session, user, client, assignment, agent, steps, appearances, revisions, reviews
    with django_assert_num_queries(9):
        browser.get(at("step-list"))


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_report_history_and_comparison_are_a_click_away(published, agent, alice, sign_in, request, who):
    draft = Revision.objects.get(review__number=2)
    making.publish(making.fill(draft, alice), alice)
    browser = sign_in(request.getfixturevalue(who))
    report = f'href="{reverse("report", args=["acme", "support-agent", 2, 1])}"'
    history, compare = (
        f'href="{reverse(name, args=["acme", "support-agent"])}' for name in ("review-history", "review-compare")
    )
    review = browser.get(reverse("review", args=["acme", "support-agent", 2])).content.decode()
    assert report in review
    assert f'{compare}?r=1&amp;r=2"' in review
    reviews = browser.get(at("review-list")).content.decode()
    assert f'{history}"' in reviews
    assert f'{compare}"' in reviews
    overview = browser.get("/acme/support-agent/").content.decode()
    assert report in overview
    assert f'{history}"' in overview


@pytest.fixture
def checked(published, alice, bob):
    """The draft of review 2 in a fact check for Bob."""
    draft = Revision.objects.get(review__number=2)
    reviewing.submit_for_review(draft, by=alice)
    return open_fact_check(draft, people=[bob], until=timezone.localdate(), by=alice)


def check_at(name):
    return reverse(name, args=["acme", "support-agent", 2])


def test_fact_check_is_for_the_named_alone(checked, sign_in, bob, carol, charlie, alice):
    page = sign_in(bob).get(check_at("fact-check"))
    assert page.status_code == 200
    assert "Draft for a fact check" in page.content.decode()
    assert sign_in(alice).get(check_at("fact-check")).status_code == 200
    for person in (carol, charlie):
        assert sign_in(person).get(check_at("fact-check")).status_code == 404
        assert sign_in(person).post(check_at("fact-check-remark"), {"text": "x"}).status_code == 404


@pytest.mark.parametrize("address", ["/acme/", "/acme/support-agent/"])
def test_named_person_finds_the_fact_check_without_being_told(checked, sign_in, bob, carol, alice, address):
    link = f'href="{check_at("fact-check")}"'
    assert link in sign_in(bob).get(address).content.decode()
    for person in (carol, alice):
        assert link not in sign_in(person).get(address).content.decode()
    FactCheck.objects.update(until=timezone.localdate() - timedelta(days=1))
    assert link not in sign_in(bob).get(address).content.decode()


def test_named_person_sees_that_page_only(checked, sign_in, bob):
    browser = sign_in(bob)
    for name in ("review", "review-edit", "review-publish"):
        assert browser.get(check_at(name)).status_code == 404
    assert browser.post(check_at("fact-check-close")).status_code == 404


def test_fact_check_without_levels_shows_none(checked, sign_in, bob):
    page = sign_in(bob).get(check_at("fact-check")).content.decode()
    assert "level-scale" not in page
    assert 'id="profile"' not in page
    assert "met on assertion" not in page


def test_fact_check_without_levels_does_not_tell_the_recommendation_by_a_condition(published, alice, bob, sign_in):
    draft = Revision.objects.get(review__number=2)
    making.step_for(draft, alice, "A step that the answer depends on.", is_condition=True)
    reviewing.submit_for_review(draft, by=alice)
    open_fact_check(draft, people=[bob], until=timezone.localdate(), by=alice)
    page = sign_in(bob).get(check_at("fact-check")).content.decode()
    assert "A step that the answer depends on." in page
    assert ">Condition<" not in page


def test_fact_check_remark_comes_from_the_client(checked, sign_in, bob):
    browser = sign_in(bob)
    data = {"text": "We have twelve tools.", "dimension": "guardrails"}
    assert browser.post(check_at("fact-check-remark"), {"text": ""}).status_code == 422
    assert browser.post(check_at("fact-check-remark"), data).status_code == 303
    remark = Remark.objects.get()
    assert (remark.internal, remark.dimension_id, remark.by, remark.fact_check) == (False, "guardrails", bob, checked)
    assert "We have twelve tools." in browser.get(check_at("fact-check")).content.decode()


def test_fact_check_is_over_after_its_last_day(checked, sign_in, bob):
    FactCheck.objects.update(until=timezone.localdate() - timedelta(days=1))
    assert sign_in(bob).get(check_at("fact-check")).status_code == 404


def test_publishing_page_names_what_is_missing_and_refuses(agent, alice, sign_in):
    making.draft_for(agent, alice)
    browser = sign_in(alice)
    page = browser.get(at("review-publish")).content.decode()
    assert "Summary: nothing is written" in page
    response = browser.post(at("review-publish"))
    assert response.status_code == 422
    assert "Not published" in response.content.decode()
    assert Snapshot.objects.count() == 0


def test_publishing_goes_through_review(agent, alice, sign_in):
    making.fill(making.draft_for(agent, alice), alice)
    browser = sign_in(alice)
    assert browser.post(at("review-publish")).status_code == 422
    assert browser.post(at("review-state")).status_code == 303
    response = browser.post(at("review-publish"), CONFIRMED)
    assert (response.status_code, response["Location"]) == (303, at("review"))
    assert Revision.objects.get().state == "published"


def test_publishing_as_the_last_scorer_is_403_where_a_second_person_is_asked_for(agent, alice, erin, sign_in):
    draft = making.fill(making.draft_for(agent, alice), alice)
    reviewing.submit_for_review(draft, by=alice)
    agent.client.second_person_publishes = True
    agent.client.save()
    assert sign_in(alice).post(at("review-publish"), CONFIRMED).status_code == 403
    assert sign_in(erin).post(at("review-publish"), CONFIRMED).status_code == 303


def test_publishing_has_to_be_confirmed(agent, alice, sign_in):
    reviewing.submit_for_review(making.fill(making.draft_for(agent, alice), alice), by=alice)
    browser = sign_in(alice)
    assert "revision 1 never changes afterwards" in browser.get(at("review-publish")).content.decode()
    response = browser.post(at("review-publish"))
    assert response.status_code == 422
    assert "Tick this first: publishing cannot be taken back." in response.content.decode()
    assert Revision.objects.get().state == "in_review"


def test_line_and_publishing_page_count_the_same(agent, alice, bob, erin, sign_in):
    draft = making.fill(making.draft_for(agent, alice), alice)
    reviewing.submit_for_review(draft, by=alice)
    open_fact_check(draft, people=[bob], until=timezone.localdate(), by=alice)
    browser = sign_in(alice)
    assert ">1 missing</a>" in browser.get(at("review-edit")).content.decode()
    page = browser.get(at("review-publish")).content.decode()
    assert 'What is missing <span class="count">1</span>' in page
    assert "The fact check is still open: close it first" in page


def test_index_leads_to_the_open_remarks(agent, alice, erin, sign_in):
    draft = making.draft_for(agent, alice)
    browser = sign_in(alice)
    closed = '<a href="#remarks"><span>Remarks</span><span>–</span></a>'
    assert closed in browser.get(at("review-edit")).content.decode()
    remarks.add_remark(draft, "Which tool?", place=remarks.Place(dimension_id="guardrails"), by=erin)
    page = browser.get(at("review-edit")).content.decode()
    assert '<a href="#remarks-guardrails"><span>Remarks</span><span>1 open</span></a>' in page
    assert 'id="remarks-guardrails"' in page


def test_agent_without_a_review_has_no_label_without_a_value(agent, alice, sign_in):
    browser = sign_in(alice)
    assert 'data-label="Bar"' not in browser.get("/").content.decode()
    making.published_review(agent, alice)
    assert 'data-label="Bar"' in browser.get("/").content.decode()


def test_step_of_today_is_new(agent, alice, sign_in):
    step = making.step_for(making.draft_for(agent, alice), alice)
    browser = sign_in(alice)
    assert "<span>new today</span>" in browser.get(at("review-edit")).content.decode()
    step.created_at -= timedelta(days=3)
    step.save()
    assert "<span>3 days old</span>" in browser.get(at("review-edit")).content.decode()
