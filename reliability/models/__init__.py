"""People, tenants, tokens and the audit log."""

from reliability.models.audit import AuditChain, AuditEntry
from reliability.models.people import Assignment, Client, Invitation, Membership, Role, User
from reliability.models.tokens import Scope, Token

__all__ = [
    "Assignment",
    "AuditChain",
    "AuditEntry",
    "Client",
    "Invitation",
    "Membership",
    "Role",
    "Scope",
    "Token",
    "User",
]
