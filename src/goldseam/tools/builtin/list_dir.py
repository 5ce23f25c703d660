"""Tool `list_dir`: what is in a folder."""

from typing import assert_never

from msgspec import Struct

from goldseam.tools.arguments import Folder
from goldseam.tools.context import ToolContext
from goldseam.tools.text_files import missing
from goldseam.tools.tool import Output, Tool, described_beside
from goldseam.workspace.errors import MissingFileError
from goldseam.workspace.files import Entry


class ListDir(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `list_dir`."""

    path: Folder = "."


async def list_dir(given: ListDir, context: ToolContext) -> Output:
    """Return one line for each entry, folders first."""
    try:
        entries = context.files.list_dir(given.path)
    except MissingFileError as error:
        raise missing(given.path, context, error) from error
    path = context.files.normalise(given.path)
    if not entries:
        return Output(text=f"{path}: empty folder")
    ordered = sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name))
    count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    return Output(text="\n".join((f"{path}: {count}", *map(_line, ordered))))


def _line(entry: Entry) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.name}/"
        case "file":
            return f"{entry.name} ({entry.size} bytes)"
        case "link" | "other":
            return f"{entry.name} ({entry.kind})"
        case _:
            assert_never(entry.kind)


LIST_DIR = Tool(
    name="list_dir",
    arguments=ListDir,
    run=list_dir,
    description=described_beside(__name__),
    reads_only=True,
    lever="list a folder further down",
)
