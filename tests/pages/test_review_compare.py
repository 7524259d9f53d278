"""Pages that look back: reviews side by side, history; who sees them, and with how many queries."""

import pytest
from django.urls import reverse

from tests.scorecards import making

pytestmark = pytest.mark.django_db
COMPARE = "/acme/support-agent/reviews/compare/"
HISTORY = "/acme/support-agent/history/"


@pytest.fixture
def reviews(agent, alice):
    """Two published reviews, the second a level higher."""
    engagement = making.engagement_for(agent, alice)
    first = making.published_review(agent, alice, level=1, engagement=engagement)
    return [first, making.published_review(agent, alice, level=2, engagement=engagement)]


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_addresses():
    assert reverse("review-compare", args=["acme", "support-agent"]) == COMPARE
    assert reverse("review-history", args=["acme", "support-agent"]) == HISTORY


def test_two_reviews_stand_side_by_side(reviews, bob, sign_in):
    page = text(sign_in(bob).get(f"{COMPARE}?r=1&r=2"))
    assert "From review 1 to review 2" in page
    assert "<strong>Guardrails</strong> 1 → 2, we know more" in page
    assert "What cannot be compared" in page


def test_fewer_than_two_lets_one_choose(reviews, bob, sign_in):
    for query in ("", "?r=1", "?r=1&r=1", "?r=1&r=x&r=99999999999999999999"):
        page = text(sign_in(bob).get(COMPARE + query))
        assert "Choose two to 4 reviews" in page
        assert "From review" not in page


def test_without_two_published_reviews_it_says_so(agent, alice, bob, sign_in):
    making.published_review(agent, alice)
    assert "Nothing to compare yet" in text(sign_in(bob).get(f"{COMPARE}?r=1&r=2"))


def test_a_draft_is_no_part_of_it(reviews, agent, alice, sign_in):
    making.draft_for(agent, alice, reviews[0].review.engagement)
    page = text(sign_in(alice).get(f"{COMPARE}?r=2&r=3"))
    assert "Review 3" not in page


def test_more_than_four_are_cut_to_the_latest(agent, alice, reviews, bob, sign_in):
    for _ in range(3):
        making.published_review(agent, alice, engagement=reviews[0].review.engagement)
    page = text(sign_in(bob).get(f"{COMPARE}?r=1&r=2&r=3&r=4&r=5"))
    assert "the latest 4 are shown" in page
    assert "From review 1 to" not in page


def test_history_shows_levels_and_answers(reviews, bob, sign_in):
    page = text(sign_in(bob).get(HISTORY))
    assert "Level 1 in review 1, 2 in review 2; now below the bar of 3." in page
    assert "Compare the last two reviews" in page


def test_history_without_reviews_says_what_it_is_for(agent, bob, sign_in):
    assert "No history yet" in text(sign_in(bob).get(HISTORY))


def test_strangers_learn_nothing(reviews, charlie, frank, sign_in):
    for person in (charlie, frank):
        assert sign_in(person).get(f"{COMPARE}?r=1&r=2").status_code == 404
        assert sign_in(person).get(HISTORY).status_code == 404


@pytest.mark.parametrize("more", [0, 2])
def test_queries_do_not_grow_with_reviews(agent, alice, bob, reviews, sign_in, django_assert_num_queries, more):
    for _ in range(more):
        making.published_review(agent, alice, engagement=reviews[0].review.engagement)
    browser = sign_in(bob)
    # session, user; client, membership; agent; reviews, snapshots
    with django_assert_num_queries(7):
        browser.get(HISTORY)
