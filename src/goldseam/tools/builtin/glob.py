"""Tool `glob`: the files whose paths fit a pattern."""

from typing import Annotated

import anyio.to_thread
from msgspec import Meta, Struct

from goldseam.tools.arguments import Folder
from goldseam.tools.context import ToolContext
from goldseam.tools.tool import Output, Tool, described_beside
from goldseam.workspace.finding import find_files


class Glob(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `glob`."""

    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1_000,
            description="What paths are to fit; `**` crosses folders.",
            examples=["src/**/*_test.py"],
        ),
    ]
    path: Annotated[Folder, Meta(description="Folder to look in.")] = "."
    max_files: Annotated[
        int, Meta(ge=1, le=2_000, description="Files to show.", examples=[200])
    ] = 200


async def glob(given: Glob, context: ToolContext) -> Output:
    """Return the paths, sorted."""
    found = await anyio.to_thread.run_sync(
        lambda: find_files(context.workspace, context.files, path=given.path, glob=given.pattern),
        abandon_on_cancel=True,
    )
    if not found:
        return Output(
            text="no file fits (files that git ignores are found only if `path` names them)"
        )
    shown = [path.encode("utf-8", "backslashreplace").decode() for path in found[: given.max_files]]
    if len(found) > given.max_files:
        head = (
            f"{len(found)} files, the first {given.max_files} are shown; "
            "give a narrower pattern or a larger max_files:"
        )
    else:
        head = "1 file:" if len(found) == 1 else f"{len(found)} files:"
    return Output(text="\n".join((head, *shown)))


GLOB = Tool(
    name="glob",
    arguments=Glob,
    run=glob,
    description=described_beside(__name__),
    reads_only=True,
    lever="give a narrower pattern or a smaller max_files",
)
