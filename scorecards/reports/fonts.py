"""Which of the shipped fonts a text needs: Plex always, a Noto face only for what Plex cannot write."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent.parent / "static" / "fonts"


@dataclass(frozen=True, slots=True)
class Face:
    family: str
    file: str
    weight: int = 400
    style: str = "normal"

    @property
    def rule(self) -> str:
        source = (FOLDER / self.file).as_uri()
        return (
            f'@font-face {{ font-family: "{self.family}"; font-weight: {self.weight}; font-style: {self.style}; '
            f'src: url("{source}") format("woff2"); }}'
        )


PLEX = (
    Face("IBM Plex Sans", "IBMPlexSans-Regular.woff2"),
    Face("IBM Plex Sans", "IBMPlexSans-SemiBold.woff2", weight=600),
    Face("IBM Plex Serif", "IBMPlexSerif-Regular.woff2"),
    Face("IBM Plex Serif", "IBMPlexSerif-Italic.woff2", style="italic"),
    Face("IBM Plex Serif", "IBMPlexSerif-SemiBold.woff2", weight=600),
    Face("IBM Plex Mono", "IBMPlexMono-Regular.woff2"),
)
NOTO_SANS = (
    Face("Noto Sans", "NotoSans-Regular.woff2"),
    Face("Noto Sans", "NotoSans-SemiBold.woff2", weight=600),
)
# Ranges of code points, first and last. What stands in none of them is left to Noto Sans.
PLEX_RANGES = ((0x20, 0x24F), (0x400, 0x45F), (0x1E00, 0x1EFF), (0x2010, 0x2027), (0x2030, 0x203A), (0x2190, 0x2193))
PLEX_SIGNS = frozenset("€™−≤≥≠≈∞√∑∂∫◊…\n\r\t\u00a0\u2009\u200a\u202f")
FALLBACKS: dict[str, tuple[tuple[int, int], ...]] = {
    "Arabic": ((0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFE)),
    "Hebrew": ((0x590, 0x5FF), (0xFB1D, 0xFB4F)),
    "Devanagari": ((0x900, 0x97F), (0xA8E0, 0xA8FF)),
    "Thai": ((0xE00, 0xE7F),),
    "CJK": (
        (0x1100, 0x11FF),
        (0x2E80, 0xA4CF),
        (0xAC00, 0xD7FF),
        (0xF900, 0xFAFF),
        (0xFE30, 0xFFEF),
        (0x20000, 0x3FFFF),
    ),
    "Math": ((0x2100, 0x214F), (0x2190, 0x22FF), (0x27C0, 0x27EF), (0x2900, 0x2AFF), (0x1D400, 0x1D7FF)),
    "Symbols2": ((0x2190, 0x21FF), (0x2300, 0x27BF), (0x2800, 0x28FF), (0x2B00, 0x2BFF), (0x1F000, 0x1FBFF)),
}
FAMILIES = {
    "Arabic": Face("Noto Sans Arabic", "NotoSansArabic-Regular.woff2"),
    "Hebrew": Face("Noto Sans Hebrew", "NotoSansHebrew-Regular.woff2"),
    "Devanagari": Face("Noto Sans Devanagari", "NotoSansDevanagari-Regular.woff2"),
    "Thai": Face("Noto Sans Thai", "NotoSansThai-Regular.woff2"),
    "CJK": Face("Noto Sans CJK", "NotoSansCJK-Regular.woff2"),
    "Math": Face("Noto Sans Math", "NotoSansMath-Regular.woff2"),
    "Symbols2": Face("Noto Sans Symbols 2", "NotoSansSymbols2-Regular.woff2"),
}


def choose_faces(text: str) -> tuple[Face, ...]:
    """Return the faces that the text needs, always in the same order."""
    beyond = {character for character in set(text) if not _in_plex(character)}
    if not beyond:
        return PLEX
    needed = [name for name, ranges in FALLBACKS.items() if any(_within(character, ranges) for character in beyond)]
    return (*PLEX, *NOTO_SANS, *(FAMILIES[name] for name in needed))


def _in_plex(character: str) -> bool:
    return character in PLEX_SIGNS or _within(character, PLEX_RANGES)


def _within(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in ranges)


TAG = re.compile(r"(<[^>]*>)")
NO_MARKUP = re.compile(r"</?(svg|title)\b")  # what stands inside is no place for a span
SPACED = re.compile("(?<=[\u1100-\u11ff\u2190-\uffef\U0001d400-\U0003ffff]) +")


def part_spaces(html: str) -> str:
    """Return the HTML with each space after a CJK character or sign in a span of its own (class `sp`).

    The CJK face has no space, and the layout engine draws a space in the font of the character before it.
    """
    inside = 0
    parts = TAG.split(html)
    for place, part in enumerate(parts):
        if place % 2:
            if NO_MARKUP.match(part):
                inside += -1 if part.startswith("</") else 1
        elif not inside:
            parts[place] = SPACED.sub(lambda found: f'<span class="sp">{found.group()}</span>', part)
    return "".join(parts)
