"""Runs and their class results as parts of a snapshot: counts only, from the lines that the run page shows."""

from datetime import UTC

from evals.class_table import ClassLine, list_class_groups
from evals.codes import set_of
from evals.measures.counts import Counts
from evals.models import Run
from evals.taxonomies_store import taxonomy_of
from scorecards.snapshot_reading import ArtifactPart, AttemptsPart, ClassPart, CountsPart, RunPart

RUN_SAME = (
    "suite",
    "suite_version",
    "agent_version",
    "model",
    "environment",
    "commit",
    "branch",
    "made_by",
    "visibility",
    "session_reason",
    "format",
    "parser_version",
    "taxonomy_version",
    "containment_proven",
    "containment_unproven",
    "containment_breached",
)


def describe_run(run: Run) -> RunPart:
    """Five queries: the taxonomy, the class results, and the artifacts."""
    return RunPart(
        id=str(run.pk),
        name=str(run),
        mode=run.mode.value,
        origin=run.origin.value,
        session=run.session.value,
        at=run.at.astimezone(UTC),
        counts=describe_counts(run.counts),
        attempts=AttemptsPart(
            passed=run.attempts_passed,
            failed=run.attempts_failed,
            unknown=run.attempts_unknown,
            error=run.attempts_error,
            planned=run.planned,
        ),
        notes=[str(note) for note in run.notes],
        artifacts=[
            ArtifactPart(sha256=a.sha256, size=a.size, file_name=a.file_name, by_hand=a.by_hand)
            for a in run.artifacts.order_by("runartifact__shard")
        ],
        classes=[
            _describe_line(line, group.title, group.is_known)
            for group in list_class_groups(run, taxonomy_of(run.client_id))
            for line in group.lines
        ],
        **{name: getattr(run, name) for name in RUN_SAME},
    )


def describe_counts(counts: Counts) -> CountsPart:
    return CountsPart(
        passed=counts.passed,
        failed={finding.value: number for finding, number in counts.failed_by_finding.items()},
        unknown=counts.unknown,
        error=counts.error,
    )


def _describe_line(line: ClassLine, title: str, known: bool) -> ClassPart:
    return ClassPart(
        class_id=line.class_id,
        title=title,
        known=known,
        categories=sorted(category.value for category in set_of(line.categories)),
        adversarial=line.adversarial,
        indicator=line.definition.indicator.name,
        kind=line.definition.indicator.kind,
        evaluator=line.definition.evaluator,
        definitions=line.definitions,
        counts=describe_counts(line.measure.counts),
    )
