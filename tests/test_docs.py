"""What the README says exists: commands, settings, requests."""

import importlib.util
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from evals.models import Agent, Run
from evals.parsers import FORMATS, format_of
from tests.conftest import Api

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
SETTINGS = "".join((ROOT / "reliability" / name).read_text() for name in ("settings.py", "bootstrap.py"))
READ = re.compile(r"""(?:env_\w+|getenv)\(\s*["']([A-Z_]+)["']""")
TABLE = re.compile(r"^\| `([A-Z_]+)`", re.MULTILINE)


def test_every_setting_is_in_the_readme_and_none_is_invented() -> None:
    read = set(READ.findall(SETTINGS)) - {"SECRET_KEY_FILE"}

    assert set(TABLE.findall(README)) == read


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"`make ([a-z-]+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_management_commands_of_the_readme_exist() -> None:
    for command in set(re.findall(r"manage\.py ([a-z_]+)", README)):
        assert command in get_commands(), command


def test_readme_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", README):
        assert (ROOT / target).exists(), target


def _block(language: str, after: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README[README.index(after) :], re.DOTALL)
    assert found, after
    return found.group(1)


def test_run_document_of_the_readme_imports(api: Api, agent: Agent, full_token: str) -> None:
    document = _block("json", "<!-- run/v1 by hand -->")

    answer = api.upload(document.encode(), full_token)

    assert answer.status_code == 201, answer.content
    assert answer.json()["run"]["counts"]["total"] > 0
    assert json.loads(document)["schema"] == "run/v1"


def test_lines_of_the_readme_import(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.upload(_block("json", "<!-- run/v1 in lines -->").encode(), full_token)
    assert answer.status_code == 201, answer.content
    assert answer.json()["run"]["session"] == "complete"
    assert answer.json()["classes"][0]["class"] == "over_refusal"


def _github() -> str:
    workflow = yaml.safe_load(_block("yaml", "<!-- github -->"))
    (step,) = [step for step in workflow["jobs"]["evals"]["steps"] if "curl" in step.get("run", "")]
    assert step["env"] == {"SNAPSHOT_TOKEN": "${{ secrets.SNAPSHOT_TOKEN }}"}
    return str(step["run"])


def _gitlab() -> str:
    (job,) = yaml.safe_load(_block("yaml", "<!-- gitlab -->")).values()
    return str(job["script"][-1])


def _jenkins() -> str:
    pipeline = _block("groovy", "<!-- jenkins -->")
    (script,) = re.findall(r"sh \'\'\'(.*?)\'\'\'", pipeline, re.DOTALL)
    bare = re.sub(r"\'\'\'.*?\'\'\'|\'[^\']*\'", "", pipeline, flags=re.DOTALL)
    for opening, closing in ("{}", "()", "[]"):
        assert bare.count(opening) == bare.count(closing) > 0
    return str(script).replace("\\\\", "\\")  # as Groovy reads it


EXAMPLES = {"curl": lambda: _block("sh", "<!-- curl -->"), "github": _github, "gitlab": _gitlab, "jenkins": _jenkins}
VARIABLES = {
    "GIT_COMMIT": "9f3c2d1",
    "GITHUB_SHA": "9f3c2d1",
    "CI_COMMIT_SHA": "9f3c2d1",
    "GIT_BRANCH": "fix/a&b #2",
    "GITHUB_REF_NAME": "fix/a&b #2",
    "CI_COMMIT_REF_NAME": "fix/a&b #2",
    "CI_JOB_URL": "https://ci.example.org/jobs/7",
    "BUILD_URL": "https://ci.example.org/jobs/7",
    "GITHUB_SERVER_URL": "https://ci.example.org",
    "GITHUB_REPOSITORY": "acme/agent",
    "GITHUB_RUN_ID": "7",
}


def _run(example: str, server: str, token: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Do what the example does, in a folder with its results.json, against a server of ours."""
    return subprocess.run(
        ["/bin/sh", "-eu", "-c", EXAMPLES[example]().replace("https://snapshot.example.org", server)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "SNAPSHOT_TOKEN": token, **VARIABLES},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("example", EXAMPLES)
def test_each_ci_example_uploads(
    live_server: Any, agent: Agent, full_token: str, artifact: Callable[[str], bytes], tmp_path: Path, example: str
) -> None:
    (tmp_path / "results.json").write_bytes(artifact("promptfoo/results.json"))

    done = _run(example, live_server.url, full_token, tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Imported 36 evaluations: 12 PASS, 4 FAIL, 4 UNKNOWN, 16 ERROR."), done.stdout
    run = Run.objects.get()
    assert f"Run: {settings.PUBLIC_URL.rstrip('/')}{run.get_absolute_url()}" in lines
    assert (run.commit, run.branch) == ("9f3c2d1", "fix/a&b #2")


@pytest.mark.django_db(transaction=True)
def test_a_refused_upload_fails_the_step_and_says_why(
    live_server: Any, agent: Agent, full_token: str, tmp_path: Path
) -> None:
    (tmp_path / "results.json").write_text("a,b\n1,2\n")

    done = _run("curl", live_server.url, full_token, tmp_path)

    assert done.returncode != 0
    assert "neither JSON nor XML" in done.stdout.splitlines()[0]


def test_the_format_of_the_readme_is_one(
    api: Api, agent: Agent, full_token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps of the text, done: its module is written, listed, and its tool's file uploaded."""
    path = tmp_path / "acme.py"
    path.write_text(_block("python", "<!-- a format -->"))
    spec = importlib.util.spec_from_file_location("acme", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(FORMATS, module.NAME, format_of(module))
    checks = [
        {"case": "refund", "ok": True},
        {"case": "refund", "ok": False, "why": "late"},
        {"case": "mail", "ok": None},
    ]

    answer = api.upload(json.dumps({"acme": "1", "checks": checks}).encode(), full_token)

    counts = answer.json()["run"]["counts"]
    assert [counts[name] for name in ("total", "pass", "fail", "unknown", "error")] == [3, 1, 1, 1, 0]
    assert answer.json()["run"]["format"] == "acme"
    refused = api.upload(b'{"acme": "1", "checks": [{"ok": true}]}', full_token)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/checks/0")
    cache = api.upload(b'{"acme_cache": {}}', full_token)
    assert (cache.status_code, cache.json()["code"]) == (415, "near_miss")


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "pyproject.toml", "requirements.lock", "Makefile"])
def test_no_file_names_a_machine_or_a_registry(name: str) -> None:
    text = (ROOT / name).read_text()

    assert not re.search(r"pypi\.org|npmjs|files\.pythonhosted|/root/|/home/", text)


def test_defaults_of_the_readme_are_those_of_the_settings() -> None:
    for name in ("MAX_UPLOAD_MB", "MAX_UNPACKED_MB", "MAX_DOCUMENT_MB", "MAX_ROWS", "JOB_LEASE_SECONDS", "TOKEN_DAYS"):
        row = re.search(rf"^\| `{name}` \| ([^|]+) \|", README, re.MULTILINE)
        assert row, name
        assert row.group(1).strip().replace(",", "") == str(getattr(settings, name)), name
