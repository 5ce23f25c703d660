"""What of a workspace outlives it, so that it can be opened again when its folder is gone.

Kept are the objects that the base is made of, the rules, the ignored build products, and the facts;
neither the user's repository nor its history since is needed to go on.
"""

import json
import os
import shutil
from pathlib import Path

import msgspec

from goldseam.workspace.clone import (
    MAX_COPIED_BYTES,
    Workspace,
    check_room,
    checkout,
    pack_base,
    parts_of,
)
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.git import Git
from goldseam.workspace.objects import link_objects, objects_size

_KEPT = "workspace"
_FACTS = "facts.json"
_RULES = ("config", "info/exclude", "info/attributes")
_SHA256_DIGITS = 64


def keep_workspace(
    workspace: Workspace, folder: Path, *, max_linked_bytes: int = MAX_COPIED_BYTES
) -> None:
    """Make the empty `folder` a git folder that has all that `workspace` began from, at its HEAD.

    Where the disk is the same, objects are hard links, and take no room. Where they are more than
    `max_linked_bytes`, the base alone is kept.

    Raises:
        OSError: it cannot be written.
        WorkspaceError: git cannot write it.
    """
    _init(folder, workspace)
    objects = workspace.store / "objects"
    if objects_size(objects) <= max_linked_bytes:
        link_objects(objects, folder / "objects")
        _copy_rules(workspace.store, folder, "shallow")
    else:
        pack_base(workspace, folder)
    _copy_rules(workspace.store, folder, "info/exclude")
    _set_base(folder, workspace)
    kept = folder / _KEPT
    _copy_rules(workspace.store, kept, *_RULES)
    shutil.copytree(workspace.built, kept / "built", copy_function=_link)
    facts = {
        "origin": str(workspace.origin),
        "base": workspace.base,
        "kind": workspace.kind,
        "environment": workspace.environment,
        "branch": workspace.branch,
    }
    (kept / _FACTS).write_text(json.dumps(facts), encoding="ascii")


def reopen_workspace(folder: Path, *, home: Path, git: str = "git") -> Workspace:
    """Open the workspace kept in `folder` once more in `home`, a folder for it alone, at its base.

    Raises:
        WorkspaceError: nothing usable is kept there, or `home` is used or lies in the repository.
            Nothing is left in `home`.
    """
    room, kept = home.resolve(), folder / _KEPT
    try:
        facts = json.loads((kept / _FACTS).read_bytes())
        origin = Path(facts.pop("origin"))
        fields = {**facts, "root": room / "tree", "origin": origin, "git_program": git}
        workspace = msgspec.convert(fields, Workspace)
    except (OSError, ValueError, KeyError) as error:
        raise WorkspaceError("the run's workspace was not kept, or cannot be read") from error
    check_room(room, origin)
    try:
        return _fill(workspace, folder)
    except BaseException:
        for path in parts_of(room):
            shutil.rmtree(path, ignore_errors=True)
        raise


def _fill(workspace: Workspace, folder: Path) -> Workspace:
    kept, store = folder / _KEPT, workspace.store
    try:
        store.mkdir(parents=True)
        _init(store, workspace)
        link_objects(folder / "objects", store / "objects")
        _copy_rules(kept, store, *_RULES)
        _copy_rules(folder, store, "shallow")
        _set_base(store, workspace)
        shutil.copytree(kept / "built", workspace.built)
    except OSError as error:
        raise WorkspaceError(f"the workspace cannot be made again: {error.strerror}") from error
    checkout(workspace, workspace.root, store / "index")
    return workspace


def _init(folder: Path, workspace: Workspace) -> None:
    kind = "sha256" if len(workspace.base) == _SHA256_DIGITS else "sha1"
    words = ("init", "--quiet", "--bare", "--template=", f"--object-format={kind}")
    Git(folder, workspace.git_program).run(*words, paths=[str(folder)])


def _set_base(folder: Path, workspace: Workspace) -> None:
    git = Git(folder, workspace.git_program, git_dir=folder)
    git.run("update-ref", "--no-deref", "HEAD", values=[workspace.base])


def _copy_rules(source: Path, target: Path, *names: str) -> None:
    for name in names:
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)


def _link(source: str, target: str) -> None:
    """Copy a file of which nobody else may write the other name."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)
