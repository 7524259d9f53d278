"""The level history: one dimension's levels from review to review, the bar, and rules where the rubric changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from .drawing import path, rounded
from .levels import BAR_LEVEL
from .wording import day

MARGIN = 16.0  # px: half a date's width stays inside
HIGHEST = 5


@dataclass(frozen=True, slots=True)
class LevelPoint:
    """The level in one review; None is a gap. `comparable` is False where it must not be joined to the one before."""

    at: date
    name: str
    level: int | None
    basis: str = "evidence"
    comparable: bool = True


@dataclass(frozen=True, slots=True)
class LevelDot:
    x: float
    y: float
    hollow: bool
    text: str
    title: str


@dataclass(frozen=True, slots=True)
class LevelHistory:
    width: float
    height: float
    top: float
    bottom: float
    left: float
    right: float
    bar_y: float
    grid: tuple[tuple[int, float], ...]
    lines: tuple[str, ...]
    dots: tuple[LevelDot, ...]
    breaks: tuple[float, ...]
    sentence: str


def level_history(points: Sequence[LevelPoint], *, width: float = 260, height: float = 104) -> LevelHistory:
    """Place levels 0-5 at even steps in time's order; a gap or another rubric breaks the line."""
    points = sorted(points, key=lambda point: point.at)
    left, right, top, bottom = 18.0, width - 8, 14.0, height - 8
    step = (right - left - 2 * MARGIN) / max(len(points) - 1, 1)
    start = left + MARGIN if len(points) > 1 else (left + right) / 2

    def x(place: int) -> float:
        return rounded(start + step * place)

    def y(level: int) -> float:
        return rounded(bottom - (bottom - top) * level / HIGHEST)

    placed = [(place, point) for place, point in enumerate(points)]
    return LevelHistory(
        width=width,
        height=height,
        top=top,
        bottom=bottom,
        left=left,
        right=right,
        bar_y=y(BAR_LEVEL),
        grid=tuple((level, y(level)) for level in range(HIGHEST + 1)),
        lines=tuple(path([(x(place), y(level)) for place, level in run]) for run in _runs(placed) if len(run) > 1),
        dots=tuple(
            LevelDot(x(place), y(point.level), point.basis == "asserted", str(point.level), _title(point))
            for place, point in placed
            if point.level is not None
        ),
        breaks=tuple(rounded(x(place) - step / 2) for place, point in placed if place and not point.comparable),
        sentence=_sentence(points),
    )


def _runs(placed: Sequence[tuple[int, LevelPoint]]) -> list[list[tuple[int, int]]]:
    """Return the stretches that may be joined by a line."""
    runs: list[list[tuple[int, int]]] = [[]]
    for place, point in placed:
        if point.level is None or not point.comparable:
            runs.append([])
        if point.level is not None:
            runs[-1].append((place, point.level))
    return runs


def _title(point: LevelPoint) -> str:
    asserted = ", asserted" if point.basis == "asserted" else ""
    return f"{point.name}, {day(point.at)}: level {point.level}{asserted}"


def _sentence(points: Sequence[LevelPoint]) -> str:
    known = [point for point in points if point.level is not None]
    if not known:
        return "Never assessed."
    said = ", ".join(f"{point.level} in {point.name}" for point in known)
    place = "below" if (known[-1].level or 0) < BAR_LEVEL else "at or above"
    sentence = f"Level {said}; now {place} the bar of {BAR_LEVEL}"
    changed = [point.name for point in points[1:] if not point.comparable]
    if changed:
        sentence += f"; not comparable with before: {', '.join(changed)}"
    return sentence + "."
