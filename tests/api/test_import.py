"""Uploads through the API: what the artifact pages promise, counted."""

from collections.abc import Callable

import pytest

from tests.conftest import Api

# From the formats page, section 9: total, pass, fail, unknown, error.
COUNTS = {
    "promptfoo/results.json": (36, 12, 4, 4, 16),
    "promptfoo/results.jsonl": (36, 12, 4, 4, 16),
    "promptfoo/results.junit.xml": (36, 16, 12, 0, 8),
    "pytest/basic.xml": (18, 5, 8, 3, 2),
    "pytest/collection_error.xml": (1, 0, 0, 0, 1),
    "pytest/xdist.xml": (18, 5, 8, 3, 2),
}


@pytest.mark.parametrize("name", COUNTS)
def test_upload_counts_every_evaluation(
    api: Api, agent: object, full_token: str, artifact: Callable[[str], bytes], name: str
) -> None:
    answer = api.upload(artifact(name), full_token)

    assert answer.status_code == 201, answer.content
    counts = answer.json()["run"]["counts"]
    assert tuple(counts[key] for key in ("total", "pass", "fail", "unknown", "error")) == COUNTS[name]
    classes = api.get(f"/runs/{answer.json()['run']['id']}/classes", full_token).json()["items"]
    assert sum(line["counts"]["total"] for line in classes) == COUNTS[name][0]
