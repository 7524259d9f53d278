"""Inspect logs: `.eval` archives, whose samples are read one by one, and `.json` documents."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from backports.zstd.zipfile import ZipInfo

from evals.errors import ImportRefused, Problem
from evals.parsers.cases import counted
from evals.parsers.checked import Place, object_at, objects_in
from evals.parsers.head import Head, NearMiss, named, seen_in, wrong_format
from evals.parsers.inspect_results import Results
from evals.parsers.inspect_samples import SampleReader
from evals.parsers.reading import Limits, load_json, member, read_document
from evals.parsers.values import as_count, as_id, as_url, first_id, parse_loose_time
from evals.parsers.zipped import ZIP_MAGIC, ZipReader, open_zip
from evals.records import EndRecord, Record, RunRecord, Session

NAME = "inspect"
TITLE = "Inspect log, .eval or .json"
VERSION = 1
HINT = "inspect eval … writes it to logs/; upload the .eval file"

HEADER, JOURNAL = "header.json", "_journal/start.json"
SAMPLES = "samples/"
# A sample is one member, or a folder of chunks. Its id may hold slashes, so a folder alone says nothing.
SAMPLE = re.compile(r"_epoch_\d+\.json\Z")
CHUNKS = re.compile(r"samples/(.+_epoch_\d+)/", re.DOTALL)
INSTEAD = "Upload one .eval file of that folder."
SESSIONS = {
    "success": (Session.COMPLETE, ""),
    "started": (Session.ABORTED, "not_finished: the log says that the run had only started"),
    "cancelled": (Session.CANCELLED, ""),
    "error": (Session.ERRORED, ""),
}


def sniff(head: Head) -> bool:
    if head.zip_members:
        return HEADER in head.zip_members or JOURNAL in head.zip_members
    return "eval" in head.keys and len({"plan", "samples", "status", "version"} & set(head.keys)) >= 2


def near_miss(head: Head) -> NearMiss | None:
    if any(name.startswith(SAMPLES) for name in head.zip_members):
        return NearMiss(
            "This zip archive holds Inspect samples, but neither the log's header nor its journal.", INSTEAD
        )
    if {"eval_set_id", "tasks"} <= set(head.keys):
        return NearMiss("This is the manifest of an Inspect eval set, not a log.", INSTEAD)
    logs = [name for name in head.keys if name.endswith((".eval", ".json"))]
    if logs and any({"eval", "status"} & set(head.inner.get(name, ())) for name in logs):
        return NearMiss("This is the index of a folder of Inspect logs: headers without samples.", INSTEAD)
    return None


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    start = stream.tell()
    magic = stream.read(4)
    stream.seek(start)
    if magic.startswith(ZIP_MAGIC):
        with open_zip(stream, limits) as archive:
            members = archive.infolist()
            _refuse_chunks(members)
            reader = ZipReader(archive, limits)
            header = _header_of(members, reader)
            yield from _records(header, _samples_in(members, reader), limits, tuple(_repeated(members)))
        return
    document = load_json(read_document(stream, limits))
    if not isinstance(document, dict) or not isinstance(document.get("eval"), dict):
        raise wrong_format(f"This is no Inspect log: {seen_in(document)}.", HINT)
    yield from _records(document, _samples_of(document), limits)


def _is_sample(name: str) -> bool:
    return name.startswith(SAMPLES) and name.endswith(".json")


def _refuse_chunks(members: list[ZipInfo]) -> None:
    """Refuse samples that are spread over many members, which later versions of Inspect may write for large ones."""
    parts = (CHUNKS.match(entry.filename) for entry in members if not SAMPLE.search(entry.filename))
    chunked = {part.group(1) for part in parts if part}
    if chunked:
        detail = (
            f"This log holds chunked samples ({named(tuple(sorted(chunked)))}): each is a folder of many members, "
            "which is not read."
        )
        expected = "the log as one document: inspect log dump <log>.eval > log.json, and upload log.json"
        raise ImportRefused(
            422, "chunked_samples", f"{detail} Upload {expected}.", (Problem(detail, expected=expected),)
        )


def _header_of(members: list[ZipInfo], reader: ZipReader) -> dict[str, Any]:
    """Return the header, or of a killed run what it wrote at its start; the last one, which Inspect reads too."""
    last = {entry.filename: entry for entry in members}
    for name in (HEADER, JOURNAL):
        if name in last:
            header = object_at(_content(reader, last[name]), Place(), f"an object in {name}")
            return header if name == HEADER else {**header, "status": "started"}
    raise wrong_format(f"This zip archive is no Inspect log: it holds {named(tuple(last))}.", HINT)


def _samples_in(members: list[ZipInfo], reader: ZipReader) -> Iterator[tuple[Place, str, Any]]:
    seen: Counter[str] = Counter()
    for entry in members:
        name = entry.filename
        if _is_sample(name):
            seen[name] += 1
            where = name if seen[name] == 1 else f"{name} ({seen[name]})"
            yield Place(), where, _content(reader, entry)


def _repeated(members: list[ZipInfo]) -> Iterator[str]:
    """Say which members were written more than once, as happens when a log is opened again."""
    times = Counter(entry.filename for entry in members)
    if times[HEADER] > 1:
        yield f"The archive holds {HEADER} {times[HEADER]} times: the last one counts."
    samples = sum(count - 1 for name, count in times.items() if _is_sample(name))
    if samples:
        yield (
            f"{counted(samples, 'sample')} written to the archive again under the same name: "
            "all are kept, where Inspect itself reads only the last."
        )


def _content(reader: ZipReader, entry: ZipInfo) -> Any:
    try:
        return load_json(reader.read(entry))
    except ImportRefused as refusal:
        detail = f"In the member “{entry.filename[:80]}”: {refusal.detail}"
        raise ImportRefused(refusal.status, refusal.code, detail, refusal.problems) from refusal


def _samples_of(document: dict[str, Any]) -> Iterator[tuple[Place, str, Any]]:
    for place, sample in objects_in(document, "samples", Place()):
        yield place, place.pointer, sample


def _records(
    header: dict[str, Any], samples: Iterator[tuple[Place, str, Any]], limits: Limits, notes: tuple[str, ...] = ()
) -> Iterator[Record]:
    log = Log(header)
    reader = SampleReader(log.evaluation, log.results.params, limits)
    run = log.run()
    yield run
    for place, where, sample in samples:
        yield from reader.records(object_at(sample, place, f"an object in {where}"), place, where)
    if not reader.attempts and log.results.completed:
        detail = (
            f"The log counts {log.results.completed} samples but holds none. Run with samples logged (--log-samples)."
        )
        raise ImportRefused(422, "no_samples", detail, (Problem(detail, "/samples", expected=HINT),))
    is_empty = not reader.attempts and run.session is Session.COMPLETE
    told = log.results.notes(recorded=reader.attempts, planned=run.planned, scored=reader.scored)
    yield EndRecord(
        session=Session.UNFINISHED if is_empty else None,
        session_reason="no_samples: the log says success, and holds no samples" if is_empty else "",
        notes=(*notes, *told, *reader.notes()),
    )


class Log:
    """What stands around the samples."""

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.evaluation = object_at(header.get("eval"), Place().at("eval"))
        self.results = Results(header.get("results"))

    def run(self) -> RunRecord:
        evaluation = self.evaluation
        facts = self._facts()
        started, assumed = parse_loose_time(member(self.header, "stats", "started_at") or evaluation.get("created"))
        session, reason = self._session()
        tags = self.header.get("tags") or evaluation.get("tags")
        return RunRecord(
            label=as_id(evaluation.get("eval_id") or evaluation.get("run_id")),
            suite=as_id(evaluation.get("task")),
            suite_version=as_id(evaluation.get("task_version")),
            agent_version=first_id(facts, "version", "agent_version", "agentVersion"),
            model=as_id(evaluation.get("model")),
            environment=as_id(facts.get("environment")),
            commit=as_id(member(evaluation, "revision", "commit")) or as_id(facts.get("commit")),
            branch=as_id(facts.get("branch")),
            ci_url=as_url(facts.get("ci_url")),
            started_at=started,
            started_at_assumed=assumed,
            finished_at=parse_loose_time(member(self.header, "stats", "completed_at"))[0],
            session=session,
            session_reason=reason,
            planned=self._planned(),
            invalidated=self.header.get("invalidated") is True,
            producer_name="inspect_ai",
            producer_version=as_id(member(evaluation, "packages", "inspect_ai")),
            reported_totals=self.results.totals,
            extras={"tags": [as_id(tag) for tag in tags[:100]]} if isinstance(tags, list) and tags else {},
        )

    def _facts(self) -> dict[str, Any]:
        """Return what users put into the log's metadata, before that of the task."""
        found: dict[str, Any] = {}
        for given in (self.evaluation.get("metadata"), self.header.get("metadata")):
            found |= given if isinstance(given, dict) else {}
        return found

    def _session(self) -> tuple[Session, str]:
        status = self.header.get("status")
        if not isinstance(status, str) or status not in SESSIONS:
            return Session.ABORTED, f"not_finished: the status is {as_id(status) or 'missing'}"
        session, reason = SESSIONS[status]
        message = member(self.header, "error", "message")
        return session, reason or (as_id(message, limit=1_000) if session is not Session.COMPLETE else "")

    def _planned(self) -> int | None:
        """Samples × epochs: as the results say, else of what the limit left of the data set."""
        if self.results.total is not None:
            return self.results.total
        epochs = as_count(member(self.evaluation, "config", "epochs")) or 1
        samples = self._samples_planned()
        return None if samples is None or epochs >= 10**6 else samples * epochs

    def _samples_planned(self) -> int | None:
        """Return how many samples were chosen; the size of the data set is no answer where there is a choice."""
        ids = member(self.evaluation, "dataset", "sample_ids")
        if isinstance(ids, list):
            return len(ids)
        config = member(self.evaluation, "config")
        is_chosen = any(member(config, name) is not None for name in ("limit", "sample_id"))
        return None if is_chosen else as_count(member(self.evaluation, "dataset", "samples"))
