"""Rubric versions in the database: the shipped one is stored on first use, stored ones are read back as rubrics."""

from functools import lru_cache

from scorecards.models import RubricVersion
from scorecards.rubric import SHIPPED, Rubric, parse_rubric, shipped_rubric


def default_rubric_version() -> RubricVersion:
    """Return the shipped rubric as a row. Reviews pin the row, so its YAML is kept whatever ships later."""
    rubric = shipped_rubric()
    version, _ = RubricVersion.objects.get_or_create(
        client=None,
        rubric_id=rubric.id,
        version=rubric.version,
        defaults={"title": rubric.title, "sha256": rubric.sha256, "source": SHIPPED.read_text("utf-8")},
    )
    return version


def rubric_of(version: RubricVersion) -> Rubric:
    return _parse(version.source)


@lru_cache(maxsize=32)
def _parse(source: str) -> Rubric:
    return parse_rubric(source.encode())
