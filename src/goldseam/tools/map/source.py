"""The files that a map is made of: regular ones beneath the root, none behind a link.

A map looks at thousands of files, so they are opened by the resolver itself: the same wall that
the file tools stand behind, without their explanations.
"""

import hashlib
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from msgspec import Struct

from goldseam.tools.map.languages import Language
from goldseam.workspace.resolver import Root

MAX_FILE_BYTES = 512 * 1024
"""A file that is larger is generated, as a rule, and is named only."""

Stamp: TypeAlias = tuple[int, int, int, int]
"""What changes with a file: size, times, which one it is."""


class Text(Struct, frozen=True, kw_only=True):
    """What a file holds, and a name for just that in just this language."""

    content: bytes
    digest: bytes


class Source:
    """The files beneath `root`, held open until the end of the `with`."""

    def __init__(self, root: Path) -> None:
        self._path = str(root)
        self._root = Root(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._root.close()

    def stamp(self, path: str) -> Stamp | None:
        """Return what tells a change of the file, its size first; `None` where it is no file."""
        try:
            status = os.lstat(f"{self._path}/{path}")
        except OSError:
            return None  # gone since it was listed
        if not stat.S_ISREG(status.st_mode):
            return None
        return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    def read(self, path: str, language: Language) -> Text | None:
        """Return the file, if it is one and not too large."""
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
        try:
            with os.fdopen(self._root.open_beneath(path, flags), "rb") as file:
                is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
                content = file.read(MAX_FILE_BYTES + 1) if is_file else b""
        except OSError:
            return None  # gone, replaced, forbidden, or it leads out
        if not is_file or len(content) > MAX_FILE_BYTES:
            return None
        digest = hashlib.sha256(language.name.encode() + b"\0" + content).digest()
        return Text(content=content, digest=digest)
