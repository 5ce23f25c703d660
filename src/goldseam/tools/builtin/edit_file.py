"""Tool `edit_file`: one exact text replaced, or an error that shows what is there instead."""

from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.arguments import RelativePath
from goldseam.tools.context import ToolContext
from goldseam.tools.text_files import lines_of, numbered, read_bytes
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.edits import Edited, edit
from goldseam.workspace.errors import EditRefusedError

_AROUND = 3
_SHOWN_LINES = 60


class EditFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `edit_file`."""

    path: RelativePath
    old_text: Annotated[
        str,
        Meta(
            min_length=1,
            description="The exact text that is there now, once in the file.",
            examples=["return a - b"],
        ),
    ]
    new_text: Annotated[
        str, Meta(description="The text to stand in its place.", examples=["return a + b"])
    ]


async def edit_file(given: EditFile, context: ToolContext) -> Output:
    """Replace the text and return the lines as they are now."""
    file = read_bytes(given.path, context)
    if file.truncated:
        raise ToolFailure(
            f"{file.path} is too large to be edited here. Next: use sed with run_command."
        )
    try:
        edited = edit(file.content, given.old_text, given.new_text)
    except EditRefusedError as refusal:
        raise ToolFailure(_refused(file.path, file.content, refusal)) from refusal
    context.files.write(file.path, edited.content)
    return Output(text=_edited(file.path, edited))


def _edited(path: str, edited: Edited) -> str:
    lines = _lines(edited.content)
    first = max(1, edited.first_line - _AROUND)
    last = min(len(lines), edited.last_line + _AROUND)
    shown = numbered(lines[first - 1 : last], first=first)
    if len(shown) > _SHOWN_LINES:
        half = _SHOWN_LINES // 2
        note = f"[{len(shown) - 2 * half} lines are not shown; read_file shows them]"
        shown = [*shown[:half], note, *shown[-half:]]
    if not lines:
        return f"{path}: edited; the file is empty now"
    return "\n".join((f"{path}: edited; lines {first}-{last} of {len(lines)} now read", *shown))


def _refused(path: str, content: bytes, refusal: EditRefusedError) -> str:
    told = f"{path} is unchanged: {refusal.message}."
    if not refusal.lines:
        return told
    lines = _lines(content)
    near = [number for number in refusal.lines if number <= len(lines)][:_SHOWN_LINES]
    shown = [numbered([lines[number - 1]], first=number)[0] for number in near]
    return "\n".join((f"{told}\nThere now:", *shown))


def _lines(content: bytes) -> list[str]:
    return lines_of(content.decode("utf-8-sig", "replace"))


EDIT_FILE = Tool(
    name="edit_file",
    arguments=EditFile,
    run=edit_file,
    description=described_beside(__name__),
)
