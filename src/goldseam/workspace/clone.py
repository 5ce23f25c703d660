"""Open a run's own clone of a repository, or its own copy of a plain folder.

In `home` stand `tree/` (the clone: the run may do there what it likes), `store.git/` (our git
folder: the objects, the base, the rules; nothing in the clone can reach it) and `built/` (ignored
build products to be laid into every tree). The user's tree and its git folder are only ever read.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from goldseam.workspace.base import record_base
from goldseam.workspace.environment import copy_built, find_ignored
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.git import Git
from goldseam.workspace.objects import copy_objects, objects_size
from goldseam.workspace.repository import Repository, find_repository

DOWNLOADS = "download"
"""The folder in the clone for outputs too long to show; its new files are never in a patch."""

MAX_COPIED_BYTES = 256 * 1024 * 1024
"""A clone gets the whole history where its objects are no larger than this, else its base alone."""

_IDENTITY = "[user]\n\tname = Goldseam\n\temail = goldseam@localhost\n[gc]\n\tauto = 0\n"
_SHA256_DIGITS = 64


class Workspace(Struct, frozen=True, kw_only=True):
    """A run's own tree. `base` is the commit in our store that a patch starts from."""

    root: Path
    origin: Path
    base: str
    kind: Literal["git", "folder"]
    environment: tuple[str, ...] = ()
    branch: str | None = "main"
    git_program: str = "git"

    @property
    def store(self) -> Path:
        """Our git folder, beside the clone and out of its reach."""
        return self.root.parent / "store.git"

    @property
    def built(self) -> Path:
        """Copies of the user's ignored build products, laid out as in the tree."""
        return self.root.parent / "built"

    def git(self, *, work_tree: Path, index: Path) -> Git:
        """Return git over our store: `work_tree` is looked at, its own git folder never is."""
        return Git(
            work_tree, self.git_program, git_dir=self.store, work_tree=work_tree, index=index
        )

    @contextmanager
    def scratch_index(self) -> Iterator[Path]:
        """Give the path of an index that does not exist yet and is gone afterwards."""
        with tempfile.TemporaryDirectory(dir=self.store, prefix="index-") as folder:
            yield Path(folder) / "index"

    @contextmanager
    def tree_index(self) -> Iterator[Path]:
        """Give a copy of the clone's index as it was checked out, gone afterwards.

        It knows each file's times, so that only changed files are read again.
        """
        with self.scratch_index() as index:
            shutil.copy2(self.store / "index", index)
            yield index


def open_workspace(
    repository: Path,
    *,
    home: Path,
    include_dirty: bool = False,
    git: str = "git",
    ignore_file: Path | None = None,
) -> Workspace:
    """Clone `repository` (any folder in it) at its HEAD into `home`, a folder for it alone.

    A folder without git is copied. `git` is the program, as `find_git` gives it; `ignore_file`
    holds the person's own ignore rules, if there are any beside the repository's.

    Raises:
        UncommittedChangesError: there are changes, and `include_dirty` is not set.
        WorkspaceError: the repository is bare, has no commits or cannot be read, or `home` is used
            or lies in the repository. Nothing is left in `home`.
    """
    found = find_repository(repository, git=git)
    origin = found.origin if found else repository.resolve()
    room = home.resolve()
    made = parts_of(room)
    check_room(room, origin)
    opened = Workspace(
        root=room / "tree",
        origin=origin,
        base="",
        kind="git" if found else "folder",
        branch=found.branch if found else "main",
        git_program=git,
    )
    try:
        room.mkdir(parents=True, exist_ok=True)
        return _fill(opened, found, include_dirty=include_dirty, ignore_file=ignore_file)
    except BaseException:
        for path in made:
            shutil.rmtree(path, ignore_errors=True)
        raise


def checkout_clean(workspace: Workspace, into: Path) -> Path:
    """Make a second tree at the base in `into` (absent or empty), with git of its own; return it.

    Raises:
        WorkspaceError: `into` is used, or the tree cannot be written.
    """
    with workspace.scratch_index() as index:
        return checkout(workspace, into, index)


def parts_of(room: Path) -> list[Path]:
    """Return what is made in the folder of a workspace."""
    return [room / name for name in ("tree", "store.git", "built")]


def check_room(room: Path, origin: Path) -> None:
    """Return if a workspace of `origin` may be made in `room`; else raise WorkspaceError."""
    if room.is_relative_to(origin):
        raise WorkspaceError(
            "the workspace would stand inside the repository, which is never written; "
            "set GOLDSEAM_HOME to a folder outside it"
        )
    if any(path.exists() for path in parts_of(room)):
        raise WorkspaceError("the workspace's folder is already used by another run")


def _fill(
    opened: Workspace, found: Repository | None, *, include_dirty: bool, ignore_file: Path | None
) -> Workspace:
    over_user_tree = opened.git(work_tree=opened.origin, index=opened.store / "no-index")
    over_user_tree = msgspec.structs.replace(over_user_tree, cwd=opened.origin)
    base = record_base(over_user_tree, found, include_dirty=include_dirty, ignore_file=ignore_file)
    ignored = find_ignored(base.over_user_tree, opened.origin)
    opened.built.mkdir()
    copy_built(opened.origin, opened.built, ignored.built)
    filled = msgspec.structs.replace(opened, base=base.commit, environment=ignored.environment)
    checkout(filled, filled.root, filled.store / "index")
    return filled


def checkout(workspace: Workspace, into: Path, index: Path) -> Path:
    """Make `into` a tree at the base with git of its own, and `index` what knows its files' times.

    Raises:
        WorkspaceError: `into` is used, or the tree cannot be written.
    """
    if into.exists() and any(into.iterdir()):
        raise WorkspaceError("the folder for the clean checkout is not empty")
    into.mkdir(parents=True, exist_ok=True)
    git = workspace.git(work_tree=into, index=index)
    git.run("read-tree", "-m", "-u", values=[workspace.base])
    give_git(workspace, into, index)
    if workspace.built.is_dir():
        shutil.copytree(workspace.built, into, dirs_exist_ok=True)
    return into


def give_git(
    workspace: Workspace, tree: Path, index: Path, *, max_copied_bytes: int = MAX_COPIED_BYTES
) -> None:
    """Make the git folder of `tree`: at the base, with no file of it shared with anybody else's.

    Objects are copied, not linked: a hard link would be a door into the user's own repository,
    since whoever may change a file's mode may write through it.
    """
    kind = "sha256" if len(workspace.base) == _SHA256_DIGITS else "sha1"
    outside = Git(tree, workspace.git_program)
    outside.run("init", "--quiet", "--template=", f"--object-format={kind}", paths=[str(tree)])
    folder = tree / ".git"
    with (folder / "config").open("a", encoding="utf-8") as config:
        config.write(_IDENTITY)
    (folder / "info").mkdir(exist_ok=True)
    shutil.copyfile(workspace.store / "info" / "exclude", folder / "info" / "exclude")
    if objects_size(workspace.store / "objects") <= max_copied_bytes:
        copy_objects(workspace.store / "objects", folder / "objects")
        if (workspace.store / "shallow").is_file():
            shutil.copyfile(workspace.store / "shallow", folder / "shallow")
    else:
        pack_base(workspace, folder)
    shutil.copy2(index, folder / "index")
    _set_head(Git(tree, workspace.git_program, git_dir=folder), workspace)


def pack_base(workspace: Workspace, folder: Path) -> None:
    """Give the git folder `folder` the base and what it needs, and nothing of what came before."""
    (folder / "objects" / "pack").mkdir(exist_ok=True)
    store = Git(workspace.store, workspace.git_program, git_dir=workspace.store)
    asked = f"--shallow {workspace.base}\n{workspace.base}\n".encode()
    target = str(folder / "objects" / "pack" / "pack")
    store.run("pack-objects", "--revs", "--quiet", values=[target], stdin=asked)
    (folder / "shallow").write_text(f"{workspace.base}\n", encoding="ascii")


def _set_head(git: Git, workspace: Workspace) -> None:
    if workspace.branch is None:
        git.run("update-ref", "--no-deref", "HEAD", values=[workspace.base])
    else:
        branch = f"refs/heads/{workspace.branch}"
        git.run("update-ref", values=[branch, workspace.base])
        git.run("symbolic-ref", "HEAD", values=[branch])
