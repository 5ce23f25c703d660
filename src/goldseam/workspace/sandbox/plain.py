"""Level D: commands run with the user's own rights. No walls, only order; the banner says so."""

import os
import tempfile
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from goldseam.workspace.process import ProcessResult, Program, run_program
from goldseam.workspace.sandbox.environment import with_additions
from goldseam.workspace.sandbox.port import Command, Level
from goldseam.workspace.sandbox.tree import folder_in, import_paths


class PlainSandbox(Struct, frozen=True, kw_only=True):
    """Runs commands in the tree itself, with an allow-listed environment and a fresh home each.

    The tree's own code is first on Python's path, since an editable install names another place.
    """

    tree: Path
    environment: dict[str, str]
    """As of `command_environment`; HOME and TMPDIR are set for each command."""
    why: str
    """Why there are no walls and what to do about it: one line."""

    @property
    def level(self) -> Level:
        """D: none."""
        return "D"

    @property
    def banner(self) -> str:
        """Three lines that cannot be overlooked."""
        return (
            "sandbox: D NONE (files ✗ network ✗ processes ✗ secrets ✗)\n"
            "  COMMANDS, TESTS, AND WHAT THE MODEL WRITES INTO TESTS RUN WITH ALL YOUR RIGHTS.\n"
            f"  {self.why}"
        )

    def path_inside(self) -> str:
        """Return the tree's own path."""
        return str(self.tree)

    def on(self, tree: Path) -> Self:
        """Return the same for another tree; see `Sandbox.on`."""
        return replace(self, tree=tree)

    async def run(self, command: Command) -> ProcessResult:
        """Run `command`; see `Sandbox.run`. A daemon that left its process group may survive."""
        cwd = folder_in(self.tree, command.cwd)
        with tempfile.TemporaryDirectory(prefix="goldseam-", ignore_cleanup_errors=True) as home:
            scratch = Path(home) / "tmp"
            scratch.mkdir()
            paths = os.pathsep.join([str(self.tree), *import_paths(self.tree, inside=self.tree)])
            own = {**self.environment, "HOME": home, "TMPDIR": str(scratch), "PYTHONPATH": paths}
            program = Program(
                argv=command.argv,
                cwd=cwd,
                env=with_additions(own, command.env),
                stdin=command.stdin,
                listener=command.listener,
            )
            return await run_program(program, limit_s=command.limit_s)
