"""Find the files of a tree that somebody means: by a place and a pattern. Looks into none."""

import stat
from pathlib import Path

from goldseam.workspace.clone import Workspace
from goldseam.workspace.errors import MissingFileError, WorkspaceError
from goldseam.workspace.files import Files
from goldseam.workspace.globs import compile_glob
from goldseam.workspace.listing import list_files, walk_files


def find_files(
    workspace: Workspace,
    files: Files,
    *,
    path: str = ".",
    glob: str | None = None,
    max_bytes: int | None = None,
) -> list[str]:
    """Return the regular files in (or at) `path` that fit `glob`, sorted.

    What git ignores is left out, unless `path` names it; so are files larger than `max_bytes`.

    Raises:
        MissingFileError: nothing is at `path`.
        WorkspaceError: `path` or `glob` cannot be used.
    """
    where = files.normalise(path)
    fits = compile_glob(glob).fullmatch if glob else None
    with workspace.tree_index() as index:
        listed = list_files(workspace.git(work_tree=workspace.root, index=index))
    below = listed if where == "." else _below(workspace.root, files, where, listed=listed)
    return [
        found
        for found in below
        if (fits is None or fits(found)) and _counts(workspace.root / found, max_bytes)
    ]


def _below(root: Path, files: Files, where: str, *, listed: list[str]) -> list[str]:
    folder, _, name = where.rpartition("/")
    kinds = {entry.name: entry.kind for entry in files.list_dir(folder or ".")}
    match kinds.get(name):
        case "folder":
            known = [path for path in listed if path.startswith(f"{where}/")]
            return known or sorted(walk_files(root, where))
        case "file":
            return [where]
        case "link" | "other":
            raise WorkspaceError(
                f'"{where}" is no folder and no regular file; name what it stands for'
            )
        case None:
            raise MissingFileError(f'"{where}" does not exist')


def _counts(file: Path, max_bytes: int | None) -> bool:
    try:
        status = file.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and (max_bytes is None or status.st_size <= max_bytes)
