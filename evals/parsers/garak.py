"""garak: the report of a scan, line by line, and the hitlog, which holds hits only.

In garak a score of 1 is bad: at or above the threshold an output is a hit, here a FAIL.
"""

import hashlib
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any, BinaryIO

from evals.parsers.cases import Ordinals, Tally, counted
from evals.parsers.checked import Place, list_in, object_at
from evals.parsers.head import Head
from evals.parsers.reading import Cleaner, Limits, lines_of, load_json, member
from evals.parsers.values import as_count, as_id, as_number, parse_loose_time
from evals.records import (
    AttemptRecord,
    EndRecord,
    EvaluationRecord,
    EvaluatorRecord,
    Finding,
    Outcome,
    Record,
    RunRecord,
    ScenarioRecord,
    Session,
)

NAME = "garak"
TITLE = "garak report or hitlog, JSON Lines"
VERSION = 1
HINT = "garak writes <prefix>.report.jsonl beside its HTML report"

THRESHOLD = 0.5  # garak's own default; it is often not written to the file
JUDGED = 2  # of an attempt's status; each is written with 1 before
HIT_KEYS = {"attempt_id", "detector", "probe", "score"}
NOT_JUDGED = "garak"  # indicator of attempts that no detector looked at
ENTRIES = {"start_run setup", "init", "attempt", "eval", "completion", "digest", "probe_summary", "plugin_cache"}


def sniff(head: Head) -> bool:
    return "entry_type" in head.keys or set(head.keys) >= HIT_KEYS


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    scan = Scan(limits)
    for number, line in lines_of(stream, limits):
        place = Place(line=number)
        yield from scan.entry(object_at(load_json(line, line=number), place), place)
    yield from scan.finish()


class Scan:
    """What the lines so far have said. The run is told once its setup is complete, at the first attempt or hit."""

    def __init__(self, limits: Limits) -> None:
        self.cleaner = Cleaner(limits)
        self.tally = Tally("garak")
        self.ordinals = Ordinals()
        self.setup: dict[str, Any] = {}
        self.start: dict[str, Any] = {}
        self.told_run = False
        self.declared: set[str] = set()
        # Attempts by uuid: those judged, and those written but not judged yet, by what is needed to tell of them.
        self.judged: set[str] = set()
        self.open: dict[str, tuple[dict[str, Any], Place]] = {}
        self.totals: Counter[str] = Counter()
        self.end: dict[str, Any] | None = None
        self.hits = 0
        self.unknown_entries: Counter[str] = Counter()

    def entry(self, content: dict[str, Any], place: Place) -> Iterator[Record]:
        kind = content.get("entry_type")
        if kind is None and set(content) >= HIT_KEYS:
            yield from self._hit(content, place)
        elif kind == "attempt":
            yield from self._attempt(content, place)
        elif kind == "start_run setup":
            self.setup = content
        elif kind == "init":
            self.start = content
        elif kind == "eval":
            self._count(content)
        elif kind == "completion":
            self.end = content
        elif not isinstance(kind, str):
            raise place.refusal("a garak entry with “entry_type”, or a hit", code="invalid_entry")
        elif kind not in ENTRIES:
            self.unknown_entries[as_id(kind)] += 1

    # -- the run

    def _run(self) -> Iterator[Record]:
        if self.told_run:
            return
        self.told_run = True
        started, assumed = parse_loose_time(self.start.get("start_time") or self.setup.get("transient.starttime_iso"))
        yield RunRecord(
            label=as_id(self.start.get("run") or self.setup.get("transient.run_id")),
            suite="garak",
            model=self.variant,
            started_at=started,
            started_at_assumed=assumed,
            producer_name="garak",
            producer_version=self.version,
        )

    @property
    def version(self) -> str:
        return as_id(self.start.get("garak_version") or self.setup.get("_config.version"))

    @property
    def variant(self) -> str:
        """Name the target; before 0.13.1 it was called the model."""
        for kind in ("target", "model"):
            parts = [as_id(self.setup.get(f"plugins.{kind}_{part}"), limit=90) for part in ("type", "name")]
            if any(parts):
                return ":".join(part for part in parts if part)
        return ""

    @property
    def threshold(self) -> float:
        told = as_number(self.setup.get("run.eval_threshold"))
        return THRESHOLD if told is None else told

    def _evaluator(self, threshold: float) -> EvaluatorRecord:
        return EvaluatorRecord("garak", self.version, self.cleaner.digest({"eval_threshold": threshold}))

    # -- attempts

    def _attempt(self, content: dict[str, Any], place: Place) -> Iterator[Record]:
        key = as_id(content.get("uuid"))
        if not key:
            raise place.at("uuid").refusal("the attempt's uuid", code="invalid_entry")
        if content.get("status") != JUDGED:
            if key not in self.judged:
                self.open[key] = (_needed(content), place)
            return
        self.open.pop(key, None)
        if key in self.judged:
            return
        self.judged.add(key)
        yield from self._run()
        yield from self._outputs(content, place)

    def _outputs(self, content: dict[str, Any], place: Place) -> Iterator[Record]:
        results = content.get("detector_results") or {}
        results = object_at(results, place.at("detector_results"))
        scores = {name: list_in(results, name, place.at("detector_results")) for name in results}
        outputs = list_in(content, "outputs", place)
        number = max(len(outputs), *map(len, scores.values()), 0) if scores else len(outputs)
        key = yield from self._scenario(content)
        for index in range(max(number, 1)):
            output = outputs[index] if index < len(outputs) else None
            judged = [
                self._judge(name, values, index, output) for name, values in scores.items() if index < len(values)
            ]
            found = self.tally.evaluations(judged or [self._not_judged()])
            yield self._record(key, content, place, output, found)

    def _record(
        self, key: str, content: dict[str, Any], place: Place, output: Any, found: tuple[EvaluationRecord, ...]
    ) -> AttemptRecord:
        return AttemptRecord(
            scenario=key,
            ordinal=self.ordinals.take(key, self.variant),
            variant=self.variant,
            input=self.cleaner.text(_prompt(content)),
            output=self.cleaner.text(_text(output)),
            evaluations=found,
            place=str(place),
            extras={"garak_attempt": as_id(content.get("uuid") or content.get("attempt_id"))},
        )

    def _scenario(self, content: dict[str, Any]) -> Generator[Record, None, str]:
        """Yield the scenario if it is new, and return its key."""
        probe = as_id(content.get("probe_classname") or content.get("probe"), limit=120) or "unnamed probe"
        prompt = _prompt(content)
        key = f"{probe} | {hashlib.sha256(prompt.encode('utf-8', 'replace')).hexdigest()[:16]}"
        if key not in self.declared:
            self.declared.add(key)
            yield ScenarioRecord(
                key=key,
                title=self.cleaner.text(str(content.get("goal") or "")),
                class_id=probe.partition(".")[0],
                adversarial=True,
            )
        return key

    def _judge(self, detector: str, scores: list[Any], index: int, output: Any) -> EvaluationRecord:
        score = as_number(scores[index])
        reported = None if score is None else Outcome.FAIL if score >= self.threshold else Outcome.PASS
        outcome, code = reported or Outcome.UNKNOWN, "" if reported else "no_score"
        if output is None and reported is not Outcome.FAIL:
            outcome, code = Outcome.UNKNOWN, "no_output"
        return EvaluationRecord(
            indicator=as_id(detector) or "unnamed detector",
            outcome=outcome,
            evaluator=self._evaluator(self.threshold),
            finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
            reason_code=code,
            score=score,
            reported_outcome=reported if reported is not outcome else None,
        )

    def _not_judged(self) -> EvaluationRecord:
        return EvaluationRecord(
            indicator=NOT_JUDGED,
            outcome=Outcome.UNKNOWN,
            evaluator=self._evaluator(self.threshold),
            reason_code="not_judged",
        )

    # -- hits

    def _hit(self, content: dict[str, Any], place: Place) -> Iterator[Record]:
        self.hits += 1
        if not self.told_run:
            self.setup = {"plugins.target_name": content.get("generator")}
            self.start = {"run": content.get("run_id")}
            yield from self._run()
        key = yield from self._scenario(content)
        hit = EvaluationRecord(
            indicator=as_id(content.get("detector")) or "unnamed detector",
            outcome=Outcome.FAIL,
            evaluator=self._evaluator(self.threshold),
            finding=Finding.UNCLASSIFIED,
            score=as_number(content.get("score")),
        )
        yield self._record(key, content, place, content.get("output"), self.tally.evaluations([hit]))

    # -- the end

    def _count(self, content: dict[str, Any]) -> None:
        """Add up garak's own counts. Before 0.14 there are no `fails`: they are the total without those passed."""
        passed, nones = as_count(content.get("passed")) or 0, as_count(content.get("nones")) or 0
        fails = as_count(content.get("fails"))
        if fails is None:
            fails = max(0, (as_count(content.get("total")) or 0) - passed)
        self.totals.update({"passed": passed, "fails": fails, "nones": nones})

    def finish(self) -> Iterator[Record]:
        is_report = bool(self.setup or self.start or self.judged or self.open) and not self.hits
        yield from self._run()
        for content, place in self.open.values():
            yield from self._outputs({**content, "detector_results": {}}, place)
        finished, _ = parse_loose_time(self.end.get("end_time")) if self.end else (None, False)
        aborted = is_report and self.end is None
        yield EndRecord(
            session=Session.ABORTED if aborted else None,
            session_reason="not_finished: the report has no completion line" if aborted else "",
            finished_at=finished,
            reported_totals=dict(self.totals),
            notes=(*self._notes(), *self.tally.notes(), *self.cleaner.notes()),
        )

    def _notes(self) -> Iterator[str]:
        if self.hits:
            yield "A hitlog holds hits only: the denominator is not in this file. Upload the report.jsonl for a rate."
        if self.open:
            yield f"{counted(len(self.open), 'attempt')} written but never judged: UNKNOWN."
        ours = self.tally.outcomes
        if self.totals and (self.totals["passed"], self.totals["fails"]) != (ours[Outcome.PASS], ours[Outcome.FAIL]):
            told = f"{self.totals['passed']} passed and {self.totals['fails']} failed"
            yield f"garak's own lines say {told}; the attempts give {ours[Outcome.PASS]} and {ours[Outcome.FAIL]}."
        for kind, number in self.unknown_entries.items():
            yield f"{counted(number, 'line')} of the kind “{kind}” not read."


def _needed(content: dict[str, Any]) -> dict[str, Any]:
    """Keep of an open attempt what a later line may not bring."""
    return {name: content.get(name) for name in ("uuid", "probe_classname", "prompt", "outputs", "goal")}


def _prompt(content: dict[str, Any]) -> str:
    """Return what was sent: the turns of a conversation, or in older files the text itself."""
    prompt = content.get("prompt")
    turns = member(prompt, "turns")
    if isinstance(turns, list):
        return "\n".join(_text(member(turn, "content")) for turn in turns)
    return _text(prompt)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) else ""
