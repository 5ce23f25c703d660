"""A run's tree, a user's repository and a user's home to try sandboxes on, and a shell in them."""

import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import anyio
from msgspec import Struct

from goldseam.workspace.clone import Workspace
from goldseam.workspace.process import ProcessResult
from goldseam.workspace.sandbox.bubblewrap import BubblewrapSandbox
from goldseam.workspace.sandbox.environment import command_environment
from goldseam.workspace.sandbox.open import why_not
from goldseam.workspace.sandbox.plain import PlainSandbox
from goldseam.workspace.sandbox.port import Command, Sandbox

BWRAP = shutil.which("bwrap") or ""


class Place(Struct, frozen=True, kw_only=True):
    """A run's tree in a state folder, a repository of the user's, and the user's home."""

    workspace: Workspace
    state: Path
    home: Path

    @property
    def tree(self) -> Path:
        return self.workspace.root

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "OPENAI_API_KEY": "sk-secret",
            "SSH_AUTH_SOCK": "/run/agent",
        }

    def walled(self) -> BubblewrapSandbox:
        origin = self.workspace.origin
        return BubblewrapSandbox(
            executable=BWRAP,
            tree=self.tree,
            origin=origin,
            folders=self.workspace.environment,
            environment=command_environment(
                self.environ, origin=origin, folders=self.workspace.environment, home="/tmp/home"
            ),
            home=self.home,
            hidden=(self.state,),
        )

    def plain(self) -> PlainSandbox:
        return PlainSandbox(
            tree=self.tree, environment=self.walled().environment, why="Why: a test."
        )


def make_place(top: Path) -> Place:
    state, home, origin = top / "state", top / "home", top / "code" / "repo"
    tree = state / "run" / "tree"
    for folder in (tree / "sub", tree / ".git" / "hooks", origin / ".venv" / "lib", home / ".ssh"):
        folder.mkdir(parents=True)
    (origin / "real.txt").write_text("the user's", encoding="ascii")
    (origin / ".venv" / "pyvenv.cfg").touch()
    (origin / ".venv" / "lib" / "package.py").touch()
    (tree / "real.txt").write_text("the clone's", encoding="ascii")
    (home / ".ssh" / "id").write_text("secret key", encoding="ascii")
    (home / ".netrc").write_text("secret password", encoding="ascii")
    (state / "journal").write_text("secret journal", encoding="ascii")
    workspace = Workspace(root=tree, origin=origin, base="base", kind="git", environment=(".venv",))
    return Place(workspace=workspace, state=state, home=home)


@functools.cache
def why_no_walls() -> str | None:
    if not BWRAP:
        return "bubblewrap is not installed"
    with tempfile.TemporaryDirectory() as top:
        return anyio.run(why_not, make_place(Path(top)).walled())


async def sh(sandbox: Sandbox, script: str, *, limit_s: float = 20.0) -> ProcessResult:
    return await sandbox.run(Command(argv=("sh", "-c", script), limit_s=limit_s))


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does; nothing tells us of it."""
    with anyio.fail_after(15):
        while not holds():  # noqa: ASYNC110 - it happens outside this event loop
            await anyio.sleep(0.01)
