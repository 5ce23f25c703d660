"""Text of the workspace's files as tools show it: numbered lines, and help with wrong paths."""

from collections.abc import Sequence

from goldseam.tools.context import ToolContext
from goldseam.tools.problems import nearest_name
from goldseam.tools.tool import ToolFailure
from goldseam.workspace.errors import MissingFileError, WorkspaceError
from goldseam.workspace.files import BinaryFile, FileBytes, FileText, read_as_text

MAX_LINE = 2_000
"""Characters of one line that are shown."""


def read_bytes(path: str, context: ToolContext) -> FileBytes:
    """Return the bytes at `path`.

    Raises:
        ToolFailure: nothing is there; the text names what was probably meant.
        WorkspaceError: it cannot be read.
    """
    try:
        return context.files.read_bytes(path)
    except MissingFileError as error:
        raise missing(path, context, error) from error


def read_text(path: str, context: ToolContext) -> FileText | BinaryFile:
    """Return the file at `path`. Raises as `read_bytes`."""
    return read_as_text(read_bytes(path, context))


def missing(path: str, context: ToolContext, error: MissingFileError) -> ToolFailure:
    """Return what to say of a path at which nothing is, with the likest name beside it."""
    folder, _, name = context.files.normalise(path).rpartition("/")
    try:
        beside = [entry.name for entry in context.files.list_dir(folder or ".")]
    except WorkspaceError:
        beside = []
    nearest = nearest_name(name, beside, likeness=0.6)
    if nearest is None:
        return ToolFailure(f"{error}. Next: find its path with list_dir or search.")
    meant = f"{folder}/{nearest}" if folder else nearest
    return ToolFailure(f'{error}. Next: did you mean "{meant}"? If not, use list_dir or search.')


def lines_of(text: str) -> list[str]:
    """Return the lines of `text`: LF and CRLF end a line, nothing else does."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def numbered(lines: Sequence[str], *, first: int) -> list[str]:
    """Return `lines` with their numbers, the first one being `first`; a very long one is cut."""
    return [f"{number:>6}| {_shown(line)}" for number, line in enumerate(lines, first)]


def _shown(line: str) -> str:
    if len(line) <= MAX_LINE:
        return line
    rest = f"{MAX_LINE} of {len(line)} characters; run_command with cut shows the rest"
    return f"{line[:MAX_LINE]}… [{rest}]"
