"""Forms of evidence: the item whatever its source, and its verification."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils import timezone

from evals.models import MadeBy, Run, Visibility
from scorecards.evidence import FROM_RUN, Attachment, EvidenceFields, Source, Verification
from scorecards.forms import DayField, TextField
from scorecards.models import EvidenceItem, EvidenceLink, Shows, SourceType, Stance
from scorecards.rubric import Dimension

MADE_BY = [
    (MadeBy.CLIENT.value, "The client, and sent to us"),
    (MadeBy.CONSULTANCY.value, "The consultancy"),
    (MadeBy.THIRD_PARTY.value, "A third party"),
]


class EvidenceForm(forms.Form):
    claim = forms.CharField(
        label="What it shows", max_length=2000, widget=forms.Textarea(attrs={"rows": 2, "autofocus": True})
    )
    url = forms.URLField(label="Address", max_length=2000, required=False, assume_scheme="https")
    file = forms.FileField(label="File", required=False)
    interviewee = forms.CharField(label="Who was interviewed", max_length=200, required=False)
    interviewed_on = DayField(label="On", required=False)
    made_by = forms.ChoiceField(label="Made by", choices=MADE_BY, required=False)
    shows = forms.ChoiceField(
        label="It shows",
        choices=[(Shows.DESIGN.value, "Design: it is written"), (Shows.OPERATION.value, "Operation: it happened")],
        initial=Shows.DESIGN.value,
        widget=forms.RadioSelect,
    )
    operated_from = DayField(label="From", required=False)
    operated_to = DayField(label="To", required=False)
    practices = forms.MultipleChoiceField(label="Bears on", required=False, widget=forms.CheckboxSelectMultiple)
    stance = forms.ChoiceField(
        label="It", choices=Stance.choices, initial=Stance.SUPPORTS.value, widget=forms.RadioSelect
    )
    visibility = forms.ChoiceField(
        label="Who sees it",
        choices=[(Visibility.CLIENT.value, "The client too"), (Visibility.INTERNAL.value, "Internal")],
        initial=Visibility.CLIENT.value,
        widget=forms.RadioSelect,
    )

    def __init__(self, dimension: Dimension, source: SourceType, data: QueryDict | None = None, **more: Any) -> None:
        super().__init__(data, auto_id=f"evidence-{dimension.id}-%s", **more)
        self.source = source
        practices: Any = self.fields["practices"]
        practices.choices = [(practice.id, practice.text) for practice in dimension.practices]
        for name in self._left_out():
            del self.fields[name]

    def _left_out(self) -> list[str]:
        kept = {
            SourceType.LINK: {"url", "made_by"},
            SourceType.FILE: {"file", "made_by"},
            SourceType.INTERVIEW: {"interviewee", "interviewed_on"},
        }.get(self.source, set())
        return [n for n in ("url", "file", "interviewee", "interviewed_on", "made_by") if n not in kept]

    def evidence_fields(self) -> EvidenceFields:
        said = self.cleaned_data
        return EvidenceFields(
            claim=said["claim"],
            shows=Shows(said["shows"]),
            operated_from=said["operated_from"],
            operated_to=said["operated_to"],
            visibility=Visibility(said["visibility"]),
            made_by=MadeBy(said.get("made_by") or MadeBy.CLIENT),
        )

    def attachment(self) -> Attachment:
        said = self.cleaned_data
        return Attachment(tuple(said["practices"]) or ("",), Stance(said["stance"]))

    def source_of(self, *, run: Run | None, class_id: str, attempt_number: int | None) -> Source:
        said = self.cleaned_data
        upload: UploadedFile[bytes] | None = said.get("file")
        return Source(
            type=self.source,
            run=run,
            class_id=class_id,
            attempt_number=attempt_number,
            url=said.get("url") or "",
            upload=upload,
            interviewee=said.get("interviewee") or "",
            interviewed_on=said.get("interviewed_on"),
        )


def initial_of_item(item: EvidenceItem, links: list[EvidenceLink]) -> dict[str, Any]:
    """Return what the form of a stored item shows; what cannot be changed is left out."""
    names = ("claim", "made_by", "shows", "operated_from", "operated_to", "visibility")
    values: dict[str, Any] = {name: getattr(item, name) for name in names}
    values["practices"] = [link.practice_id for link in links if link.practice_id]
    values["stance"] = links[0].stance if links else Stance.SUPPORTS.value
    return values


class VerificationForm(forms.Form):
    verified_on = DayField(label="Checked on")
    verified_how = TextField(label="How", help_text="What was looked at or run again.", max_length=2000)
    rerun = forms.IntegerField(label="Scenarios run again", min_value=1, max_value=10**6, required=False)
    rerun_of = forms.IntegerField(label="of", min_value=1, max_value=10**6, required=False)
    agreed = forms.IntegerField(label="Agreed", min_value=0, max_value=10**6, required=False)

    def __init__(self, item: EvidenceItem, data: QueryDict | None = None) -> None:
        initial = {"verified_on": timezone.localdate()}
        super().__init__(data, auto_id=f"verify-{item.pk}-%s", initial=initial)
        if item.source not in FROM_RUN:
            del self.fields["rerun"], self.fields["rerun_of"], self.fields["agreed"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        counts = [cleaned.get(name) for name in ("rerun", "rerun_of", "agreed")]
        if any(count is not None for count in counts) and None in counts:
            raise forms.ValidationError("Give all three: how many were run again, of how many, and how many agreed.")
        return cleaned

    def verification(self) -> Verification:
        said = self.cleaned_data
        again = said.get("rerun")
        rerun = (again, said["rerun_of"], said["agreed"]) if again is not None else None
        return Verification(on=said["verified_on"], how=said["verified_how"], rerun=rerun)
