"""Keep whole what is too large to show: in files of the tree that no patch takes in.

Files are made, never written over: what stands in the folder already is somebody else's.
"""

import contextlib
import itertools
import os
from collections.abc import Iterator

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.refusals import explained
from goldseam.workspace.resolver import Root

FOLDER = "download"
SECOND_FOLDER = ".goldseam-download"
"""Used where the first is no folder of the tree's own: a file, or a link to somewhere."""

MEMORY_BYTES = 50_000
DISK_BYTES = 64 * 1024 * 1024
"""Bytes of one output that are kept; a program can write for ever, and a disk is not endless."""

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


class Downloads:
    """The folder for them beneath one root; it is made when the first file is."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._numbers = itertools.count(1)

    def create(self, stem: str, suffix: str) -> tuple[str, int]:
        """Make a new file; return its path in the tree and a descriptor to write to.

        Raises:
            WorkspaceError: it cannot be made.
        """
        plain = "".join(character if character in _NAME else "_" for character in stem)[:80]
        with explained(FOLDER), self._folder() as (folder, descriptor):
            while True:
                name = f"{plain.lstrip('.') or 'output'}-{next(self._numbers)}{suffix}"
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                with contextlib.suppress(FileExistsError):
                    return f"{folder}/{name}", os.open(name, flags, 0o666, dir_fd=descriptor)

    def keep(self, stem: str, suffix: str, content: bytes) -> str:
        """Put `content` into a new file and return its path.

        Raises:
            WorkspaceError: it cannot be written, as where the disk is full.
        """
        path, descriptor = self.create(stem, suffix)
        with explained(path), os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return path

    @contextlib.contextmanager
    def _folder(self) -> Iterator[tuple[str, int]]:
        for name in (FOLDER, SECOND_FOLDER):
            descriptor = self._opened(name)
            if descriptor is None:
                continue
            try:
                yield name, descriptor
            finally:
                os.close(descriptor)
            return
        raise WorkspaceError(f'"{FOLDER}" is no folder, so that nothing can be kept there')

    def _opened(self, name: str) -> int | None:
        """Return the folder, made if need be; none where something else has its name."""
        top = self._root.open_beneath(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=top)
            return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        except NotADirectoryError:
            return None
        finally:
            os.close(top)


class Spool:
    """An output as it comes: counted whole, in memory while it is short, beyond that in a file.

    Adding never raises: a full disk must not stop the program that is listened to.
    """

    def __init__(
        self,
        downloads: Downloads,
        stem: str,
        *,
        memory_bytes: int = MEMORY_BYTES,
        disk_bytes: int = DISK_BYTES,
    ) -> None:
        self._downloads, self._stem = downloads, stem
        self._memory_bytes, self._disk_bytes = memory_bytes, disk_bytes
        self._memory, self._descriptor = bytearray(), -1
        self.size, self.kept, self._newlines, self._last = 0, 0, 0, b"\n"
        self.path: str | None = None
        self.trouble: str | None = None

    @property
    def lines(self) -> int:
        """How many lines there were, the last one perhaps without an end."""
        return self._newlines + (self._last != b"\n")

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        self.size += len(piece)
        self._newlines += piece.count(b"\n")
        self._last = piece[-1:] or self._last
        if self.path is None and self.trouble is None:
            self._memory += piece
            if len(self._memory) > self._memory_bytes:
                self.save(".txt")
        else:
            self._write(piece)

    def save(self, suffix: str) -> None:
        """Have what came so far in a file, and what comes from now on too."""
        if self.path is not None or self.trouble is not None:
            return
        try:
            self.path, self._descriptor = self._downloads.create(self._stem, suffix)
        except WorkspaceError as error:
            self.trouble = error.message
        self._write(bytes(self._memory))
        self._memory.clear()

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, piece: bytes) -> None:
        rest = memoryview(piece)[: max(0, self._disk_bytes - self.kept)]
        try:
            while rest and self._descriptor >= 0:
                written = os.write(self._descriptor, rest)
                self.kept += written
                rest = rest[written:]
        except OSError as error:
            self.trouble = f"the rest could not be kept: {error.strerror}"
            self.close()
