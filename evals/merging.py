"""Parts of one run: the first one opens it, later ones join it, and it closes when all came (DESIGN 5.1).

A part is written as a hidden run of its own. In the last transaction its rows move to the open run, so that a run is
always all of some parts and never half of one.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Exists, F, Max, OuterRef
from django.utils import timezone

from evals.bulk import planned_without
from evals.categories import store_categories
from evals.class_results import COUNTED, TOTALS, count_class_results, count_totals
from evals.discarding import discard_run
from evals.errors import ImportRefused, Problem
from evals.joining import join_scenarios
from evals.models import (
    Agent,
    Artifact,
    Attempt,
    ClassResult,
    Evaluation,
    Intake,
    Run,
    RunArtifact,
    RunScenario,
    Visibility,
)
from evals.parsers.values import MAX_COUNT
from evals.records import Session
from evals.rows import SCENARIO_FIELDS
from evals.taxonomies_store import taxonomy_of
from reliability.audit import record_change

OPEN_FOR = timedelta(hours=24)
DESCRIBED_TWICE = "Parts describe a scenario differently; the first description holds."
GUARDS_UNKNOWN = (
    "A part names an adversarial scenario without the guarded tools that another part gives: whether a control held is "
    "not judged in its attempts there."
)
NUMBERED_ANEW = "Parts used the same ordinals: those repeats were numbered anew, in their order."
SAME_IN_ALL_PARTS = (
    "suite",
    "agent_version",
    "model",
    "environment",
    "commit",
    "mode",
    "origin",
    "visibility",
    "format",
)
WORST_LAST = (Session.COMPLETE, Session.UNFINISHED, Session.CANCELLED, Session.ABORTED, Session.ERRORED)
MERGED = (
    "intake",
    "shards_expected",
    "model",
    "session",
    "session_reason",
    "invalidated",
    "planned",
    "started_at",
    "finished_at",
    "at",
    "reported_totals",
    "notes",
    "extras",
    "taxonomy_version",
    *TOTALS,
)
OF_ONE_RUN = {"id", "run", "key", "class_id", "class_by"}  # what is not the artifact's description of a scenario
DESCRIBED = tuple(name for name in SCENARIO_FIELDS if name not in OF_ONE_RUN)
CLOSING = ("intake", "shards_expected", "session", "session_reason")


@dataclass(frozen=True, slots=True)
class Joined:
    """The run that holds a part; `is_new` is False when it held the very same bytes before, and nothing changes."""

    run: Run
    is_new: bool = True


def join_run(part: Run, artifact: Artifact, *, shard: int | None, of: int | None, final: bool) -> Joined:
    """Return the run that holds the part's rows from now on: the agent's open run of the same label, or the part
    itself, which opens one; a closed run when this very shard came with it. Call it in the last transaction, after the
    part was counted. Raises `ImportRefused` 409 when the shard is there with other bytes, 422 when parts disagree."""
    _lock(part)  # two first parts at once must not open two runs
    holders = _list_closed_holders(part, shard, of)
    if same := next((holder.run for holder in holders if holder.artifact.sha256 == artifact.sha256), None):
        return _leave_closed(same, part, shard, of)
    whole = Run.objects.filter(agent=part.agent_id, label=part.label, intake=Intake.OPEN).first()
    if whole is None and holders:
        raise _taken(part, shard)
    is_new = whole is None or not _is_here_already(whole, artifact, shard)
    if whole is None:
        whole = part
        RunArtifact.objects.filter(run=part).update(shard=shard or 1)
    else:
        _check_agreement(whole, part, of)
        _take_over(part, whole, shard) if is_new else discard_run(part)
    whole.shards_expected = whole.shards_expected or of
    whole.intake = Intake.OPEN
    if final or _came(whole) == whole.shards_expected:
        _close(whole)
    if is_new:
        join_scenarios(whole)
    whole.save(update_fields=MERGED if is_new else CLOSING)
    return Joined(whole, is_new or whole.intake == Intake.CLOSED)  # the same bytes may say that they are the last


def _lock(run: Run) -> None:
    """Let no other part join a run of this agent until the transaction ends. What only refers to the agent, as every
    upload does, need not wait: so the key stays free."""
    Agent.objects.select_for_update(no_key=True).get(pk=run.agent_id)


def _list_closed_holders(part: Run, shard: int | None, of: int | None) -> list[RunArtifact]:
    """Return where closed runs of this label hold this shard of as many. Who uploads for the client to see meets only
    what was uploaded so."""
    if shard is None or of is None:
        return []
    closed = Run.objects.filter(agent=part.agent_id, label=part.label, intake=Intake.CLOSED, shards_expected=of)
    seen = closed.filter(imports__options__visibility=part.visibility)
    return list(RunArtifact.objects.filter(run__in=seen, shard=shard).select_related("artifact", "run"))


def _leave_closed(whole: Run, part: Run, shard: int | None, of: int | None) -> Joined:
    if whole.visibility == Visibility.INTERNAL and part.visibility == Visibility.CLIENT:
        raise _taken(part, shard, how="")  # the consultancy took it out of sight since
    part.visibility = whole.visibility
    _check_agreement(whole, part, of)
    discard_run(part)
    return Joined(whole, is_new=False)


def _taken(part: Run, shard: int | None, *, how: str = ", with other bytes") -> ImportRefused:
    detail = f"Shard {shard} of the run “{part.label}” is there already{how}."
    expected = "each shard once; another run under another id"
    return ImportRefused(409, "shard_taken", detail, (Problem(detail, "/run/shard/index", expected=expected),))


def _is_here_already(whole: Run, artifact: Artifact, shard: int | None) -> bool:
    if shard is None:  # the same bytes are the same part: so it may be sent again to say that it is the last
        return RunArtifact.objects.filter(run=whole, artifact__sha256=artifact.sha256).exists()
    here = RunArtifact.objects.filter(run=whole, shard=shard).select_related("artifact").first()
    if here is None:
        return False
    if here.artifact.sha256 == artifact.sha256:
        return True
    raise _taken(whole, shard)


def _take_over(part: Run, whole: Run, shard: int | None) -> None:
    _merge_header(whole, part)
    _move_rows(part, whole)
    RunArtifact.objects.filter(run=part).update(run=whole, shard=shard or _next_shard(whole))
    part.delete()
    count_class_results(whole)
    count_totals(whole)


def _check_agreement(whole: Run, part: Run, of: int | None) -> None:
    problems = [
        Problem(
            f"The parts before say {name} “{before!s:.80}”, this one says {f'“{now!s:.80}”' if now else 'none'}.",
            f"/run/{name}",
            expected=str(before),
        )
        for name in SAME_IN_ALL_PARTS
        if (before := getattr(whole, name)) != (now := getattr(part, name))
        and not (name == "model" and "" in (before, now))
    ]
    if of and whole.shards_expected not in (None, of):
        message = f"The parts before are of {whole.shards_expected} shards, this one is of {of}."
        problems.append(Problem(message, "/run/shard/of", expected=str(whole.shards_expected)))
    if problems:
        detail = f"This part does not belong to the run “{whole.label}”: {problems[0].message}"
        raise ImportRefused(422, "shard_disagrees", detail, tuple(problems))


def _next_shard(whole: Run) -> int:
    return int(RunArtifact.objects.filter(run=whole).aggregate(last=Max("shard"))["last"] or 0) + 1


def _came(whole: Run) -> int:
    return RunArtifact.objects.filter(run=whole).count()


def _merge_header(whole: Run, part: Run) -> None:
    """Let the whole say what is true of both: the earliest start, the latest end, the worst session."""
    if whole.planned is not None or part.planned is not None:
        planned = sum(r.attempts_recorded if r.planned is None else r.planned for r in (whole, part))
        whole.planned = min(planned, MAX_COUNT)
    if whole.model != part.model:  # one of them is empty: it names several, or it has no attempts
        told = {r.model for r in (whole, part) if r.attempts_recorded}
        whole.model = told.pop() if len(told) == 1 else ""
    whole.started_at = min((t for t in (whole.started_at, part.started_at) if t), default=None)
    whole.finished_at = max((t for t in (whole.finished_at, part.finished_at) if t), default=None)
    whole.at = min(whole.at, part.at)
    whole.session = max(whole.session, part.session, key=WORST_LAST.index)
    whole.session_reason = "; ".join(dict.fromkeys(r for r in (whole.session_reason, part.session_reason) if r))
    whole.invalidated = whole.invalidated or part.invalidated
    words = {**whole.reported_totals, **part.reported_totals}
    whole.reported_totals = {
        word: whole.reported_totals.get(word, 0) + part.reported_totals.get(word, 0) for word in words
    }
    whole.notes = list(dict.fromkeys([*whole.notes, *part.notes]))
    whole.extras = {**part.extras, **whole.extras}


def _move_rows(part: Run, whole: Run) -> None:
    last = Attempt.objects.filter(run=whole).aggregate(last=Max("number"))["last"] or 0
    known = RunScenario.objects.filter(run=whole)
    RunScenario.objects.filter(~Exists(known.filter(key=OuterRef("key"))), run=part).update(run=whole)
    differed = _agree_on_scenarios(part, whole)
    _point_at_known_scenarios(part, whole)
    RunScenario.objects.filter(run=part).delete()
    Attempt.objects.filter(run=part).update(run=whole, number=F("number") + last)
    Evaluation.objects.filter(run=part).update(run=whole)
    ClassResult.objects.filter(run=part, aggregate=False).delete()
    for counted in ClassResult.objects.filter(run=part, aggregate=True):
        _add_aggregate(counted, whole)
    _number_repeats(whole)
    if differed:
        store_categories(whole, None, taxonomy_of(whole.client_id))
    if (part.taxonomy_version, part.mapping_version) != (whole.taxonomy_version, whole.mapping_version):
        whole.taxonomy_version = ""  # classes changed between two parts: the run is to be counted anew


def _agree_on_scenarios(part: Run, whole: Run) -> bool:
    """Make one description of what both parts name; return whether they did not say the same.

    A part may name a scenario without a word on it; then the other one's description holds for both. Where both
    describe it differently the first one holds, and the run says so.
    """
    bare = _description(RunScenario())
    shared = RunScenario.objects.filter(run=part, key=OuterRef("key"))
    known = {row.key: row for row in RunScenario.objects.filter(Exists(shared), run=whole)}
    same = RunScenario.objects.filter(run=whole, key=OuterRef("key"))
    described, differ = [], False
    for row in RunScenario.objects.filter(Exists(same), run=part).iterator(chunk_size=2_000):
        first = known[row.key]
        if _description(first) == _description(row):
            continue
        differ = True
        if row.guards != first.guards:
            _add_note(whole, GUARDS_UNKNOWN)
        if _description(first) == bare:
            for name in (*DESCRIBED, "class_id", "class_by"):
                setattr(first, name, getattr(row, name))
            described.append(first)
        elif _description(row) != bare:
            _add_note(whole, DESCRIBED_TWICE)
    RunScenario.objects.bulk_update(described, [*DESCRIBED, "class_id", "class_by"], batch_size=500)
    return differ


def _add_note(whole: Run, note: str) -> None:
    whole.notes = list(dict.fromkeys([*whole.notes, note]))


def _description(row: RunScenario) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in DESCRIBED)


def _point_at_known_scenarios(part: Run, whole: Run) -> None:
    """What both name is one scenario."""
    part_id, whole_id = (Run._meta.pk.get_db_prep_value(run.pk, connection) for run in (part, whole))
    with planned_without("enable_nestloop"), connection.cursor() as cursor:
        cursor.execute(
            """UPDATE evals_attempt SET scenario_id = known.id
               FROM evals_runscenario own JOIN evals_runscenario known ON known.key = own.key
               WHERE own.id = evals_attempt.scenario_id
                 AND evals_attempt.run_id = %s AND own.run_id = %s AND known.run_id = %s""",
            [part_id, part_id, whole_id],
        )


def _add_aggregate(counted: ClassResult, whole: Run) -> None:
    same = ClassResult.objects.filter(  # its class follows from these, whichever rules held when the part came
        run=whole, aggregate=True, definition_id=counted.definition_id, variant=counted.variant
    )
    if same.update(**{name: F(name) + getattr(counted, name) for name in COUNTED}):
        counted.delete()
    else:
        ClassResult.objects.filter(pk=counted.pk).update(run=whole)


def _number_repeats(whole: Run) -> None:
    """Number the attempts of a scenario and variant anew where two parts used the same ordinal. In one statement: no
    index leads from a scenario to its attempts, and all of them may be repeats."""
    whole_id = Run._meta.pk.get_db_prep_value(whole.pk, connection)
    with planned_without("enable_nestloop"), connection.cursor() as cursor:
        cursor.execute(
            """UPDATE evals_attempt SET ordinal = numbered.place
               FROM (SELECT a.id, ROW_NUMBER() OVER (PARTITION BY a.scenario_id, a.variant ORDER BY a.number) AS place
                     FROM evals_attempt a
                     JOIN (SELECT scenario_id, variant FROM evals_attempt
                           WHERE run_id = %s AND scenario_id IS NOT NULL
                           GROUP BY scenario_id, variant HAVING COUNT(*) > COUNT(DISTINCT ordinal)) repeated
                       ON repeated.scenario_id = a.scenario_id AND repeated.variant = a.variant
                     WHERE a.run_id = %s) numbered
               WHERE evals_attempt.id = numbered.id AND evals_attempt.ordinal <> numbered.place""",
            [whole_id, whole_id],
        )
        if cursor.rowcount:
            _add_note(whole, NUMBERED_ANEW)


def _close(whole: Run) -> None:
    whole.intake = Intake.CLOSED
    came = _came(whole)
    if whole.shards_expected and came < whole.shards_expected:
        _mark_unfinished(whole, f"{came} of {whole.shards_expected} parts came.")


def _mark_unfinished(whole: Run, reason: str) -> None:
    whole.session = max(whole.session, Session.UNFINISHED, key=WORST_LAST.index)
    whole.session_reason = "; ".join(r for r in (whole.session_reason, reason) if r)


def close_forgotten_runs() -> int:
    """Close runs whose other parts did not come within a day, as unfinished; return how many."""
    closed = 0
    for run in Run.objects.filter(intake=Intake.OPEN, created_at__lt=timezone.now() - OPEN_FOR):
        with transaction.atomic():
            _lock(run)
            run.refresh_from_db(fields=["intake", "session", "session_reason", "shards_expected"])
            if run.intake != Intake.OPEN:
                continue
            expected = f" of {run.shards_expected}" if run.shards_expected else ""
            run.intake = Intake.CLOSED
            _mark_unfinished(run, f"{_came(run)}{expected} parts came within 24 hours, and none said it was the last.")
            run.save(update_fields=["intake", "session", "session_reason"])
            record_change(run.client, "run.closed", run, by=None, reason=run.session_reason)
            closed += 1
    return closed
