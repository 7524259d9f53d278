"""What the uploader says beside the artifact: the query of the import door, checked and normalised."""

from dataclasses import asdict, dataclass, field
from typing import Any

from msgspec.structs import replace

from evals.errors import ImportRefused, Problem
from evals.models import MadeBy, Visibility
from evals.records import Mode, Origin, RunRecord

TEXT_MEMBERS = ("suite", "agent_version", "commit", "branch", "ci_url", "environment")
DEFAULTS: dict[str, Any] = {"mode": Mode.SCRIPTED.value, "origin": Origin.OBSERVED.value, "format": "", "final": False}
POINTERS = {"label": "id", "shard_index": "shard/index", "shard_of": "shard/of"}  # where run/v1 has another name


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """`''` and None mean: the uploader does not say."""

    format: str = ""
    suite: str = ""
    agent_version: str = ""
    commit: str = ""
    branch: str = ""
    ci_url: str = ""
    environment: str = ""
    mode: str = ""
    origin: str = ""
    planned: int | None = None
    run: str = ""  # the uploader's own id of a run that comes in parts
    shard_index: int | None = None
    shard_of: int | None = None
    final: bool = False  # no part comes after this one
    made_by: str = MadeBy.CLIENT.value
    visibility: str = Visibility.CLIENT.value

    def stored(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> "ImportOptions":
        return cls(**stored)

    def normalised(self) -> dict[str, Any]:
        """For the idempotency key: what is absent and what is a default are equal."""
        return {
            name: value
            for name, value in sorted(self.stored().items())
            if value not in ("", None) and value != DEFAULTS.get(name)
        }


@dataclass(slots=True)
class _Disagreements:
    problems: list[Problem] = field(default_factory=list)

    def check(self, name: str, said: Any, asked: Any) -> None:
        if said != asked:
            self.problems.append(
                Problem(
                    f"The artifact says {said!s}, the upload's query says {asked!s}.",
                    pointer=f"/run/{POINTERS.get(name, name)}",
                    expected=f"{asked!s}, or the same in the query",
                )
            )


def fill_run(record: RunRecord, options: ImportOptions, *, strict: bool) -> RunRecord:
    """Return the record with what the query adds. `strict` (run/v1): where both speak they must agree, else 422;
    for other tools the uploader knows better than what the parser derived."""
    asked: dict[str, Any] = {name: getattr(options, name) for name in TEXT_MEMBERS if getattr(options, name)}
    if options.mode:
        asked["mode"] = Mode(options.mode)
    if options.origin:
        asked["origin"] = Origin(options.origin)
    if options.run:
        asked["label"] = options.run
    for name in ("planned", "shard_index", "shard_of"):
        if getattr(options, name) is not None:
            asked[name] = getattr(options, name)
    if strict:
        disagreements = _Disagreements()
        for name, value in asked.items():
            if (said := getattr(record, name)) not in ("", None):
                disagreements.check(name, said, value)
        if disagreements.problems:
            raise ImportRefused(
                422,
                "query_disagrees",
                f"The upload's query and the artifact disagree: {disagreements.problems[0].message}",
                tuple(disagreements.problems),
            )
    return replace(record, **asked)
