"""The cast: everybody who may stand at a door, and the ground they stand on."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client as Browser
from pytest_django import Settings

from evals.models import Agent
from reliability.models import Assignment, Client, Membership, Role, Scope, User
from reliability.people import issue_token

ARTIFACTS = Path(__file__).parent / "artifacts"
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _plain_settings(settings: Settings, tmp_path: Path) -> None:
    """Unit tests: tasks at once, files in the test's own folder, no manifest, quick passwords."""
    (tmp_path / "incoming").mkdir()
    settings.MEDIA_ROOT = str(tmp_path / "artifacts")
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "incoming")
    settings.STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}


@pytest.fixture(autouse=True)
def _eager_tasks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tasks run where they are called and after-commit work runs at once, except in tests with a real worker."""
    if request.node.get_closest_marker("worker"):
        yield
        return
    from reliability.celery import app  # after the settings

    monkeypatch.setattr("django.db.transaction.on_commit", lambda function, **_: function())
    eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    yield
    app.conf.task_always_eager = eager


@pytest.fixture
def client_org(db: None) -> Client:
    return Client.objects.create(slug="acme", name="Acme")


@pytest.fixture
def other_org(db: None) -> Client:
    return Client.objects.create(slug="globex", name="Globex")


@pytest.fixture
def agent(client_org: Client) -> Agent:
    return Agent.objects.create(client=client_org, slug="support-agent", name="Support agent")


@pytest.fixture
def other_agent(other_org: Client) -> Agent:
    return Agent.objects.create(client=other_org, slug="sales-agent", name="Sales agent")


def _user(name: str, **more: Any) -> User:
    return User.objects.create_user(f"{name}@example.org", PASSWORD, name=name.title(), **more)


def _member(name: str, client: Client, role: Role) -> User:
    user = _user(name)
    Membership.objects.create(client=client, user=user, role=role)
    return user


@pytest.fixture
def alice(client_org: Client) -> User:
    """Consultant, assigned."""
    user = _user("alice", is_consultant=True)
    Assignment.objects.create(client=client_org, user=user)
    return user


@pytest.fixture
def bob(client_org: Client) -> User:
    """Viewer."""
    return _member("bob", client_org, Role.VIEWER)


@pytest.fixture
def carol(client_org: Client) -> User:
    """Contributor."""
    return _member("carol", client_org, Role.CONTRIBUTOR)


@pytest.fixture
def dora(client_org: Client) -> User:
    """Sponsor."""
    return _member("dora", client_org, Role.SPONSOR)


@pytest.fixture
def charlie(other_org: Client) -> User:
    """Contributor of another client."""
    return _member("charlie", other_org, Role.CONTRIBUTOR)


@pytest.fixture
def erin(db: None) -> User:
    """Administrator."""
    return User.objects.create_superuser("erin@example.org", PASSWORD, name="Erin")


@pytest.fixture
def frank(db: None) -> User:
    """Consultant, not assigned."""
    return _user("frank", is_consultant=True)


@pytest.fixture
def sign_in() -> Callable[[User | None], Browser]:
    """Return a browser in which the person is signed in; None is nobody."""

    def browser_of(user: User | None) -> Browser:
        browser = Browser()
        if user is not None:
            browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
        return browser

    return browser_of


@pytest.fixture
def upload_token(client_org: Client) -> str:
    return issue_token(client_org, name="ci", scopes=[Scope.RUNS_WRITE]).secret


@pytest.fixture
def read_token(client_org: Client) -> str:
    return issue_token(client_org, name="reader", scopes=[Scope.READ]).secret


@pytest.fixture
def full_token(client_org: Client) -> str:
    return issue_token(client_org, name="all", scopes=[Scope.RUNS_WRITE, Scope.READ]).secret


@pytest.fixture
def agent_token(agent: Agent) -> str:
    """For one agent only."""
    return issue_token(agent.client, name="one agent", scopes=[Scope.RUNS_WRITE, Scope.READ], agent=agent).secret


@pytest.fixture
def other_token(other_org: Client) -> str:
    return issue_token(other_org, name="theirs", scopes=[Scope.RUNS_WRITE, Scope.READ]).secret


def read_through(answer: Any) -> None:
    """Read a download to its end, which closes its file; closing the answer would end PostgreSQL's connection too."""
    if answer.streaming:
        list(answer.streaming_content)


@pytest.fixture
def api() -> "Api":
    return Api()


class Api:
    """A client of the API that speaks as a CI job would."""

    def __init__(self) -> None:
        self.browser = Browser()

    def get(self, path: str, token: str) -> Any:
        return self.browser.get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"})

    def upload(
        self,
        body: bytes,
        token: str,
        *,
        agent: str = "support-agent",
        query: str = "",
        content_type: str = "application/octet-stream",
        **headers: str,
    ) -> Any:
        return self.browser.post(
            f"/api/v1/agents/{agent}/runs?{query}",
            data=body,
            content_type=content_type,
            headers={"Authorization": f"Bearer {token}", **{name.replace("_", "-"): v for name, v in headers.items()}},
        )


@pytest.fixture
def artifact() -> Callable[[str], bytes]:
    """Return the bytes of a file of tests/artifacts."""
    return lambda name: (ARTIFACTS / name).read_bytes()


@pytest.fixture(scope="session")
def artifacts() -> Path:
    return ARTIFACTS
