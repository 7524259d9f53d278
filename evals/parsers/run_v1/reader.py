"""Reads the parts of a run, fast where they fit and carefully where not, and holds them to the rules."""

from collections.abc import Callable
from typing import Any

import msgspec

from evals.errors import ImportRefused, Problem
from evals.parsers.reading import Limits, load_json, storable
from evals.parsers.run_v1 import wire
from evals.parsers.run_v1.build import Builder, Untidy
from evals.parsers.run_v1.careful import EXPECTED_KINDS, CarefulReader, Problems, escaped
from evals.parsers.run_v1.rules import Ledger
from evals.parsers.values import is_id
from evals.records import EndRecord, EvaluatorRecord, Record, RunRecord, ScenarioRecord, Session

NEEDS_CARE = (msgspec.MsgspecError, Untidy, ImportRefused, RecursionError, UnicodeError)
MAX_EXTRAS = 1_000
NO_END = "not_finished: the file has no closing end line"

type Extras = dict[str, Any]

NO_EXTRAS: Extras = {}


def check_schema(schema: Any) -> None:
    if schema != wire.SCHEMA:
        shown = f"“{schema[:40]}”" if isinstance(schema, str) else "missing"
        detail = f"The member “schema” is {shown}; only “{wire.SCHEMA}” is read."
        raise ImportRefused(415, "unknown_schema", detail, (Problem(detail, "/schema", expected=wire.SCHEMA),))


class RunReader:
    """Takes the parts in their order and gives records. After a problem it only goes on looking for more."""

    def __init__(self, limits: Limits) -> None:
        self.problems = Problems()
        self.ledger = Ledger(self.problems)
        self.builder = Builder(limits, self.ledger.evaluators)
        self.extras: Extras = {}  # x_ members that belong to none of the records
        self.session = Session.COMPLETE

    def run(self, source: Any, base: str) -> RunRecord | None:
        part, record = self._read(source, wire.Run, base, self.builder.run)
        if part is not None:
            self.ledger.check_run(part, base)
        if record is not None:
            self.session = record.session
        return self._sound(record)

    def first_line(self, value: Any) -> RunRecord | None:
        part, extras = self.careful(value, wire.FirstLine, "")
        of_run = {pointer.removeprefix("/run"): x for pointer, x in extras.items() if pointer.startswith("/run/")}
        self._keep({pointer: x for pointer, x in extras.items() if not pointer.startswith("/run/")})
        if part is None or part.run is None:
            return None
        self.ledger.check_run(part.run, "/run")
        if self.problems.found:
            return None
        record = self.builder.run(part.run, of_run)
        self.session = record.session
        return record

    def evaluator(self, key: str, source: Any, base: str, pointer: str) -> None:
        """Note an evaluator; `pointer` names its key."""
        if not is_id(storable(key)):
            self.problems.add(pointer, "The evaluator's key does not fit.", EXPECTED_KINDS["id"])
        _, record = self._read(source, wire.Evaluator, base, self._evaluator, key)
        self.ledger.declare_evaluator(key, record, pointer)

    def keyed_evaluator(self, source: Any, base: str) -> None:
        part, record = self._read(source, wire.KeyedEvaluator, base, self._keyed_evaluator)
        if part is not None and part.key is not None:
            self.ledger.declare_evaluator(part.key, record, f"{base}/key")

    def scenario(self, source: Any, base: str) -> ScenarioRecord | None:
        part, record = self._read(source, wire.Scenario, base, self.builder.scenario)
        if part is not None:
            self.ledger.declare_scenario(part, base)
        return self._sound(record)

    def attempt(self, source: Any, base: str, place: str) -> list[Record]:
        """Return the attempt, after its scenario where no declaration made one."""
        part, record = self._read(source, wire.Attempt, base, self.builder.attempt, place)
        if part is None:
            return []
        bare = self.ledger.is_bare(part.scenario)
        self.ledger.check_attempt(part, base)
        if record is None or self.problems.found:
            return []
        return [ScenarioRecord(record.scenario), record] if bare else [record]

    def plain_attempt(self, part: wire.Attempt, place: str) -> list[Record]:
        """The same for a decoded part of which `is_plain` is known."""
        bare = self.ledger.is_bare(part.scenario)
        try:
            record = self.builder.plain_attempt(part, NO_EXTRAS, place)
        except NEEDS_CARE:
            return self.attempt(part, "/attempt", place)
        self.ledger.check_attempt(part, "/attempt")
        if self.problems.found:
            return []
        return [ScenarioRecord(record.scenario), record] if bare else [record]

    def members(self, value: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
        """Return the known members that are there; keep those of x_ and report all others."""
        for name, member in value.items():
            if name.startswith("x_"):
                self._keep(self.careful({name: member}, wire.Wire, "")[1])
            elif name not in known:
                message = f"“{storable(name)[:80]}” is not a member here."
                self.problems.add(f"/{escaped(name)}", message, ", ".join(known) + ", or x_…")
        return {name: value[name] for name in known if value.get(name) is not None}

    def finish(self, source: Any) -> None:
        part, extras = (source, {}) if isinstance(source, wire.End) else self.careful(source, wire.End, "/end")
        self._keep({f"/end{pointer}": value for pointer, value in extras.items()})
        counted = self.ledger.attempts
        if part is not None and part.attempts not in (None, counted) and not self.problems.found:
            self.problems.add("/end/attempts", f"The end counts {part.attempts} attempts.", f"{counted}, as were read")

    def end(self, *, finished: bool = True) -> EndRecord:
        """Close the run; raises ImportRefused if any problem was found."""
        self.ledger.check_twins()
        self.problems.raise_any()
        notes = self.builder.cleaner.notes()
        extras = self.builder.extras(self.extras)
        if finished:
            return EndRecord(notes=notes, extras=extras)
        notes = ("The file has no closing end line: it may be cut short.", *notes)
        if self.session is not Session.COMPLETE:
            return EndRecord(notes=notes, extras=extras)
        return EndRecord(session=Session.ABORTED, session_reason=NO_END, notes=notes, extras=extras)

    def careful[T: wire.Wire](self, value: Any, kind: type[T], base: str) -> tuple[T | None, Extras]:
        reader = CarefulReader(self.problems, base, self.builder.cleaner.limits.max_depth)
        return reader.read(value, kind), reader.extras

    def check_full(self) -> None:
        """Stop at the most problems that an answer lists."""
        if self.problems.full:
            self.problems.raise_any()

    def _read[T: wire.Wire, R, *Rest](
        self, source: Any, kind: type[T], base: str, build: Callable[[T, Extras, *Rest], R], *rest: *Rest
    ) -> tuple[T | None, R | None]:
        """Read a part from raw JSON, from the decoded part itself, or from a plain JSON value."""
        value = source
        try:
            if isinstance(source, kind):
                return source, build(source, {}, *rest)
            if isinstance(source, msgspec.Raw):
                part = msgspec.json.decode(source, type=kind)
                return part, build(part, {}, *rest)
        except NEEDS_CARE:
            raw = bytes(source) if isinstance(source, msgspec.Raw) else msgspec.json.encode(source)
            value = load_json(raw, line=self.problems.line)
        before = len(self.problems.found)
        found, extras = self.careful(value, kind, base)
        sound = found is not None and len(self.problems.found) == before
        return found, build(found, extras, *rest) if found is not None and sound else None

    def _evaluator(self, part: wire.Evaluator, extras: Extras, key: str) -> EvaluatorRecord:
        self._keep({f"/evaluators/{escaped(key)}{pointer}": value for pointer, value in extras.items()})
        return self.builder.evaluator(part)

    def _keyed_evaluator(self, part: wire.KeyedEvaluator, extras: Extras) -> EvaluatorRecord:
        return self._evaluator(part, extras, part.key)

    def _keep(self, extras: Extras) -> None:
        """Keep x_ members outside run, scenarios and attempts; a hostile file can't grow them without end."""
        if len(self.extras) < MAX_EXTRAS:
            self.extras |= extras

    def _sound[R](self, record: R | None) -> R | None:
        return None if self.problems.found else record
