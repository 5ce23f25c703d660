"""List the files of a tree as git sees them: known ones and new ones, ignored ones left out."""

import os
import stat
from pathlib import Path

from goldseam.workspace.downloads import FOLDER
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.git import Git

GITLINK = "160000"
"""The mode with which git marks a submodule."""


_OURS = (f"--exclude=/{FOLDER}/", "--exclude=.goldseam-*")
"""What runs put into trees. Said here, it wins over what a `.gitignore` takes back with "!"."""


def list_files(git: Git) -> list[str]:
    """Return the paths in `git`'s index and those new in its tree that are not ignored, sorted.

    Repositories inside the tree count as plain folders: their files are listed, their git is not.
    A path in the index may be gone from the tree, and may be an unfilled submodule.
    """
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = split_names(git.run(*words, *_OURS))
    nested = [path for path in listed if path.endswith("/")]
    plain = {path for path in listed if not path.endswith("/")}
    return sorted(plain | set(files_below(git, nested)))


def files_below(git: Git, folders: list[str]) -> list[str]:
    """Return the files below `folders`, not ignored, without asking the git folders in there."""
    if not folders or git.work_tree is None:
        return []
    found = [path for folder in folders for path in walk_files(git.work_tree, folder.rstrip("/"))]
    # A leading "./" keeps a name such as ":x" from being read as anything but a name.
    asked = join_names([f"./{path}" for path in found])
    words = ("check-ignore", "-z", "--stdin", "--no-index")
    ignored = set(split_names(git.run(*words, stdin=asked, accept=(0, 1))))
    return [path for path in found if f"./{path}" not in ignored]


def record_files(git: Git, paths: list[str]) -> None:
    """Bring `paths` in `git`'s index to what stands in its tree; what is gone there is dropped.

    Submodules that stand as folders are left as they are in the index.

    Raises:
        WorkspaceError: a file cannot be read, or git takes no file of its name.
    """
    tree = git.work_tree or git.cwd
    kinds = _Kinds(tree)
    standing = {path: kinds.of(path) for path in paths}
    folders = [path for path, kind in standing.items() if kind == stat.S_IFDIR]
    links = _submodules(git) if folders else set()
    present = [path for path, kind in standing.items() if kind in {stat.S_IFREG, stat.S_IFLNK}]
    gone = sorted(set(paths) - set(present) - links)
    git.run("update-index", "--force-remove", "-z", "--stdin", stdin=join_names(gone))
    words = ("update-index", "--add", "--replace", "-z", "--stdin")
    git.run(*words, stdin=join_names(present))
    # Git passes over names that it takes for its own folder, and says so only in passing.
    refused = sorted(set(present) - set(split_names(git.run("ls-files", "-z", "--cached"))))
    if refused:
        raise WorkspaceError(f'git takes no file of the name "{refused[0]}"; rename or remove it')


def _submodules(git: Git) -> set[str]:
    entries = split_names(git.run("ls-files", "-z", "--stage"))
    return {entry.partition("\t")[2] for entry in entries if entry.startswith(GITLINK)}


class _Kinds:
    """The kinds of files in a tree; what lies behind a link is not in the tree."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._folders: dict[str, bool] = {"": True}

    def of(self, path: str) -> int:
        """Return the format bits of the file's mode, 0 where there is nothing."""
        if not self._is_folder(path.rpartition("/")[0]):
            return 0
        try:
            return stat.S_IFMT((self._tree / path).lstat().st_mode)
        except FileNotFoundError:
            return 0

    def _is_folder(self, path: str) -> bool:
        if path not in self._folders:
            self._folders[path] = self.of(path) == stat.S_IFDIR
        return self._folders[path]


def walk_files(tree: Path, folder: str) -> list[str]:
    """Return all files below `folder` of `tree`, links among them; git folders are left out."""
    found: list[str] = []
    for where, folders, names in os.walk(tree / folder):
        folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if (Path(where) / name).is_symlink()]
        here = Path(where).relative_to(tree)
        found += [str(here / name) for name in (*names, *links) if name != ".git"]
    return found


def split_names(listed: bytes) -> list[str]:
    """Return the names in a NUL-ended list, as `os.fsdecode` reads them."""
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def join_names(names: list[str]) -> bytes:
    """Return the NUL-ended list of `names`."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)
