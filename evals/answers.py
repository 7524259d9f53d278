"""From stored rows to what the API says; the page and the report read the same measures."""

from typing import Any

import msgspec
from django.conf import settings
from django.db.models import Count
from django.urls import reverse

from evals.class_table import ClassGroup, list_class_groups
from evals.codes import set_of
from evals.measures.counts import AttemptCounts
from evals.models import Agent, Evaluation, Import, ImportState, Run
from evals.schemas import (
    AgentOut,
    ClassOut,
    ContainmentOut,
    DifferenceOut,
    ImportOut,
    LinksOut,
    ProgressOut,
    RunOut,
    attempts_out,
    counts_out,
    interval_out,
    range_out,
    ratio_out,
)
from evals.summaries import summarise
from evals.taxonomies_store import taxonomy_of


def absolute(path: str) -> str:
    return settings.PUBLIC_URL.rstrip("/") + path


def attempt_counts(run: Run) -> AttemptCounts:
    return AttemptCounts(
        passed=run.attempts_passed,
        failed=run.attempts_failed,
        unknown=run.attempts_unknown,
        error=run.attempts_error,
        planned=run.planned,
    )


def describe_agent(agent: Agent) -> AgentOut:
    return AgentOut(
        id=str(agent.pk),
        slug=agent.slug,
        name=agent.name,
        purpose=agent.purpose,
        risk_tier=agent.risk_tier,
        owner=agent.owner,
        repository=agent.repository,
        url=absolute(agent.get_absolute_url()),
    )


def describe_run(run: Run) -> RunOut:
    """`run.agent` and `run.client` should be loaded."""
    same = {name: getattr(run, name) for name in RunOut.__struct_fields__ if name not in _RUN_OWN}
    return RunOut(
        **same,
        id=str(run.pk),
        agent=run.agent.slug,
        mode=run.mode.value,
        origin=run.origin.value,
        session=run.session.value,
        counts=counts_out(run.counts),
        attempts=attempts_out(attempt_counts(run)),
        containment=ContainmentOut(
            proven=run.containment_proven, unproven=run.containment_unproven, breached=run.containment_breached
        ),
        url=absolute(run.get_absolute_url()),
    )


_RUN_OWN = {"id", "agent", "mode", "origin", "session", "counts", "attempts", "containment", "url"}


def describe_classes(groups: list[ClassGroup]) -> list[ClassOut]:
    return [
        ClassOut(
            class_id=group.class_id,
            title=group.title,
            known=group.is_known,
            categories=sorted(category.value for category in set_of(line.categories)),
            adversarial=line.adversarial,
            indicator=line.definition.indicator.name,
            kind=line.definition.indicator.kind,
            evaluator=line.definition.evaluator,
            definitions=line.definitions,
            counts=counts_out(line.measure.counts),
            reliability=ratio_out(line.measure.reliability),
            range=range_out(line.measure.value_range),
            interval=interval_out(line.measure),
        )
        for group in groups
        for line in group.lines
    ]


def list_differences(run: Run) -> list[DifferenceOut]:
    """Return where our outcome is not the tool's, counted by outcome and reason."""
    if not run.differing:
        return []
    rows = (
        Evaluation.objects.filter(run=run, reported_outcome__isnull=False)
        .order_by()
        .values_list("outcome", "reported_outcome", "reason_code__code")
        .annotate(n=Count("id"))
    )
    found = [DifferenceOut(ours=o.value, reported=r.value, reason_code=code or "", count=n) for o, r, code, n in rows]
    return sorted(found, key=lambda d: (-d.count, d.reason_code))


def describe_import_result(run: Run, *, is_stored: bool = True) -> dict[str, Any]:
    """What an import answers from now on, also when the same request comes again."""
    described_run = describe_run(run)
    if not is_stored:  # a dry run: nothing can be looked up under its id
        described_run.id = described_run.url = ""
    described: dict[str, Any] = msgspec.to_builtins(
        {
            "run": described_run,
            "classes": describe_classes(list_class_groups(run, taxonomy_of(run.client_id), with_attempts=False)),
            "differences": list_differences(run),
        }
    )
    return described


def describe_import(job: Import) -> ImportOut:
    """The job as it stands; numbers of the run only when they are final."""
    result = job.result if job.state == ImportState.DONE and job.result else {}
    return ImportOut(
        id=str(job.pk),
        agent=job.agent.slug,
        state=job.state,
        phase=job.phase,
        dry_run=job.dry_run,
        progress=ProgressOut(
            bytes_total=job.bytes_total,
            bytes_read=job.bytes_read,
            rows_read=job.rows_read,
            rows_stored=job.rows_stored,
        ),
        created_at=job.created_at,
        finished_at=job.finished_at,
        status=job.status or None,
        code=job.code,
        detail=job.detail,
        errors=job.errors,
        summary=summarise(job),
        run=result.get("run"),
        classes=result.get("classes", []),
        differences=result.get("differences", []),
        links=_links(job),
    )


def _links(job: Import) -> LinksOut:
    own = absolute(reverse("api-1:get_import", args=[job.pk]))
    if job.state != ImportState.DONE or job.run is None:
        return LinksOut(import_=own)
    return LinksOut(
        run=absolute(job.run.get_absolute_url()),
        api=absolute(reverse("api-1:get_run", args=[job.run.pk])),
        classes=absolute(reverse("api-1:list_classes", args=[job.run.pk])),
        compare=absolute(reverse("run-compare", args=[job.client.slug, job.agent.slug])) + f"?b={job.run.pk}",
        import_=own,
    )
