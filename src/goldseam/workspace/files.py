"""Read, list and write files of one tree for somebody who is not trusted with paths.

Every access goes through a `Root`, so that no link and no race leads out. Errors are
`WorkspaceError`s: one line, relative paths, and a way on. Knows nothing of git but the name of its
folder.
"""

import codecs
import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.workspace.downloads import Downloads
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.paths import is_protected, normalise_path, refuse_protected
from goldseam.workspace.refusals import explained, require_regular
from goldseam.workspace.resolver import Root

MAX_READ_BYTES = 8 * 1024 * 1024
TEMPORARY_PREFIX = ".goldseam-"

Encoding: TypeAlias = Literal["utf-8", "utf-8-sig", "utf-16", "utf-32"]

_SNIFFED_BYTES = 8192
_CHUNK_BYTES = 1024 * 1024
_WIDE_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class FileBytes(Struct, frozen=True, kw_only=True):
    """The start of a file: `path` as it truly is, and whether there was more than `content`."""

    path: str
    content: bytes
    truncated: bool = False


class FileText(Struct, frozen=True, kw_only=True):
    """A file read as text. Where `odd_bytes`, bytes that are no text show as U+FFFD."""

    path: str
    text: str
    encoding: Encoding
    odd_bytes: bool = False
    truncated: bool = False


class BinaryFile(Struct, frozen=True, kw_only=True):
    """A file that is no text; `size` in bytes, as far as it was read."""

    path: str
    size: int
    truncated: bool = False


ReadFile: TypeAlias = FileText | BinaryFile


class Entry(Struct, frozen=True, kw_only=True):
    """One name in a folder; `size` in bytes, for files."""

    name: str
    kind: Literal["file", "folder", "link", "other"]
    size: int = 0


class Written(Struct, frozen=True, kw_only=True):
    """Where a file was written (a link's target, where it was one), and whether it is new."""

    path: str
    created: bool


class Files:
    """The files beneath `root`. An absolute path is taken only where it lies under `origin`."""

    def __init__(self, root: Root, *, origin: Path | None = None) -> None:
        self._root = root
        self._origin = origin
        self.downloads = Downloads(root)

    def normalise(self, path: str) -> str:
        """Return `path` relative to the root, without "." and "..".

        Raises:
            WorkspaceError: it is empty, absolute, leads out, is git's own, or cannot be a path.
        """
        return normalise_path(path, origin=self._origin)

    def read_bytes(self, path: str, *, max_bytes: int = MAX_READ_BYTES) -> FileBytes:
        """Return at most the first `max_bytes` bytes of a regular file.

        Raises:
            MissingFileError: nothing is there.
            WorkspaceError: it is no regular file, leads out, is git's own, or cannot be read.
        """
        asked = self.normalise(path)
        with explained(asked), self._opened(asked, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            true = self._true_path(descriptor, asked)
            require_regular(os.fstat(descriptor), asked)
            content = _read_up_to(descriptor, max_bytes + 1)
        return FileBytes(path=true, content=content[:max_bytes], truncated=len(content) > max_bytes)

    def read(self, path: str, *, max_bytes: int = MAX_READ_BYTES) -> ReadFile:
        """Return a file as text where it is text. Raises as `read_bytes`."""
        return read_as_text(self.read_bytes(path, max_bytes=max_bytes))

    def list_dir(self, path: str = ".") -> tuple[Entry, ...]:
        """Return what is in a folder, by name; git's own folder is left out.

        Raises:
            MissingFileError: nothing is there.
            WorkspaceError: it is no folder, leads out, is git's own, or cannot be read.
        """
        asked = self.normalise(path)
        with explained(asked), self._opened(asked, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            self._true_path(descriptor, asked)
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise WorkspaceError(f'"{asked}" is a file, not a folder; read it instead')
            with os.scandir(descriptor) as entries:
                found = [_entry(entry) for entry in entries if not is_protected(entry.name)]
        return tuple(sorted(found, key=lambda entry: entry.name))

    def write(self, path: str, content: bytes) -> Written:
        """Put `content` at `path`, whole or not at all; mode bits stay, missing folders are made.

        A link inside the workspace stays and its target is replaced; a hard link is broken.

        Raises:
            WorkspaceError: it is no regular file, leads out, is a dangling link, is git's own, or
                cannot be written.
        """
        asked = self.normalise(path)
        with explained(asked):
            target, mode = self._target(asked)
            folder, _, name = target.rpartition("/")
            with self._made_folder(folder) as descriptor:
                _replace(descriptor, name, content, mode=mode)
        return Written(path=target, created=mode is None)

    def remove(self, path: str) -> None:
        """Take the file at `path` away; of a link, the link itself.

        Raises:
            MissingFileError: nothing is there.
            WorkspaceError: it is a folder, leads out, is git's own, or cannot be removed.
        """
        asked = self.normalise(path)
        folder, _, name = asked.rpartition("/")
        flags = os.O_RDONLY | os.O_DIRECTORY
        with explained(asked), self._opened(folder or ".", flags) as descriptor:
            true = self._true_path(descriptor, asked)
            refuse_protected(f"{true}/{name}", asked)
            if not stat.S_ISLNK(os.lstat(name, dir_fd=descriptor).st_mode):
                require_regular(os.lstat(name, dir_fd=descriptor), asked)
            os.unlink(name, dir_fd=descriptor)

    def _target(self, asked: str) -> tuple[str, int | None]:
        """Return where a write of `asked` must land and the mode bits of what is there, if any."""
        try:
            descriptor = self._root.open_beneath(asked, os.O_PATH)
        except FileNotFoundError:
            if self._is_link(asked):
                why = "is a link to nothing; remove the link or name its target"
                raise WorkspaceError(f'"{asked}" {why}') from None
            return asked, None
        with _closing(descriptor):
            true = self._true_path(descriptor, asked)
            status = os.fstat(descriptor)
            require_regular(status, asked)
            return true, stat.S_IMODE(status.st_mode) & 0o777

    def _is_link(self, asked: str) -> bool:
        try:
            descriptor = self._root.open_beneath(asked, os.O_PATH | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        with _closing(descriptor):
            return stat.S_ISLNK(os.fstat(descriptor).st_mode)

    @contextlib.contextmanager
    def _made_folder(self, folder: str) -> Iterator[int]:
        flags = os.O_RDONLY | os.O_DIRECTORY
        path = "."
        with contextlib.ExitStack() as held:
            here = held.enter_context(self._opened(path, flags))
            for name in folder.split("/") if folder else ():
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=here)
                path = f"{path}/{name}".removeprefix("./")
                here = held.enter_context(self._opened(path, flags))
                self._true_path(here, path)
            yield here

    @contextlib.contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        with _closing(self._root.open_beneath(path, flags)) as descriptor:
            yield descriptor

    def _true_path(self, descriptor: int, asked: str) -> str:
        true = self._root.true_path(descriptor, asked)
        refuse_protected(true, asked)
        return true


def read_as_text(file: FileBytes) -> ReadFile:
    """Return `file` as text, or as binary where its first 8 KiB hold a NUL without a wide mark."""
    for mark, wide in _WIDE_MARKS:
        if file.content.startswith(mark):
            return _decoded(file, wide)
    if b"\0" in file.content[:_SNIFFED_BYTES]:
        return BinaryFile(path=file.path, size=len(file.content), truncated=file.truncated)
    return _decoded(file, "utf-8-sig" if file.content.startswith(codecs.BOM_UTF8) else "utf-8")


def _decoded(file: FileBytes, encoding: Encoding) -> FileText:
    make = codecs.getincrementaldecoder(encoding)
    # A cut may fall inside a character: that half is left out, not called odd.
    final = not file.truncated
    try:
        text, odd = make().decode(file.content, final=final), False
    except UnicodeDecodeError:
        text, odd = make(errors="replace").decode(file.content, final=final), True
    return FileText(
        path=file.path, text=text, encoding=encoding, odd_bytes=odd, truncated=file.truncated
    )


def _entry(entry: "os.DirEntry[str]") -> Entry:
    if entry.is_symlink():
        return Entry(name=entry.name, kind="link")
    if entry.is_dir(follow_symlinks=False):
        return Entry(name=entry.name, kind="folder")
    if not entry.is_file(follow_symlinks=False):
        return Entry(name=entry.name, kind="other")
    return Entry(name=entry.name, kind="file", size=entry.stat(follow_symlinks=False).st_size)


def _read_up_to(descriptor: int, limit: int) -> bytes:
    """Read until the end or `limit`; what the file says of its own size is not trusted."""
    pieces: list[bytes] = []
    left = limit
    while left and (piece := os.read(descriptor, min(left, _CHUNK_BYTES))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _replace(folder: int, name: str, content: bytes, *, mode: int | None) -> None:
    temporary = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    # A new file gets what the umask leaves; an old one is closed to others until its mode is back.
    descriptor = os.open(temporary, flags, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


@contextlib.contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
