"""What differs between two runs before their results are compared: hard differences forbid a verdict, notes do not."""

from dataclasses import dataclass

from ..records import Mode, Origin, Session
from .display import format_quantity


@dataclass(frozen=True, slots=True, order=True)
class DefinitionFacts:
    """One way of measuring used in a run; `digest` is its identity, `label` names it for people."""

    indicator: str
    digest: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a comparison has to know of a run beside its results. `''` means unknown, and unknown never differs."""

    agent: str = ""
    suite: str = ""
    suite_version: str = ""
    mode: Mode | None = None
    origin: Origin | None = None
    agent_version: str = ""
    model: str = ""
    environment: str = ""
    taxonomy: str = ""
    parser: str = ""
    session: Session = Session.COMPLETE
    is_invalidated: bool = False
    missing_attempts: int = 0
    definitions: frozenset[DefinitionFacts] = frozenset()

    def shares_suite_with(self, other: "RunFacts") -> bool:
        return "" in (self.suite, other.suite) or self.suite == other.suite


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the runs do not share. A `hard` one means that like is not compared with like."""

    name: str
    a: str
    b: str
    hard: bool
    sentence: str


def name_differences(
    a: RunFacts, b: RunFacts, *, shared_scenarios: int = 0, judged_otherwise: int = 0
) -> tuple[Difference, ...]:
    """Return the differences, hard ones first. `judged_otherwise` counts shared scenarios with other definitions."""
    found = [
        *_facts(a, b),
        *_state(a, b),
        *_definitions(a.definitions, b.definitions),
        *_judged(judged_otherwise, of=shared_scenarios),
    ]
    return tuple(sorted(found, key=lambda difference: not difference.hard))


def _facts(a: RunFacts, b: RunFacts) -> list[Difference]:
    rows = [
        ("agent", a.agent, b.agent, True),
        ("suite", a.suite, b.suite, True),
        ("mode", a.mode or "", b.mode or "", True),
        ("origin", a.origin or "", b.origin or "", True),
        ("suite version", a.suite_version, b.suite_version, False),
        ("agent version", a.agent_version, b.agent_version, False),
        ("model", a.model, b.model, False),
        ("environment", a.environment, b.environment, False),
        ("taxonomy", a.taxonomy, b.taxonomy, False),
        ("parser", a.parser, b.parser, False),
    ]
    return [
        Difference(name, of_a, of_b, hard, f"The {name} differs: {of_a} in A, {of_b} in B.")
        for name, of_a, of_b, hard in rows
        if of_a and of_b and of_a != of_b
    ]


def _state(a: RunFacts, b: RunFacts) -> list[Difference]:
    found = []
    for side, run in (("A", a), ("B", b)):
        if run.is_invalidated:
            found.append(_of_side("invalidated", side, "invalidated", True, f"Run {side} was invalidated."))
        if run.session is not Session.COMPLETE:
            sentence = f"Run {side} is not complete: its session is {run.session}."
            found.append(_of_side("session", side, run.session, False, sentence))
        if run.missing_attempts:
            words = f"{format_quantity(run.missing_attempts, 'attempt')} missing"
            found.append(_of_side("missing attempts", side, words, False, f"Run {side} has {words}."))
    return found


def _of_side(name: str, side: str, words: str, hard: bool, sentence: str) -> Difference:
    return Difference(name, words if side == "A" else "", words if side == "B" else "", hard, sentence)


def _definitions(a: frozenset[DefinitionFacts], b: frozenset[DefinitionFacts]) -> list[Difference]:
    """Compare how each indicator was measured.

    Nothing in common is hard. A common part is a note: formats with a definition per case gain one with each case.
    """
    if not a or not b:
        return []
    found = []
    for indicator in sorted({definition.indicator for definition in a | b}):
        of_a = {definition for definition in a if definition.indicator == indicator}
        of_b = {definition for definition in b if definition.indicator == indicator}
        if {d.digest for d in of_a} != {d.digest for d in of_b}:
            found.append(_of_indicator(indicator, of_a, of_b))
    return found


def _of_indicator(indicator: str, a: set[DefinitionFacts], b: set[DefinitionFacts]) -> Difference:
    alike = {d.label for d in a - b} & {d.label for d in b - a}
    of_a, of_b = _labels(a - b, alike), _labels(b - a, alike)
    if not a or not b:
        only = "A" if a else "B"
        return Difference(f"indicator {indicator}", of_a, of_b, False, f"Only run {only} measures {indicator}.")
    shared = {d.digest for d in a} & {d.digest for d in b}
    manner = "partly by other definitions" if shared else "by other definitions"
    sentence = f"{indicator} is measured {manner}: {of_a or 'none of its own'} in A, {of_b or 'none of its own'} in B."
    if alike:
        sentence += " Where evaluator and version are the same, the configuration (or being deterministic) differs."
    return Difference(f"definition of {indicator}", of_a, of_b, not shared, sentence)


def _labels(definitions: set[DefinitionFacts], alike: set[str]) -> str:
    """Name the definitions; those whose label says nothing, as the other run has it too, by their digest as well."""
    labels = [_label(definition, with_digest=definition.label in alike) for definition in sorted(definitions)]
    return ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")


def _label(definition: DefinitionFacts, *, with_digest: bool) -> str:
    digest = definition.digest[:12]
    if not definition.label:
        return digest
    return f"{definition.label} (definition {digest})" if with_digest else definition.label


def _judged(scenarios: int, *, of: int) -> list[Difference]:
    """Name the scenarios that leave the test; it is a hard difference when none stays in it."""
    if not scenarios:
        return []
    sentence = f"{scenarios:,} of {format_quantity(of, 'shared scenario')} judged by other definitions in B than in A."
    return [Difference("definitions per scenario", "", "", scenarios == of, sentence)]
