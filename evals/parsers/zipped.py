"""Zip archives, with Zstandard members too: opened and read within limits, whatever their directory claims."""

import zlib
from typing import BinaryIO

from backports.zstd import ZstdError
from backports.zstd import zipfile as zip_files

from evals.errors import ImportRefused, Problem
from evals.parsers.reading import CHUNK, Limits, too_large, unreadable

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# What Inspect writes; the other methods have decoders with faults of their own, and nobody needs them.
METHODS = {zip_files.ZIP_STORED, zip_files.ZIP_DEFLATED, zip_files.ZIP_ZSTANDARD}
ENTRY_SIGNATURE = b"PK\x01\x02"  # begins each entry of the directory (APPNOTE 4.3.12)
FAULTS = (
    zip_files.BadZipFile,
    zip_files.LargeZipFile,
    ZstdError,
    zlib.error,
    NotImplementedError,
    RuntimeError,  # a member with a password
    EOFError,
    OSError,
    ValueError,
    KeyError,
)


def open_zip(stream: BinaryIO, limits: Limits) -> zip_files.ZipFile:
    """Return the archive. Raises ImportRefused when it is damaged or has more members than are taken."""
    _count_entries(stream, limits)
    try:
        return zip_files.ZipFile(stream)
    except FAULTS as error:
        raise unreadable("The zip archive is damaged or cut off.", code="bad_zip") from error


def _count_entries(stream: BinaryIO, limits: Limits) -> None:
    """Refuse a directory with too many entries before it is held in memory: counted by their signature, as the
    number in the directory's own end record may be a lie."""
    start = stream.tell()
    count, tail = 0, b""
    while chunk := stream.read(1 << 20):
        count += (tail + chunk).count(ENTRY_SIGNATURE)
        tail = chunk[-3:]
    stream.seek(start)
    if count > limits.max_zip_members:
        raise too_large(
            "The zip archive has too many members.",
            expected=f"at most {limits.max_zip_members} members (MAX_ZIP_MEMBERS)",
        )


class ZipReader:
    """Reads members of one archive; all of them together may unpack to so much and no more."""

    def __init__(self, archive: zip_files.ZipFile, limits: Limits) -> None:
        self.archive = archive
        self.limits = limits
        self._left = limits.max_unpacked_bytes

    def read(self, member: zip_files.ZipInfo) -> bytes:
        """Return the unpacked member, of two with one name this very one. Raises ImportRefused when it is damaged or
        too large."""
        pieces: list[bytes] = []
        size = 0
        self._check_method(member)
        try:
            with self.archive.open(member) as packed:
                while piece := packed.read(CHUNK):
                    size += len(piece)
                    self._check(size)
                    pieces.append(piece)
        except FAULTS as error:
            raise unreadable(
                f"The member “{member.filename[:80]}” of the zip archive can't be read.", code="bad_zip_member"
            ) from error
        self._left -= size
        return b"".join(pieces)

    def _check_method(self, member: zip_files.ZipInfo) -> None:
        method, name = member.compress_type, member.filename[:80]
        if method not in METHODS:
            detail = f"The member “{name}” of the zip archive is packed by a method that is not read ({method})."
            expected = "members that are stored, or packed by deflate or Zstandard, as Inspect writes them"
            raise ImportRefused(400, "bad_zip_member", detail, (Problem(detail, expected=expected),))

    def _check(self, size: int) -> None:
        if size > self._left:
            most = f"at most {self.limits.max_unpacked_bytes} bytes unpacked (MAX_UNPACKED_MB)"
            raise too_large("The zip archive unpacks to more than is taken.", expected=most)
        if size > self.limits.max_document_bytes:
            most = f"at most {self.limits.max_document_bytes} bytes a member (MAX_DOCUMENT_MB)"
            raise too_large("A member of the zip archive is too large.", expected=most)
