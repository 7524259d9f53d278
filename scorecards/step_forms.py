"""Forms of next steps: what is to be done and why, and where it stands."""

from typing import Any

from django import forms
from django.http import QueryDict

from evals.models import Visibility
from scorecards.forms import DayField, TextField
from scorecards.models import Effort, EvidenceItem, NextStep, Priority, Severity, StepInRevision, StepState
from scorecards.rubric import Dimension
from scorecards.steps import STEP_FIELDS, Acceptance


class StepForm(forms.Form):
    text = forms.CharField(
        label="What is to be done", max_length=1000, widget=forms.Textarea(attrs={"rows": 2, "autofocus": True})
    )
    seen = TextField(label="What was seen", max_length=4000)
    matters = TextField(label="Why it matters", max_length=4000)
    cause = TextField(label="Cause", rows=1, max_length=4000)
    severity = forms.ChoiceField(label="Severity", choices=[("", "Open"), *Severity.choices], required=False)
    owner = forms.CharField(label="Owner", max_length=200, required=False)
    due = DayField(label="Due", required=False)
    priority = forms.TypedChoiceField(
        label="Priority", choices=Priority.choices, coerce=int, initial=Priority.NEXT, widget=forms.RadioSelect
    )
    effort = forms.ChoiceField(label="Effort", choices=[("", "Open"), *Effort.choices], required=False)
    practices = forms.MultipleChoiceField(
        label="Practices it serves", required=False, widget=forms.CheckboxSelectMultiple
    )
    evidence = forms.MultipleChoiceField(label="Evidence", required=False, widget=forms.CheckboxSelectMultiple)
    is_condition = forms.BooleanField(label="A condition of “ready with conditions”", required=False)
    visibility = forms.ChoiceField(
        label="Who sees it",
        choices=[(Visibility.CLIENT.value, "The client too"), (Visibility.INTERNAL.value, "Internal")],
        initial=Visibility.CLIENT.value,
        widget=forms.RadioSelect,
    )

    def __init__(
        self,
        dimension: Dimension | None,
        items: list[EvidenceItem],
        data: QueryDict | None = None,
        *,
        appearance: StepInRevision | None = None,
        **more: Any,
    ) -> None:
        step = appearance.step if appearance else None
        super().__init__(data, auto_id=f"step-{step.pk if step else 'new'}-%s", **more)
        choices: Any = self.fields["practices"]
        choices.choices = [(practice.id, practice.text) for practice in dimension.practices] if dimension else []
        self.items = {str(item.pk): item for item in items}
        evidence: Any = self.fields["evidence"]
        evidence.choices = [(str(item.pk), item.claim) for item in items]

    def step_fields(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in STEP_FIELDS}

    def chosen_evidence(self) -> list[EvidenceItem]:
        return [self.items[name] for name in self.cleaned_data["evidence"]]


def initial_of_step(appearance: StepInRevision) -> dict[str, Any]:
    step = appearance.step
    values: dict[str, Any] = {name: getattr(step, name) for name in STEP_FIELDS}
    values["evidence"] = [str(item.pk) for item in step.evidence.all()]
    return values | {"is_condition": appearance.is_condition}


class StepStateForm(forms.Form):
    state = forms.ChoiceField(label="State", choices=StepState.choices)
    accepted_by = forms.CharField(label="Accepted by", max_length=200, required=False)
    accepted_until = DayField(label="Until", required=False)

    def __init__(self, step: NextStep, data: QueryDict | None = None) -> None:
        initial = {"state": step.state, "accepted_by": step.accepted_by, "accepted_until": step.accepted_until}
        super().__init__(data, auto_id=f"state-{step.pk}-%s", initial=initial)

    def acceptance(self) -> Acceptance | None:
        by, until = self.cleaned_data["accepted_by"], self.cleaned_data["accepted_until"]
        return Acceptance(by, until) if by and until else None
