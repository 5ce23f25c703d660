"""Take a run's changes as one patch, prove it, and lay it onto a tree.

The patch is the difference from the base to the files as they stand, whatever was committed, reset
or configured in the clone: git runs over our store, and the clone's own git folder is not looked
at.
"""

import os
import re
import tempfile
from pathlib import Path, PurePosixPath

from msgspec import Struct

from goldseam.workspace.clone import Workspace
from goldseam.workspace.differences import Change, Status, changes_between, patch_between
from goldseam.workspace.errors import PatchTooLargeError, WorkspaceError
from goldseam.workspace.git import Git
from goldseam.workspace.listing import list_files, record_files, split_names

MAX_PATCH_BYTES = 10 * 1024 * 1024
MAX_CHANGED_BYTES = 100 * 1024 * 1024
"""More than this in changed files is not even compared."""

_SHA256_INDEX = re.compile(rb"^index [0-9a-f]{64}\.\.", re.MULTILINE)
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py|conftest\.py")
_TEST_FOLDERS = frozenset({"tests", "test"})
# What says how tests are run, and what Python would import in the place of what runs them.
_RUNNER_FILES = frozenset({
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
    "Makefile",
    "sitecustomize.py",
    "usercustomize.py",
})
_RUNNER_MODULES = frozenset({"pytest", "_pytest", "unittest", "pluggy"})


class ChangedFile(Struct, frozen=True, kw_only=True):
    """One file of a patch. `added` and `removed` count lines; None where the file is no text.

    `path` is for showing: bytes of it that are no UTF-8 are written as escapes.
    """

    path: str
    status: Status
    is_existing_test: bool = False
    added: int | None = None
    removed: int | None = None
    leads_out: bool = False
    """Whether it is a symbolic link to a place outside the tree."""


class Patch(Struct, frozen=True, kw_only=True):
    """A difference in git's format, and what it touches, by path.

    `tests` and `source` are its two halves: what tests stand on, and all the rest.
    """

    diff: bytes = b""
    files: tuple[ChangedFile, ...] = ()
    tests: bytes = b""
    source: bytes = b""


def make_patch(
    workspace: Workspace,
    *,
    runner: tuple[str, ...] = (),
    max_bytes: int = MAX_PATCH_BYTES,
    max_changed_bytes: int = MAX_CHANGED_BYTES,
) -> Patch:
    """Return the patch from the base to the tree as it stands; it is proved to give that tree.

    New files are in it; ignored ones, caches, and what is new in `download/` are not. `runner` are
    the words of the test command: a file that is one of them counts among the tests.

    Raises:
        PatchTooLargeError: it, or what it would hold, is larger than allowed; names the largest
        file.
        WorkspaceError: a file cannot be read, or has a name that git refuses.
    """
    with workspace.tree_index() as index:
        git = workspace.git(work_tree=workspace.root, index=index)
        tree = _record_tree(workspace.root, git, limit=max_changed_bytes)
        changes = changes_between(git, workspace.base, tree)
        _refuse_large_blobs(git, changes, limit=max_changed_bytes)
        diff = patch_between(git, workspace.base, tree)
        tests = [change.raw_path for change in changes if is_test_path(change.path, runner)]
        source = [change.raw_path for change in changes if change.raw_path not in tests]
        patch = Patch(
            diff=diff,
            files=tuple(_changed_file(workspace.root, change, runner) for change in changes),
            tests=patch_between(git, workspace.base, tree, paths=tests) if tests else b"",
            source=patch_between(git, workspace.base, tree, paths=source) if source else b"",
        )
    if len(diff) > max_bytes:
        raise PatchTooLargeError(f"the patch is {len(diff)} bytes; at most {max_bytes} are allowed")
    _prove(workspace, patch, tree)
    return patch


def check_patch(tree: Path, patch: Patch, *, git: str = "git") -> None:
    """Return if `patch` applies to `tree` as it stands, writing nothing.

    Raises:
        WorkspaceError: it does not; says what stands against it.
    """
    _apply(tree, patch, git=git, words=("--check",))


def apply_patch(tree: Path, patch: Patch, *, git: str = "git") -> None:
    """Lay `patch` onto the files of `tree`, all of it or nothing. The tree's own git is not used.

    Raises:
        WorkspaceError: it does not apply.
    """
    _apply(tree, patch, git=git, words=())


def is_test_path(path: str, runner: tuple[str, ...] = ()) -> bool:
    """Return whether `path` is by its name a test, or what tests stand on and are run by."""
    where = PurePosixPath(path)
    if _TEST_FOLDERS & set(where.parts) or _TEST_FILE.fullmatch(where.name):
        return True
    words = {PurePosixPath(word).as_posix() for word in runner}
    runs_tests = where.name in _RUNNER_FILES or where.as_posix() in words
    return runs_tests or PurePosixPath(where.parts[0]).stem in _RUNNER_MODULES


def _changed_file(root: Path, change: Change, runner: tuple[str, ...]) -> ChangedFile:
    return ChangedFile(
        path=change.path,
        status=change.status,
        is_existing_test=change.status != "added" and is_test_path(change.path, runner),
        added=change.added,
        removed=change.removed,
        leads_out=_leads_out(root, root / change.raw_path),
    )


def _leads_out(root: Path, file: Path) -> bool:
    if not file.is_symlink():
        return False
    target = os.path.normpath(file.parent / file.readlink())
    return not Path(target).is_relative_to(root)


def _record_tree(root: Path, git: Git, *, limit: int) -> str:
    paths = list_files(git)
    _refuse_bulk(root, git, paths, limit=limit)
    record_files(git, paths)
    return git.line("write-tree")


def _refuse_bulk(root: Path, git: Git, paths: list[str], *, limit: int) -> None:
    """Refuse a new file that is too large to be in any patch, before it is read and stored."""
    large = [path for path in paths if _size(root / path) > limit]
    known = set(split_names(git.run("ls-files", "-z", "--cached", paths=large))) if large else ()
    for path in large:
        if path not in known:
            raise _too_large(path, _size(root / path), limit)


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0  # gone, or below a file by now: the index drops it


def _refuse_large_blobs(git: Git, changes: list[Change], *, limit: int) -> None:
    blobs = [change for change in changes if change.blob is not None]
    asked = "".join(f"{change.blob}\n" for change in blobs).encode()
    answer = git.run("cat-file", "--batch-check=%(objectsize)", stdin=asked)
    sizes = [int(size) for size in answer.split()]
    if sum(sizes) > limit:
        largest = max(range(len(sizes)), key=lambda index: sizes[index])
        raise _too_large(blobs[largest].path, sizes[largest], limit)


def _prove(workspace: Workspace, patch: Patch, tree: str) -> None:
    with workspace.scratch_index() as index:
        git = workspace.git(work_tree=workspace.root, index=index)
        git.run("read-tree", values=[workspace.base])
        if patch.diff:
            git.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch.diff)
        if git.line("write-tree") != tree:
            raise WorkspaceError("the patch does not give back the tree that it was made from")


def _apply(tree: Path, patch: Patch, *, git: str, words: tuple[str, ...]) -> None:
    if not patch.diff:
        return
    kind = "sha256" if _SHA256_INDEX.search(patch.diff) else "sha1"
    with tempfile.TemporaryDirectory(prefix="goldseam-") as scratch:
        folder = Path(scratch) / "apply.git"
        words_of_init = ("init", "--quiet", "--bare", "--template=", f"--object-format={kind}")
        Git(Path(scratch), git).run(*words_of_init, paths=[str(folder)])
        over_tree = Git(tree, git, git_dir=folder, work_tree=tree)
        over_tree.run("apply", "--whitespace=nowarn", *words, "-", stdin=patch.diff)


def _too_large(path: str, size: int, limit: int) -> PatchTooLargeError:
    return PatchTooLargeError(
        f'"{path}" has {size} bytes, and {limit} is the most that a patch may be made of; '
        "remove it or have git ignore it"
    )
