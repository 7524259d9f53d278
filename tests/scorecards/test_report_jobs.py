"""Reports as jobs: one a snapshot and paper, held under a lease, swept when a worker died, failing in plain sight."""

import threading
from datetime import timedelta

import psycopg
import pytest
from django.core.files.storage import storages
from django.db import OperationalError
from django.utils import timezone

from reliability import leases
from reliability.leases import LeaseLost
from reliability.models import AuditEntry
from scorecards import report_jobs, tasks
from scorecards.models import Report, ReportState, Snapshot, SnapshotKind
from scorecards.report_jobs import claim_report, make_waiting_room, request_report
from scorecards.reports import rendering
from scorecards.reports.pdf import Pdf
from tests.scorecards import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot(agent, alice):
    revision = making.published_review(agent, alice)
    return Snapshot.objects.get(revision=revision, kind=SnapshotKind.CLIENT)


@pytest.fixture
def drawn(monkeypatch):
    """Set pages at once; return what was asked for."""
    asked: list[str] = []

    def draw(html, *, paper, identifier, on_progress):
        asked.append(paper)
        on_progress("Setting page 1")
        return Pdf(b"%PDF-1.7 " + identifier.encode(), 3)

    monkeypatch.setattr(rendering, "render_pdf", draw)
    return asked


def test_report_is_asked_for_once_for_each_paper(snapshot, alice):
    first = request_report(snapshot, Report.Paper.A4, by=alice)
    again = request_report(snapshot, Report.Paper.A4, by=None)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.report == first.report
    assert request_report(snapshot, Report.Paper.LETTER, by=alice).is_new
    assert Report.objects.count() == 2


def test_report_is_made_and_stored(snapshot, alice, drawn):
    report = request_report(snapshot, Report.Paper.LETTER, by=alice).report
    rendering.run_report(report.pk)
    report.refresh_from_db()
    assert (report.state, report.pages, report.requested_by) == (ReportState.DONE, 3, alice)
    assert report.path.startswith("reports/")
    with storages["default"].open(report.path) as file:
        body = file.read()
    assert (len(body), body) == (report.size, b"%PDF-1.7 " + snapshot.sha256.encode())
    assert drawn == ["letter"]


def test_finished_report_is_never_made_again(snapshot, alice, drawn):
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    rendering.run_report(report.pk)
    rendering.run_report(report.pk)
    assert drawn == ["a4"]


def test_two_workers_do_not_make_the_same_report(snapshot, alice):
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    assert claim_report(report.pk) is not None
    assert claim_report(report.pk) is None


def test_expired_lease_is_taken_and_the_first_worker_stops(snapshot, alice):
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    first = claim_report(report.pk)
    Report.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert leases.list_stalled(Report) == [report.pk]
    second = claim_report(report.pk)
    with pytest.raises(LeaseLost):
        first.renew(phase="Setting page 2")
    assert first.finish(state=ReportState.FAILED) is False
    assert second.finish(state=ReportState.DONE) is True


def test_worker_that_lost_its_lease_leaves_no_trace(snapshot, alice, monkeypatch):
    report = request_report(snapshot, Report.Paper.A4, by=alice).report

    def draw(*_, **__):
        Report.objects.update(lease=None)
        return Pdf(b"%PDF-", 1)

    monkeypatch.setattr(rendering, "render_pdf", draw)
    rendering.run_report(report.pk)
    report.refresh_from_db()
    assert (report.state, report.path, report.detail) == (ReportState.RUNNING, "", "")


def test_failure_is_said_and_tried_again_when_asked(snapshot, alice, monkeypatch, drawn):
    with monkeypatch.context() as broken:
        broken.setattr(rendering, "render_pdf", lambda *_, **__: 1 / 0)
        report = request_report(snapshot, Report.Paper.A4, by=alice).report
        rendering.run_report(report.pk)
    report.refresh_from_db()
    assert report.state == ReportState.FAILED
    assert "ZeroDivisionError" in report.detail
    again = request_report(snapshot, Report.Paper.A4, by=alice)
    assert (again.is_new, again.report.state, again.report.detail) == (True, ReportState.QUEUED, "")
    rendering.run_report(report.pk)
    report.refresh_from_db()
    assert report.state == ReportState.DONE


def test_sweep_finds_lost_messages(snapshot, alice, drawn):
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    tasks.sweep_reports()
    report.refresh_from_db()
    assert report.state == ReportState.QUEUED  # its message may still be on the way
    Report.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    tasks.sweep_reports()
    report.refresh_from_db()
    assert report.state == ReportState.DONE


def test_report_whose_workers_keep_dying_fails(snapshot, alice):
    request_report(snapshot, Report.Paper.A4, by=alice)
    past = timezone.now() - timedelta(seconds=1)
    Report.objects.update(state=ReportState.RUNNING, tries=leases.MAX_TRIES, lease_until=past)
    tasks.sweep_reports()
    report = Report.objects.get()
    assert report.state == ReportState.FAILED
    assert report.detail == "The worker stopped 5 times while making this report."


def test_progress_renews_the_lease(snapshot, alice, settings):
    settings.JOB_LEASE_SECONDS = 2
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    teller = rendering._Teller(claim_report(report.pk))
    teller.say("too soon to write it down")
    assert Report.objects.get().phase == "Reading the snapshot"
    teller._said_at -= timedelta(seconds=1)
    teller.say("Setting page 7")
    assert Report.objects.get().phase == "Setting page 7"


def test_download_is_noted(snapshot, alice, drawn):
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    rendering.run_report(report.pk)
    report.refresh_from_db()
    report_jobs.note_download(report, by=alice)
    entry = AuditEntry.objects.order_by("pk").last()
    assert (entry.action, entry.payload) == ("report.downloaded", {"paper": "a4", "sha256": report.sha256})


def test_full_waiting_room_answers_at_once(snapshot, alice, settings):
    settings.WEB_THREADS = 4
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    room = make_waiting_room()
    room._enter()
    taken = timezone.now()
    assert room.wait_for(report.pk, 30).state == ReportState.QUEUED
    assert timezone.now() - taken < timedelta(seconds=5)


def test_renderer_listens_to_its_own_thread_alone():
    from scorecards.reports.pdf import render_pdf  # slow import

    told: list[str] = []
    html = '<html lang="en"><title>t</title><p>x</p></html>'
    other = threading.Thread(target=lambda: render_pdf(html, paper="a4", identifier="x", on_progress=told.append))
    mine: list[str] = []
    render_pdf(html, paper="a4", identifier="x", on_progress=mine.append)
    before = list(mine)
    other.start()
    other.join()
    assert told == before == mine


def test_report_waits_for_a_database_that_went_away(snapshot, alice, monkeypatch):
    def lose_the_database(*_, **__):
        raise OperationalError from psycopg.errors.AdminShutdown()

    monkeypatch.setattr(rendering, "render_pdf", lose_the_database)
    report = request_report(snapshot, Report.Paper.A4, by=alice).report
    rendering.run_report(report.pk)
    Report.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert (Report.objects.get().state, leases.list_stalled(Report)) == (ReportState.RUNNING, [report.pk])
