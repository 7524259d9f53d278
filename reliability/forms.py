"""Forms of clients, people, invitations and tokens."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.utils.text import slugify

from reliability.models import Client, Role, Scope, User
from reliability.models.people import validate_slug


class SuggestsSlug(forms.BaseForm):
    """A slug that is left out comes from the name. Mix it in before ModelForm."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False

    def clean_slug(self) -> str:
        given: str = self.cleaned_data["slug"]
        slug = given or slugify(self.cleaned_data.get("name", ""))[:50].strip("-")
        if not slug:
            raise forms.ValidationError("Give a slug: none can be made from this name.")
        validate_slug(slug)
        return slug


class ClientForm(SuggestsSlug, forms.ModelForm[Client]):
    class Meta:
        model = Client
        fields = ["name", "slug", "time_zone", "second_person_publishes"]
        help_texts = {
            "slug": "Stands in addresses; left out, it comes from the name. A change breaks old links.",
            "time_zone": "For calendar months and dates, for example Europe/Berlin.",
        }


class InviteMemberForm(forms.Form):
    email = forms.EmailField(label="E-mail", max_length=254)
    role = forms.ChoiceField(
        choices=Role.choices,
        initial=Role.VIEWER,
        widget=forms.RadioSelect,
        help_text="A viewer reads; a sponsor also answers published reviews; a contributor also uploads runs.",
    )


class InviteColleagueForm(forms.Form):
    email = forms.EmailField(label="E-mail", max_length=254)
    as_administrator = forms.BooleanField(label="Also an administrator: all clients, and people", required=False)


class MemberForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, widget=forms.RadioSelect)


class AssignForm(forms.Form):
    """A consultant who does not work for the client yet."""

    consultant = forms.ModelChoiceField(queryset=User.objects.none())

    def __init__(self, *args: Any, client: Client, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        consultants = User.objects.filter(is_consultant=True, is_active=True).exclude(assignments__client=client)
        field = self.fields["consultant"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = consultants.order_by("name", "email")


class PersonForm(forms.Form):
    is_consultant = forms.BooleanField(label="Consultant: works for the clients assigned to them", required=False)
    is_administrator = forms.BooleanField(label="Administrator: all clients, and people", required=False)
    is_active = forms.BooleanField(label="May sign in", required=False)


class AcceptForm(forms.Form):
    """A new account; somebody who has one only confirms."""

    name = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    password = forms.CharField(widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}))
    again = forms.CharField(label="Password again", widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}))

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email
        self.fields["password"].help_text = "At least 10 characters."

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        password = cleaned.get("password")
        if password:
            try:
                validate_password(password, User(email=self.email, name=cleaned.get("name", "")))
            except forms.ValidationError as fault:
                self.add_error("password", fault)
            if password != cleaned.get("again"):
                self.add_error("again", "The two passwords differ.")
        return cleaned


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="Where it will be used, for example GitHub Actions.")
    agent = forms.ModelChoiceField(
        queryset=User.objects.none(), required=False, empty_label="All agents", help_text="One agent only, if you can."
    )
    scopes = forms.MultipleChoiceField(
        choices=[(s.value, s.label) for s in Scope if s != Scope.EVIDENCE_WRITE],  # nothing receives it yet
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.RUNS_WRITE],
    )
    days = forms.IntegerField(label="Days until it expires", min_value=1, max_value=3650)

    def __init__(self, *args: Any, client: Client, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["days"].initial = settings.TOKEN_DAYS
        field = self.fields["agent"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = client.agents.all()
