"""Who stands where: what one may not see is 404, what one may see but not do is 403 (DESIGN 7)."""

from dataclasses import dataclass
from enum import IntEnum

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from reliability.models import Assignment, Client, Membership, Role, Scope, Token, User


class Rank(IntEnum):
    """From the least to the most: a rank may do what the ranks below may, within its client.

    Contributor and sponsor differ in kind: see `Standing.may_upload` and `Standing.may_answer`.
    """

    VIEWER = 1
    SPONSOR = 2
    CONTRIBUTOR = 3
    CONSULTANT = 4
    ADMINISTRATOR = 5


RANK_OF_ROLE = {Role.VIEWER: Rank.VIEWER, Role.SPONSOR: Rank.SPONSOR, Role.CONTRIBUTOR: Rank.CONTRIBUTOR}


@dataclass(frozen=True, slots=True)
class Standing:
    """Somebody at a client's door: a person with a rank, or a token with scopes."""

    client: Client
    rank: Rank
    by: User | Token

    @property
    def is_internal(self) -> bool:
        """Sees internal runs, evidence, remarks and drafts of this client."""
        return self.rank >= Rank.CONSULTANT

    @property
    def may_upload(self) -> bool:
        if isinstance(self.by, Token):
            return self.by.has_scope(Scope.RUNS_WRITE)
        return self.rank >= Rank.CONTRIBUTOR

    @property
    def may_answer(self) -> bool:
        return self.rank == Rank.SPONSOR

    @property
    def user(self) -> User:
        if not isinstance(self.by, User):
            raise PermissionDenied
        return self.by


def enter_client(user: User | AnonymousUser, slug: str) -> Standing:
    """Return how the signed-in user stands at the client; otherwise 404."""
    if not isinstance(user, User):
        raise Http404
    client = Client.objects.filter(slug=slug).first()
    rank = rank_at(user, client) if client else None
    if client is None or rank is None:
        raise Http404
    return Standing(client, rank, user)


def rank_at(user: User, client: Client) -> Rank | None:
    if not user.is_active:
        return None
    if user.is_administrator:
        return Rank.ADMINISTRATOR
    if user.is_consultant and Assignment.objects.filter(client=client, user=user).exists():
        return Rank.CONSULTANT
    membership = Membership.objects.filter(client=client, user=user).first()
    return RANK_OF_ROLE[Role(membership.role)] if membership else None


def enter_with_token(token: Token) -> Standing:
    """A token sees what a viewer sees; its scopes say what it may do."""
    return Standing(token.client, Rank.VIEWER, token)


def enter_api(request: HttpRequest, *any_of: Scope) -> Standing:
    """Return how the request's token stands. Raises 403 naming the first scope when it has none of `any_of`."""
    token: Token = request.auth  # type: ignore[attr-defined]  # set by TokenAuth
    if not any(token.has_scope(scope) for scope in any_of):
        raise PermissionDenied(f"This token lacks the scope {any_of[0].value}.")
    return enter_with_token(token)


def require_internal(standing: Standing) -> None:
    if not standing.is_internal:
        raise PermissionDenied


def require_upload(standing: Standing) -> None:
    if not standing.may_upload:
        raise PermissionDenied


def require_administrator(user: User | AnonymousUser) -> User:
    """Return the administrator; other internal people see the pages of the site and get 403, the rest 404."""
    if not isinstance(user, User):
        raise Http404
    if user.is_administrator:
        return user
    if user.is_consultant:
        raise PermissionDenied
    raise Http404
