"""From a request's body to a stored artifact: streamed to disk, hashed and measured on the way."""

import hashlib
import os
import tempfile
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files import File
from django.core.files.storage import Storage, storages
from django.core.files.uploadedfile import UploadedFile

from reliability.errors import AppError

CHUNK = 65536
MIB = 1024 * 1024


class TooLarge(AppError):
    status = 413
    code = "too_large"


class Unreadable(AppError):
    status = 400
    code = "unreadable"


@dataclass(frozen=True, slots=True)
class Received:
    """A body on disk, not yet anybody's. `discard` removes it."""

    path: Path
    sha256: str
    size: int  # bytes, after undoing transfer coding
    file_name: str = ""

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)


def receive_chunks(chunks: Iterator[bytes], *, file_name: str = "") -> Received:
    """Write the chunks to a temporary file beside the artifacts. Raises `TooLarge` beyond MAX_UNPACKED_MB."""
    limit = settings.MAX_UNPACKED_MB * MIB
    digest, size = hashlib.sha256(), 0
    handle, name = tempfile.mkstemp(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="upload-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                _check_size(size, limit)
                digest.update(chunk)
                file.write(chunk)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return Received(path, digest.hexdigest(), size, clean_name(file_name))


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"The artifact is larger than {settings.MAX_UNPACKED_MB} MiB (MAX_UNPACKED_MB).")


def read_exactly(stream: BinaryIO, length: int) -> Iterator[bytes]:
    """Yield the announced bytes. A client that breaks off looks like one that is done, so the count is checked."""
    left = length
    while left and (chunk := stream.read(min(CHUNK, left))):
        left -= len(chunk)
        yield chunk
    if left:
        raise Unreadable(
            f"The request announced {length} bytes and brought {length - left}: it was cut off on the way.",
            code="cut_off",
        )


def gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Undo `Content-Encoding: gzip`, in pieces of bounded size; several members in a row are one body."""
    unpack = zlib.decompressobj(wbits=31)
    fresh = True
    for chunk in chunks:
        rest = chunk
        while rest:
            if unpack.eof:
                unpack = zlib.decompressobj(wbits=31)
            try:
                piece = unpack.decompress(rest, CHUNK)
            except zlib.error as fault:
                raise Unreadable("The body says Content-Encoding: gzip but is not gzip.", code="not_gzip") from fault
            fresh = False
            rest = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
            if piece:
                yield piece
    while not unpack.eof and (piece := unpack.decompress(b"", CHUNK)):
        yield piece
    if fresh or not unpack.eof:
        raise Unreadable("The gzip body ends in the middle.", code="cut_off")


def receive_file(upload: UploadedFile[Any]) -> Received:
    """Take a multipart file; it is a gzip *file* if it is one, and stays so."""
    return receive_chunks(iter(upload.chunks(CHUNK)), file_name=upload.name or "")


def clean_name(name: str) -> str:
    """Return a file name that is safe to show and to send: its last part, without control characters."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[:255]


class MovableFile(File):  # type: ignore[type-arg]  # generic for the type checker alone
    """A file that the local storage may rename into place instead of copying."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def keep_file(received: Received, client_id: object, *, temporary: bool = False) -> str:
    """Move the bytes to where the client's artifacts are and return the path in the storage.

    Files are named by their hash, so that equal bytes are kept once; a temporary one is nobody else's.
    """
    name = f"temporary/{uuid.uuid4().hex}" if temporary else f"{received.sha256[:2]}/{received.sha256}"
    path = f"{client_id}/{name}"
    with received.path.open("rb") as file:
        store_once(path, MovableFile(file), received.size)
    received.discard()
    return path


def store_once(path: str, file: File[bytes], size: int) -> None:
    """Store the whole file under a path that its hash names, unless it is there."""
    storage = storages["default"]
    _drop_cut_off(storage, path, size)  # left by a process that died
    if storage.exists(path):
        return
    try:
        stored = storage.save(path, file)
    except OSError:
        _drop_cut_off(storage, path, size)  # the disk is full
        raise
    if stored != path and storage.exists(path):
        storage.delete(stored)  # another upload of the same bytes came first


def _drop_cut_off(storage: Storage, path: str, size: int) -> None:
    """Where artifacts are on another file system than the uploads, storing one is a copy, and may end in the middle."""
    if storage.exists(path) and storage.size(path) != size:
        storage.delete(path)
