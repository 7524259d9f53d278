"""Taxonomies in the database: the one that ships, until a client makes one of its own."""

import re
import uuid
from functools import lru_cache

from django.db import transaction

from evals.errors import Problem
from evals.models import TaxonomyChoice, TaxonomyVersion
from evals.strict_yaml import DocumentRefused, line_at
from evals.taxonomy import SHIPPED, Taxonomy, parse_taxonomy, shipped_taxonomy
from reliability.audit import record_change
from reliability.errors import Conflict
from reliability.models import Client, User

TOP_LINE = r"(?m)^{}:.*$"


def taxonomy_of(client_id: uuid.UUID) -> Taxonomy:
    """Return the taxonomy that the client uses. One query."""
    source = TaxonomyChoice.objects.filter(client=client_id).values_list("version__source", flat=True).first()
    return shipped_taxonomy() if source is None else _parse(source)


def chosen_version(client: Client) -> TaxonomyVersion | None:
    """Return the client's own version that holds; None while it uses the one that ships."""
    chosen = _choice_of(client)
    return chosen.version if chosen else None


def draft_of(client: Client) -> str:
    """Return the text to start a new version from: what holds, under an id and a version that are still free."""
    chosen = _choice_of(client)
    source = chosen.version.source if chosen else SHIPPED.read_text("utf-8")
    if not chosen:
        source = re.sub(r"\A(?:#.*\n)+", "", source)  # what the file says of itself is not true of a copy
        source = _with_line(source, "id", _own_id(client))
        source = _with_line(source, "title", f"Failure classes of {client.name}")
    return _with_line(source, "version", _free_version(client, parse_taxonomy(source.encode()).id))


def parse_for(client: Client, source: str) -> Taxonomy:
    """Return the taxonomy of a text that shall be the client's. Raises DocumentRefused, also for a name in use."""
    content = source.replace("\r\n", "\n").encode()
    taxonomy = parse_taxonomy(content)
    if taxonomy.sha256 == shipped_taxonomy().sha256:
        return taxonomy
    if taxonomy.id == shipped_taxonomy().id:
        raise DocumentRefused(
            [Problem("this id is kept for the taxonomy that ships", "/id", line_at(content, ["id"]), "another id")]
        )
    stored = _find(client, taxonomy)
    if stored and stored.sha256 != taxonomy.sha256:
        free = _free_version(client, taxonomy.id)
        message = f"version {taxonomy.version!r} of {taxonomy.id!r} was saved before with other content"
        raise DocumentRefused(
            [Problem(message, "/version", line_at(content, ["version"]), f"one that is free, such as {free!r}")]
        )
    return taxonomy


@transaction.atomic
def save_taxonomy(client: Client, source: str, *, by: User, instead_of: str) -> Taxonomy:
    """Make a text the client's taxonomy: a new version, an earlier one again, or the one that ships.

    `instead_of` is the name of the one that the person saw in use. Raises DocumentRefused for the text and
    Conflict if that is another one by now; the caller enqueues the counting.
    """
    Client.objects.select_for_update(no_key=True).get(pk=client.pk)
    taxonomy = parse_for(client, source)
    before = taxonomy_of(client.pk)
    if before.name != instead_of:
        raise Conflict(f"Meanwhile {before.name} was chosen; nothing was saved. Preview your text against it.")
    if taxonomy == before:
        return taxonomy
    if taxonomy.sha256 == shipped_taxonomy().sha256:
        TaxonomyChoice.objects.filter(client=client).delete()
    else:
        version = _find(client, taxonomy) or _store(client, taxonomy, source.replace("\r\n", "\n"), by)
        TaxonomyChoice.objects.update_or_create(client=client, defaults={"version": version})
    record_change(
        client, "taxonomy.chosen", client, by=by, before=before.name, after=taxonomy.name, sha256=taxonomy.sha256
    )
    return taxonomy


def _store(client: Client, taxonomy: Taxonomy, source: str, by: User) -> TaxonomyVersion:
    chosen = _choice_of(client)
    return TaxonomyVersion.objects.create(
        client=client,
        taxonomy_id=taxonomy.id,
        version=taxonomy.version,
        title=taxonomy.title,
        sha256=taxonomy.sha256,
        source=source,
        based_on=chosen.version if chosen else _shipped_version(),
        by=by,
    )


def _shipped_version() -> TaxonomyVersion:
    """Return the shipped taxonomy as a row: what copies were made of is kept, whatever ships later."""
    taxonomy = shipped_taxonomy()
    version, _ = TaxonomyVersion.objects.get_or_create(
        client=None,
        taxonomy_id=taxonomy.id,
        version=taxonomy.version,
        defaults={"title": taxonomy.title, "sha256": taxonomy.sha256, "source": SHIPPED.read_text("utf-8")},
    )
    return version


def _choice_of(client: Client) -> TaxonomyChoice | None:
    return TaxonomyChoice.objects.select_related("version").filter(client=client).first()


def _find(client: Client, taxonomy: Taxonomy) -> TaxonomyVersion | None:
    return TaxonomyVersion.objects.filter(client=client, taxonomy_id=taxonomy.id, version=taxonomy.version).first()


def _own_id(client: Client) -> str:
    slug = client.slug if client.slug[:1].isalpha() else f"client-{client.slug}"
    return slug[:60] if slug != shipped_taxonomy().id else f"{slug}-own"


def _free_version(client: Client, taxonomy_id: str) -> str:
    used = TaxonomyVersion.objects.filter(client=client, taxonomy_id=taxonomy_id).values_list("version", flat=True)
    numbers = [int(version) for version in used if version.isascii() and version.isdigit()]
    return str(max(numbers, default=0) + 1)


def _with_line(source: str, name: str, value: str) -> str:
    """Replace a top-level member written on a line of its own; text of another shape stays as it is."""
    quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return re.sub(TOP_LINE.format(name), lambda _: f"{name}: {quoted}", source, count=1)


@lru_cache(maxsize=32)
def _parse(source: str) -> Taxonomy:
    return parse_taxonomy(source.encode())
