"""What a place for running commands promises. Values and a Protocol: nothing is started here."""

from pathlib import Path
from typing import Literal, Protocol, Self, TypeAlias

from msgspec import Struct, field

from goldseam.workspace.process import Listener, ProcessResult

Level: TypeAlias = Literal["A", "D"]
"""A: walls that a self-test proved. D: no walls, and the banner says so."""


class Command(Struct, frozen=True, kw_only=True):
    """One command: an argument list, never a line for a shell of ours."""

    argv: tuple[str, ...]
    limit_s: float
    """Wall time after which the command and all that it started is killed."""
    cwd: str = "."
    """Relative to the tree."""
    env: dict[str, str] = field(default_factory=dict)
    """Added to the allow-listed environment and wins over it; PYTHONPATH alone goes behind."""
    stdin: bytes = b""
    """Given to the command, then closed; nobody is ever asked."""
    readable: tuple[str, ...] = ()
    """Absolute host paths readable inside, at the same place, even under a masked one."""
    writable: tuple[str, ...] = ()
    """Absolute host folders writable inside, at the same place."""
    listener: Listener | None = None
    """Told each piece of output as it comes; must not raise or wait."""


class Sandbox(Protocol):
    """A place where commands run on one tree, and nowhere else as far as `level` holds."""

    @property
    def level(self) -> Level:
        """How strong the walls are."""
        ...

    @property
    def banner(self) -> str:
        """What holds and what does not, for a person: one line, more where walls are missing."""
        ...

    async def run(self, command: Command) -> ProcessResult:
        """Run `command` and return once it, and what it left behind, has ended.

        Raises:
            WorkspaceError: it could not be started (no such program, a folder outside the tree).
        """
        ...

    def path_inside(self) -> str:
        """Return the absolute path at which commands find the tree."""
        ...

    def on(self, tree: Path) -> Self:
        """Return the same place for another tree; where trees are moved, at the same path.

        Walls are a matter of the machine, so none needs proving again.
        """
        ...
