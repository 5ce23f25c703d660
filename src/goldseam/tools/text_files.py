"""Text of the workspace's files as tools show it: numbered lines, and help with wrong paths."""

from collections.abc import Sequence

from goldseam.tools.context import ToolContext
from goldseam.tools.problems import nearest_name
from goldseam.tools.tool import ToolFailure
from goldseam.workspace.edit_series import Region, joined
from goldseam.workspace.errors import MissingFileError, WorkspaceError
from goldseam.workspace.files import FileBytes

MAX_LINE = 2_000
"""Characters of one line that are shown, where it is not asked for alone."""

_AROUND = 3
_SHOWN_LINES = 60
_SHOWN_WIDTH = 500


def read_bytes(path: str, context: ToolContext) -> FileBytes:
    """Return the bytes at `path`, which the model is taken to know from now on.

    Raises:
        ToolFailure: nothing is there; the text names what was probably meant.
        WorkspaceError: it cannot be read.
    """
    file = peek_bytes(path, context)
    if not file.truncated:
        context.seen.note(file.path, file.content)
    return file


def bytes_to_change(path: str, context: ToolContext) -> FileBytes:
    """Return the bytes at `path`, which the model must know as they are, if it knows them at all.

    Raises:
        ToolFailure: nothing is there, or it is too large to be edited.
        WorkspaceError: it cannot be read, or has been written since by something else.
    """
    file = peek_bytes(path, context)
    if file.truncated:
        raise ToolFailure(
            f"{file.path} is too large to be edited here. Next: use sed with run_command."
        )
    context.seen.refuse_stale(file.path, file.content)
    return file


def write_bytes(path: str, content: bytes, context: ToolContext) -> bool:
    """Put `content` at `path`; return whether it is new there. Raises as `Files.write`."""
    written = context.files.write(path, content)
    context.seen.note(written.path, content)
    return written.created


def peek_bytes(path: str, context: ToolContext) -> FileBytes:
    """Return the bytes at `path`. Raises as `read_bytes`."""
    try:
        return context.files.read_bytes(path)
    except MissingFileError as error:
        raise missing(path, context, error) from error


def missing(path: str, context: ToolContext, error: MissingFileError) -> ToolFailure:
    """Return what to say of a path at which nothing is, with the likest name beside it."""
    folder, _, name = context.files.normalise(path).rpartition("/")
    try:
        beside = [entry.name for entry in context.files.list_dir(folder or ".")]
    except WorkspaceError:
        beside = []
    nearest = nearest_name(name, beside, likeness=0.6)
    if nearest is None:
        return ToolFailure(f"{error}. Next: find its path with list_dir, glob or search.")
    meant = f"{folder}/{nearest}" if folder else nearest
    return ToolFailure(f'{error}. Next: did you mean "{meant}"? If not, use list_dir or search.')


def lines_of(text: str) -> list[str]:
    """Return the lines of `text`: LF and CRLF end a line, nothing else does."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def lines_in(content: bytes) -> list[str]:
    """Return the lines of a file's bytes."""
    return lines_of(content.decode("utf-8-sig", "replace"))


def numbered(lines: Sequence[str], *, first: int, width: int = MAX_LINE) -> list[str]:
    """Return `lines` with their numbers, the first being `first`; more than `width` is cut."""
    return [
        f"{number:>6}| {_shown(line, number, width)}" for number, line in enumerate(lines, first)
    ]


def fresh_lines(
    path: str, content: bytes, regions: Sequence[Region], *, shown_lines: int = _SHOWN_LINES
) -> str:
    """Return how `content` reads now in and around `regions`, and that it was edited."""
    lines = lines_in(content)
    if not lines:
        return f"{path}: edited; the file is empty now"
    around = joined([
        (min(max(1, first - _AROUND), len(lines)), min(len(lines), last + _AROUND))
        for first, last in regions
    ])
    shown: list[str] = []
    for first, last in around:
        shown += ["     --"] if shown else []
        shown += numbered(lines[first - 1 : last], first=first, width=_SHOWN_WIDTH)
    if len(shown) > shown_lines:
        half = shown_lines // 2
        note = f"[{len(shown) - 2 * half} lines are not shown; read_file shows them]"
        shown = [*shown[:half], note, *shown[-half:]]
    ranges = ", ".join(f"{first}-{last}" for first, last in around)
    return "\n".join((f"{path}: edited; lines {ranges} of {len(lines)} now read", *shown))


def there_now(content: bytes, numbers: Sequence[int]) -> str:
    """Return the lines `numbers` of `content`, as many as there is room for."""
    lines = lines_in(content)
    near = [number for number in numbers if number <= len(lines)][:_SHOWN_LINES]
    shown = [numbered([lines[number - 1]], first=number, width=_SHOWN_WIDTH)[0] for number in near]
    return "\n".join(("There now:", *shown)) if shown else ""


def _shown(line: str, number: int, width: int) -> str:
    if len(line) <= width:
        return line
    # The mender knows a cut line by this beginning.
    rest = f"{width} of {len(line)} characters; start_line {number}, end_line {number} shows more"
    return f"{line[:width]}… [{rest}]"
