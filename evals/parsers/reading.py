"""From bytes to text and JSON values that may be stored: encodings, gzip, caps, odd characters and numbers."""

import codecs
import gzip
import json
import math
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

import msgspec

from evals.canonical import canonical_sha256
from evals.errors import ImportRefused, Problem

MiB = 1024 * 1024
HEAD_BYTES = 64 * 1024
CHUNK = 64 * 1024
MAX_REMEMBERED = 10_000  # digests
MAX_REMEMBERED_BYTES = 2_000
CUT_MARK = " […cut]"
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")  # Unicode Cc


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one artifact may hold. A refusal states the limit and names the setting behind it."""

    max_unpacked_bytes: int = 512 * MiB  # of a gzip file
    max_document_bytes: int = 300 * MiB  # of a format that is read whole
    max_line_bytes: int = 32 * MiB
    max_zip_members: int = 200_000
    max_depth: int = 64
    max_rows: int = 5_000_000  # evaluations and attempts
    max_evaluations: int = 32_000  # of one attempt: their position is a small integer
    max_text: int = 20_000  # code points


def unreadable(detail: str, *, code: str = "unreadable", line: int | None = None, expected: str = "") -> ImportRefused:
    return ImportRefused(400, code, detail, (Problem(detail, line=line, expected=expected),))


def too_large(detail: str, *, expected: str) -> ImportRefused:
    return ImportRefused(413, "too_large", f"{detail.rstrip('.')}: {expected}.", (Problem(detail, expected=expected),))


# -- bytes


def unpacked(stream: BinaryIO, limits: Limits) -> BinaryIO:
    """Return a seekable stream of what is meant: a gzip file unpacked, UTF-16 JSON as UTF-8, no byte order mark."""
    start = stream.tell()
    magic = stream.read(2)
    stream.seek(start)
    if magic == b"\x1f\x8b":
        stream, start = _gunzipped(stream, limits), 0
    head = stream.read(256)
    stream.seek(start)
    if head.startswith(codecs.BOM_UTF8):
        stream.seek(start + len(codecs.BOM_UTF8))
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = head[: len(head) // 2 * 2].decode("utf-16", "replace").lstrip()
        if not text.startswith("<"):  # an XML parser reads the mark and the declaration by itself
            return _transcoded(stream)
    return stream


def _gunzipped(stream: BinaryIO, limits: Limits) -> BinaryIO:
    target = _spool()
    size = 0
    try:
        with gzip.GzipFile(fileobj=stream) as packed:
            while chunk := packed.read(CHUNK):
                size += len(chunk)
                if size > limits.max_unpacked_bytes:
                    raise too_large(
                        "The gzip file unpacks to more than is taken.",
                        expected=f"at most {limits.max_unpacked_bytes} bytes unpacked (MAX_UNPACKED_MB)",
                    )
                target.write(chunk)
    except (OSError, EOFError, zlib.error) as error:
        target.close()
        raise unreadable("The gzip file is damaged or cut off.", code="bad_gzip") from error
    except ImportRefused:
        target.close()
        raise
    target.seek(0)
    if target.read(2) == b"\x1f\x8b":
        target.close()
        raise unreadable("The gzip file holds another gzip file: pack it once.", code="bad_gzip")
    target.seek(0)
    return target


def _transcoded(stream: BinaryIO) -> BinaryIO:
    decoder = codecs.getincrementaldecoder("utf-16")()
    target = _spool()
    try:
        while chunk := stream.read(CHUNK):
            target.write(decoder.decode(chunk).encode("utf-8"))
        target.write(decoder.decode(b"", final=True).encode("utf-8"))
    except UnicodeError as error:
        target.close()
        raise unreadable("The file begins as UTF-16 but is not.", code="bad_encoding") from error
    target.seek(0)
    return target


def _spool() -> BinaryIO:
    return cast(BinaryIO, tempfile.SpooledTemporaryFile(max_size=8 * MiB))


def head_of(stream: BinaryIO) -> bytes:
    start = stream.tell()
    head = stream.read(HEAD_BYTES)
    stream.seek(start)
    return head


def read_document(stream: BinaryIO, limits: Limits) -> bytes:
    """Read the rest of the stream as one document."""
    content = stream.read(limits.max_document_bytes + 1)
    if len(content) > limits.max_document_bytes:
        raise too_large(
            "The document is larger than what is read as a whole.",
            expected=f"at most {limits.max_document_bytes} bytes (MAX_DOCUMENT_MB); "
            "run/v1 as NDJSON is read line by line",
        )
    return content


class _Capped:
    """A stream to parse from that refuses to give more than a document may have."""

    def __init__(self, stream: BinaryIO, limits: Limits) -> None:
        self._stream = stream
        self._most = self._left = limits.max_document_bytes

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(size)
        self._left -= len(chunk)
        if self._left < 0:
            most = f"at most {self._most} bytes (MAX_DOCUMENT_MB)"
            raise too_large("The document is larger than what is read as a whole.", expected=most)
        return chunk


def read_capped(stream: BinaryIO, limits: Limits) -> BinaryIO:
    return cast(BinaryIO, _Capped(stream, limits))


def lines_of(stream: BinaryIO, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) of every line that is not blank."""
    number = 1
    while line := stream.readline(limits.max_line_bytes + 1):
        check_length(line, number, limits)
        if not line.isspace():
            yield number, line
        number += 1


def check_length(line: bytes, number: int, limits: Limits) -> None:
    if len(line) > limits.max_line_bytes:
        most = f"at most {limits.max_line_bytes} bytes a line (MAX_LINE_MB)"
        raise too_large(f"Line {number} is too long.", expected=most)


# -- JSON


def json_lines(stream: BinaryIO, limits: Limits) -> Iterator[tuple[int, Any]]:
    """Yield (number, value) of every line that is not blank; all of them together may be as large as a document."""
    for number, line in document_lines(stream, limits):
        yield number, load_json(line, line=number)


def document_lines(stream: BinaryIO, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) as `lines_of` does, while all of them together are no larger than a document may be."""
    size = 0
    for number, line in lines_of(stream, limits):
        size += len(line)
        if size > limits.max_document_bytes:
            most = f"at most {limits.max_document_bytes} bytes (MAX_DOCUMENT_MB)"
            raise too_large("The file is too large.", expected=most)
        yield number, line


def is_json_lines(stream: BinaryIO, limits: Limits) -> bool:
    """Whether the first line is a JSON value by itself, or should be one; the stream stays where it is."""
    start = stream.tell()
    is_one_line = _is_one_line(stream)
    stream.seek(start)
    if is_one_line:
        return False
    first = second = b"\n"
    while first.isspace():
        first = stream.readline(limits.max_document_bytes)
    while second.isspace():
        second = stream.readline(limits.max_document_bytes)
    stream.seek(start)
    # Inside one document a line that opens an object follows a comma, a colon or a bracket.
    is_broken = second.lstrip().startswith(b"{") and not first.rstrip().endswith((b",", b":", b"["))
    return is_broken or _is_json(first)


def _is_one_line(stream: BinaryIO) -> bool:
    """Whether all that follows stands in one line, which may be as long as a document; none of it is kept."""
    is_begun = is_ended = False
    while piece := stream.read(CHUNK):
        if not is_begun:
            piece = piece.lstrip()
            is_begun = bool(piece)
        if not is_ended:
            end = piece.find(b"\n")
            if end < 0:
                continue
            is_ended, piece = True, piece[end:]
        if not piece.isspace():
            return False
    return True


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=msgspec.Raw)  # checks without building the value
    except (msgspec.MsgspecError, RecursionError):
        try:
            load_json(line)
        except ImportRefused:
            return False
    return True


def is_utf8(content: bytes) -> bool:
    """Whether the content is UTF-8 throughout; looked at in pieces, so that no second copy is made of it."""
    if content.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), CHUNK):
            decoder.decode(content[start : start + CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def load_json(content: bytes, *, line: int | None = None) -> Any:
    """Decode one JSON value. NaN, infinities and numbers out of range become non-finite floats.

    Raises ImportRefused 400 with the line: of the content, or `line` where the content is one line of a file.
    """
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return _load_json_carefully(content, line)


def _load_json_carefully(content: bytes, line: int | None) -> Any:
    # msgspec refuses NaN and lone surrogates, and tells no line: the slower decoder takes over.
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line or content.count(b"\n", 0, error.start) + 1
        raise unreadable(f"Line {at} is not UTF-8.", code="bad_encoding", line=at, expected="UTF-8 text") from error
    try:
        return json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as error:
        at = line or error.lineno
        raise unreadable(
            f"Line {at} is not JSON, or it is cut off: {error.msg}.", code="bad_json", line=at, expected="valid JSON"
        ) from error
    except RecursionError as error:
        raise too_deep(line=line) from error


def too_deep(limits: Limits | None = None, *, line: int | None = None) -> ImportRefused:
    """Refuse what is nested beyond the limit; beyond what any decoder follows where there are no `limits`."""
    most = f"at most {limits.max_depth} levels (MAX_NESTING)" if limits else "at most some hundred levels"
    detail = f"The document is nested too deeply: {most}."
    return ImportRefused(400, "too_deep", detail, (Problem(detail, line=line, expected=most),))


def _integer(digits: str) -> int | float:
    # Python refuses to convert more than 4,300 digits; no number of ours needs a tenth of that.
    return int(digits) if len(digits) <= 400 else math.inf


# -- values


class Cleaner:
    """Makes texts and JSON values storable, and remembers how many it had to cut."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.cut = 0
        self._digests: dict[bytes, str] = {}  # by the value's plain JSON: assertions and arguments repeat

    def text(self, value: str) -> str:
        """Replace NUL and lone surrogates, which PostgreSQL refuses; cut what is too long and mark it."""
        text = storable(value)
        if len(text) > self.limits.max_text:
            self.cut += 1
            return text[: self.limits.max_text - len(CUT_MARK)] + CUT_MARK
        return text

    def value(self, value: Any, depth: int = 1) -> Any:
        """Return a JSON value with clean texts, non-finite numbers as null; refuse what is too deep."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if not isinstance(value, dict | list):
            return value
        if depth > self.limits.max_depth:
            raise too_deep(self.limits)
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        return {storable(name): self.value(member, depth + 1) for name, member in value.items()}

    def digest(self, value: Any) -> str:
        """Return the SHA-256 of a JSON value, its texts uncut."""
        try:
            plain = msgspec.json.encode(value)
        except (msgspec.MsgspecError, OverflowError, RecursionError, TypeError, ValueError):
            return self._digest(value)  # a number or a text that only the canonical form can say
        if plain not in self._digests and len(self._digests) < MAX_REMEMBERED and len(plain) <= MAX_REMEMBERED_BYTES:
            self._digests[plain] = self._digest(value)
        return self._digests.get(plain) or self._digest(value)

    def _digest(self, value: Any) -> str:
        return canonical_sha256(Cleaner(replace(self.limits, max_text=sys.maxsize)).value(value))

    def notes(self) -> tuple[str, ...]:
        if not self.cut:
            return ()
        texts = "1 text was" if self.cut == 1 else f"{self.cut} texts were"
        return (f"{texts} longer than {self.limits.max_text} characters and cut.",)


def storable(text: str) -> str:
    """Replace each NUL and lone surrogate by U+FFFD."""
    if text.isascii() and "\0" not in text:  # nearly all of them, and much quicker to ask
        return text
    return UNSTORABLE.sub("\ufffd", text) if UNSTORABLE.search(text) else text


def member(value: Any, *path: str) -> Any:
    """Return a nested member, or None where a step is missing or no object."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value
