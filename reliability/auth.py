"""Sign-in: allauth with sign-up closed; the bearer token of the API."""

import hashlib

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from reliability.models import Token, User
from reliability.models.tokens import LAST_USE_GRAIN


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Accounts come by invitation only."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


def display_name(user: User) -> str:
    return str(user)


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class TokenAuth(HttpBearer):
    """`Authorization: Bearer …`: the token becomes `request.auth`; anything unusable is 401."""

    openapi_description = "A token from the client's token page, or from `manage.py token`."

    def authenticate(self, request: HttpRequest, token: str) -> Token | None:
        found = Token.objects.usable().select_related("client", "agent").filter(sha256=hash_secret(token)).first()
        if found is not None:
            note_use(found)
        return found


def note_use(token: Token) -> None:
    now = timezone.now().replace(second=0, microsecond=0)
    if token.last_used_at is None or now - token.last_used_at >= LAST_USE_GRAIN:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
