"""What goes over the wire for reviews. The snapshot itself is `snapshot_reading.Snapshot`."""

from datetime import date, datetime

import msgspec


class RevisionOut(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    published_at: datetime | None


class ReviewOut(msgspec.Struct, frozen=True, kw_only=True):
    """`revisions` are the published ones, newest first; `snapshot` is the newest."""

    id: str
    agent: str
    number: int
    as_of: date
    revision: int
    published_at: datetime | None
    revisions: list[RevisionOut]
    url: str
    sha256: str
    snapshot: msgspec.Raw
