"""Read a path that somebody else wrote: what it names in the tree, and whether it may be named.

Pure: nothing is looked up, so links are the opener's concern.
"""

import os
import unicodedata
from pathlib import Path

from goldseam.workspace.errors import WorkspaceError

LEADS_OUT = "leads out of the workspace; only what lies inside it can be used"


def normalise_path(path: str, *, origin: Path | None = None) -> str:
    """Return `path` relative to the tree, tidied; an absolute one must lie in `origin`.

    Raises:
        WorkspaceError: it is empty, absolute, leads out, is git's own, or cannot be a path.
    """
    if not path or any(unicodedata.category(character) in {"Cc", "Cs"} for character in path):
        raise WorkspaceError(f'"{path}" is no usable path: it is empty or holds control characters')
    parts: list[str] = []
    for part in _relative(path, origin).split("/"):
        if part == ".." and not parts:
            raise WorkspaceError(f'"{path}" {LEADS_OUT}')
        if part == "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    normal = "/".join(parts) or "."
    refuse_protected(normal, path)
    return normal


def is_protected(name: str) -> bool:
    """Return whether some file system would take `name` for git's own folder."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    seen = "".join(character for character in folded if unicodedata.category(character) != "Cf")
    return seen.partition(":")[0].rstrip(". ") in {".git", "git~1"}


def refuse_protected(path: str, asked: str) -> None:
    """Raise where a name in `path` is git's own; `asked` is how the caller wrote it.

    Raises:
        WorkspaceError: it is.
    """
    if any(is_protected(part) for part in path.split("/")):
        why = "belongs to git; file tools neither read nor write there"
        raise WorkspaceError(f'"{asked}" {why}')


def _relative(path: str, origin: Path | None) -> str:
    if not path.startswith("/"):
        return path
    where = os.path.normpath(path)
    if origin is not None and (Path(where) == origin or origin in Path(where).parents):
        return str(Path(where).relative_to(origin))
    raise WorkspaceError(
        f'"{path}" is absolute and not in this repository; give a path relative to its top folder'
    )
