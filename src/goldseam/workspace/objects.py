"""Carry git's objects from folder to folder. Knows their file names, not their content."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from goldseam.workspace.errors import WorkspaceError

_FAN_OUT = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}|[0-9a-f]{62}")
_PACKED = re.compile(r"pack-[0-9a-f]+\.(pack|idx|rev)")
_MAX_ALTERNATES = 8


def link_objects(source: Path, target: Path) -> None:
    """Give `target` all objects of `source` and of the stores it borrows from, as hard links.

    Where a link cannot be made (another disk, another owner), the file is copied. Links in `source`
    are not followed: an object is a regular file.
    """
    for folder in _with_alternates(source):
        _carry(folder, target, link=True)


def copy_objects(source: Path, target: Path) -> None:
    """Give `target` its own copies: whoever may write there cannot reach `source`'s files."""
    _carry(source, target, link=False)


def objects_size(source: Path) -> int:
    """Return the bytes that `copy_objects` would copy."""
    return sum(entry.stat(follow_symlinks=False).st_size for _, entry in _object_files(source))


def _carry(source: Path, target: Path, *, link: bool) -> None:
    for folder, entry in _object_files(source):
        place = target / folder
        place.mkdir(parents=True, exist_ok=True)
        # An object that vanished meanwhile was packed: packs are listed after loose objects.
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            _place(Path(entry.path), place / entry.name, link=link)


def _place(source: Path, target: Path, *, link: bool) -> None:
    if link:
        try:
            os.link(source, target, follow_symlinks=False)
        except (FileExistsError, FileNotFoundError):
            raise
        except OSError:
            link = False  # another disk, or a file that only its owner may link
    if not link:
        shutil.copyfile(source, target, follow_symlinks=False)


def _object_files(source: Path) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Yield (folder, file): loose objects first, then packs, so that a repack loses none."""
    folders = sorted(entry.name for entry in os.scandir(source) if _FAN_OUT.fullmatch(entry.name))
    for folder, names in (*((folder, _LOOSE) for folder in folders), ("pack", _PACKED)):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for entry in os.scandir(source / folder):
                if names.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    yield folder, entry


def _with_alternates(source: Path) -> list[Path]:
    found: list[Path] = []
    waiting = [source]
    while waiting:
        folder = waiting.pop()
        if folder in found or not folder.is_dir():
            continue
        found.append(folder)
        if len(found) > _MAX_ALTERNATES:
            raise WorkspaceError("the repository borrows objects from too many others")
        with contextlib.suppress(FileNotFoundError):
            listed = (folder / "info" / "alternates").read_text("utf-8", "surrogateescape")
            lines = [line for line in listed.splitlines() if line and not line.startswith("#")]
            waiting += [Path(os.path.normpath(folder / line)) for line in lines]
    return found
