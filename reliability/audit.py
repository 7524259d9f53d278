"""Writing and checking the audit log (DESIGN 7)."""

import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from reliability.models.audit import GENESIS, SITE, AuditChain, AuditEntry
from reliability.models.people import Client, User
from reliability.models.tokens import Token

type Actor = User | Token | None


def record_change(client: Client | None, action: str, subject: object, *, by: Actor, **payload: Any) -> AuditEntry:
    """Append one entry to the client's chain (or the site's). Call it last in the transaction of the change itself:
    from here to the commit other writers of the same chain wait."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an audit entry belongs into the transaction of its change")
    payload = json.loads(_canonical(payload))  # as it will be read back: dates and ids as text
    chain = _lock_chain(client)
    salt = secrets.token_hex(16)
    entry = AuditEntry(
        chain=chain,
        number=chain.count + 1,
        at=timezone.now(),
        actor=describe_actor(by),
        action=action,
        subject=_describe(subject),
        payload=payload,
        salt=salt,
        payload_digest=digest_payload(payload, salt),
        previous=chain.head,
    )
    entry.digest = digest_entry(entry, chain.name)
    entry.save(force_insert=True)
    chain.count, chain.head = entry.number, entry.digest
    chain.save(update_fields=["count", "head"])
    return entry


def describe_actor(by: Actor) -> str:
    if by is None:
        return "system"
    return f"user {by.pk}" if isinstance(by, User) else f"token {by.pk}"


def _describe(subject: object) -> str:
    if isinstance(subject, str):
        return subject
    name = type(subject).__name__
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
    return f"{words} {getattr(subject, 'pk', '')}"


def _lock_chain(client: Client | None) -> AuditChain:
    name = str(client.pk) if client else SITE
    AuditChain.objects.get_or_create(name=name, defaults={"client": client})
    return AuditChain.objects.select_for_update().get(name=name)


def digest_payload(payload: Any, salt: str) -> str:
    return hashlib.sha256((salt + _canonical(payload)).encode()).hexdigest()


def digest_entry(entry: AuditEntry, chain_name: str) -> str:
    """SHA-256 over the entry's fixed fields and the digest before it."""
    at = entry.at.astimezone(UTC).isoformat(timespec="microseconds")
    fields = [
        chain_name,
        entry.number,
        at,
        entry.actor,
        entry.action,
        entry.subject,
        entry.payload_digest,
        entry.previous,
    ]
    return hashlib.sha256(_canonical(fields).encode()).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a chain is not as it was written."""

    number: int
    message: str


def verify_chain(chain: AuditChain, *, expect: tuple[int, str] | None = None) -> Iterator[Fault]:
    """Walk the chain. `expect` is a (count, head) noted earlier: it also finds entries that were cut off."""
    previous, number, seen = GENESIS, 0, False
    for entry in chain.entries.order_by("number").iterator(chunk_size=2000):
        number += 1
        if entry.number != number:
            yield Fault(number, f"entry {number} is missing: the next one is {entry.number}")
            number = entry.number
        yield from _verify_entry(entry, previous, chain.name)
        previous = entry.digest
        seen = seen or expect == (entry.number, entry.digest)
    if (chain.count, chain.head) != (number, previous):
        yield Fault(
            number, f"the chain says {chain.count}:{chain.head[:12]}, its entries end at {number}:{previous[:12]}"
        )
    if expect and not seen and expect != (0, GENESIS):
        yield Fault(expect[0], f"no entry {expect[0]} with digest {expect[1][:12]}…: entries were cut off or rewritten")


def _verify_entry(entry: AuditEntry, previous: str, chain_name: str) -> Iterator[Fault]:
    if entry.previous != previous:
        yield Fault(entry.number, f"entry {entry.number} does not follow the one before it")
    if entry.digest != digest_entry(entry, chain_name):
        yield Fault(entry.number, f"entry {entry.number} was changed")
    erased = entry.payload is None and not entry.salt
    if not erased and entry.payload_digest != digest_payload(entry.payload, entry.salt):
        yield Fault(entry.number, f"the payload of entry {entry.number} was changed")
