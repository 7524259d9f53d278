"""OTLP JSON as it comes: typed values, times in nanoseconds, ids in hex or base64."""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evals.parsers.checked import Place, list_in, object_at, objects_in

type Attributes = dict[str, Any]

TRACE_BYTES, SPAN_BYTES = 16, 8
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_DEPTH = 32
DIGITS = re.compile(r"-?\d{1,20}", re.ASCII)
HEX = re.compile(r"[0-9a-fA-F]+", re.ASCII)
FAILED = (2, "2", "STATUS_CODE_ERROR")


@dataclass(frozen=True, slots=True)
class Entry:
    """A log record, a span, or an event of a span; ids in lower-case hex."""

    place: Place
    content: dict[str, Any]
    attributes: Attributes
    resource: Attributes
    scope: str
    trace_id: str = ""
    span_id: str = ""
    is_span: bool = False
    events: tuple["Entry", ...] = ()

    @property
    def name(self) -> str:
        name = self.content.get("name")
        return name if isinstance(name, str) else ""

    @property
    def parent_id(self) -> str:
        return hex_id(self.content.get("parentSpanId"), SPAN_BYTES)

    @property
    def status(self) -> dict[str, Any]:
        status = self.content.get("status")
        return status if isinstance(status, dict) else {}

    @property
    def nanos(self) -> int | None:
        names = ("startTimeUnixNano", "timeUnixNano", "observedTimeUnixNano")
        return next((nanos for name in names if (nanos := read_nanos(self.content.get(name)))), None)

    @property
    def time(self) -> datetime | None:
        return as_time(self.nanos)

    @property
    def end(self) -> datetime | None:
        return as_time(read_nanos(self.content.get("endTimeUnixNano")))

    @property
    def latency_ms(self) -> float | None:
        start, end = self.nanos, read_nanos(self.content.get("endTimeUnixNano"))
        return (end - start) / 1e6 if self.is_span and start and end and end >= start else None

    @property
    def failed(self) -> bool:
        code = self.status.get("code")
        return isinstance(code, int | str) and code in FAILED


def entries_of(document: dict[str, Any], place: Place) -> Iterator[Entry]:
    """Yield the log records and the spans of one export request."""
    for group, scopes, rows in (("resourceLogs", "scopeLogs", "logRecords"), ("resourceSpans", "scopeSpans", "spans")):
        for at, each in objects_in(document, group, place):
            resource = attributes_of(object_in(each, "resource", at), at.at("resource"))
            for scope_at, scoped in objects_in(each, scopes, at):
                scope = str(object_in(scoped, "scope", scope_at).get("name") or "")
                for row_at, row in objects_in(scoped, rows, scope_at):
                    yield _entry(row, row_at, resource, scope, is_span=rows == "spans")


def object_in(parent: dict[str, Any], name: str, place: Place) -> dict[str, Any]:
    """Return an object member; an absent one and null are empty."""
    value = parent.get(name)
    return {} if value is None else object_at(value, place.at(name))


def _entry(row: dict[str, Any], place: Place, resource: Attributes, scope: str, *, is_span: bool) -> Entry:
    trace, span = hex_id(row.get("traceId"), TRACE_BYTES), hex_id(row.get("spanId"), SPAN_BYTES)
    events = (
        Entry(at, event, attributes_of(event, at), resource, scope, trace, span)
        for at, event in (objects_in(row, "events", place) if is_span else ())
    )
    return Entry(place, row, attributes_of(row, place), resource, scope, trace, span, is_span, tuple(events))


def attributes_of(parent: dict[str, Any], place: Place) -> Attributes:
    found: Attributes = {}
    for index, attribute in enumerate(list_in(parent, "attributes", place)):
        key = attribute.get("key") if isinstance(attribute, dict) else None
        value = attribute.get("value") if isinstance(attribute, dict) else None
        if not isinstance(key, str) or not isinstance(value, dict | None):
            raise place.at("attributes", index).refusal("an object with a key, which is a text, and a value, an object")
        found[key] = value_of(value)
    return found


def value_of(value: Any, depth: int = 1) -> Any:
    """Return a typed value as the JSON that it means; numbers may be written as texts, also NaN."""
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return value
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and DIGITS.fullmatch(number) else number
    if "doubleValue" in value:
        return _double(value["doubleValue"])
    for name, inner in (("arrayValue", "values"), ("kvlistValue", "values")):
        parts = value.get(name)
        items = parts.get(inner) if isinstance(parts, dict) else None
        if isinstance(items, list):
            if name == "arrayValue":
                return [value_of(item, depth + 1) for item in items]
            pairs = [item for item in items if isinstance(item, dict)]
            return {str(pair.get("key")): value_of(pair.get("value"), depth + 1) for pair in pairs}
    return next((value[name] for name in ("stringValue", "boolValue", "bytesValue") if name in value), None)


def _double(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return float(value)  # also "NaN", "Infinity" and "-Infinity"
    except ValueError:
        return value


def hex_id(value: Any, size: int) -> str:
    """Return an id in lower-case hex; plain protobuf dumps write it as base64. All zeros are none."""
    if not isinstance(value, str):
        return ""
    if not (len(value) == 2 * size and HEX.fullmatch(value)):
        try:
            decoded = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return value
        if len(decoded) != size:
            return value
        value = decoded.hex()
    return value.lower() if value.strip("0") else ""


def read_nanos(value: Any) -> int | None:
    """Read nanoseconds since 1970, a text or a number; None where there are none."""
    if isinstance(value, str) and DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**64:
        return None
    return value


def as_time(nanos: int | None) -> datetime | None:
    return EPOCH + timedelta(microseconds=nanos // 1000) if nanos else None
