"""Choose the strongest sandbox that proves itself here; where none does, say so loudly.

The environment, the home in it and the folders to hide are handed in.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from goldseam.workspace.clone import Workspace
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.bubblewrap import HOME_INSIDE, BubblewrapSandbox
from goldseam.workspace.sandbox.environment import command_environment, search_path
from goldseam.workspace.sandbox.masks import lies_beneath, masked_places, scratch_places
from goldseam.workspace.sandbox.plain import PlainSandbox
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.sandbox.self_test import Attempt, prepare, walls_down

_INSTALL = "Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`) for walls."
_REMEDIES = {
    "Unknown option": "Bring bubblewrap up to date.",
    "uid map": "Allow bubblewrap user name spaces (on Ubuntu: an AppArmor profile for it).",
    "No permissions to create": "Allow user name spaces (sysctl kernel.unprivileged_userns_clone).",
    "Creating new namespace failed": "Allow user name spaces, or leave the container around this.",
    "proc": "A container around this forbids it; run outside of it, or in a less confined one.",
}


async def open_sandbox(
    tree: Path, workspace: Workspace, *, environ: Mapping[str, str], hidden: tuple[Path, ...]
) -> Sandbox:
    """Return the place where commands run on `tree`, the workspace's own or another of its base.

    Bubblewrap where its self-test finds all walls standing; else no walls, which the banner says.
    `hidden` are host paths that no command may read: the folder that our own state is kept in.
    """
    home = Path(environ.get("HOME", "/"))
    environment = command_environment(
        environ, origin=workspace.origin, folders=workspace.environment, home=HOME_INSIDE
    )
    executable = find_bubblewrap(environ, apart_from=(tree, workspace.origin))
    if executable is None:
        why = "bubblewrap was not found" if sys.platform == "linux" else "bubblewrap needs Linux"
        return PlainSandbox(tree=tree, environment=environment, why=f"Why: {why}. {_INSTALL}")
    walled = BubblewrapSandbox(
        executable=executable,
        tree=tree,
        origin=workspace.origin,
        folders=workspace.environment,
        environment=environment,
        home=home,
        hidden=hidden,
        readable=_programs_under_masks(environ, masked_places(home, hidden)),
    )
    # Older ones cannot forbid name spaces within name spaces; their other walls may well hold.
    failure: str | None = None
    for sandbox in (walled, replace(walled, nested=True)):
        failure = await why_not(sandbox)
        if failure is None:
            return sandbox
    return PlainSandbox(tree=tree, environment=environment, why=_advice(str(failure)))


async def why_not(sandbox: BubblewrapSandbox) -> str | None:
    """Return why `sandbox` cannot be relied on, `None` where every wall was proved."""
    try:
        with tempfile.TemporaryDirectory(prefix=".self-test-", dir=sandbox.tree.parent) as made:
            folder = Path(made)
            prepare(folder)
            tested = replace(sandbox, hidden=(*sandbox.hidden, folder / "secret"))
            attempt = Attempt(
                folder=folder,
                tree=sandbox.tree,
                origin=sandbox.origin,
                folders=sandbox.folders,
            )
            down = await walls_down(tested, attempt)
    except (WorkspaceError, OSError) as failure:
        return f"bubblewrap does not work here: {failure}"
    return f"bubblewrap does not hold here: {', '.join(down)} can be reached" if down else None


def find_bubblewrap(environ: Mapping[str, str], *, apart_from: tuple[Path, ...]) -> str | None:
    """Return the first program found; never one from the trees that it shall wall in."""
    places = [tree.resolve() for tree in apart_from]
    trusted = [
        folder
        for folder in search_path(environ)
        if not any(Path(folder).resolve().is_relative_to(place) for place in places)
    ]
    return shutil.which("bwrap", path=os.pathsep.join(trusted))


def _programs_under_masks(environ: Mapping[str, str], masks: tuple[str, ...]) -> tuple[str, ...]:
    """Return folders of programs that lie in a scratch place, with the environment around each."""
    covered = [folder for folder in search_path(environ) if lies_beneath(folder, scratch_places())]
    around = [
        str(Path(folder).parent) for folder in covered if (Path(folder) / "../pyvenv.cfg").is_file()
    ]
    return tuple(folder for folder in (*around, *covered) if not lies_beneath(folder, masks))


def _advice(why: str) -> str:
    remedy = next((text for sign, text in _REMEDIES.items() if sign in why), "")
    return f"Why: {why}. {remedy}".strip()
