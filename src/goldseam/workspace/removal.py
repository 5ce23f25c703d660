"""Remove a tree of ours whole, also where programs that ran in it have locked its folders."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

_OWNER = 0o700


def remove_tree(folder: Path) -> None:
    """Remove `folder` and all in it; links are removed, never followed.

    Raises:
        OSError: something in it cannot be removed; it belongs to another user, or is in use.
    """
    if folder.exists():
        shutil.rmtree(folder, onerror=_unlocked)


def _unlocked(
    remove: Callable[..., object],
    path: str,
    failure: tuple[type[BaseException], BaseException, TracebackType],
) -> None:
    """Give its owner the rights to the folder around `path`, and to it, and try once more."""
    if not isinstance(failure[1], PermissionError):
        raise failure[1]
    for place in (Path(path).parent, Path(path)):
        if not place.is_symlink():
            place.chmod(_OWNER)
    if remove is os.scandir or remove is os.open or remove is os.lstat:
        shutil.rmtree(path)
    else:
        remove(path)
