"""Show of a result what there is room for, and keep the whole in a file that can be read on.

The file is in the workspace's `download/`, which no patch takes in; its bytes are the result's.
"""

from msgspec import Struct

from goldseam.tools.context import ToolContext
from goldseam.tools.observation import LIMIT_BYTES, cut, ends_of, left_out
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.media import media_type

_FIRST_LINE = 1_000


class Kept(Struct, frozen=True, kw_only=True):
    """A result in a file: what it is, how long (in bytes and lines), and where."""

    path: str
    size: int
    lines: int | None = None
    """None where it is no text."""
    kind: str = "text/plain"
    is_whole: bool = True

    @property
    def told(self) -> str:
        """One line for a model: size, type and place."""
        lines = "" if self.lines is None else f", {self.lines:,} lines"
        what = "whole in" if self.is_whole else "its beginning in"
        return f"[{self.kind}, {self.size:,} bytes{lines}: {what} {self.path}]"


def keep(context: ToolContext, stem: str, content: bytes) -> Kept | None:
    """Put `content` into a new file named after `stem`; none where the disk does not take it."""
    kind, suffix = media_type(content)
    try:
        path = context.files.downloads.keep(stem, suffix, content)
    except WorkspaceError:
        return None
    lines = count_lines(content) if kind == "text/plain" else None
    return Kept(path=path, size=len(content), lines=lines, kind=kind)


def count_lines(content: bytes) -> int:
    """Return how many lines `content` has."""
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))


def shown_with_file(
    text: str,
    kept: Kept,
    *,
    lever: str,
    first_line: int | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> str:
    """Return `text`, cut to `limit_bytes`, with where the whole is and how to read on there.

    The first line of `text` stays the first. `first_line` is the line of the file that the second
    one is; none where the file's lines are others than those of `text`.
    """
    first, line_end, rest = text.partition("\n")
    if len(first) > _FIRST_LINE:
        first, line_end, rest = "", "", text
        first_line = 1 if first_line is not None else None
    head = "\n".join(filter(None, (first, kept.told)))
    room = limit_bytes - len(head.encode("utf-8", "replace")) - 1
    ends = ends_of(rest, limit_bytes=room)
    if ends is None:
        return f"{head}{line_end}{rest}" if first else f"{head}\n{rest}"
    newlines = ends.head.count(b"\n")
    start = "start_line" if first_line is None else f"start_line {first_line + newlines + 1}"
    on = f"read_file {kept.path} with {start}, or search in it; or {lever}"
    return f"{head}\n{ends.joined(left_out(ends, lever=on))}"


def shown_within(
    context: ToolContext, stem: str, text: str, *, lever: str, limit_bytes: int = LIMIT_BYTES
) -> str:
    """Return `text` if `limit_bytes` have room for it, else its ends, the whole of it in a file."""
    if ends_of(text, limit_bytes=limit_bytes) is None:
        return text
    kept = keep(context, stem, text.encode("utf-8", "replace"))
    if kept is None:
        return cut(text, lever=lever, limit_bytes=limit_bytes)
    return shown_with_file(text, kept, lever=lever, first_line=2, limit_bytes=limit_bytes)
