"""What every tool is handed: the run's workspace and the doors into it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from goldseam.tools.seen import Seen
from goldseam.workspace.clone import Workspace
from goldseam.workspace.files import Files
from goldseam.workspace.jobs import Jobs
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.detect import TestCommand


class ToolContext(Struct, frozen=True, kw_only=True):
    """The world of one run's tools. All file access is through `files`, all processes `sandbox`."""

    workspace: Workspace
    files: Files
    sandbox: Sandbox
    sandbox_for: Callable[[Path], Sandbox]
    """Gives a sandbox that shows another folder at the place of the workspace."""
    tests: TestCommand | None
    """How the repository's tests are run; `None` where nobody knows."""
    environ: Mapping[str, str]
    """The environment that programs of ours are looked up in (`PATH`)."""
    seen: Seen = field(default_factory=Seen)
    """The files as the model knows them."""
    jobs: Jobs | None = None
    """Where commands run in the background; `None` where nobody would end them with the run."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The absolute paths that the workspace has, here and for its programs."""
        workspace = self.workspace
        return (str(workspace.root), str(workspace.origin), self.sandbox.path_inside())
