"""Copies of a tree that trials may spoil: made beside it, gone after use.

Knows nothing of tests. Byte code is never copied, since it could outlive its source.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goldseam.workspace.errors import WorkspaceError

MAX_COPY_BYTES = 512 << 20
MAX_COPY_FILES = 50_000


@contextmanager
def scratch_beside(tree: Path) -> Iterator[Path]:
    """Give a new folder beside `tree` and remove it at the end, with all that is in it."""
    scratch = Path(tempfile.mkdtemp(prefix=".trials-", dir=tree.parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def copy_tree(
    tree: Path,
    into: Path,
    *,
    left_out: tuple[str, ...],
    max_bytes: int = MAX_COPY_BYTES,
    max_files: int = MAX_COPY_FILES,
) -> None:
    """Copy `tree` to the new folder `into`: files, folders and links as links.

    Byte code, special files and the paths `left_out` stay behind.

    Raises:
        WorkspaceError: the tree holds more than `max_bytes` or `max_files`.
    """
    skipped = {tree / path for path in left_out}
    bytes_left, files_left = max_bytes, max_files

    def ignore(folder: str, names: list[str]) -> set[str]:
        nonlocal bytes_left, files_left
        paths = [Path(folder, name) for name in names]
        kept = [path for path in paths if path not in skipped and _is_copied(path)]
        files_left -= len(kept)
        bytes_left -= sum(path.lstat().st_size for path in kept)
        if min(bytes_left, files_left) < 0:
            raise WorkspaceError(
                f"the tree is too large to be copied for trials (over {max_bytes >> 20} MB or "
                f"{max_files} files); use edit_file and run_tests instead"
            )
        return set(names) - {path.name for path in kept}

    shutil.copytree(tree, into, symlinks=True, ignore=ignore)


def _is_copied(path: Path) -> bool:
    if path.name == "__pycache__":
        return False
    return path.is_symlink() or path.is_dir() or path.is_file()
