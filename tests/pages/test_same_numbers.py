"""Page, API and report of a published review print the same numbers."""

import re
from collections.abc import Callable

import msgspec
import pytest
from django.test import Client as Browser
from django.utils.html import strip_tags

from evals.measures.display import format_range
from reliability.models import Client, Scope, User
from reliability.people import issue_token
from scorecards.demo.loading import load_demo
from scorecards.models import Review
from scorecards.reports.html import render_html
from scorecards.snapshot_reading import Snapshot
from tests.conftest import Api

pytestmark = pytest.mark.django_db


def _squeezed(html: str) -> str:
    return re.sub(r"\s+", "", strip_tags(html).replace("&nbsp;", ""))


def test_page_api_and_report_print_the_same_numbers(sign_in: Callable[[User], Browser]) -> None:
    load_demo(lambda line: None)
    review = Review.objects.get(number=2)
    token = issue_token(Client.objects.get(slug="demo"), name="reader", scopes=[Scope.READ]).secret
    answer = Api().get(f"/reviews/{review.pk}", token).json()
    snapshot = msgspec.convert(answer["snapshot"], Snapshot, strict=False)
    viewer = sign_in(User.objects.get(email="viewer@demo.example"))
    page = _squeezed(viewer.get(review.get_absolute_url()).content.decode())
    report = _squeezed(render_html(snapshot, sha256=answer["sha256"]))

    assert snapshot.runs
    assert snapshot.verdict is not None
    assert _squeezed(snapshot.verdict.words) in page
    assert _squeezed(snapshot.verdict.words) in report
    for run in snapshot.runs:
        assert _squeezed(run.measure.counts_words) in page
        assert _squeezed(run.measure.counts_words) in report
        assert _squeezed(run.attempts.execution_words) in page
        assert _squeezed(run.attempts.execution_words) in report
        for line in run.classes:
            counts, interval = line.measure.counts, line.measure.interval
            assert f"{counts.passed:,}PASS,{counts.failed:,}FAIL" in page
            numbers = f"{counts.passed}{counts.failed}{counts.unknown}{counts.error}"
            rate = line.measure.reliability_words if counts.determinate else "none"
            ends = format_range((interval.low, interval.high)) if interval else "none"
            assert numbers + rate + ends in report, line.title
            if interval:
                assert rate + ends in page, line.title
