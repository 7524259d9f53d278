"""Engagements are the consultancy's: made, changed, and reviews started from them."""

import pytest
from django.urls import reverse

from scorecards.models import Engagement, Review
from tests.scorecards import making

pytestmark = pytest.mark.django_db


def typed(agent, **changes):
    return {"name": "Autumn review", "starts_on": "2026-10-01", "agents": [str(agent.pk)]} | changes


@pytest.mark.parametrize("who", ["bob", "carol", "dora", "charlie", "frank"])
def test_nobody_else_finds_engagements(agent, alice, who, sign_in, request):
    engagement = making.engagement_for(agent, alice)
    browser = sign_in(request.getfixturevalue(who))
    for place in (
        reverse("engagement-list", args=["acme"]),
        reverse("engagement-create", args=["acme"]),
        reverse("engagement", args=["acme", engagement.pk]),
        reverse("engagement-change", args=["acme", engagement.pk]),
    ):
        assert browser.get(place).status_code == 404
        assert browser.post(place).status_code == 404


def test_consultant_creates_one(agent, alice, sign_in):
    response = sign_in(alice).post(reverse("engagement-create", args=["acme"]), typed(agent))
    engagement = Engagement.objects.get()
    assert (response.status_code, response["Location"]) == (303, engagement.get_absolute_url())
    assert list(engagement.agents.all()) == [agent]


def test_engagement_that_ends_before_it_starts_is_422(agent, alice, sign_in):
    response = sign_in(alice).post(reverse("engagement-create", args=["acme"]), typed(agent, ends_on="2026-09-01"))
    assert response.status_code == 422
    assert "The engagement ends before it starts." in response.content.decode()


def test_agent_of_another_client_cannot_be_in_scope(agent, other_agent, alice, sign_in):
    response = sign_in(alice).post(
        reverse("engagement-create", args=["acme"]), typed(agent, agents=[str(other_agent.pk)])
    )
    assert response.status_code == 422
    assert Engagement.objects.count() == 0


def test_engagement_of_another_client_is_404(other_agent, erin, alice, client_org, sign_in):
    theirs = making.engagement_for(other_agent, erin)
    assert sign_in(alice).get(reverse("engagement", args=["acme", theirs.pk])).status_code == 404


def test_review_starts_from_the_engagement(agent, alice, sign_in):
    engagement = making.engagement_for(agent, alice)
    browser = sign_in(alice)
    assert "Start a review" in browser.get(engagement.get_absolute_url()).content.decode()
    data = {"engagement": str(engagement.pk), "as_of": "2026-10-30"}
    response = browser.post(reverse("review-start", args=["acme", "support-agent"]), data)
    assert response["Location"].endswith("/reviews/1/edit/")
    assert Review.objects.get().engagement == engagement
    assert "Start a review" not in browser.get(engagement.get_absolute_url()).content.decode()


@pytest.mark.parametrize("word", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_review_of_no_engagement_is_404(agent, alice, sign_in, word):
    data = {"engagement": word, "as_of": "2026-10-30"}
    assert sign_in(alice).post(reverse("review-start", args=["acme", "support-agent"]), data).status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_engagement_list_query_count(agent, alice, sign_in, count, django_assert_num_queries):
    for _ in range(count):
        making.engagement_for(agent, alice)
    browser = sign_in(alice)
    # session, user, client, assignment, engagements
    with django_assert_num_queries(5):
        browser.get(reverse("engagement-list", args=["acme"]))
