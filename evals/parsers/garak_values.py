"""Single values of garak's lines: targets, scores, prompts and outputs, as its versions have written them."""

from typing import Any

from evals.parsers.reading import member
from evals.parsers.values import as_id, as_number


def target_name(kind: Any, name: Any) -> str:
    """Name a target alike from a report and from a hitlog, which says “None” where there is no name."""
    parts = (as_id(part, limit=90) for part in (kind, name))
    return ":".join(part for part in parts if part and part != "None")


def score_of(value: Any) -> float | None:
    """Read a score; some detectors give a plain yes or no."""
    return as_number(int(value) if isinstance(value, bool) else value)


def is_absent(output: Any) -> bool:
    """Whether the generator gave nothing; an empty text is something."""
    if isinstance(output, dict):
        return all(output.get(name) is None for name in ("text", "data_path", "data_type", "data_checksum"))
    return output is None


def prompt_of(content: dict[str, Any]) -> str:
    """Return what was sent: the turns of a conversation, or in older files the text itself."""
    prompt = content.get("prompt")
    turns = member(prompt, "turns")
    if isinstance(turns, list):
        return "\n".join(text_of(member(turn, "content")) for turn in turns)
    return text_of(prompt)


def text_of(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) else ""
