"""Paths and textures, as SVG writes them. Hatches and dots are paths: patterns would need ids unique on a page."""

from collections.abc import Sequence


def hatch(x: float, width: float, *, height: float = 10, step: float = 4) -> str:
    """Return diagonal lines inside the rectangle at (x, 0), cut off at its edges."""
    strokes, start = [], step / 2
    while start < width + height:
        low, high = max(0.0, start - height), min(start, width)
        strokes.append(f"M{figure(x + low)} {figure(start - low)}L{figure(x + high)} {figure(start - high)}")
        start += step
    return "".join(strokes) if width > 0 else ""


def strikes(x: float, width: float, *, height: float = 10, step: float = 10) -> str:
    """Return crosses inside the rectangle at (x, 0), as many as fit whole; at least one stroke in a narrow one."""
    number = int(width // step)
    if not number:
        return f"M{figure(x)} {figure(height)}L{figure(x + width)} 0"
    margin = (width - number * step) / 2
    crosses = []
    for place in range(number):
        left = x + margin + place * step + 2.5
        right = left + step - 5
        crosses.append(f"M{figure(left)} 2.5L{figure(right)} 7.5M{figure(left)} 7.5L{figure(right)} 2.5")
    return "".join(crosses)


def dots(x: float, width: float, *, height: float = 10, step: float = 3.4) -> str:
    """Return dots (short strokes with round caps) on a staggered grid inside the rectangle at (x, 0)."""
    strokes = []
    for row in range(int(height // step)):
        at = 1.7 if row % 2 == 0 else 1.7 + step / 2
        while at < max(width - 0.8, 1.8):
            strokes.append(f"M{figure(x + at)} {figure(1.6 + row * step)}h.01")
            at += step
    return "".join(strokes) if width > 0 else ""


def path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{figure(x)} {figure(y)}" for x, y in places)


def rounded(number: float) -> float:
    return round(number, 2)


def figure(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
