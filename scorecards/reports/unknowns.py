"""What a report has to admit: everything in the snapshot that nothing is known about, in sentences."""

from collections.abc import Iterator
from dataclasses import dataclass

from evals.measures.display import format_missing, format_quantity
from scorecards.snapshot_reading import RunPart, Snapshot


@dataclass(frozen=True, slots=True)
class Unknown:
    """`about` names the dimension or run; the sentence stands for itself."""

    about: str
    sentence: str


def list_unknowns(snapshot: Snapshot) -> list[Unknown]:
    return [*_of_scores(snapshot), *(unknown for run in snapshot.runs for unknown in _of_run(run)), *_of_runs(snapshot)]


def _of_scores(snapshot: Snapshot) -> Iterator[Unknown]:
    for score in snapshot.scores:
        title = snapshot.title_of(score.dimension)
        if score.standing == "not_assessed":
            yield Unknown(title, f"Not assessed. {score.reason}".strip())
        elif score.standing == "not_applicable":
            confirmed = "" if score.confirmed_by else " One person says so; no second person confirmed it."
            yield Unknown(title, f"Not applicable. {score.reason}".strip() + confirmed)
        elif score.basis == "asserted":
            yield Unknown(title, f"Level {score.level} is asserted: its evidence does not reach what it claims.")
        if disputed := sum(practice.disputed for practice in score.practices):
            yield Unknown(title, f"Evidence speaks against {format_quantity(disputed, 'practice')} marked as met.")


def _of_run(run: RunPart) -> Iterator[Unknown]:
    counts = run.counts.counts
    if counts.unknown:
        yield Unknown(run.name, f"{counts.unknown:,} of {counts.total:,} evaluations are UNKNOWN: nothing was decided.")
    if counts.error:
        yield Unknown(run.name, f"{counts.error:,} of {counts.total:,} evaluations are ERROR: no observation at all.")
    if missing := format_missing(run.attempts.counts):
        yield Unknown(run.name, f"{missing}: planned, and never recorded.")
    if run.origin == "synthetic":
        yield Unknown(run.name, "The run is synthetic: it was made up or reconstructed, not observed.")
    if run.session != "complete":
        yield Unknown(run.name, f"The session is {run.session}. {run.session_reason}".strip())
    if run.containment_unproven:
        attempts = format_quantity(run.containment_unproven, "attack")
        yield Unknown(run.name, f"{attempts} came to nothing without any control being seen to refuse.")
    lines = [line for line in run.classes if line.kind != "execution"]  # those are ERRORs by nature
    without = [f"{line.title} ({line.indicator})" for line in lines if line.measure.reliability is None]
    if without:
        yield Unknown(run.name, f"No determinate results: {', '.join(dict.fromkeys(without))}.")


def _of_runs(snapshot: Snapshot) -> Iterator[Unknown]:
    if not snapshot.runs:
        yield Unknown("Runs", "This review rests on no evaluation run that may be shown.")
    elif all(run.mode == "scripted" for run in snapshot.runs):
        yield Unknown("Runs", "Every run is scripted: none of them says what happens in live traffic.")
