"""Fill our git folder and record in it the commit that a run starts from.

Reads the user's tree through git over our own folder, so that no filter, monitor or hook of the
user's configuration can run. Writes in our folder alone.
"""

import contextlib
import shutil
from pathlib import Path

import msgspec
from msgspec import Struct

from goldseam.workspace.environment import LEFT_OUT
from goldseam.workspace.errors import UncommittedChangesError, WorkspaceError
from goldseam.workspace.git import Git
from goldseam.workspace.listing import (
    GITLINK,
    files_below,
    list_files,
    record_files,
    split_names,
)
from goldseam.workspace.objects import link_objects
from goldseam.workspace.repository import Repository

MAX_CARRIED_BYTES = 1024 * 1024 * 1024
"""More than this outside of commits is no source code, and copying it would take minutes."""

_ATTRIBUTES = "* !filter !diff !merge\n"
_NAMED_CHANGES = 3
_ENVIRONMENT_MARK = "/pyvenv.cfg"


class Base(Struct, frozen=True, kw_only=True):
    """The commit to start from, and git over the user's tree with the user's own index."""

    commit: str
    over_user_tree: Git


def record_base(
    store: Git, found: Repository | None, *, include_dirty: bool, ignore_file: Path | None
) -> Base:
    """Make the folder `store.git_dir`; `store.work_tree` is the user's tree, which is only read.

    Raises:
        UncommittedChangesError: there are changes, and `include_dirty` is not set.
        WorkspaceError: the repository cannot be read, or too much lies outside of commits.
    """
    folder = _make_folder(store, found, ignore_file)
    if found is None:
        carried = _new_files(store, folder)
        return Base(commit=_commit(store, carried, parent=None), over_user_tree=store)
    user = msgspec.structs.replace(store, index=_copy_index(found.index, folder))
    changed = _changes(user, folder)
    if changed and not include_dirty:
        raise _uncommitted(changed)
    carried = _expand(user, changed) + _submodule_files(user)
    commit = _commit(store, carried, parent=found.head) if carried else found.head
    return Base(commit=commit, over_user_tree=user)


def _make_folder(store: Git, found: Repository | None, ignore_file: Path | None) -> Path:
    folder = _git_dir(store)
    kind = found.object_format if found else "sha1"
    bare = msgspec.structs.replace(store, cwd=folder.parent, git_dir=None, work_tree=None)
    bare.run(
        "init", "--quiet", "--bare", "--template=", f"--object-format={kind}", paths=[str(folder)]
    )
    given = (found.excludes if found else None, ignore_file)
    rules = [LEFT_OUT.encode(), *(file.read_bytes() for file in given if file and file.is_file())]
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "exclude").write_bytes(b"\n".join(rules) + b"\n")
    (folder / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
    if found is not None:
        link_objects(found.objects, folder / "objects")
        if found.shallow.is_file():
            shutil.copyfile(found.shallow, folder / "shallow")
        if not found.file_mode:
            store.run("config", "core.fileMode", "false")
        store.run("update-ref", "--no-deref", "HEAD", values=[found.head])
    return folder


def _copy_index(index: Path, folder: Path) -> Path:
    """Copy the user's index with its times, which say whether its cached stats can be trusted."""
    copy = folder / "user-index"
    if index.is_file():
        shutil.copy2(index, copy)
    for shared in index.parent.glob("sharedindex.*"):
        if shared.is_file():
            shutil.copy2(shared, folder / shared.name)
    return copy


def _changes(user: Git, folder: Path) -> list[str]:
    changed = _status(user)
    if _leave_environments_out(changed, folder):
        changed = _status(user)
    return changed


def _status(user: Git) -> list[str]:
    # Without the last word, a submodule's own settings would be read, and what they name be run.
    shown = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
    listed = user.run("status", *shown, "--ignore-submodules=all")
    return [record[3:] for record in split_names(listed)]


def _new_files(store: Git, folder: Path) -> list[str]:
    files = list_files(store)
    return list_files(store) if _leave_environments_out(files, folder) else files


def _leave_environments_out(paths: list[str], folder: Path) -> bool:
    """Ignore virtual environments that nobody ignores; return whether there were any."""
    marked = [
        path.removesuffix(_ENVIRONMENT_MARK) for path in paths if path.endswith(_ENVIRONMENT_MARK)
    ]
    with (folder / "info" / "exclude").open(
        "a", encoding="utf-8", errors="surrogateescape"
    ) as rules:
        rules.writelines(f"/{_as_pattern(path)}/\n" for path in marked)
    return bool(marked)


def _as_pattern(path: str) -> str:
    return "".join(f"\\{character}" if character in "\\*?[ " else character for character in path)


def _expand(user: Git, changed: list[str]) -> list[str]:
    nested = [path for path in changed if path.endswith("/")]
    return [path for path in changed if not path.endswith("/")] + files_below(user, nested)


def _submodule_files(user: Git) -> list[str]:
    """Return the files of the submodules that are filled in; they become part of the base."""
    entries = split_names(user.run("ls-tree", "-r", "-z", "HEAD"))
    links = [entry.partition("\t")[2] for entry in entries if entry.startswith(GITLINK)]
    return files_below(user, links)


def _commit(store: Git, carried: list[str], *, parent: str | None) -> str:
    """Return a commit of `parent` with the files `carried` as they are in the user's tree."""
    _refuse_bulk(store, carried)
    git = msgspec.structs.replace(store, index=_git_dir(store) / "base-index")
    if parent is not None:
        git.run("read-tree", values=[parent])
    record_files(git, carried)
    tree = git.line("write-tree")
    message = b"The tree as this run found it\n"
    words = ("commit-tree",) if parent is None else ("commit-tree", "-p", parent)
    return git.run(*words, values=[tree], stdin=message).decode("ascii").strip()


def _refuse_bulk(store: Git, carried: list[str]) -> None:
    tree = store.work_tree or store.cwd
    total = 0
    for path in carried:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            total += (tree / path).lstat().st_size
    if total > MAX_CARRIED_BYTES:
        raise WorkspaceError(
            f"{total // 1024 // 1024} MiB are in no commit and not ignored: too much to copy; "
            "commit what is source and ignore the rest"
        )


def _git_dir(store: Git) -> Path:
    return store.git_dir or store.cwd


def _uncommitted(changed: list[str]) -> UncommittedChangesError:
    named = ", ".join(changed[:_NAMED_CHANGES])
    more = f" and {len(changed) - _NAMED_CHANGES} more" if len(changed) > _NAMED_CHANGES else ""
    return UncommittedChangesError(
        f"the repository has uncommitted changes ({named}{more}); commit or stash them, "
        "or carry them in with --include-dirty"
    )
