"""Multipart files on their way in: on disk, and off it again at once when they do not arrive whole."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler


class TidyFileUploadHandler(TemporaryFileUploadHandler):
    """Django leaves a half-written file to the garbage collector, and a full disk full until then."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        with self._tidy():
            return super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> UploadedFile | None:  # type: ignore[type-arg]  # generic for mypy alone
        with self._tidy():  # the last bytes are written here
            return super().file_complete(file_size)

    @contextmanager
    def _tidy(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            with suppress(OSError):  # it writes what is left, and removes the file all the same
                self.file.close()
            raise
