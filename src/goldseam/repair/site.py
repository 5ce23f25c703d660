"""Where a repair takes place: the clone, the tests, and a way to more trees like it."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from goldseam.workspace.clone import Workspace
from goldseam.workspace.patch import Patch, make_patch
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.detect import TestCommand


class Site(Struct, frozen=True, kw_only=True):
    """What preparing and proving need. `scratch` is an empty folder of the run's own."""

    workspace: Workspace
    tests: TestCommand
    sandbox_for: Callable[[Path], Sandbox]
    """Gives the place where commands run on a tree, standing at the repository's own path."""
    scratch: Path
    test_limit_s: float


def patch_of(site: Site) -> Patch:
    """Return the patch that the workspace holds now.

    Raises:
        WorkspaceError: none can be made of it.
    """
    return make_patch(site.workspace, runner=site.tests.argv)
