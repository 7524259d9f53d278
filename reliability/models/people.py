"""Users, clients, and who belongs where."""

import re
import uuid
from typing import ClassVar
from zoneinfo import available_timezones

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone

# First path segments that the site itself uses.
RESERVED_SLUGS = frozenset({"accounts", "api", "healthz", "media", "static"})


def validate_slug(value: str) -> None:
    """A slug stands in addresses: lower-case letters, digits and single hyphens between them."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", value):
        raise ValidationError("Use lower-case letters, digits and hyphens, for example support-agent.")
    if value in RESERVED_SLUGS:
        raise ValidationError(f"“{value}” is used by the site itself. Choose another one.")


def validate_time_zone(value: str) -> None:
    if value not in available_timezones():
        raise ValidationError("Use a time zone of the IANA list, for example Europe/Berlin.")


class Role(models.TextChoices):
    """What a client member may do (DESIGN 7)."""

    VIEWER = "viewer", "Viewer"
    CONTRIBUTOR = "contributor", "Contributor"
    SPONSOR = "sponsor", "Sponsor"


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)

    def create_user(
        self, email: str, password: str | None = None, *, name: str = "", is_consultant: bool = False
    ) -> "User":
        user = self.model(email=email.strip().lower(), name=name, is_consultant=is_consultant)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, *, name: str = "") -> "User":
        """The first administrator; the people pages make further ones."""
        user = self.create_user(email, password, name=name)
        user.is_superuser = True
        user.save(using=self._db, update_fields=["is_superuser"])
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """A person. `is_superuser` makes an administrator, `is_consultant` one of the consultancy's own."""

    email = models.EmailField("e-mail", max_length=254, unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_consultant = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="user_email_unique",
                violation_error_message="Somebody with this e-mail is already here.",
            )
        ]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def is_administrator(self) -> bool:
        return self.is_superuser

    @property
    def is_internal(self) -> bool:
        """One of the consultancy's people: may see internal notes of the clients assigned to them."""
        return self.is_superuser or self.is_consultant


class ClientQuerySet(models.QuerySet["Client"]):
    def visible_to(self, user: User) -> "ClientQuerySet":
        if user.is_administrator:
            return self
        seen = models.Q(memberships__user=user)
        if user.is_consultant:
            seen |= models.Q(assignments__user=user)
        return self.filter(seen).distinct()


class Client(models.Model):
    """The organisation under review; the tenant that everything below carries."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.CharField(max_length=50, unique=True, validators=[validate_slug])
    name = models.CharField(max_length=200)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])
    second_person_publishes = models.BooleanField(
        "publishing needs a second person",
        default=False,
        help_text="A review of this client is published by someone other than the last person who scored it.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ClientQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("client", args=[self.slug])


class Membership(models.Model):
    """A person of the client."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["user__email"]
        constraints = [models.UniqueConstraint(fields=["client", "user"], name="membership_unique")]

    def __str__(self) -> str:
        return f"{self.user} · {self.client} · {self.get_role_display()}"


class Assignment(models.Model):
    """A consultant who works for a client."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="assignments")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="assignments")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["user__email"]
        constraints = [models.UniqueConstraint(fields=["client", "user"], name="assignment_unique")]

    def __str__(self) -> str:
        return f"{self.user} · {self.client}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def pending(self) -> "InvitationQuerySet":
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


class Invitation(models.Model):
    """A way in for one person: as a member of a client, or (no client) as a consultant or administrator."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField("e-mail", max_length=254)
    role = models.CharField(max_length=20, choices=Role.choices, blank=True)
    as_administrator = models.BooleanField(default=False)
    secret_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return f"{self.email} · {self.client or 'consultancy'}"

    @property
    def is_pending(self) -> bool:
        return not self.accepted_at and not self.revoked_at and self.expires_at > timezone.now()
