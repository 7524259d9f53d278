"""The profile: dimensions as rows of a dot plot, up to four reviews as marks on the same row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .drawing import path, rounded
from .levels import BAR_LEVEL


@dataclass(frozen=True, slots=True)
class Score:
    """A dimension's score in one review."""

    level: int | None
    basis: str = "evidence"


@dataclass(frozen=True, slots=True)
class ProfileRow:
    name: str
    scores: tuple[Score, ...]  # one per review, oldest first


@dataclass(frozen=True, slots=True)
class ProfileMark:
    shape: str
    x: float
    y: float
    hollow: bool
    faded: bool
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class ProfileLine:
    name: str
    name_y: float
    y: float
    marks: tuple[ProfileMark, ...]
    joined: tuple[float, float] | None
    words: str


@dataclass(frozen=True, slots=True)
class Profile:
    width: float
    height: float
    top: float
    bottom: float
    left: float
    right: float
    steps: tuple[tuple[int, float, str], ...]  # level, where it stands, its line
    bar: str
    key: tuple[ProfileMark, ...]
    lines: tuple[ProfileLine, ...]
    sentence: str


SHAPES = ("disc", "diamond", "square", "wedge")  # newest first
ROW = 30
NARROW = 480  # below it names stand over their rows
NARROW_ROW, NAME = 44, 16
LETTER = 7.0  # of a 13 px label, generously


def profile(rows: Sequence[ProfileRow], *, reviews: Sequence[str] = (), width: float = 560) -> Profile:
    """Draw dimensions as rows and up to four reviews as marks on them; `reviews` names them, oldest first."""
    narrow = width < NARROW
    longest = max((len(row.name) for row in rows), default=0)
    left, right = 0.0 if narrow else max(168.0, longest * LETTER), width - 112
    row_height, name_height = (NARROW_ROW, NAME) if narrow else (ROW, 0)
    keyed = len(reviews) > 1
    top = 40.0 if keyed else 18.0
    bottom = top + row_height * len(rows)

    def x(level: int) -> float:
        return rounded(left + 10 + (right - left - 20) * level / 5)

    def rule(level: int) -> str:
        """Return the line of a level: from top to bottom, or through each row but not through its name."""
        if not narrow:
            return f"M{x(level)} {top}V{bottom}"
        starts = (top + row_height * place + name_height for place in range(len(rows)))
        return "".join(f"M{x(level)} {start + 3}v{row_height - name_height - 6}" for start in starts)

    middle = (row_height + name_height) / 2
    lines = tuple(
        _profile_line(row, top + row_height * place + middle, name_height, x, reviews) for place, row in enumerate(rows)
    )
    return Profile(
        width=width,
        height=bottom + 4,
        top=top,
        bottom=bottom,
        left=left,
        right=right,
        steps=tuple((level, x(level), rule(level)) for level in range(6)),
        bar=rule(BAR_LEVEL),
        key=_profile_key(reviews) if keyed else (),
        lines=lines,
        sentence=_profile_sentence(rows, reviews),
    )


def _profile_line(
    row: ProfileRow, y: float, name_height: float, x: Callable[[int], float], reviews: Sequence[str]
) -> ProfileLine:
    if len(row.scores) > len(SHAPES):
        raise ValueError(f"a profile shows at most {len(SHAPES)} reviews")
    placed = [(age, score) for age, score in enumerate(reversed(row.scores)) if score.level is not None]
    marks = []
    for age, score in placed:
        same = [other for other, thing in placed if thing.level == score.level]
        offset = (same.index(age) - (len(same) - 1) / 2) * min(
            9, 26 / len(same)
        )  # marks on one spot stand one above the other
        review = reviews[len(row.scores) - 1 - age] if reviews else ""
        marks.append(_mark(age, x(score.level or 0), y + offset, score, f"{review}: level {score.level}".lstrip(": ")))
    xs = [mark.x for mark in marks]
    joined = (min(xs), max(xs)) if len(set(xs)) > 1 else None
    # the newest is drawn last, over the others
    name_y = y - name_height * 1.25 if name_height else y
    return ProfileLine(row.name, name_y, y, tuple(reversed(marks)), joined, _score_words(row.scores))


def _mark(age: int, x: float, y: float, score: Score, title: str) -> ProfileMark:
    shape, x, y = SHAPES[age], rounded(x), rounded(y)
    return ProfileMark(shape, x, y, score.basis == "asserted", age > 0, title, _shape_path(shape, x, y))


def _shape_path(shape: str, x: float, y: float) -> str:
    corners = {
        "diamond": ((0, -4.8), (4.8, 0), (0, 4.8), (-4.8, 0)),
        "square": ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)),
        "wedge": ((-4.5, -3.5), (4.5, -3.5), (0, 4.5)),
    }.get(shape, ())
    return path([(x + dx, y + dy) for dx, dy in corners]) + "Z" if corners else ""


def _profile_key(reviews: Sequence[str]) -> tuple[ProfileMark, ...]:
    """Return the names of the reviews with their marks, newest first, in the line above the plot."""
    x, marks = 6.0, []
    for age, name in enumerate(reversed(reviews)):
        marks.append(_mark(age, x, 10, Score(0), name))
        x += 30 + len(name) * 6.4
    return tuple(marks)


def _score_words(scores: Sequence[Score]) -> str:
    """Return the newest level in words with the move that led there: "2 → 3", "3, asserted", "not assessed"."""
    if not scores:
        return "not assessed"
    newest, before = scores[-1], scores[-2] if len(scores) > 1 else None
    if newest.level is None:
        return "not applicable" if newest.basis == "not_applicable" else "not assessed"
    moved = before is not None and before.level is not None and before.level != newest.level
    words = f"{before.level} → {newest.level}" if before and moved else str(newest.level)
    return f"{words}, asserted" if newest.basis == "asserted" else words


def _profile_sentence(rows: Sequence[ProfileRow], reviews: Sequence[str]) -> str:
    newest = [(row.name, row.scores[-1] if row.scores else Score(None, "not_assessed")) for row in rows]
    applicable = [(name, score) for name, score in newest if score.basis != "not_applicable"]
    reached = sum(1 for _, score in applicable if score.level is not None and score.level >= BAR_LEVEL)
    below = [name for name, score in applicable if score.level is not None and score.level < BAR_LEVEL]
    unseen = [name for name, score in applicable if score.level is None]
    sentence = f"{reached} of {len(applicable)} dimensions reach the bar of {BAR_LEVEL}"
    if below:
        sentence += f"; below it: {', '.join(below)}"
    if unseen:
        sentence += f"; not assessed: {', '.join(unseen)}"
    if len(reviews) > 1:
        sentence += f"; compared with {', '.join(reversed(reviews[:-1]))}"
    return sentence + "."
