"""Find, among a tree's ignored files, those without which its tests would not run.

Two kinds. *Environment folders* (.venv, node_modules, …) are large and are only named: a sandbox
shows them read-only in their places. *Build products* (`*.egg-info`, `*.dist-info`, compiled
extension modules, generated version files) are small, are looked for by an editable install, and
are carried as copies. Other ignored files stay behind: secrets such as `.env` among them.
"""

import fnmatch
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from goldseam.workspace.git import Git
from goldseam.workspace.listing import split_names, walk_files

LEFT_OUT = """\
# Never part of a patch, whatever the repository's own rules say.
.venv
.tox
.nox
node_modules
__pycache__/
*.py[co]
.pytest_cache/
.mypy_cache/
.ruff_cache/
.hypothesis/
.DS_Store
/download/
.goldseam-*
"""

_NAMES = frozenset({".venv", "venv", "env", ".tox", ".nox", "node_modules"})
_CACHES = frozenset({
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".git",
})
_BUILT_FOLDERS = ("*.egg-info", "*.dist-info")
_BUILT_FILES = (
    "*.so",
    "*.pyd",
    "*.dylib",
    "_version.py",
    "version.py",
    "*_version.py",
    "*.egg-link",
)
_MAX_BUILT_BYTES = 64 * 1024 * 1024
_MAX_BUILT_FILES = 4096


class Ignored(Struct, frozen=True, kw_only=True):
    """What matters of a tree's ignored files, as paths relative to it."""

    environment: tuple[str, ...] = ()
    built: tuple[str, ...] = ()


def find_ignored(git: Git, tree: Path) -> Ignored:
    """Return the environment folders and build products that `git` ignores in `tree`."""
    ask = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    ignored = split_names(git.run(*ask))
    folders = [path.rstrip("/") for path in ignored if (tree / path).is_dir()]
    environment = _outermost({found for path in folders for found in _environments(tree, path)})
    built = {path for path in ignored if _matches(PurePosixPath(path).name, _BUILT_FILES)}
    for path in folders:
        if _matches(PurePosixPath(path).name, _BUILT_FOLDERS):
            built |= set(walk_files(tree, path))
    outside = [path for path in built if not _is_below(path, environment)]
    return Ignored(environment=tuple(sorted(environment)), built=tuple(sorted(outside)))


def is_environment(folder: Path) -> bool:
    """Return whether `folder` holds installed packages, by its name or by its mark."""
    return folder.name in _NAMES or (folder / "pyvenv.cfg").is_file()


def copy_built(source: Path, target: Path, paths: tuple[str, ...]) -> None:
    """Copy regular files from tree to tree, up to a size and a number; links are left behind."""
    for path in paths[:_MAX_BUILT_FILES]:
        status = (source / path).lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_BUILT_BYTES:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, target / path, follow_symlinks=False)
            (target / path).chmod(stat.S_IMODE(status.st_mode) & 0o777)


def _environments(tree: Path, path: str) -> Iterator[str]:
    folder = tree / path
    if is_environment(folder):
        yield path
    elif folder.name not in _CACHES and not folder.is_symlink():
        # One level down and no further: a folder such as "work/" may hold an environment.
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir() and is_environment(Path(entry.path)):
                    yield f"{path}/{entry.name}"


def _outermost(paths: set[str]) -> set[str]:
    return {path for path in paths if not _is_below(path, paths)}


def _is_below(path: str, folders: set[str]) -> bool:
    return any(str(parent) in folders for parent in PurePosixPath(path).parents)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
