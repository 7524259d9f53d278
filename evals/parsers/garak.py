"""garak: the report of a scan, line by line, and the hitlog, which holds hits only.

In garak a score of 1 is bad: at or above the threshold an output is a hit, here a FAIL.
"""

import hashlib
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any, BinaryIO

from msgspec.structs import replace

from evals.errors import ImportRefused, Problem
from evals.parsers.cases import Ordinals, Tally, counted
from evals.parsers.checked import Place, list_in, object_at
from evals.parsers.garak_repeats import rivals_in
from evals.parsers.garak_values import is_absent, prompt_of, score_of, target_name, text_of
from evals.parsers.head import Head
from evals.parsers.reading import Cleaner, Limits, lines_of, load_json
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
ENTRIES = {"digest", "probe_summary", "plugin_cache", "payload_init", "tree_data", "config"}  # known, and not needed
MAX_KINDS, OTHER = 10, ""  # of unknown lines, named in notes, and all the others
HITS_ONLY = "hits_only: this is garak's hitlog, which lists hits and leaves out every output that held"
NO_COMPLETION = "not_finished: the report has no completion line"
AGGREGATED = "not_finished: a report put together of several does not say whether each ran to its end"


def sniff(head: Head) -> bool:
    return "entry_type" in head.keys or set(head.keys) >= HIT_KEYS


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    scan = Scan(limits)
    scan.rivals = rivals_in(stream, limits)
    for number, line in lines_of(stream, limits):
        place = Place(line=number)
        yield from scan.entry(object_at(load_json(line, line=number), place), place, stream.tell() - len(line))
    yield from scan.open_attempts(stream)
    yield scan.end_record()


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
        # Attempts by uuid: those judged, and where those stand that were written and not judged yet (line, offset).
        self.judged: set[str] = set()
        self.open: dict[str, tuple[int | None, int]] = {}
        self.judged_again = 0
        self.rivals: dict[str, list[dict[str, Any]]] = {}  # by uuid: the scores of lines that differ
        self.contradicted = 0  # evaluations
        self.short_of_scores = 0
        self.totals: Counter[str] = Counter()
        self.end: dict[str, Any] | None = None
        self.hits = 0
        self.unknown_entries: Counter[str] = Counter()

    def entry(self, content: dict[str, Any], place: Place, offset: int) -> Iterator[Record]:
        kind = content.get("entry_type")
        if kind is None and set(content) >= HIT_KEYS:
            yield from self._hit(content, place)
        elif kind == "attempt":
            yield from self._attempt(content, place, offset)
        elif kind == "start_run setup":
            self.setup = self.setup or content
        elif kind == "init":
            self._init(content, place)
        elif kind == "eval":
            self._count(content)
        elif kind == "completion":
            self.end = content
        elif not isinstance(kind, str):
            raise place.refusal("a garak entry with “entry_type”, or a hit", code="invalid_entry")
        elif kind not in ENTRIES:
            self._unknown(as_id(kind, limit=60))

    def _unknown(self, kind: str) -> None:
        is_named = kind in self.unknown_entries or len(self.unknown_entries) < MAX_KINDS
        self.unknown_entries[kind if is_named else OTHER] += 1

    # -- the run

    def _init(self, content: dict[str, Any], place: Place) -> None:
        """Take the first; before 0.10.1 the loading of a payload was written as another one, without a run."""
        self._check_run(content.get("run"), place)
        self.start = self.start or content

    def _check_run(self, run: Any, place: Place) -> None:
        known = self.start.get("run")
        if run and known and run != known:
            expected = "lines of one scan; upload each report or hitlog by itself"
            detail = f"Line {place.line} is of another garak scan than the lines before it."
            raise ImportRefused(422, "several_runs", detail, (Problem(detail, line=place.line, expected=expected),))

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
        names = (
            target_name(*(self.setup.get(f"plugins.{kind}_{part}") for part in ("type", "name")))
            for kind in ("target", "model")
        )
        return next(filter(None, names), "")

    @property
    def threshold(self) -> float:
        told = as_number(self.setup.get("run.eval_threshold"))
        return THRESHOLD if told is None else told

    def _evaluator(self, threshold: float) -> EvaluatorRecord:
        return EvaluatorRecord("garak", self.version, self.cleaner.digest({"eval_threshold": threshold}))

    # -- attempts

    def _attempt(self, content: dict[str, Any], place: Place, offset: int) -> Iterator[Record]:
        key = as_id(content.get("uuid"))
        if not key:
            raise place.at("uuid").refusal("the attempt's uuid", code="invalid_entry")
        if content.get("status") != JUDGED:
            if key not in self.judged:
                self.open[key] = (place.line, offset)
            return
        self.open.pop(key, None)
        if key in self.judged:
            self.judged_again += 1
            return
        self.judged.add(key)
        yield from self._run()
        yield from self._outputs(content, place)

    def _outputs(self, content: dict[str, Any], place: Place) -> Iterator[Record]:
        results = content.get("detector_results") or {}
        results = object_at(results, place.at("detector_results"))
        scores = {name: list_in(results, name, place.at("detector_results")) for name in results}
        outputs = list_in(content, "outputs", place)
        number = max(len(outputs), *map(len, scores.values())) if scores else len(outputs)
        self.short_of_scores += any(len(values) < number for values in scores.values())
        rivals = self.rivals.get(as_id(content.get("uuid")), ())
        scores |= {name: [] for other in rivals for name in other if name not in scores}
        key = yield from self._scenario(content)
        for index in range(max(number, 1)):
            output = outputs[index] if index < len(outputs) else None
            judged = [self._judge(name, values[index : index + 1], output) for name, values in scores.items()]
            if rivals:
                named = zip(judged, scores, strict=True)
                judged = [self._against(each, name, index, output, rivals) for each, name in named]
            found = self.tally.evaluations(judged or [self._not_judged()])
            yield self._record(key, content, place, output, found)

    def _record(
        self, key: str, content: dict[str, Any], place: Place, output: Any, found: tuple[EvaluationRecord, ...]
    ) -> AttemptRecord:
        return AttemptRecord(
            scenario=key,
            ordinal=self.ordinals.take(key, self.variant),
            variant=self.variant,
            input=self.cleaner.text(prompt_of(content)),
            output=self.cleaner.text(text_of(output)),
            evaluations=found,
            place=str(place),
            extras={"garak_attempt": as_id(content.get("uuid") or content.get("attempt_id"))},
        )

    def _scenario(self, content: dict[str, Any]) -> Generator[Record, None, str]:
        """Yield the scenario if it is new, and return its key."""
        probe = as_id(content.get("probe_classname") or content.get("probe"), limit=120) or "unnamed probe"
        prompt = prompt_of(content)
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

    def _judge(self, detector: str, scores: list[Any], output: Any) -> EvaluationRecord:
        """Judge one output by one score, or by none: a detector may give fewer scores than there are outputs."""
        score = score_of(scores[0]) if scores else None
        reported = None if score is None else Outcome.FAIL if score >= self.threshold else Outcome.PASS
        outcome, code = reported or Outcome.UNKNOWN, "" if reported else "no_score"
        if is_absent(output):
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

    def _against(
        self, ours: EvaluationRecord, detector: str, index: int, output: Any, rivals: Sequence[dict[str, Any]]
    ) -> EvaluationRecord:
        """Take no verdict where another line of the same attempt gives another one."""
        for scores in rivals:
            values = scores.get(detector)
            told = values[index : index + 1] if isinstance(values, list) else []
            if self._judge(detector, told, output).outcome is not ours.outcome:
                self.contradicted += 1
                return replace(ours, outcome=Outcome.UNKNOWN, reason_code="contradiction", finding=None, score=None)
        return ours

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
            kind, _, name = as_id(content.get("generator")).partition(" ")
            self.setup = self.setup | {"plugins.target_type": kind, "plugins.target_name": name}
            self.start = {"run": content.get("run_id")}
            yield from self._run()
        self._check_run(content.get("run_id"), place)
        key = yield from self._scenario(content)
        output = content.get("output")
        hit = self._judge(as_id(content.get("detector")), [content.get("score")], output)
        if hit.outcome is Outcome.PASS and as_number(self.setup.get("run.eval_threshold")) is None:
            # The scan's own threshold was lower than the default: garak would not list it otherwise.
            hit = replace(hit, outcome=Outcome.UNKNOWN, reason_code="no_threshold")
        elif hit.outcome is Outcome.PASS:
            hit = replace(hit, reason_code="score_below_threshold")
        if hit.outcome is not Outcome.FAIL:
            hit = replace(hit, reported_outcome=Outcome.FAIL)
        yield self._record(key, content, place, output, self.tally.evaluations([hit]))

    # -- the end

    def _count(self, content: dict[str, Any]) -> None:
        """Add up garak's own counts. Before 0.14 there are no `fails`: they are the total without those passed."""
        passed, nones = as_count(content.get("passed")) or 0, as_count(content.get("nones")) or 0
        fails = as_count(content.get("fails"))
        if fails is None:
            fails = max(0, (as_count(content.get("total")) or 0) - passed)
        self.totals.update({"passed": passed, "fails": fails, "nones": nones})

    def open_attempts(self, stream: BinaryIO) -> Iterator[Record]:
        """Tell of the attempts that no line judged; they are read again, so that none is held until here."""
        self._check_attempts()
        yield from self._run()
        for line, offset in self.open.values():
            stream.seek(offset)
            content = load_json(stream.readline(self.cleaner.limits.max_line_bytes), line=line)
            yield from self._outputs({**content, "detector_results": {}}, Place(line=line))

    def _check_attempts(self) -> None:
        """Refuse garak's own counts alone: they would look like a scan without a result."""
        if self.totals.total() and not (self.judged or self.open or self.hits):
            detail = f"The report counts {self.totals.total()} evaluations, and the attempts behind them are not in it."
            raise ImportRefused(422, "no_attempts", detail, (Problem(detail, expected=HINT),))

    def end_record(self) -> EndRecord:
        session, reason = self._session()
        return EndRecord(
            session=session,
            session_reason=reason,
            finished_at=parse_loose_time(self.end.get("end_time"))[0] if self.end else None,
            reported_totals=dict(self.totals),
            notes=(*self._notes(), *self.tally.notes(), *self.cleaner.notes()),
        )

    def _session(self) -> tuple[Session | None, str]:
        if self.hits:
            return Session.UNFINISHED, HITS_ONLY
        if self.end is not None:
            return None, ""
        if self.setup.get("aggregation"):
            return Session.UNFINISHED, AGGREGATED
        return Session.ABORTED, NO_COMPLETION

    def _notes(self) -> Iterator[str]:
        if self.hits:
            yield "A hitlog holds hits only: the denominator is not in this file. Upload the report.jsonl for a rate."
        if self.open:
            yield f"{counted(len(self.open), 'attempt')} written but never judged: UNKNOWN."
        if self.judged_again:
            yield f"{counted(self.judged_again, 'line')} of attempts that were judged before not counted again."
        if self.rivals:
            yield (
                f"{counted(len(self.rivals), 'attempt')} judged by lines whose scores differ: "
                f"{counted(self.contradicted, 'evaluation')} UNKNOWN (contradiction)."
            )
        if self.short_of_scores:
            yield (
                f"{counted(self.short_of_scores, 'attempt')} with fewer scores of a detector than outputs: the first "
                "outputs have them, the others are UNKNOWN."
            )
        ours = self.tally.outcomes
        if self.totals and (self.totals["passed"], self.totals["fails"]) != (ours[Outcome.PASS], ours[Outcome.FAIL]):
            told = f"{self.totals['passed']} passed and {self.totals['fails']} failed"
            yield f"garak's own lines say {told}; the attempts give {ours[Outcome.PASS]} and {ours[Outcome.FAIL]}."
        for kind, number in self.unknown_entries.items():
            yield f"{counted(number, 'line')} of {f'the kind “{kind}”' if kind != OTHER else 'other kinds'} not read."
