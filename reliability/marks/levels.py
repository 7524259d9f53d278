"""The level scale: six positions, the rubric's bar at 3, how the level stands, and the level before."""

from dataclasses import dataclass

from .drawing import rounded

BAR_LEVEL = 3  # the rubric's bar


@dataclass(frozen=True, slots=True)
class LevelScale:
    width: float
    steps: tuple[tuple[int, float], ...]
    bar_x: float
    basis: str
    x: float | None
    previous_x: float | None
    change: str
    words: str
    sentence: str


BASES = ("evidence", "asserted", "not_assessed", "not_applicable")


def level_scale(
    level: int | None, *, basis: str = "evidence", previous: int | None = None, width: float = 120
) -> LevelScale:
    """Place a level of 0-5; without a level the basis says why there is none."""
    if basis not in BASES:
        raise ValueError(f"{basis!r} is none of {', '.join(BASES)}")
    if level is None and basis in ("evidence", "asserted"):
        basis = "not_assessed"
    if basis in ("not_assessed", "not_applicable"):
        level = None
    steps = tuple((number, _step_x(number, width)) for number in range(6))
    change = f"{_level_word(previous)} → {_level_word(level)}" if previous is not None and previous != level else ""
    return LevelScale(
        width=width,
        steps=steps,
        bar_x=_step_x(BAR_LEVEL, width),
        basis=basis,
        x=None if level is None else _step_x(level, width),
        previous_x=None if previous is None else _step_x(previous, width),
        change=change,
        words=_level_words(level, basis, change),
        sentence=_level_sentence(level, basis, previous),
    )


def _step_x(level: int, width: float) -> float:
    margin = 7
    return rounded(margin + (width - 2 * margin) * level / 5)


def _level_word(level: int | None) -> str:
    return "–" if level is None else str(level)


def _level_words(level: int | None, basis: str, change: str) -> str:
    """Return what stands beside the scale: "3", "2 → 3", "3, asserted", "not assessed"."""
    if level is None:
        return basis.replace("_", " ")
    return f"{change or level}{', asserted' if basis == 'asserted' else ''}"


def _level_sentence(level: int | None, basis: str, previous: int | None) -> str:
    if level is None:
        sentence = "Not applicable" if basis == "not_applicable" else "Not assessed"
    else:
        where = "below" if level < BAR_LEVEL else "at" if level == BAR_LEVEL else "above"
        sentence = f"Level {level} of 5, {where} the bar of {BAR_LEVEL}"
        sentence += ", on evidence" if basis == "evidence" else ", asserted only"
    if previous is not None:
        sentence += f"; unchanged from {previous}" if previous == level else f"; it was {previous}"
    return sentence + "."
