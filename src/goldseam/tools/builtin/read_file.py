"""Tool `read_file`: a file's numbered lines, in pieces of a bearable size; or a picture."""

import base64
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from goldseam.kernel.conversation import Image
from goldseam.tools.arguments import LineNumber, RelativePath
from goldseam.tools.context import ToolContext
from goldseam.tools.notebooks import NOTE as NOTEBOOK_NOTE
from goldseam.tools.notebooks import cells_of
from goldseam.tools.text_files import lines_of, numbered, read_bytes
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.files import BinaryFile, FileBytes, FileText, read_as_text
from goldseam.workspace.media import IMAGES, media_type

DEFAULT_LINES = 400
"""How many lines are shown where no end is given."""
MAX_BYTES = 45_000
"""UTF-8 bytes of lines in one answer."""
MAX_IMAGE_BYTES = 3_750_000
"""Of a picture that can be shown: five million characters in base64."""


class ReadFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `read_file`."""

    path: RelativePath
    start_line: Annotated[LineNumber, Meta(description="First line to show.")] = 1
    end_line: Annotated[
        LineNumber | None, Meta(description="Last line to show; 400 lines if left out.")
    ] = None
    start_column: Annotated[
        LineNumber, Meta(description="First character to show of each line, for long lines.")
    ] = 1


async def read_file(given: ReadFile, context: ToolContext) -> Output:
    """Return the lines asked for, or what the file is where it has none."""
    file = read_bytes(given.path, context)
    text = read_as_text(file)
    if isinstance(text, BinaryFile):
        return _binary(file)
    cells = cells_of(text.text) if file.path.endswith(".ipynb") and not file.truncated else None
    lines = lines_of(text.text) if cells is None else cells
    last = _last_line(given, file.path, len(lines))
    if not lines:
        return Output(text=f"{file.path}: empty, 0 lines")
    shown = _shown(lines[given.start_line - 1 : last], given)
    end = given.start_line + len(shown) - 1
    header = f"{file.path}: lines {given.start_line}-{end} of {len(lines)}"
    notes = [] if cells is None else [NOTEBOOK_NOTE]
    return Output(text="\n".join((header, *shown, *notes, *_notes(text, end, len(lines)))))


def _binary(file: FileBytes) -> Output:
    kind, _ = media_type(file.content)
    least = "at least " if file.truncated else ""
    what = "binary" if kind == "application/octet-stream" else f"binary ({kind})"
    told = f"{file.path}: {what}, {least}{len(file.content)} bytes"
    if kind not in IMAGES:
        return Output(text=told)
    if file.truncated or len(file.content) > MAX_IMAGE_BYTES:
        return Output(text=f"{told}; too large to be shown ({MAX_IMAGE_BYTES} bytes at most)")
    data = base64.b64encode(file.content).decode("ascii")
    return Output(text=f"{told}, shown as a picture", images=(Image(media_type=kind, data=data),))


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


def _shown(lines: Sequence[str], given: ReadFile) -> list[str]:
    """Return as many of `lines` as there is room for, and never none."""
    skipped = given.start_column - 1
    if given.end_line == given.start_line and lines:
        return [_one_line(lines[0], given)]
    asked = numbered(
        [line[skipped:] for line in lines] if skipped else lines, first=given.start_line
    )
    room = MAX_BYTES
    for count, line in enumerate(asked):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            return asked[: max(count, 1)]
    return asked


def _one_line(line: str, given: ReadFile) -> str:
    """Return one line that was asked for alone, in pieces only where it would not fit."""
    skipped = given.start_column - 1
    if skipped and skipped >= len(line):
        raise ToolFailure(
            f"start_column {given.start_column} is beyond the end: line {given.start_line} has "
            f"{len(line)} characters. Next: give a start_column from 1 to {max(len(line), 1)}."
        )
    piece = line[skipped : skipped + MAX_BYTES].encode("utf-8", "replace")[:MAX_BYTES]
    shown = piece.decode("utf-8", "ignore")
    end = skipped + len(shown)
    note = (
        f"… [characters {given.start_column}-{end} of {len(line)}; "
        f"go on with start_column {end + 1}]"
        if end < len(line)
        else ""
    )
    return f"{given.start_line:>6}| {shown}{note}"


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
