"""A fact check is for named members, until its last day."""

from datetime import timedelta

import pytest
from django.utils import timezone

from reliability.errors import AppError, Conflict
from scorecards import reviewing
from scorecards.fact_checks import close_fact_check, is_open_to, open_fact_check
from scorecards.models import FactCheck, Revision
from tests.scorecards import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def in_review(agent, alice):
    draft = making.draft_for(agent, alice)
    reviewing.submit_for_review(draft, by=alice)
    return draft


def today(days=0):
    return timezone.localdate() + timedelta(days=days)


def test_fact_check_is_open_to_those_named(in_review, alice, bob, carol):
    check = open_fact_check(in_review, people=[bob], until=today(), by=alice)
    assert is_open_to(check, bob)
    assert not is_open_to(check, carol)
    assert Revision.objects.get(pk=in_review.pk).state == "fact_check"


def test_fact_check_ends_after_its_last_day_and_on_closing(in_review, alice, bob):
    check = open_fact_check(in_review, people=[bob], until=today(3), by=alice)
    FactCheck.objects.filter(pk=check.pk).update(until=today(-1))
    check.refresh_from_db()
    assert not is_open_to(check, bob)
    close_fact_check(check, by=alice)
    assert Revision.objects.get(pk=in_review.pk).state == "in_review"


def test_member_who_left_no_longer_reads_it(in_review, alice, bob):
    check = open_fact_check(in_review, people=[bob], until=today(), by=alice)
    bob.memberships.all().delete()
    assert not is_open_to(check, bob)


def test_strangers_cannot_be_named(in_review, alice, charlie):
    with pytest.raises(AppError) as refusal:
        open_fact_check(in_review, people=[charlie], until=today(), by=alice)
    assert refusal.value.code == "not_a_member"


def test_fact_check_of_a_draft_is_refused(agent, alice, bob):
    draft = making.draft_for(agent, alice)
    with pytest.raises(Conflict):
        open_fact_check(draft, people=[bob], until=today(), by=alice)


def test_draft_that_the_client_read_is_not_discarded(in_review, alice, bob):
    open_fact_check(in_review, people=[bob], until=today(), by=alice)
    with pytest.raises(Conflict) as refusal:
        reviewing.discard_draft(in_review, by=alice)
    assert refusal.value.code == "fact_checked"
