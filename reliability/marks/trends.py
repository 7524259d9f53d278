"""The trend: shares over time with their intervals, and rules where something changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from .drawing import path, rounded
from .wording import Share, day, percent

TEXT_WIDTH = 5.8  # px a character at 11 px, generous: labels are placed before a browser measures them


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One day or run; a `value` of None is a gap: there was no evidence."""

    at: date
    value: Share | None
    low: Share | None = None
    high: Share | None = None
    volume: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True)
class TrendEvent:
    """A change that breaks comparability: version, model, rubric or definition."""

    at: date
    label: str


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    radius: float
    title: str


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Trend:
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    lines: tuple[str, ...]
    bands: tuple[str, ...]
    dots: tuple[Dot, ...]
    grid: tuple[Label, ...]
    dates: tuple[Label, ...]
    events: tuple[Label, ...]
    target: Label | None
    sentence: str


def trend(
    points: Sequence[TrendPoint],
    *,
    events: Sequence[TrendEvent] = (),
    target: Share | None = None,
    width: float = 640,
    height: float = 200,
) -> Trend:
    """Draw one line, its interval band, and rules where something changed; gaps break line and band."""
    points = sorted(points, key=lambda point: point.at)
    left, right = 44.0, width - (12 if target is None else 80)
    days = [at.toordinal() for at in (*(point.at for point in points), *(event.at for event in events))]
    first, last = (min(days), max(days)) if days else (0, 0)

    def x(day: date) -> float:
        return rounded(left + (right - left) * ((day.toordinal() - first) / (last - first) if last > first else 0.5))

    labels = _event_labels([(x(event.at), event.label) for event in sorted(events, key=lambda e: e.at)], left, right)
    top, bottom = 14.0 + 14 * max((round(label.y / 14) for label in labels), default=0), height - 22
    floor = _floor(points, target)

    def y(share: Share) -> float:
        return rounded(bottom - (bottom - top) * (float(share) - floor) / (1 - floor))

    runs = [list(run) for known, run in groupby(points, key=lambda point: point.value is not None) if known]
    most = max((point.volume for point in points), default=0)
    dots = tuple(
        Dot(x(point.at), y(point.value), _radius(point.volume, most), _point_title(point))
        for point in points
        if point.value is not None
    )
    return Trend(
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        lines=tuple(path([(x(p.at), y(p.value)) for p in run if p.value is not None]) for run in runs if len(run) > 1),
        bands=tuple(band for run in runs if (band := _band(run, x, y))),
        dots=dots,
        grid=tuple(Label(left, y(share), "end", percent(share)) for share in (floor, (1 + floor) / 2, 1)),
        dates=_date_labels(points, x),
        events=labels,
        target=None if target is None else Label(right, y(target), "start", f"target {percent(target)}"),
        sentence=_trend_sentence(points, events),
    )


def _band(run: Sequence[TrendPoint], x: Callable[[date], float], y: Callable[[Share], float]) -> str:
    """Return the interval's outline; a single point's interval becomes a bar of 4 px."""
    ends = [
        (x(point.at), y(point.low), y(point.high)) for point in run if point.low is not None and point.high is not None
    ]
    if not ends:
        return ""
    if len(ends) == 1:
        at, low, high = ends[0]
        ends = [(at - 2, low, high), (at + 2, low, high)]
    outline = [(at, high) for at, _, high in ends] + [(at, low) for at, low, _ in reversed(ends)]
    return path(outline) + "Z"


def _event_labels(places: Sequence[tuple[float, str]], left: float, right: float) -> tuple[Label, ...]:
    """Put each label beside its rule, in the highest row where it touches no other; near the edge, before the rule."""
    ends: list[float] = []
    labels = []
    for at, text in places:
        length = len(text) * TEXT_WIDTH + 8
        before = at + length > right and at - length >= left
        start, end = (at - length, at) if before else (at, at + length)
        row = next((row for row, taken in enumerate(ends) if taken <= start), len(ends))
        ends[row : row + 1] = [end]
        labels.append(Label(at, 14.0 * (row + 1), "end" if before else "start", text))
    return tuple(labels)


def _floor(points: Sequence[TrendPoint], target: Share | None) -> float:
    """Return the lowest tenth that shows every interval, at most 80%, so that small changes are not blown up."""
    shares = [float(share) for point in points for share in (point.value, point.low) if share is not None]
    if target is not None:
        shares.append(float(target))
    return min(8, int(min(shares, default=0.0) * 10 + 1e-9)) / 10


def _radius(volume: int, most: int) -> float:
    """Return a radius of 2 to 5 px, the area following the volume."""
    return rounded(2 + 3 * (volume / most) ** 0.5) if most else 2.5


def _date_labels(points: Sequence[TrendPoint], x: Callable[[date], float]) -> tuple[Label, ...]:
    if not points:
        return ()
    first, last = points[0].at, points[-1].at
    if first == last:
        return (Label(x(first), 0, "middle", day(first)),)
    return (Label(x(first), 0, "start", day(first)), Label(x(last), 0, "end", day(last)))


def _point_title(point: TrendPoint) -> str:
    if point.value is None:
        return ""
    interval = (
        f", {percent(point.low)} to {percent(point.high)}" if point.low is not None and point.high is not None else ""
    )
    return f"{point.label or day(point.at)}: {percent(point.value)}{interval}, {point.volume:,} results"


def _trend_sentence(points: Sequence[TrendPoint], events: Sequence[TrendEvent]) -> str:
    known = [point for point in points if point.value is not None]
    if not known:
        return "No evidence in this period, so there is no trend."
    first, last = known[0], known[-1]
    sentence = f"{percent(last.value or 0)} on {day(last.at)}"
    if len(known) > 1:
        sentence = f"From {percent(first.value or 0)} on {day(first.at)} to {sentence}"
    gaps = len(points) - len(known)
    if gaps:
        sentence += f"; {gaps} without evidence"
    if events:
        sentence += "; changes: " + ", ".join(f"{event.label} ({day(event.at)})" for event in events)
    return sentence + "."
