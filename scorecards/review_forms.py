"""Forms around a review: engagements, starting, fact checks."""

from typing import Any

from django import forms
from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from evals.models import Agent
from reliability.models import Client, User
from scorecards.forms import DayField, TextField
from scorecards.models import Engagement, Revision


class EngagementForm(forms.ModelForm[Engagement]):
    starts_on = DayField(label="Starts on")
    ends_on = DayField(label="Ends on", required=False)

    class Meta:
        model = Engagement
        fields = ["name", "purpose", "starts_on", "ends_on", "lead", "people", "agents"]
        labels = {"people": "People who work on it", "agents": "Agents in scope"}
        widgets = {
            "purpose": forms.Textarea(attrs={"rows": 2}),
            "people": forms.CheckboxSelectMultiple,
            "agents": forms.CheckboxSelectMultiple,
        }

    def __init__(self, client: Client, data: QueryDict | None = None, *, instance: Engagement, **more: Any) -> None:
        super().__init__(data, instance=instance, **more)
        internal = User.objects.filter(is_active=True).filter(
            Q(is_superuser=True) | Q(is_consultant=True, assignments__client=client)
        )
        for name in ("lead", "people"):
            field: Any = self.fields[name]
            field.queryset = internal.distinct().order_by("name", "email")
        agents: Any = self.fields["agents"]
        agents.queryset = Agent.objects.filter(client=client)


class StartForm(forms.Form):
    as_of = DayField(label="As of")

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"as_of": timezone.localdate()})


class PublishForm(forms.Form):
    """One deliberate act before what cannot be taken back."""

    confirmed = forms.BooleanField(error_messages={"required": "Tick this first: publishing cannot be taken back."})

    def __init__(self, revision: Revision, data: QueryDict | None = None) -> None:
        super().__init__(data)
        words = f"I have read this page; revision {revision.number} never changes afterwards"
        self.fields["confirmed"].label = words


class FactCheckForm(forms.Form):
    people: Any = forms.ModelMultipleChoiceField(
        label="Who reads it", queryset=User.objects.none(), widget=forms.CheckboxSelectMultiple
    )
    until = DayField(label="Last day")
    with_levels = forms.BooleanField(label="Show levels, the bar and the recommendation", required=False)

    def __init__(self, client: Client, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.fields["people"].queryset = User.objects.filter(memberships__client=client, is_active=True)  # type: ignore[attr-defined]


class RemarkForm(forms.Form):
    text = TextField(label="Remark", rows=3, max_length=4000)
    dimension = forms.CharField(max_length=60, required=False)
    practice = forms.CharField(max_length=80, required=False)
    item = forms.UUIDField(required=False)
    step = forms.UUIDField(required=False)


class AnswerRemarkForm(forms.Form):
    answer = forms.ChoiceField(choices=[("accept", "Accept"), ("decline", "Decline")])
    reason = TextField(label="Reason", rows=2, max_length=4000)
