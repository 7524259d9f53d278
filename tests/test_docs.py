"""What the README says exists: commands, settings, requests."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from evals.models import Agent
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


def test_curl_line_is_shell(tmp_path: Path) -> None:
    script = tmp_path / "upload.sh"
    script.write_text(_block("sh", "<!-- curl -->"))

    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0


def test_github_workflow_is_yaml_and_sends_the_documented_request() -> None:
    workflow = yaml.safe_load(_block("yaml", "<!-- github -->"))

    steps = workflow["jobs"]["evals"]["steps"]
    assert any("/api/v1/agents/" in step.get("run", "") for step in steps)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "pyproject.toml", "requirements.lock", "Makefile"])
def test_no_file_names_a_machine_or_a_registry(name: str) -> None:
    text = (ROOT / name).read_text()

    assert not re.search(r"pypi\.org|npmjs|files\.pythonhosted|/root/|/home/", text)


def test_defaults_of_the_readme_are_those_of_the_settings() -> None:
    for name in ("MAX_UPLOAD_MB", "MAX_UNPACKED_MB", "MAX_DOCUMENT_MB", "MAX_ROWS", "JOB_LEASE_SECONDS", "TOKEN_DAYS"):
        row = re.search(rf"^\| `{name}` \| ([^|]+) \|", README, re.MULTILINE)
        assert row, name
        assert row.group(1).strip().replace(",", "") == str(getattr(settings, name)), name
