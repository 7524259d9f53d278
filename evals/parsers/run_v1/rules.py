"""The rules of run/v1 between members and between parts: what must be declared, unique, or only goes together."""

import json
from typing import Any

import msgspec

from evals.parsers.run_v1 import wire
from evals.parsers.run_v1.careful import Problems
from evals.records import Decision, EvaluatorRecord, Outcome, StepKind

EVIDENCE = f"an object of at most {wire.MAX_EVIDENCE_BYTES} bytes of JSON"


class Ledger:
    """What a run has declared and used so far."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.evaluators: dict[str, EvaluatorRecord | None] = {}  # None: declared, but faulty
        self.declared: set[str] = set()
        self.used: set[str] = set()  # scenarios of attempts
        self.attempts = 0
        self._twins: list[tuple[str, str, int | None]] = []
        # Ordinals by scenario and variant: 1 to the number are all taken, the set holds later ones. Runs of a
        # million attempts mostly count upwards, and then this stays small.
        self._ordinals: dict[str | tuple[str, str], int] = {}
        self._later: dict[str | tuple[str, str], set[int]] = {}

    # -- declarations

    def declare_evaluator(self, key: str, record: EvaluatorRecord | None, pointer: str) -> None:
        if key in self.evaluators:
            self.problems.add(pointer, f"The evaluator “{key}” is declared twice.", "a key that is not declared yet")
        self.evaluators[key] = record

    def declare_scenario(self, scenario: wire.Scenario, base: str) -> None:
        key = scenario.key
        if key is None:
            return
        if key in self.declared:
            self.problems.add(f"{base}/key", f"The scenario “{key}” is declared twice.", "a key not declared yet")
        elif key in self.used:
            self.problems.add(
                f"{base}/key", f"The scenario “{key}” is declared after an attempt used it.", "scenarios first"
            )
        self.declared.add(key)
        if scenario.twin_of is not None:
            self._twins.append((scenario.twin_of, f"{base}/twin_of", self.problems.line))

    def check_twins(self) -> None:
        """Call when all scenarios are known."""
        for key, pointer, line in self._twins:
            if key not in self.declared:
                self.problems.add(
                    pointer, f"The scenario “{key}” is not declared.", "the key of a declared scenario", line=line
                )
        self._twins.clear()

    def is_bare(self, key: str | None) -> bool:
        """Whether an attempt is the first to name a scenario that is not declared."""
        return key is not None and key not in self.declared and key not in self.used

    # -- parts

    def check_run(self, run: wire.Run, base: str) -> None:
        shard = run.shard
        if shard is not None and None not in (shard.index, shard.of) and shard.index > shard.of:
            self.problems.add(f"{base}/shard/index", f"Shard {shard.index} of {shard.of} can't be.", f"1 to {shard.of}")

    def check_attempt(self, attempt: wire.Attempt, base: str) -> None:
        self.attempts += 1
        if attempt.steps:
            for index, step in enumerate(attempt.steps):
                if step is not None:
                    self._check_step(step, base, index)
        if attempt.side_effects:
            self._check_side_effects(attempt.side_effects, base)
        if attempt.evaluations:
            for index, e in enumerate(attempt.evaluations):
                if e is not None and not (e.evaluator is None and e.finding is None and e.evidence is None):
                    self._check_evaluation(e, base, index)
        if attempt.scenario is not None:
            self.used.add(attempt.scenario)
            self._take_ordinal(attempt, base)

    def _check_step(self, step: wire.Step, base: str, index: int) -> None:
        if step.kind is StepKind.TOOL and step.tool is None:
            message = "“tool” is missing."
            self.problems.add(f"{base}/steps/{index}/tool", message, "the tool's name, as kind is tool")
        if step.approved is not None and step.decision is not Decision.PAUSED:
            message = "Only a pause can be approved."
            self.problems.add(f"{base}/steps/{index}/approved", message, "approved only with decision paused")

    def _check_side_effects(self, effects: list[wire.SideEffect], base: str) -> None:
        for index, effect in enumerate(effects):
            if effect is not None and effect.happened and effect.checked is False:
                self.problems.add(
                    f"{base}/side_effects/{index}/happened",
                    "What was not checked can't be known to have happened.",
                    "false where checked is false",
                )

    def _check_evaluation(self, evaluation: wire.Evaluation, base: str, index: int) -> None:
        if evaluation.evaluator is not None and evaluation.evaluator not in self.evaluators:
            self.problems.add(
                f"{base}/evaluations/{index}/evaluator",
                f"The evaluator “{evaluation.evaluator}” is not declared.",
                "a key of evaluators, or none for a person's judgement",
            )
        if evaluation.finding is not None and evaluation.outcome not in (Outcome.FAIL, None):
            self.problems.add(
                f"{base}/evaluations/{index}/finding", "Only a FAIL has a finding.", "no finding with another outcome"
            )
        if evaluation.evidence is not None and _size_of(evaluation.evidence) > wire.MAX_EVIDENCE_BYTES:
            self.problems.add(f"{base}/evaluations/{index}/evidence", "The evidence is too large.", EVIDENCE)

    def _take_ordinal(self, attempt: wire.Attempt, base: str) -> None:
        ordinal = attempt.ordinal or 1
        place = (attempt.scenario, attempt.variant) if attempt.variant else attempt.scenario
        upto = self._ordinals.get(place, 0)
        if ordinal == upto + 1:
            later = self._later.get(place)
            while later and ordinal + 1 in later:
                ordinal += 1
                later.discard(ordinal)
            self._ordinals[place] = ordinal
        elif ordinal <= upto or ordinal in self._later.setdefault(place, set()):
            self.problems.add(
                f"{base}/ordinal",
                f"Attempt {ordinal} of “{attempt.scenario}” is there already.",
                "an ordinal that is unique for its scenario and variant",
            )
        else:
            self._later[place].add(ordinal)


def _size_of(value: Any) -> int:
    """Return the bytes of a value as JSON, also where it holds half a character, which is replaced later."""
    try:
        return len(msgspec.json.encode(value))
    except (ValueError, OverflowError):
        return len(json.dumps(value))
