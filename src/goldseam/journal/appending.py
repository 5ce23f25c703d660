"""A file that only grows: a piece that cannot be written whole is not there at all."""

import os
from contextlib import suppress
from pathlib import Path

from goldseam.kernel.errors import JournalError


class GrowingFile:
    """Takes pieces at its end; after one failure nothing more, for the disk is not to be trusted.

    Making it raises OSError where the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        self._length = os.fstat(self._descriptor).st_size
        self._broken = False

    def append(self, piece: bytes, *, durable: bool) -> None:
        """Write `piece` at the end; where `durable`, return only once it would outlive the machine.

        Raises:
            JournalError: it could not be written, or somebody else changed the file; where
                `durable`, or deleted it.
        """
        if self._broken:
            raise JournalError(f"{self._path}: an earlier write failed, so nothing more is written")
        self._refuse_strange_change(durable=durable)
        whole = False
        try:
            self._write(piece)
            if durable:
                os.fdatasync(self._descriptor)
            whole = True
        except OSError as error:
            self._broken = True
            raise JournalError(f"{self._path}: cannot be written: {error.strerror}") from error
        finally:
            # Also where Ctrl-C came between two writes.
            if not whole:
                # Where not even this can be done, the next opening cuts the torn line.
                with suppress(OSError):
                    self.cut(self._length)
        self._length += len(piece)

    def cut(self, length: int) -> None:
        """Take away all behind `length` bytes; raises OSError."""
        os.ftruncate(self._descriptor, length)
        self._length = length

    def end_line(self) -> None:
        """Write a line feed where the last line has none; raises JournalError."""
        if self._length and os.pread(self._descriptor, 1, self._length - 1) != b"\n":
            self.append(b"\n", durable=False)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)

    def _write(self, piece: bytes) -> None:
        done = os.write(self._descriptor, piece)
        while done < len(piece):
            done += os.write(self._descriptor, memoryview(piece)[done:])

    def _refuse_strange_change(self, *, durable: bool) -> None:
        # Asking for the end costs a tenth of asking for all that is known of the file.
        changed = os.lseek(self._descriptor, 0, os.SEEK_END) != self._length
        if changed or (durable and os.fstat(self._descriptor).st_nlink == 0):
            self._broken = True
            raise JournalError(f"{self._path}: somebody else changed or deleted it during the run")
