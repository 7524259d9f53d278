"""The result bar: counts of PASS, UNKNOWN, ERROR and FAIL to scale, the interval of the rate above."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from .drawing import dots, hatch, rounded, strikes
from .wording import Share, percent

GAP = 1.0
LEAST = 3.0  # px: a part that is not zero is never thinner


class HasCounts(Protocol):
    """What a result bar needs; `evals.measures.Counts` has it."""

    @property
    def passed(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def unknown(self) -> int: ...
    @property
    def error(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Part:
    outcome: str
    count: int
    x: float
    width: float
    texture: str = ""


@dataclass(frozen=True, slots=True)
class Whisker:
    low: float
    rate: float | None
    high: float


@dataclass(frozen=True, slots=True)
class ResultBar:
    width: float
    parts: tuple[Part, ...]
    whisker: Whisker | None
    words: str
    sentence: str


# Told apart without colour: PASS is solid, FAIL is struck through in the colour of the paper.
TEXTURES = {"UNKNOWN": hatch, "ERROR": dots, "FAIL": strikes}


def result_bar(counts: HasCounts, *, interval: tuple[Share, Share] | None = None, width: float = 240) -> ResultBar:
    """Lay out PASS, UNKNOWN, ERROR, FAIL to scale; the interval of the rate stands above on a scale of 0 to 100%."""
    numbers = {"PASS": counts.passed, "UNKNOWN": counts.unknown, "ERROR": counts.error, "FAIL": counts.failed}
    present = [(outcome, number) for outcome, number in numbers.items() if number]
    widths = _widths([number for _, number in present], width - GAP * max(0, len(present) - 1))
    parts, x = [], 0.0
    for (outcome, number), part_width in zip(present, widths, strict=True):
        texture = TEXTURES[outcome](x, part_width) if outcome in TEXTURES else ""
        parts.append(Part(outcome, number, rounded(x), rounded(part_width), texture))
        x += part_width + GAP
    return ResultBar(
        width,
        tuple(parts),
        _whisker(counts, interval, width),
        _count_words(numbers),
        _result_sentence(numbers, interval),
    )


def _whisker(counts: HasCounts, interval: tuple[Share, Share] | None, width: float) -> Whisker | None:
    if interval is None:
        return None
    low, high = (_inside(float(end) * width, width) for end in interval)
    determinate = counts.passed + counts.failed
    return Whisker(low, _inside(width * counts.passed / determinate, width, 2) if determinate else None, high)


def _inside(x: float, width: float, margin: float = 0.5) -> float:
    """Return x at least a stroke's half away from the edges, where the PDF would cut it."""
    return rounded(min(max(x, margin), width - margin))


def _widths(numbers: Sequence[int], available: float) -> list[float]:
    """Share out the width to scale, giving the smallest parts their least width first."""
    widths = [0.0] * len(numbers)
    rest = sum(numbers)
    for place in sorted(range(len(numbers)), key=lambda place: numbers[place]):
        widths[place] = max(LEAST, available * numbers[place] / rest)
        available -= widths[place]
        rest -= numbers[place]
    return widths


def _count_words(numbers: dict[str, int]) -> str:
    """Return PASS and FAIL always, the others where they occur: "41 PASS, 1 FAIL, 16 UNKNOWN"."""
    if not any(numbers.values()):
        return "no results yet"
    shown = [(outcome, numbers[outcome]) for outcome in ("PASS", "FAIL", "UNKNOWN", "ERROR")]
    return ", ".join(f"{number:,} {outcome}" for outcome, number in shown if number or outcome in ("PASS", "FAIL"))


def _result_sentence(numbers: dict[str, int], interval: tuple[Share, Share] | None) -> str:
    total, passed = sum(numbers.values()), numbers["PASS"]
    determinate = passed + numbers["FAIL"]
    if not total:
        return "No results yet, so nothing can be said about reliability."
    sentence = f"{_count_words(numbers)}, of {total:,}"
    if not determinate:
        return f"{sentence}: no determinate results, so nothing can be said about reliability."
    sentence += f": {percent(Fraction(passed, determinate))} of {determinate:,} determinate results passed"
    if interval:
        sentence += f", 95% interval {percent(interval[0])} to {percent(interval[1])}"
    return sentence + "."
