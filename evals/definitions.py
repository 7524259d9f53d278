"""Definitions, indicators and reason codes of a client, looked up once per import."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import batched
from typing import Any

from django.db import models

from evals.indicators import kind_of
from evals.models import Definition, Indicator, ReasonCode
from evals.records import EvaluatorRecord
from reliability.models import Client

MOST_AT_ONCE = 500

type Judging = tuple[str, EvaluatorRecord | None]  # the indicator, and who judged


def digest_definition(indicator: str, evaluator: EvaluatorRecord | None) -> str:
    """SHA-256 over indicator and evaluator identity: equal digests may be compared (DESIGN 2.1)."""
    if evaluator is None:
        parts: list[object] = [indicator, "manual"]
    else:
        parts = [
            indicator,
            "evaluator",
            evaluator.name,
            evaluator.version,
            evaluator.configuration_sha256,
            evaluator.deterministic,
        ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


class DefinitionCache:
    """Ids by meaning. `learn` looks up what is new, many at a time, and stores what nobody has stored yet."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.by_judging: dict[Judging, int] = {}
        self.by_reason: dict[str, int | None] = {"": None}

    def definition_id(self, indicator: str, evaluator: EvaluatorRecord | None) -> int:
        return self.by_judging[indicator, evaluator]

    def learn(self, judgings: Iterable[Judging], codes: Iterable[str]) -> None:
        """Know these from now on. Call it outside of a transaction: two imports must not wait for each other."""
        for some in batched(set(judgings) - self.by_judging.keys(), MOST_AT_ONCE, strict=False):
            self._learn_definitions(some)
        for codes_ in batched(set(codes) - self.by_reason.keys(), MOST_AT_ONCE, strict=False):
            ids = self._ids(ReasonCode, "code", {code[:200]: ReasonCode(code=code[:200]) for code in codes_})
            self.by_reason |= {code: ids[code[:200]] for code in codes_}

    def _learn_definitions(self, judgings: Sequence[Judging]) -> None:
        names = {name[:200]: Indicator(name=name[:200], kind=kind_of(name)) for name, _ in judgings}
        indicators = self._ids(Indicator, "name", names)
        digests = {judging: digest_definition(*judging) for judging in judgings}
        made = {digests[j]: _definition(j, digests[j], indicators[j[0][:200]]) for j in judgings}
        ids = self._ids(Definition, "digest", made)
        self.by_judging |= {judging: ids[digest] for judging, digest in digests.items()}

    def _ids(self, model: type[models.Model], field: str, rows: dict[str, Any]) -> dict[str, int]:
        """Return the ids of the client's rows by the value of `field`; store those that are not there."""
        known = self._stored(model, field, rows)
        missing = sorted(rows.keys() - known.keys())  # ordered, so that two imports store in the same order
        if not missing:
            return known
        for value in missing:
            rows[value].client = self.client
        model._default_manager.bulk_create([rows[value] for value in missing], ignore_conflicts=True)
        return known | self._stored(model, field, missing)

    def _stored(self, model: type[models.Model], field: str, values: Iterable[str]) -> dict[str, int]:
        found = model._default_manager.filter(client=self.client, **{f"{field}__in": list(values)})
        return dict(found.order_by().values_list(field, "pk"))


def _definition(judging: Judging, digest: str, indicator_id: int) -> Definition:
    _, evaluator = judging
    if evaluator is None:
        return Definition(digest=digest, indicator_id=indicator_id, manual=True)
    return Definition(
        digest=digest,
        indicator_id=indicator_id,
        evaluator_name=evaluator.name[:200],
        evaluator_version=evaluator.version[:200],
        configuration_sha256=evaluator.configuration_sha256,
        deterministic=evaluator.deterministic,
        per_case=evaluator.per_case,
    )
