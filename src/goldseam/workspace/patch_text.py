"""What a patch says, whichever of two forms it has: values alone. Pure."""

from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.workspace.errors import WorkspaceError

Mark: TypeAlias = Literal[" ", "-", "+"]


class Hunk(Struct, frozen=True, kw_only=True):
    """One change in its surroundings: lines that stay, go and come."""

    lines: tuple[tuple[Mark, str], ...]
    anchors: tuple[str, ...] = ()
    """Lines that stand somewhere above it, outermost first."""
    start: int | None = None
    """The line (1-based) that it is said to start on in the old file."""
    at_end: bool = False
    open_end: bool | None = None
    """Whether the new file ends without a line end; none where nothing is said."""

    @property
    def old(self) -> list[str]:
        """The lines as they are now."""
        return [text for mark, text in self.lines if mark != "+"]

    @property
    def new(self) -> list[str]:
        """The lines as they are to be."""
        return [text for mark, text in self.lines if mark != "-"]


class FileChange(Struct, frozen=True, kw_only=True):
    """What a patch does to one file; `moved_to` is its new path, where it gets one."""

    kind: Literal["add", "update", "delete"]
    path: str
    moved_to: str | None = None
    hunks: tuple[Hunk, ...] = ()
    mode: str | None = None
    """The mode that the patch asks for, which nobody here sets."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that it names."""
        return (self.path,) if self.moved_to is None else (self.path, self.moved_to)


class PatchRefusedError(WorkspaceError):
    """The patch cannot be read; says on which of its lines, and what would be right."""


def refused_at(number: int, line: str, why: str) -> PatchRefusedError:
    """Return a refusal of the line `number` (1-based) of a patch."""
    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
    return PatchRefusedError(f"line {number} of the patch («{shown}») {why}")


_SHOWN = 80
