"""Where a sitting takes place: its work folder, the clone in it, and the walls around commands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from goldseam.app.world import World, home_of
from goldseam.kernel.errors import RefusedError, UsageError
from goldseam.repair.site import Site
from goldseam.workspace.clone import Workspace
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.open import open_sandbox
from goldseam.workspace.sandbox.port import Sandbox

WORKSPACE, SCRATCH = "workspace", "scratch"


class Place(Struct, frozen=True, kw_only=True):
    """Where a sitting takes place."""

    work: Path
    site: Site
    sandbox: Sandbox


async def open_walls(
    workspace: Workspace, world: World, say: Callable[[str], None], *, required: bool
) -> Sandbox:
    """Return the strongest sandbox that holds here, and `say` which it is.

    Raises:
        RefusedError: walls are `required` and there are none.
    """
    hidden = (home_of(world.environ),)
    sandbox = await open_sandbox(workspace.root, workspace, environ=world.environ, hidden=hidden)
    say(sandbox.banner)
    if required and sandbox.level != "A":
        raise RefusedError(f"a sandbox is required and there is none: {sandbox.banner}")
    return sandbox


@contextmanager
def person_can_mend() -> Iterator[None]:
    """Make an error of the workspace, before a run begins, one for the person to mend."""
    try:
        yield
    except WorkspaceError as error:
        raise UsageError(str(error)) from error
