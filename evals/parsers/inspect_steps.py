"""What an agent did in an Inspect sample: tool calls with the decision on each, and the model calls between them."""

from collections.abc import Iterator
from typing import Any

from evals.parsers.cases import MAX_STEPS, as_milliseconds, tool_step
from evals.parsers.reading import Cleaner, member
from evals.parsers.values import as_id, parse_loose_time
from evals.records import Decision, StepKind, StepRecord

ATTACHMENT = "attachment://"
REFUSED = ("reject", "terminate")
MAX_SHOWN = 2_000_000  # characters of one conversation
MAX_PUT_IN = 20_000_000  # characters of attachments in a sample's steps: short ones may name a large one many times


def text_of(value: Any, attachments: dict[str, Any]) -> str:
    """Return a content as text: itself, the text parts of a list, or a conversation; attachments are put in."""
    if isinstance(value, str):
        return _attached(value, attachments)
    if isinstance(value, dict):
        if "role" in value:
            return f"{as_id(value['role'])}: {text_of(value.get('content'), attachments)}"
        return text_of(value.get("text"), attachments)
    if isinstance(value, list):
        return "\n".join(_texts_of(value, attachments))
    return ""


def _attached(text: str, attachments: dict[str, Any]) -> str:
    kept = attachments.get(text.removeprefix(ATTACHMENT)) if text.startswith(ATTACHMENT) else text
    return kept if isinstance(kept, str) else text


def _texts_of(parts: list[Any], attachments: dict[str, Any]) -> Iterator[str]:
    """Yield texts until there are more than any page shows."""
    size = 0
    for part in parts[:MAX_STEPS]:
        if size <= MAX_SHOWN and (text := text_of_part(part, attachments)):
            size += len(text)
            yield text


class Attachments:
    """Puts attachments into the steps of one sample; beyond the limit a reference stays what it is."""

    def __init__(self, attachments: dict[str, Any]) -> None:
        self._attachments = attachments
        self._left = MAX_PUT_IN

    def into(self, value: Any) -> Any:
        if isinstance(value, str):
            text = _attached(value, self._attachments) if value.startswith(ATTACHMENT) else value
            if text is value or len(text) > self._left:
                return value
            self._left -= len(text)
            return text
        if not self._attachments:
            return value
        if isinstance(value, dict):
            return {name: self.into(part) for name, part in value.items()}
        return [self.into(part) for part in value] if isinstance(value, list) else value


def text_of_part(part: Any, attachments: dict[str, Any]) -> str:
    return "" if isinstance(part, list) else text_of(part, attachments)


def steps_of(s: dict[str, Any], attachments: dict[str, Any], cleaner: Cleaner) -> Iterator[StepRecord]:
    """Yield the steps from the events where they hold tool calls, else from the messages."""
    events = s.get("events") or member(s, "transcript", "events") or s.get("transcript")
    events = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    packed = Attachments(attachments)
    if any(event.get("event") == "tool" for event in events):
        yield from _of_events(events, packed, cleaner)
    else:
        yield from _of_messages(s.get("messages"), events, packed, cleaner)


def _of_events(events: list[dict[str, Any]], packed: Attachments, cleaner: Cleaner) -> Iterator[StepRecord]:
    decisions = _decisions(events)
    for event in events:
        kind = event.get("event")
        if kind == "model":
            yield StepRecord(
                kind=StepKind.MODEL,
                started_at=parse_loose_time(event.get("timestamp"))[0],
                latency_ms=as_milliseconds(event.get("working_time")),
            )
        elif kind == "tool":
            yield _tool(
                event,
                event.get("error"),
                event.get("result"),
                decisions,
                packed,
                cleaner,
                started_at=parse_loose_time(event.get("timestamp"))[0],
                latency_ms=as_milliseconds(event.get("working_time")),
            )


def _of_messages(
    messages: Any, events: list[dict[str, Any]], packed: Attachments, cleaner: Cleaner
) -> Iterator[StepRecord]:
    decisions = _decisions(events)
    messages = [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    answers = {str(m.get("tool_call_id")): m for m in messages if m.get("role") == "tool"}
    for message in messages:
        calls = message.get("tool_calls") if message.get("role") == "assistant" else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                answer = answers.get(str(call.get("id")), {})
                yield _tool(call, answer.get("error"), answer.get("content"), decisions, packed, cleaner)


def _tool(
    call: dict[str, Any],
    error: Any,
    result: Any,
    decisions: dict[str, tuple[Decision, bool]],
    packed: Attachments,
    cleaner: Cleaner,
    **members: Any,
) -> StepRecord:
    function = call.get("function")
    name = as_id(member(function, "name") if isinstance(function, dict) else function)
    decision, approved = decisions.get(str(call.get("id")), (Decision.ALLOWED, False))
    if error and decision is Decision.ALLOWED:
        # An approver's refusal comes back to the agent as an error of its own kind.
        decision = Decision.DENIED if member(error, "type") == "approval" else Decision.FAILED
    arguments = call.get("arguments")
    kept = packed.into(
        arguments if isinstance(arguments, dict) and arguments else member(function, "arguments") or arguments
    )
    shown = text_of(packed.into(result), {}) if result is not None else None
    return tool_step(
        name,
        kept,
        shown or None,
        cleaner,
        decision=decision,
        approved=approved,
        reason_code=as_id(member(error, "type")) if error else "",
        **members,
    )


def _decisions(events: list[dict[str, Any]]) -> dict[str, tuple[Decision, bool]]:
    """Return by call what approvers decided: a refusal is denied, an escalation paused, lifted by a later approval."""
    found: dict[str, tuple[Decision, bool]] = {}
    for event in events:
        if event.get("event") != "approval":
            continue
        call, decision = str(member(event, "call", "id")), event.get("decision")
        if decision in REFUSED:
            found[call] = (Decision.DENIED, False)
        elif decision == "escalate":
            found[call] = (Decision.PAUSED, False)
        elif call in found and found[call][0] is Decision.PAUSED:
            found[call] = (Decision.PAUSED, True)
    return found
