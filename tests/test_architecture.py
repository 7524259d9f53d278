"""Who may import whom, read from the source with `ast` (the layers are in the README)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("reliability", "evals", "scorecards")
PURE = (
    "evals/records.py",
    "evals/errors.py",
    "evals/canonical.py",
    "evals/containment.py",
    "evals/outcomes.py",
    "evals/codes.py",
    "evals/indicators.py",
    "evals/taxonomy.py",
    "evals/strict_yaml.py",
    "evals/parsers",
    "evals/measures",
    "scorecards/rubric.py",
    "scorecards/scoring.py",
    "scorecards/level_changes.py",
    "reliability/marks",
)
MAY_IMPORT = {
    "reliability": {"reliability"},
    "evals": {"reliability", "evals"},
    "scorecards": {"reliability", "evals", "scorecards"},
}
# They wire the site together; nobody imports them, but for Celery's line in reliability/__init__.py.
WIRING = ("reliability/urls.py", "reliability/api.py", "reliability/celery.py")
EDGES = ("views", "api", "tasks", "management", "urls")


def _modules(app: str) -> Iterator[Path]:
    for path in sorted((ROOT / app).rglob("*.py")):
        if "migrations" not in path.parts:
            yield path


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _imports(path: Path) -> Iterator[str]:
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            yield ".".join([*base, node.module or ""]).rstrip(".")


ALL = [path for app in APPS for path in _modules(app)]


@pytest.mark.parametrize("path", ALL, ids=_name)
def test_apps_import_downwards_only(path: Path) -> None:
    app = path.relative_to(ROOT).parts[0]
    if _name(path) in WIRING:
        return
    apps = {name.split(".")[0] for name in _imports(path)} & set(APPS)

    assert apps <= MAY_IMPORT[app] or _only_for_types(path, apps - MAY_IMPORT[app])


def _only_for_types(path: Path, extra: set[str]) -> bool:
    """Names under `if TYPE_CHECKING:` are for the type checker alone."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in extra:
            return False
    return True


@pytest.mark.parametrize("path", [p for p in ALL if _name(p).startswith(PURE)], ids=_name)
def test_pure_modules_import_no_django(path: Path) -> None:
    roots = {name.split(".")[0] for name in _imports(path)}

    assert not roots & {"django", "ninja", "celery", "psycopg", "weasyprint"}


def test_pure_modules_exist() -> None:
    assert [name for name in PURE if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", ALL, ids=_name)
def test_nobody_imports_the_wiring(path: Path) -> None:
    if _name(path) in (*WIRING, "reliability/__init__.py"):
        return

    assert not set(_imports(path)) & {"reliability.urls", "reliability.api", "reliability.celery"}


@pytest.mark.parametrize("path", ALL, ids=_name)
def test_edges_are_imported_by_edges_alone(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if _name(path) in WIRING or parts[1] in EDGES or parts[1].endswith("_urls"):
        return
    edges = {name for name in _imports(path) if len(name.split(".")) > 1 and name.split(".")[1] in ("views", "api")}

    assert edges == set()


@pytest.mark.parametrize("path", ALL, ids=_name)
def test_weasyprint_has_one_module(path: Path) -> None:
    if any(name.split(".")[0] == "weasyprint" for name in _imports(path)):
        assert _name(path) == "scorecards/reports/pdf.py"


@pytest.mark.parametrize("path", ALL, ids=_name)
def test_module_names_say_something(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "common", "services", "manager"}
