"""Records in, one run out: the only writer of runs.

Rows go in batches under a hidden run, each in a short transaction of its own; one last transaction counts the class
results and makes the run visible. Whoever dies in between leaves only hidden rows, which a sweep removes.
"""

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from evals.aggregates import store_aggregates
from evals.behind import WriteBehind
from evals.bulk import commit_lazily
from evals.classifiers import classifier_of
from evals.collecting import collect_young, collected_by_hand
from evals.counting import RunCount
from evals.definitions import DefinitionCache
from evals.discarding import discard_run
from evals.joining import join_scenarios
from evals.merging import MERGED, Joined, join_run
from evals.models import Artifact, Import, Intake, Run, RunArtifact
from evals.options import ImportOptions, fill_run
from evals.outcomes import settle_attempt
from evals.parsers import run_v1
from evals.records import AggregateRecord, AttemptRecord, EndRecord, Mode, Origin, Record, RunRecord, ScenarioRecord
from evals.rows import BatchRows, Keys, KnownScenario, ScenarioRegistry, Settled

BATCH_ROWS = {"postgresql": 10_000, "sqlite": 3_000}  # well under half a second each
FIRST_BATCH = 2  # the first batch is so many times smaller, and the next ones double
TEXT_OF_A_ROW = 250  # characters that count as one more row: a batch of long texts is as large and takes as long

NO_SCENARIO = KnownScenario(ScenarioRecord(key=""))  # of attempts that are executions and no cases

type OnBatch = Callable[[int, int], None]  # rows read, rows stored so far


class RunWriter:
    """Writes one artifact's records. Call `write`, then `publish` or `discard`."""

    def __init__(self, job: Import, artifact: Artifact, *, on_batch: OnBatch) -> None:
        self.job = job
        self.artifact = artifact
        self.options = ImportOptions.from_stored(job.options)
        self.on_batch = on_batch
        self.rows_read = self.rows_stored = 0
        most = BATCH_ROWS[connection.vendor]
        self.batch_rows = max(1, most // FIRST_BATCH)  # a small one first: the database need not wait for long
        self.run: Run | None = None
        self.keys = Keys(most)
        self.settled: list[Settled] = []  # what the next batch will hold
        self.waiting_rows = 0
        self.counted = RunCount()
        self.attempts = 0  # handed over to be written so far
        self.aggregates: list[AggregateRecord] = []
        self.renew_at = 0.0

    def write(self, records: Iterable[Record], *, format: str, parser_version: str) -> Run:
        """Store all records under a hidden run and return it. Raises `ImportRefused` as the parser does."""
        self.behind = WriteBehind()
        self._schedule_renewal()
        try:
            with collected_by_hand():
                self._read(records, format, parser_version)
            self.behind.wait()
        finally:
            self.behind.close()
        return self._written()

    def _read(self, records: Iterable[Record], format: str, parser_version: str) -> None:
        for record in records:
            if isinstance(record, AttemptRecord):  # first, as nearly all are
                self._take(record)
            elif isinstance(record, ScenarioRecord):
                self.scenarios.describe(record)
            elif isinstance(record, RunRecord):
                self._open_run(record, format, parser_version)
            elif isinstance(record, AggregateRecord):
                self.aggregates.append(record)
            else:
                self._close(record)
            if time.monotonic() > self.renew_at:
                self._keep_lease()
        self._flush()

    def _schedule_renewal(self) -> None:
        self.renew_at = time.monotonic() + settings.JOB_LEASE_SECONDS / 4

    def _keep_lease(self) -> None:
        """Renew the lease while a parser is busy with what makes no batch for long."""
        self.behind.wait()
        self.on_batch(self.rows_read, self.rows_stored)
        self._schedule_renewal()

    def _open_run(self, record: RunRecord, format: str, parser_version: str) -> None:
        record = fill_run(record, self.options, strict=format == run_v1.NAME)
        self.shard_index, self.shard_of = record.shard_index, record.shard_of
        self.is_part = bool(self.options.run) or record.shard_index is not None
        self.run = _make_run(self.job, record, self.options)
        self.run.format, self.run.parser_version = format, parser_version
        classifier = classifier_of(self.run.agent, self.run.suite)
        self.run.taxonomy_version = classifier.taxonomy.name
        self.run.mapping_version = classifier.mapping.version
        self.scenarios = ScenarioRegistry(self.run, classifier)
        self.definitions = DefinitionCache(self.run.client)
        with transaction.atomic():
            self.on_batch(self.rows_read, self.rows_stored)  # another worker's run must not be unlinked from the job
            self.run.save(force_insert=True)
            RunArtifact.objects.create(run=self.run, artifact=self.artifact, shard=record.shard_index or 1)
            self.job.run = self.run
            Import.objects.filter(pk=self.job.pk).update(run=self.run)

    def _take(self, record: AttemptRecord) -> None:
        scenario = self.scenarios.named(record.scenario) if record.scenario else NO_SCENARIO
        settled = settle_attempt(scenario.record, record)
        self.settled.append((scenario, record, settled))
        rows = 1 + len(settled.evaluations)
        self.rows_read += rows
        self.waiting_rows += rows + len(record.steps)
        if record.input or record.output:
            self.waiting_rows += (len(record.input) + len(record.output)) // TEXT_OF_A_ROW
        if self.waiting_rows >= self.batch_rows:
            self._flush()

    def _flush(self) -> None:
        """Make the rows of what waits, and hand them over to be written while the reading goes on."""
        if self.run is None:
            return
        rows = BatchRows(self.run, self.scenarios, self.settled, self.attempts + 1)
        if not self.keys.hold(rows):
            self.behind.wait()
            self.keys.fill(rows)
        rows.take_keys(self.keys)
        try:
            rows.build(self.definitions, self.counted)
        except KeyError:  # a definition or a reason that is new
            self.behind.wait()
            rows.learn(self.definitions)
            rows.build(self.definitions, self.counted)
        self.behind.submit(partial(self._store, rows, self.rows_read))
        self.attempts += len(self.settled)
        self.settled, self.waiting_rows = [], 0
        self.batch_rows = min(self.batch_rows * 2, BATCH_ROWS[connection.vendor])
        collect_young()
        self._schedule_renewal()

    def _store(self, rows: BatchRows, rows_read: int) -> None:
        """Write one batch. The lease is renewed in the same transaction: a worker that lost it writes nothing."""
        with transaction.atomic():
            commit_lazily()
            self.on_batch(rows_read, self.rows_stored)
            rows.store()
            self.rows_stored += rows.number
        self.keys.fill_ahead()

    def _close(self, end: EndRecord) -> None:
        run = self.run
        if run is None:
            return
        run.session = end.session or run.session
        run.session_reason = end.session_reason or run.session_reason
        if end.reported_totals is not None:
            run.reported_totals = end.reported_totals
        run.finished_at = end.finished_at or run.finished_at
        run.notes = [*run.notes, *end.notes]
        run.extras = {**run.extras, **end.extras}

    def count(self) -> Run:
        """Store class results and totals of what was written; call it in the last transaction."""
        run = self._written()
        store_aggregates(run, self.aggregates, self.scenarios.classifier, self.definitions)
        self.counted.store(run)
        run.intake = Intake.CLOSED
        return run

    def publish(self) -> Joined:
        """Make the counted run visible, or add it to the run that it is a part of. Return the visible one."""
        run = self._written()
        if self.is_part:
            return join_run(run, self.artifact, shard=self.shard_index, of=self.shard_of, final=self.options.final)
        join_scenarios(run)
        run.save(update_fields=MERGED)
        return Joined(run)

    def discard(self) -> None:
        """Remove what this writer wrote; a run that another worker writes for the same job stays."""
        if self.run is not None and self.run.pk:
            with transaction.atomic():
                discard_run(self.run)

    def _written(self) -> Run:
        if self.run is None:
            raise RuntimeError("nothing was written")
        return self.run


def _make_run(job: Import, record: RunRecord, options: ImportOptions) -> Run:
    started = record.started_at
    received: datetime = job.created_at
    notes = ["The start time has no zone in the artifact; it was read as UTC."] if record.started_at_assumed else []
    if started and started > timezone.now():
        notes.append("The start time lies in the future.")
    return Run(
        client=job.client,
        agent=job.agent,
        made_by=options.made_by,
        visibility=options.visibility,
        label=record.label[:200],
        suite=record.suite[:200],
        suite_version=record.suite_version[:200],
        agent_version=record.agent_version[:200],
        model=record.model[:200],
        environment=record.environment[:200],
        commit=record.commit[:200],
        branch=record.branch[:200],
        ci_url=record.ci_url[:2000],
        mode=record.mode or Mode.SCRIPTED,
        origin=record.origin or Origin.OBSERVED,
        started_at=started,
        finished_at=record.finished_at,
        at=started or received,
        at_assumed=started is None,
        session=record.session,
        session_reason=record.session_reason,
        planned=record.planned,
        invalidated=record.invalidated,
        producer_name=record.producer_name[:200],
        producer_version=record.producer_version[:200],
        reported_totals=record.reported_totals,
        notes=notes,
        extras=record.extras,
    )
