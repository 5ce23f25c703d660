"""Checkpoints of a run's files, taken of the tree and brought back to it.

Files go in and come back byte for byte, whatever attributes say. What git ignores is neither kept
nor touched. Git folders in the tree are not looked at: no commit, index, reference or stash there
changes, and none shows a checkpoint.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

from goldseam.workspace.checkpoint_store import BASE, INDEX, Checkpoint, CheckpointStore
from goldseam.workspace.clone import Workspace
from goldseam.workspace.differences import Change
from goldseam.workspace.errors import WorkspaceError, one_line
from goldseam.workspace.git import Git
from goldseam.workspace.kept import keep_workspace
from goldseam.workspace.listing import GITLINK, files_below, join_names, split_names

_ATTRIBUTES = "* -text -ident !eol !working-tree-encoding !filter !diff !merge\n"

_SUMS = (partial(hashlib.sha1, usedforsecurity=False), hashlib.sha256)

MAX_FILE_BYTES = 100 * 1024 * 1024
"""A larger file is not kept when it is new or changed."""

MAX_NEW_BYTES = 1024 * 1024 * 1024
"""More than this is not kept by one checkpoint."""


def make_store(folder: Path, workspace: Workspace) -> CheckpointStore:
    """Make in `folder`, which is not there yet, the store of a `workspace` that is unchanged yet.

    Where the disk is the same, it borrows objects as hard links, and takes no room for them.

    Raises:
        WorkspaceError: it cannot be made.
    """
    making = folder.with_name(f"{folder.name}.part")
    try:
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(mode=0o700)
        keep_workspace(workspace, making)
        (making / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
        _set_base(making, workspace)
        making.rename(folder)
    except OSError as error:
        raise WorkspaceError(f"no checkpoints can be kept: {error.strerror}") from error
    return CheckpointStore(folder, git=workspace.git_program)


def _set_base(folder: Path, workspace: Workspace) -> None:
    git = Git(folder, workspace.git_program, git_dir=folder)
    git.run("update-ref", values=[BASE, f"{workspace.base}^{{tree}}"])
    tracked = split_names(git.run("ls-tree", "-r", "-z", "--name-only", values=[BASE]))
    if any(path.rpartition("/")[2] == ".gitattributes" for path in tracked):
        # Files may have been converted on their way out of git: what stands there is the base.
        checkpoints = Checkpoints(CheckpointStore(folder, git=git.executable), workspace.root)
        git.run("update-ref", values=[BASE, checkpoints.take("base").tree])
    else:
        shutil.copy2(workspace.store / "index", folder / INDEX)
    # Split, an index is written with each checkpoint only as far as it changed.
    git.run("update-index", "--split-index")


class Checkpoints:
    """Takes checkpoints of the tree `root`, and brings it back to them. One user at a time."""

    def __init__(self, store: CheckpointStore, root: Path, *, index: Path | None = None) -> None:
        self.store = store
        self._root = root.resolve()
        self._index = index or store.folder / INDEX
        self._git = Git(
            self._root,
            store.git_program,
            git_dir=store.folder,
            work_tree=self._root,
            index=self._index,
        )
        self._index_is_whole = False
        self._tree = ""
        self._left_out: tuple[str, ...] = ()

    def take(self, name: str) -> Checkpoint:
        """Keep the files as they stand under `name`; they would outlive the machine on return.

        Raises:
            WorkspaceError: git cannot keep them; the disk is full, or they change too fast.
        """
        tree = self._record()
        checkpoint = Checkpoint(name=name, tree=tree, left_out=self._left_out)
        try:
            self.store.note(checkpoint)
        except OSError as error:
            raise WorkspaceError(f"a checkpoint cannot be kept: {error.strerror}") from error
        return checkpoint

    def changed(self, since: str, until: str | None = None) -> tuple[Change, ...]:
        """Return what differs from the tree `since` to `until`, or to the files as they stand."""
        return self.store.changed(since, until or self._record())

    def diff(self, since: str, until: str | None = None) -> bytes:
        """Return the patch from the tree `since` to `until`, or to the files as they stand."""
        return self.store.diff(since, until or self._record())

    def restore(self, tree: str) -> tuple[Change, ...]:
        """Make the files those of `tree` again, and return what that changed in them.

        Files that git ignores stay, but where one stands in the way of a file of `tree`.

        Raises:
            WorkspaceError: there is no such tree, or the files cannot be written; some may be.
        """
        wanted, before = self.store.tree_of(tree), self._record()
        self._write(wanted)
        if self._record() != wanted:
            _unlock_folders(self._root)
            self._write(wanted)
            if self._record() != wanted:
                raise WorkspaceError("the files cannot be brought back to the checkpoint")
        return self.store.changed(before, wanted)

    def _write(self, tree: str) -> None:
        self._tree = ""
        self._git.run("read-tree", "--reset", "-u", values=[tree], accept=(0, 128))

    def _record(self) -> str:
        """Bring the index up to the files as they stand, and return their tree."""
        try:
            # Only one that was killed can have left it: nobody else uses this index.
            self._index.with_name("index.lock").unlink(missing_ok=True)
            paths = self._unlike_index()
        except OSError as error:
            raise WorkspaceError(f"the checkpoints cannot be used: {error.strerror}") from error
        self._bring_in(paths)
        if paths or not self._tree:
            self._tree = self._git.line("write-tree")
        return self._tree

    def _unlike_index(self) -> list[str]:
        """Return the paths that are new, changed or gone; ignored ones where the index has them."""
        if not self._index_is_whole:
            self._begin_index_unless_whole()
        found = self._look()
        nested = [path for path in found if path.endswith("/")]
        return sorted(found.difference(nested).union(files_below(self._git, nested)))

    def _look(self) -> set[str]:
        """Look for known files and for new ones side by side: it is what a checkpoint waits for."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            changed = pool.submit(self._git.run, "diff-files", "-z", "--name-only")
            new = self._git.run("ls-files", "-z", "--others", "--exclude-standard")
            return {*split_names(changed.result()), *split_names(new)}

    def _begin_index_unless_whole(self) -> None:
        """Git itself does not notice what a power cut left of an index."""
        parts = [self._index, *self._index.parent.glob("sharedindex.*")]
        if not all(part.is_file() and _is_whole(part) for part in parts) or not self._reads():
            for part in parts:
                part.unlink(missing_ok=True)
            self._git.run("read-tree", values=[BASE])
            self._git.run("update-index", "-q", "--refresh", accept=(0, 1))
        self._index_is_whole = True

    def _reads(self) -> bool:
        try:
            self._git.run("ls-files", "--unmerged")
        except WorkspaceError:
            return False
        return True

    def _bring_in(self, paths: list[str]) -> None:
        found = _Sorting(self._root)
        for path in paths:
            found.sort_in(path)
        gone = sorted({*found.gone} - self._links(found.folders))
        if gone:
            self._git.run("update-index", "--force-remove", "-z", "--stdin", stdin=join_names(gone))
        if found.present:
            words = ("--add", "--remove", "--replace", "-z", "--stdin")
            self._git.run("update-index", *words, stdin=join_names(found.present))
        self._left_out = tuple(one_line(path) for path in found.left_out)

    def _links(self, folders: list[str]) -> set[str]:
        """Return which of `folders` are submodules, which stay as they are."""
        if not folders:
            return set()
        entries = split_names(self._git.run("ls-files", "-z", "--stage", paths=folders))
        return {entry.partition("\t")[2] for entry in entries if entry.startswith(GITLINK)}


class _Sorting:
    """Sorts paths by what stands there; what lies behind a link is not in the tree."""

    def __init__(self, root: Path) -> None:
        self.present: list[str] = []
        self.gone: list[str] = []
        self.folders: list[str] = []
        self.left_out: list[str] = []
        self._root = root
        self._is_real = cache(lambda folder: os.path.realpath(folder) == folder)
        self._bytes = 0

    def sort_in(self, path: str) -> None:
        file = self._root / path
        try:
            status = file.lstat() if self._is_real(str(file.parent)) else None
        except (FileNotFoundError, NotADirectoryError):
            status = None
        except PermissionError:
            self.left_out.append(path)
            return
        if status is None or not self._can_be_kept(status.st_mode):
            self.gone.append(path)
            if status is not None and stat.S_ISDIR(status.st_mode):
                self.folders.append(path)
        elif stat.S_ISREG(status.st_mode) and self._is_too_much(file, status.st_size):
            self.left_out.append(path)
        else:
            self.present.append(path)

    def _can_be_kept(self, mode: int) -> bool:
        return stat.S_ISREG(mode) or stat.S_ISLNK(mode)

    def _is_too_much(self, file: Path, size: int) -> bool:
        total = self._bytes + size
        if size > MAX_FILE_BYTES or total > MAX_NEW_BYTES or not os.access(file, os.R_OK):
            return True
        self._bytes = total
        return False


def write_out(store: CheckpointStore, tree: str, into: Path) -> tuple[Change, ...]:
    """Make the files in the folder `into` those of `tree`; as `Checkpoints.restore`."""
    with tempfile.TemporaryDirectory(dir=store.folder, prefix="index-") as scratch:
        return Checkpoints(store, into, index=Path(scratch) / INDEX).restore(tree)


def _is_whole(index: Path) -> bool:
    content = index.read_bytes()
    return any(content.endswith(kind(content[: -kind().digest_size]).digest()) for kind in _SUMS)


def _unlock_folders(root: Path) -> None:
    """Give the owner all rights to every folder in the tree, as far as they are ours to give."""
    for where, folders, _ in os.walk(root):
        for path in [Path(where), *(Path(where) / folder for folder in folders)]:
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                path.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
