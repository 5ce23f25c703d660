"""The tree that edits are tried in: written, compared with what it was, and brought back.

Guest code (Python 3.8 or later, standard library). Knows nothing of tests or of trials.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import TypeAlias

    Signature: TypeAlias = tuple[int, int, int, int]


class Tree:
    """The files below a folder, and how to make them once more what they were at the start."""

    def __init__(self, root: str, *, pristine: str, skip: list[str]) -> None:
        self._root, self._pristine, self._skip = root, pristine, frozenset(skip)
        self._before = self._scan()

    def accept(self) -> None:
        """Take the tree as it stands for what it should be."""
        self._before = self._scan()

    def write(self, files: dict[str, bytes]) -> None:
        """Put whole new files in place; `restore` undoes it."""
        for path, content in files.items():
            Path(self._root, path).write_bytes(content)

    def restore(self) -> None:
        """Undo every change below the root, whoever made it; one walk where nothing changed."""
        after = self._scan()
        for path in sorted(after.keys() - self._before.keys(), reverse=True):
            _remove(Path(self._root, path))
        for path in sorted(self._before):
            if after.get(path) != self._before[path]:
                self._bring_back(path)

    def _bring_back(self, path: str) -> None:
        here, pristine = Path(self._root, path), Path(self._pristine, path)
        if stat.S_ISDIR(self._before[path][0]):
            if here.is_symlink() or not here.is_dir():
                _remove(here)
                here.mkdir()
            here.chmod(stat.S_IMODE(self._before[path][0]))
            return
        _remove(here)
        if pristine.is_symlink() or pristine.exists():
            shutil.copy2(str(pristine), str(here), follow_symlinks=False)
            self._before[path] = _signature(here.lstat())
        else:  # byte code of our own
            del self._before[path]

    def _scan(self) -> dict[str, Signature]:
        found: dict[str, Signature] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            with os.scandir(Path(self._root, folder)) as entries:
                for entry in entries:
                    path = folder + entry.name
                    if path in self._skip:
                        continue
                    found[path] = _signature(entry.stat(follow_symlinks=False))
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path + "/")
        return found


def _signature(status: os.stat_result) -> Signature:
    """The time of change cannot be set back, so that equal signatures mean an untouched file."""
    if stat.S_ISDIR(status.st_mode):
        return status.st_mode, 0, 0, 0
    return status.st_mode, status.st_size, status.st_ctime_ns, status.st_ino


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(str(path))
    elif path.is_symlink() or path.exists():
        path.unlink()
