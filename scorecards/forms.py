"""Forms of the scorecard. What is typed and accepted comes out as what the write functions take."""

from itertools import zip_longest
from typing import Any

from django import forms
from django.http import QueryDict

from scorecards.models import (
    Cause,
    Confidence,
    DimensionScore,
    PracticeState,
    Recommendation,
    Revision,
    ScoreStanding,
)
from scorecards.reviewing import HeadPart, ScoreFields
from scorecards.rubric import MAX_LEVEL, Dimension

TEXT = 20_000  # characters of a long text
LINE = 300
LINES = 100
REVERSIBLE = {"yes": True, "no": False}  # of a tool; nothing is assumed where nobody said

LEVELS = [
    *((str(level), str(level)) for level in range(MAX_LEVEL + 1)),
    (ScoreStanding.NOT_ASSESSED.value, "Not assessed"),
    (ScoreStanding.NOT_APPLICABLE.value, "Not applicable"),
]


class TextField(forms.CharField):
    """A text of a few lines; what was typed is kept, but for blanks around it."""

    def __init__(self, *, rows: int = 2, max_length: int = TEXT, **more: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, **more.pop("attrs", {})})
        super().__init__(required=False, max_length=max_length, widget=widget, **more)

    def clean(self, value: Any) -> str:
        return str(super().clean(value)).replace("\r\n", "\n")


class LinesField(TextField):
    """One entry a line; empty lines are left out."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:  # type: ignore[override]  # lines out, one text in
        lines = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(lines) > LINES:
            raise forms.ValidationError(f"At most {LINES} entries.")
        if any(len(line) > LINE for line in lines):
            raise forms.ValidationError(f"At most {LINE} characters an entry.")
        return lines


class DayField(forms.DateField):
    def __init__(self, **more: Any) -> None:
        super().__init__(widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), **more)


class HeadForm(forms.Form):
    """One half of a revision's head."""

    part: HeadPart

    def __init__(self, revision: Revision, data: QueryDict | None = None) -> None:
        initial = {name: getattr(revision, name) for name in self.part.fields}
        super().__init__(data, auto_id="field-%s", initial=initial)
        self.revision = revision

    def fields_to_save(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.part.fields if name in self.cleaned_data}


class SubjectForm(HeadForm):
    part = HeadPart.SUBJECT

    agent_versions = TextField(label="Versions under review", rows=1)
    model = TextField(label="Model", rows=1, help_text="With its version, as pinned.")
    environment = TextField(label="Environment", rows=1)
    intended_use = TextField(label="Intended use")
    permitted_users = TextField(label="Who may use it")
    void_if = TextField(
        label="What would void the answer", help_text="Changes after which this review no longer holds."
    )
    main_flows = LinesField(label="Main flows", rows=4, help_text="One a line.")
    top_risks = LinesField(label="Top risks", rows=4, help_text="One a line.")
    method = TextField(label="Method", rows=3, help_text="What was done, in which order. Markdown.")
    limitations = TextField(label="Limitations", rows=3, help_text="What this review cannot say. Markdown.")
    period_from = DayField(label="Period from", required=False)
    period_to = DayField(label="Period to", required=False)
    participants = TextField(label="Participants")
    supersedes_because = TextField(label="Why this revision replaces the last one")
    what_changed = TextField(label="What changed against the last revision", rows=3)

    def __init__(self, revision: Revision, data: QueryDict | None = None) -> None:
        super().__init__(revision, data)
        if revision.number == 1:
            del self.fields["supersedes_because"], self.fields["what_changed"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        first, last = cleaned.get("period_from"), cleaned.get("period_to")
        if first and last and first > last:
            self.add_error("period_to", "The period ends before it starts.")
        cleaned["tools"] = self._read_tools()
        return cleaned

    def _read_tools(self) -> list[dict[str, Any]]:
        typed = [{**tool, "name": tool["name"].strip()} for tool in self._typed_tools()]
        tools = [tool for tool in typed if tool["name"]]
        if len(tools) > LINES or any(len(str(tool["name"])) > LINE or "\0" in str(tool["name"]) for tool in tools):
            raise forms.ValidationError(f"At most {LINES} tools of at most {LINE} characters.")
        return tools

    @property
    def tool_rows(self) -> list[dict[str, Any]]:
        """The tools as typed or stored, with an empty row to go on in."""
        rows = self._typed_tools() if self.is_bound else list(self.revision.tools)
        return [*rows, {"name": "", "reversible": None}]

    def _typed_tools(self) -> list[dict[str, Any]]:
        data: Any = self.data
        pairs = zip_longest(data.getlist("tool_name"), data.getlist("tool_reversible"), fillvalue="")
        return [{"name": name, "reversible": REVERSIBLE.get(word)} for name, word in pairs if name]


class AnswerForm(HeadForm):
    part = HeadPart.ANSWER

    summary = TextField(label="Summary", rows=5, help_text="For somebody with five minutes. Markdown.")
    recommendation = forms.ChoiceField(choices=[("", "Open"), *Recommendation.choices], required=False)
    recommendation_reasons = TextField(label="Reasons", rows=4, help_text="Why, in a paragraph. Markdown.")


class DimensionForm(forms.Form):
    """One dimension: level, practices, rationale, confidence, cause."""

    level = forms.ChoiceField(choices=LEVELS)
    rationale = TextField(rows=4)
    confidence = forms.ChoiceField(choices=[("", "Open"), *Confidence.choices], required=False)
    cause = forms.ChoiceField(choices=[("", "Choose a cause"), *Cause.choices], required=False)
    reason = TextField(rows=2, max_length=2000)
    reconfirmed = forms.BooleanField(required=False)

    def __init__(self, dimension: Dimension, data: QueryDict | None = None, **more: Any) -> None:
        super().__init__(data, auto_id=f"{dimension.id}-%s", **more)
        self.dimension = dimension
        for practice in dimension.practices:
            self.fields[f"practice-{practice.id}"] = forms.ChoiceField(choices=PracticeState.choices, required=False)
            self.fields[f"reason-{practice.id}"] = forms.CharField(required=False, max_length=1000)

    def score_fields(self) -> ScoreFields:
        said = self.cleaned_data
        level = int(said["level"]) if said["level"].isdigit() else None
        return ScoreFields(
            standing=ScoreStanding.ASSESSED if level is not None else ScoreStanding(said["level"]),
            level=level,
            reconfirmed=said["reconfirmed"],
            marks={
                practice.id: (
                    PracticeState(said[f"practice-{practice.id}"] or PracticeState.NOT_SEEN),
                    said[f"reason-{practice.id}"],
                )
                for practice in self.dimension.practices
            },
            **{name: said[name] for name in ("rationale", "confidence", "cause", "reason")},
        )


def initial_of(score: DimensionScore) -> dict[str, Any]:
    """Return what the dimension's inputs show, from what is stored."""
    assessed = score.standing == ScoreStanding.ASSESSED
    values: dict[str, Any] = {"level": str(score.level) if assessed else score.standing}
    values |= {name: getattr(score, name) for name in ("rationale", "confidence", "cause", "reason")}
    for mark in score.marks.all():
        values[f"practice-{mark.practice_id}"] = mark.state
        values[f"reason-{mark.practice_id}"] = mark.reason
    return values


def read_version(data: QueryDict) -> int:
    """Return the version that a save may replace: "keep mine" sends that of the other save, which was seen."""
    return _number(data.get("keep", "")) or sent_version(data)


def sent_version(data: QueryDict) -> int:
    """Return the version that the typed values began from; 0, which no row has, when it is no number."""
    return _number(data.get("version", ""))


def _number(word: str | None) -> int:
    return int(word) if word and word.isascii() and word.isdigit() and len(word) < 10 else 0
