"""Tool `write_file`: a whole file, new or in the place of an old one."""

from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.arguments import RelativePath
from goldseam.tools.context import ToolContext
from goldseam.tools.text_files import lines_of
from goldseam.tools.tool import Output, Tool, described_beside


class WriteFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `write_file`."""

    path: RelativePath
    content: Annotated[
        str, Meta(description="All that the file will hold.", examples=['GREETING = "hello"\n'])
    ]


async def write_file(given: WriteFile, context: ToolContext) -> Output:
    """Write the file and say whether it is new."""
    raw = given.content.encode()
    written = context.files.write(given.path, raw)
    what = "created" if written.created else "replaced"
    size = f"{len(lines_of(given.content))} lines, {len(raw)} bytes"
    return Output(text=f"{written.path}: {what}, {size}")


WRITE_FILE = Tool(
    name="write_file",
    arguments=WriteFile,
    run=write_file,
    description=described_beside(__name__),
)
