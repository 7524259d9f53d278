"""Definitions, indicators and reason codes of a client, looked up once per import."""

import hashlib
import json

from evals.indicators import kind_of
from evals.models import Definition, Indicator, ReasonCode
from evals.records import EvaluatorRecord
from reliability.models import Client


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
    """Ids by meaning; what is new is stored on first sight."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._definitions: dict[tuple[str, EvaluatorRecord | None], int] = {}
        self._reasons: dict[str, int] = {}

    def definition_id(self, indicator: str, evaluator: EvaluatorRecord | None) -> int:
        key = (indicator, evaluator)
        if key not in self._definitions:
            self._definitions[key] = self._store(indicator, evaluator)
        return self._definitions[key]

    def reason_id(self, code: str) -> int | None:
        if not code:
            return None
        if code not in self._reasons:
            reason, _ = ReasonCode.objects.get_or_create(client=self.client, code=code[:200])
            self._reasons[code] = reason.pk
        return self._reasons[code]

    def _store(self, name: str, evaluator: EvaluatorRecord | None) -> int:
        indicator, _ = Indicator.objects.get_or_create(
            client=self.client, name=name[:200], defaults={"kind": kind_of(name)}
        )
        described = {"indicator": indicator, "manual": evaluator is None}
        if evaluator is not None:
            described |= {
                "evaluator_name": evaluator.name[:200],
                "evaluator_version": evaluator.version[:200],
                "configuration_sha256": evaluator.configuration_sha256,
                "deterministic": evaluator.deterministic,
                "per_case": evaluator.per_case,
            }
        definition, _ = Definition.objects.get_or_create(
            client=self.client, digest=digest_definition(name, evaluator), defaults=described
        )
        return definition.pk
