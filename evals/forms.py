"""Forms of agents, uploads and runs."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from evals.models import Agent, MadeBy, Run, Visibility
from evals.options import ImportOptions
from evals.parsers import FORMATS
from evals.records import Mode, Origin
from reliability.forms import SuggestsSlug


class AgentForm(SuggestsSlug, forms.ModelForm[Agent]):
    class Meta:
        model = Agent
        fields = ["name", "slug", "purpose", "risk_tier", "owner", "repository"]
        help_texts = {
            "slug": "Stands in addresses and in the upload command; left out, it comes from the name.",
            "repository": "Where its code lives, if that may be said.",
        }
        widgets = {"purpose": forms.Textarea(attrs={"rows": 3})}

    def validate_unique(self) -> None:
        """The client is no field of the form, yet a slug is unique within it."""
        try:
            self.instance.validate_constraints()
        except forms.ValidationError as fault:
            self.add_error("slug", fault.messages)


class UploadForm(forms.Form):
    """What a person says beside the file; a CI job says it in the query."""

    file = forms.FileField(
        label="Artifact", help_text="A file in one of the formats under “What is read”; gzip is read too."
    )
    suite = forms.CharField(max_length=200, required=False, help_text="Left out: what the artifact says.")
    agent_version = forms.CharField(max_length=200, required=False)
    commit = forms.CharField(max_length=200, required=False)
    branch = forms.CharField(max_length=200, required=False)
    ci_url = forms.URLField(label="CI address", max_length=2000, required=False, assume_scheme="https")
    environment = forms.CharField(max_length=200, required=False)
    mode = forms.ChoiceField(
        choices=[("", "As the artifact says, else scripted"), *((m.value, m.value) for m in Mode)], required=False
    )
    origin = forms.ChoiceField(
        choices=[("", "As the artifact says, else observed"), *((o.value, o.value) for o in Origin)], required=False
    )
    planned = forms.IntegerField(label="Planned attempts", min_value=0, max_value=2**53, required=False)
    format = forms.ChoiceField(choices=[("", "Detect"), *((f.name, f.title) for f in FORMATS.values())], required=False)
    made_by = forms.ChoiceField(label="Made by", choices=MadeBy.choices, initial=MadeBy.CONSULTANCY)
    visibility = forms.ChoiceField(
        label="Who sees the run", choices=Visibility.choices, initial=Visibility.INTERNAL, widget=forms.RadioSelect
    )

    def __init__(self, *args: Any, is_internal: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not is_internal:  # what a client member uploads is client-made and client-visible
            del self.fields["made_by"], self.fields["visibility"]

    def options(self) -> ImportOptions:
        said = {name: value for name, value in self.cleaned_data.items() if name != "file" and value not in ("", None)}
        return ImportOptions(**said)

    @property
    def upload(self) -> UploadedFile[Any]:
        upload: UploadedFile[Any] = self.cleaned_data["file"]
        return upload


class RunForm(forms.ModelForm[Run]):
    """What the consultancy may change of a run: who made it, who sees it."""

    class Meta:
        model = Run
        fields = ["made_by", "visibility"]
        widgets = {"visibility": forms.RadioSelect}
