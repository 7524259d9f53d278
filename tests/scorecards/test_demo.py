"""The demo looks like a finished engagement, and its seed cases are what they have to be."""

from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from evals.models import Attempt, ClassResult, Run, Visibility
from evals.records import Finding, Mode, Origin
from reliability.audit import verify_chain
from reliability.models import AuditChain, Client, User
from scorecards.demo.seed_cases import SHOPPING, VISIBLE_ATTEMPTS
from scorecards.models import Revision, RevisionState

pytestmark = pytest.mark.django_db


@pytest.fixture
def printed(settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    settings.DATA_DIR = tmp_path
    call_command("demo")
    return capsys.readouterr().out


def test_demo_prints_accounts_that_work(printed: str) -> None:
    rows = [
        line.split()
        for line in printed.splitlines()
        if line.startswith(("consultant", "viewer", "contributor", "token"))
    ]
    lines = {row[0]: row[1:] for row in rows}

    assert set(lines) == {"consultant", "viewer", "contributor", "token"}
    for role in ("consultant", "viewer", "contributor"):
        email, password = lines[role]
        assert User.objects.get(email=email).check_password(password)


def test_demo_loads_once(printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("demo")

    again = capsys.readouterr().out
    assert again.splitlines() == printed.splitlines()[-len(again.splitlines()) :]
    assert Client.objects.filter(slug="demo").count() == 1


def test_demo_has_two_published_reviews_and_a_draft(printed: str) -> None:
    states = list(Revision.objects.order_by("created_at").values_list("state", flat=True))

    assert states == [RevisionState.PUBLISHED, RevisionState.PUBLISHED, RevisionState.DRAFT]


def test_demo_runs_are_released_to_the_client(printed: str) -> None:
    assert set(Run.objects.values_list("visibility", flat=True)) == {Visibility.CLIENT}
    assert set(Run.objects.values_list("agent__slug", flat=True)) == {
        "support-agent",
        "healthcare-agent",
        "shopping-agent",
    }


def test_shopping_seed_has_its_totals(printed: str) -> None:
    run = Run.objects.get(label="shopping-seed")

    assert (run.counts.total, run.counts.passed, run.counts.failed, run.counts.unknown) == (1087, 1030, 41, 16)
    assert list(run.counts.failed_by_finding.values()) == [5, 29, 5, 2]
    assert (run.attempts_recorded, run.origin, run.mode) == (41, Origin.SYNTHETIC, Mode.LIVE)
    kinds = dict(
        ClassResult.objects.filter(run=run).values_list("definition__indicator__name", "definition__indicator__kind")
    )
    assert set(kinds) == set(SHOPPING)
    assert (kinds["tool_call_valid"], kinds["budget_compliance"], kinds["task_success"]) == (
        "execution",
        "behaviour",
        "outcome",
    )


def test_shopping_user_visible_findings_fall_in_two_attempts(printed: str) -> None:
    attempts = Attempt.objects.filter(run__label="shopping-seed", evaluations__finding=Finding.USER_VISIBLE)

    assert sorted(set(attempts.values_list("number", flat=True))) == list(VISIBLE_ATTEMPTS)


def test_healthcare_seed_falls_from_all_to_half(printed: str) -> None:
    first, second = Run.objects.filter(agent__slug="healthcare-agent").order_by("at")

    assert (first.counts.passed, first.counts.determinate, first.origin) == (1, 1, Origin.SYNTHETIC)
    assert (second.counts.passed, second.counts.failed, second.counts.unknown) == (0, 1, 1)


def test_demo_leaves_a_whole_audit_chain(printed: str) -> None:
    chain = AuditChain.objects.get(client__slug="demo")

    assert chain.count > 50
    assert list(verify_chain(chain)) == []
