"""Uploading by hand and following the import."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser

from evals.models import Agent, Import, ImportState, Phase, Run
from evals.parsers import FORMATS
from reliability.models import User
from tests.run_documents import attempt, document, import_bytes, import_document

URL = "/acme/support-agent/upload/"
SignIn = Callable[[User | None], Browser]


def _file(body: bytes, name: str = "results.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, body)


def _waiting(agent: Agent, alice: User, **state: Any) -> Import:
    job = import_bytes(agent, b"not a run", alice, name="slow.json")
    values = {"state": ImportState.RUNNING, "phase": Phase.READING, "errors": [], "detail": "", **state}
    Import.objects.filter(pk=job.pk).update(**values)
    return Import.objects.get(pk=job.pk)


def test_consultant_uploads_an_internal_run(sign_in: SignIn, alice: User, agent: Agent, artifact: Any) -> None:
    said = {"made_by": "consultancy", "visibility": "internal", "branch": "main"}
    answer = sign_in(alice).post(URL, {"file": _file(artifact("run-v1/short.json")), **said}, follow=True)

    run = Run.objects.get()
    assert answer.redirect_chain[-1][0] == run.get_absolute_url()
    assert (run.made_by, run.visibility, run.branch) == ("consultancy", "internal", "main")


def test_contributor_uploads_for_the_client(sign_in: SignIn, carol: User, agent: Agent, artifact: Any) -> None:
    said = {"made_by": "consultancy", "visibility": "internal"}  # not theirs to say
    sign_in(carol).post(URL, {"file": _file(artifact("run-v1/short.json")), **said})

    run = Run.objects.get()
    assert (run.made_by, run.visibility) == ("client", "client")
    assert "Who sees" not in sign_in(carol).get(URL).content.decode()


def test_viewer_cannot_upload(sign_in: SignIn, bob: User, agent: Agent, artifact: Any) -> None:
    assert sign_in(bob).post(URL, {"file": _file(artifact("run-v1/short.json"))}).status_code == 403
    assert not Import.objects.exists()


def test_upload_needs_a_csrf_token(agent: Agent, alice: User, artifact: Any) -> None:
    browser = Browser(enforce_csrf_checks=True)
    browser.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")

    assert browser.post(URL, {"file": _file(artifact("run-v1/short.json"))}).status_code == 403


@pytest.mark.parametrize("said", [{}, {"file": "empty"}, {"planned": "-1"}, {"mode": "dreamt"}])
def test_upload_form_refuses(sign_in: SignIn, carol: User, agent: Agent, said: dict[str, str]) -> None:
    data: dict[str, Any] = {"file": _file(b"{}"), **said}
    if not said:
        del data["file"]
    elif "file" in said:
        data["file"] = _file(b"")

    answer = sign_in(carol).post(URL, data)

    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not Import.objects.exists()


def test_same_file_again_leads_to_the_first_run(sign_in: SignIn, carol: User, agent: Agent, artifact: Any) -> None:
    browser = sign_in(carol)
    for _ in range(2):
        answer = browser.post(URL, {"file": _file(artifact("run-v1/short.json"))}, follow=True)

    assert Run.objects.count() == 1
    assert answer.redirect_chain[-1][0] == Run.objects.get().get_absolute_url()
    assert "was uploaded before" in answer.content.decode()


def test_import_shows_progress_and_polls(sign_in: SignIn, alice: User, agent: Agent) -> None:
    job = _waiting(agent, alice, bytes_total=2048, bytes_read=1024, rows_read=1500, rows_stored=1000)

    content = sign_in(alice).get(job.get_absolute_url()).content.decode()

    assert '<progress id="import-progress" max="2048" value="1024">50%</progress>' in content
    assert "1,500 rows read · 1,000 stored" in content
    assert "Reading and storing rows" in content
    assert 'hx-trigger="every 1s"' in content
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in content


def test_import_status_part_alone_for_htmx(sign_in: SignIn, alice: User, agent: Agent) -> None:
    job = _waiting(agent, alice, phase=Phase.WAITING, state=ImportState.QUEUED)

    part = sign_in(alice).get(job.get_absolute_url(), headers={"HX-Request": "true"}).content.decode()

    assert part.lstrip().startswith('<section id="import-status"')
    assert "Waiting for a worker" in part
    assert '<progress id="import-progress"></progress>' in part


def test_refused_import_names_each_problem_and_stops_polling(sign_in: SignIn, alice: User, agent: Agent) -> None:
    broken = b'{"schema": "run/v1", "run": {"id": "a", "suite": "s", "mode": "dreamt"}, "attempts": [{"scenarioo": 1}]}'
    job = import_bytes(agent, broken, alice)

    content = sign_in(alice).get(job.get_absolute_url()).content.decode()

    assert "The artifact was refused" in content
    assert "<code>/run/mode</code>" in content
    assert "scripted" in content
    assert "hx-trigger" not in content.partition('<section id="import-status"')[2].partition("</section>")[0]
    assert "Upload again" in content


def test_refused_import_shows_no_code(sign_in: SignIn, alice: User, agent: Agent) -> None:
    job = import_bytes(agent, b'{"evalId": "eval-1", "config": {}}', alice)
    Import.objects.filter(pk=job.pk).update(code="near_miss")

    assert "near_miss" not in sign_in(alice).get(job.get_absolute_url()).content.decode()


def test_upload_page_lists_its_formats_once(sign_in: SignIn, alice: User, agent: Agent) -> None:
    content = sign_in(alice).get(URL).content.decode()

    assert "A file in one of the formats under “What is read”" in content
    assert content.partition('<dl class="read">')[2].partition("</dl>")[0].count("<dt>") == len(FORMATS)
    assert "Our own format" in content
    assert "harness" not in content


def test_failed_import_says_what_happened(sign_in: SignIn, alice: User, agent: Agent) -> None:
    job = _waiting(agent, alice, state=ImportState.FAILED, phase=Phase.FINISHED, detail="The worker stopped 5 times.")

    content = sign_in(alice).get(job.get_absolute_url()).content.decode()

    assert "The import failed" in content
    assert "The worker stopped 5 times." in content


def test_finished_import_goes_to_the_run(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("a", attempt("x")), alice)
    job = Import.objects.get()
    browser = sign_in(alice)

    assert browser.get(job.get_absolute_url()).headers["Location"] == run.get_absolute_url()
    polled = browser.get(job.get_absolute_url(), headers={"HX-Request": "true"})
    assert polled.headers["HX-Redirect"] == run.get_absolute_url()


def test_import_of_somebody_else_is_not_found(
    sign_in: SignIn, alice: User, bob: User, carol: User, charlie: User, agent: Agent
) -> None:
    job = _waiting(agent, alice)

    answers = [sign_in(person).get(job.get_absolute_url()).status_code for person in (bob, carol, charlie)]
    assert answers == [404, 404, 404]


def test_after_a_refusal_nothing_is_typed_again(sign_in: SignIn, alice: User, carol: User, agent: Agent) -> None:
    said = {"made_by": "client", "visibility": "client", "branch": "fix-7", "suite": "nightly"}
    sign_in(alice).post(URL, {"file": _file(b"no run"), **said})
    job = Import.objects.get()

    page = sign_in(alice).get(job.get_absolute_url()).content.decode()
    assert f"{URL}?again={job.pk}" in page
    form = sign_in(alice).get(f"{URL}?again={job.pk}").content.decode()
    assert 'value="fix-7"' in form
    assert re.search(r'name="visibility" value="client"[^>]* checked', form)
    assert sign_in(carol).get(f"{URL}?again={job.pk}").status_code == 404  # not hers
    assert sign_in(alice).get(f"{URL}?again=nonsense").status_code == 200
