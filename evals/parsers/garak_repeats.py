"""Attempts of garak that several lines judge, found before anything is counted."""

import hashlib
import json
import re
from collections import Counter
from typing import Any, BinaryIO

from evals.parsers.reading import Limits, lines_of, load_json
from evals.parsers.values import as_id

# Within a JSON text a quotation mark has a backslash before it, so these find members only.
JUDGED = re.compile(rb'"status"\s*:\s*2\b')
UUID = re.compile(rb'"uuid"\s*:\s*"((?:[^"\\]|\\.)*)"')


def rivals_in(stream: BinaryIO, limits: Limits) -> dict[str, list[dict[str, Any]]]:
    """Return, of attempts with several judged lines, the scores of those after the first that differ from it.

    The lines are read once more for it, but only those of a uuid that several have are decoded.
    """
    start = stream.tell()
    seen: Counter[bytes] = Counter()
    for _, line in lines_of(stream, limits):
        if JUDGED.search(line):
            seen.update(set(UUID.findall(line)))
    stream.seek(start)
    repeated = {uuid for uuid, number in seen.items() if number > 1}
    return _differing(stream, limits, repeated) if repeated else {}


def _differing(stream: BinaryIO, limits: Limits, repeated: set[bytes]) -> dict[str, list[dict[str, Any]]]:
    start = stream.tell()
    known: dict[str, set[bytes]] = {}  # digests, by uuid: there may be as many as lines
    found: dict[str, list[dict[str, Any]]] = {}
    for number, line in lines_of(stream, limits):
        if not JUDGED.search(line) or repeated.isdisjoint(UUID.findall(line)):
            continue
        content = load_json(line, line=number)
        if not isinstance(content, dict) or content.get("entry_type") != "attempt" or content.get("status") != 2:
            continue
        key, scores = as_id(content.get("uuid")), content.get("detector_results")
        scores = scores if isinstance(scores, dict) else {}
        digest = hashlib.sha256(json.dumps(scores, sort_keys=True).encode()).digest()
        if key in known and digest not in known[key]:
            found.setdefault(key, []).append(scores)
        known.setdefault(key, set()).add(digest)
    stream.seek(start)
    return found
