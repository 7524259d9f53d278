"""Imports by a real worker, over the broker of the environment (a folder, or Redis), killed where it hurts."""

import json
import threading
from collections.abc import Iterator

import pytest

from tests.installation import Installation, install

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with install(tmp_path_factory.mktemp("installation")) as made:
        made.start("web")
        made.start("worker")
        made.start("beat")
        yield made


def lines(attempts: int, *, label: str = "big") -> bytes:
    """A run/v1 NDJSON with one FAIL in ten."""
    rows = [{"schema": "run/v1", "run": {"id": label, "suite": "load", "planned": attempts}}]
    rows += [{"scenario": {"key": f"s{n}", "class": "task_not_done"}} for n in range(100)]
    rows += [
        {
            "attempt": {
                "scenario": f"s{n % 100}",
                "ordinal": n // 100 + 1,
                "evaluations": [{"indicator": "task_success", "outcome": "FAIL" if n % 10 == 0 else "PASS"}],
            }
        }
        for n in range(attempts)
    ]
    rows.append({"end": {"attempts": attempts}})
    return b"\n".join(json.dumps(row).encode() for row in rows)


def counts(answer: dict) -> tuple[int, int]:  # type: ignore[type-arg]
    return answer["run"]["counts"]["pass"], answer["run"]["counts"]["fail"]


def list_run_ids(installation: Installation) -> list[str]:
    answer = installation.request("/api/v1/agents/support-agent/runs?limit=200").body
    return [run["id"] for run in answer["items"]]


def test_worker_imports_within_the_wait(installation: Installation) -> None:
    answer = installation.upload(lines(50, label="small"))

    assert answer.status == 201, answer.body
    assert counts(answer.body) == (45, 5)


def test_long_import_is_202_and_shows_progress(installation: Installation) -> None:
    answer = installation.upload(lines(20_000, label="long"), "wait=0")

    assert answer.status == 202
    assert answer.headers["Location"] == f"/api/v1/imports/{answer.body['id']}"
    assert answer.body["run"] is None
    final = installation.follow(answer.body["id"])
    assert (final["state"], counts(final)) == ("done", (18_000, 2_000))
    assert final["progress"]["rows_stored"] == 40_000


def test_two_uploads_of_the_same_bytes_at_once_make_one_run(installation: Installation) -> None:
    before, body, answers = len(list_run_ids(installation)), lines(500, label="twice"), []
    threads = [threading.Thread(target=lambda: answers.append(installation.upload(body))) for _ in range(6)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # 202: half of the process's threads were waiting already.
    assert {answer.status for answer in answers} <= {200, 201, 202}
    assert len({answer.body["id"] for answer in answers}) == 1
    assert installation.follow(answers[0].body["id"])["state"] == "done"
    assert len(list_run_ids(installation)) == before + 1


def test_killed_worker_leaves_nothing_visible_and_the_job_is_done_later(installation: Installation) -> None:
    before = list_run_ids(installation)
    job = installation.upload(lines(60_000, label="killed"), "wait=0").body["id"]
    installation.wait_until(
        lambda: installation.request(f"/api/v1/imports/{job}").body["progress"]["rows_stored"] > 0, "rows are stored"
    )

    installation.kill("worker")

    half = installation.request(f"/api/v1/imports/{job}").body
    assert half["state"] == "running"
    assert half["run"] is None
    assert list_run_ids(installation) == before
    installation.start("worker")
    final = installation.follow(job)
    assert (final["state"], counts(final)) == ("done", (54_000, 6_000))
    assert len(list_run_ids(installation)) == len(before) + 1


def test_refused_artifact_leaves_no_run(installation: Installation) -> None:
    before = list_run_ids(installation)

    body = lines(15_000, label="broken").rpartition(b"\n")[0] + b"\n{broken"  # in the place of the last line

    answer = installation.upload(body)

    assert (answer.status, answer.body["code"]) == (400, "bad_json")
    assert answer.body["errors"][0]["line"] == 15_102
    assert list_run_ids(installation) == before


def test_report_is_made_by_the_worker(installation: Installation) -> None:
    printed = installation.manage("demo")
    token = next(word for word in printed.split() if word.startswith("rs_"))
    find = "from scorecards.models import Review; print(Review.objects.get(number=2).pk)"
    review = installation.manage("shell", "--no-imports", "-c", find).strip()
    answers = []

    def is_made() -> bool:
        answers.append(installation.request(f"/api/v1/reviews/{review}/report.pdf", token=token))
        return answers[-1].status != 202

    installation.wait_until(is_made, "the report is made", seconds=90)

    assert (answers[-1].status, answers[-1].body[:5]) == (200, b"%PDF-")
    again = installation.request(f"/api/v1/reviews/{review}/report.pdf", token=token)
    assert again.body == answers[-1].body
