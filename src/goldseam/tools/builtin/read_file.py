"""Tool `read_file`: a text file's lines with their numbers, in pieces of a bearable size."""

from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.arguments import LineNumber, RelativePath
from goldseam.tools.context import ToolContext
from goldseam.tools.text_files import lines_of, numbered, read_text
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.files import BinaryFile, FileText

DEFAULT_LINES = 400
"""How many lines are shown where no end is given."""
MAX_BYTES = 45_000
"""UTF-8 bytes of lines in one answer."""


class ReadFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `read_file`."""

    path: RelativePath
    start_line: Annotated[LineNumber, Meta(description="First line to show.")] = 1
    end_line: Annotated[
        LineNumber | None, Meta(description="Last line to show; 400 lines if left out.")
    ] = None


async def read_file(given: ReadFile, context: ToolContext) -> Output:
    """Return the lines asked for, or what the file is where it has none."""
    file = read_text(given.path, context)
    if isinstance(file, BinaryFile):
        least = "at least " if file.truncated else ""
        return Output(text=f"{file.path}: binary, {least}{file.size} bytes")
    lines = lines_of(file.text)
    last = _last_line(given, file.path, len(lines))
    if not lines:
        return Output(text=f"{file.path}: empty, 0 lines")
    asked = numbered(lines[given.start_line - 1 : last], first=given.start_line)
    shown = _fitting(asked)
    end = given.start_line + len(shown) - 1
    header = f"{file.path}: lines {given.start_line}-{end} of {len(lines)}"
    return Output(text="\n".join((header, *shown, *_notes(file, end, len(lines)))))


def _last_line(given: ReadFile, path: str, total: int) -> int:
    if given.start_line > max(total, 1):
        raise ToolFailure(
            f"start_line {given.start_line} is beyond the end: {path} has {total} lines. "
            f"Next: give a start_line from 1 to {max(total, 1)}."
        )
    if given.end_line is None:
        return given.start_line + DEFAULT_LINES - 1
    if given.end_line < given.start_line:
        raise ToolFailure(
            f"end_line {given.end_line} is before start_line {given.start_line}. "
            f"Next: give an end_line of at least {given.start_line}, or leave it out."
        )
    return given.end_line


def _fitting(lines: list[str]) -> list[str]:
    """Return as many of `lines` as there is room for, and never none."""
    room = MAX_BYTES
    for count, line in enumerate(lines):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            return lines[: max(count, 1)]
    return lines


def _notes(file: FileText, end: int, total: int) -> list[str]:
    notes: list[str] = []
    if end < total:
        notes.append(f"[lines {end + 1}-{total} are not shown; go on with start_line {end + 1}]")
    if file.truncated:
        notes.append(
            "[the file is longer than can be read at once; run_command with sed -n reads on]"
        )
    if file.odd_bytes:
        notes.append(
            "[bytes that are not UTF-8 show as \ufffd; edits of other text leave them alone]"
        )
    if file.encoding in {"utf-16", "utf-32"}:
        notes.append(f"[the file is {file.encoding}; edit_file cannot change it]")
    return notes


READ_FILE = Tool(
    name="read_file",
    arguments=ReadFile,
    run=read_file,
    description=described_beside(__name__),
    reads_only=True,
    lever="give start_line and end_line",
)
