"""The demo's reviews as data, read from story.yaml."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec

STORY = Path(__file__).with_name("story.yaml")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping of the file."""


class Proof(Part, frozen=True, forbid_unknown_fields=True):
    """One evidence item. `source` is run:RUN, class:RUN/CLASS, link:URL, file:NAME or interview:WHO."""

    source: str
    claim: str
    practices: tuple[str, ...] = ()
    operation: tuple[date, date] | None = None  # from, to: it happened; None: it is written
    contradicts: bool = False
    verified: str = ""  # how we checked it
    rerun: tuple[int, int, int] | None = None  # k of n were run again, m agreed


class Step(Part, frozen=True, forbid_unknown_fields=True):
    """One next step; `key` names it across the reviews of the story."""

    key: str
    text: str
    seen: str
    matters: str
    severity: str
    owner: str
    due: date
    priority: int
    effort: str
    practices: tuple[str, ...] = ()
    is_condition: bool = False


class Score(Part, frozen=True, forbid_unknown_fields=True):
    level: int
    rationale: str
    met: tuple[str, ...] = ()
    not_met: tuple[str, ...] = ()
    confidence: str = "medium"
    cause: str = ""
    proofs: tuple[Proof, ...] = ()
    steps: tuple[Step, ...] = ()


class Story(Part, frozen=True, forbid_unknown_fields=True):
    """One review of one agent. What is not scored stays not assessed; without `published_on` it is a draft."""

    agent: str
    engagement: str
    as_of: date
    runs: tuple[str, ...]
    head: dict[str, Any]
    scores: dict[str, Score]
    step_states: dict[str, str] = {}  # of steps carried over, by key
    published_on: datetime | None = None


class Stories(Part, frozen=True, forbid_unknown_fields=True):
    """`files` are the contents of the files that proofs name."""

    stories: tuple[Story, ...]
    files: dict[str, str]


def read_stories() -> Stories:
    return msgspec.yaml.decode(STORY.read_bytes(), type=Stories)
