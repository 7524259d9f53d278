"""Published reviews over the API."""

import hashlib
import json
import uuid

import pytest

from evals.models import Visibility
from scorecards.models import Snapshot
from tests.scorecards import making

pytestmark = pytest.mark.django_db

MARKER = "zanzibar"


@pytest.fixture
def published(agent, alice):
    draft = making.fill(making.draft_for(agent, alice), alice)
    making.link_item(making.score_of(draft), alice, f"{MARKER} link", visibility=Visibility.INTERNAL)
    return making.publish(draft, alice)


def test_review_is_the_client_snapshot_byte_for_byte(api, published, read_token):
    response = api.get(f"/reviews/{published.review_id}", read_token)
    stored = Snapshot.objects.get(revision=published, kind="client")
    answer = response.json()

    assert response.status_code == 200
    assert bytes(stored.body) in response.content
    assert hashlib.sha256(bytes(stored.body)).hexdigest() == answer["sha256"]
    assert answer["snapshot"] == json.loads(bytes(stored.body))
    assert (answer["agent"], answer["number"], answer["revision"]) == ("support-agent", 1, 1)
    assert MARKER not in response.content.decode()


def test_draft_is_404(api, agent, alice, read_token):
    draft = making.draft_for(agent, alice)
    assert api.get(f"/reviews/{draft.review_id}", read_token).status_code == 404


def test_review_of_another_client_is_404(api, published, other_token):
    response = api.get(f"/reviews/{published.review_id}", other_token)
    assert response.status_code == 404
    assert response["Content-Type"].startswith("application/problem+json")


def test_unknown_review_is_404(api, client_org, read_token):
    assert api.get(f"/reviews/{uuid.uuid4()}", read_token).status_code == 404


def test_upload_token_may_not_read_reviews(api, published, upload_token):
    response = api.get(f"/reviews/{published.review_id}", upload_token)
    assert response.status_code == 403
    assert response.json()["code"] == "scope_missing"
