"""Tool `write_file`: a whole file, new or in the place of an old one."""

from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.arguments import RelativePath
from goldseam.tools.context import ToolContext
from goldseam.tools.text_files import lines_of, write_bytes
from goldseam.tools.tool import Output, Tool, described_beside
from goldseam.workspace.errors import MissingFileError


class WriteFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `write_file`."""

    path: RelativePath
    content: Annotated[
        str, Meta(description="All that the file will hold.", examples=['GREETING = "hello"\n'])
    ]


async def write_file(given: WriteFile, context: ToolContext) -> Output:
    """Write the file and say whether it is new."""
    raw = given.content.encode()
    path = _refuse_unseen(given.path, context)
    what = "created" if write_bytes(path, raw, context) else "replaced"
    size = f"{len(lines_of(given.content))} lines, {len(raw)} bytes"
    return Output(text=f"{path}: {what}, {size}")


def _refuse_unseen(path: str, context: ToolContext) -> str:
    """Return where the file truly is; what something else wrote there meanwhile is not lost."""
    try:
        file = context.files.read_bytes(path)
    except MissingFileError:
        return context.files.normalise(path)
    if not file.truncated:
        context.seen.refuse_stale(file.path, file.content)
    return file.path


WRITE_FILE = Tool(
    name="write_file",
    arguments=WriteFile,
    run=write_file,
    description=described_beside(__name__),
)
