"""Tool `search`: the lines that fit a regular expression."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

import anyio.to_thread
from msgspec import Meta, Struct

from goldseam.tools.arguments import Folder
from goldseam.tools.context import ToolContext
from goldseam.tools.tool import Output, Tool, described_beside
from goldseam.workspace.search import Found, FoundLine, Query, find_ripgrep
from goldseam.workspace.search import search as search_workspace


class Search(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `search`."""

    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=10_000,
            description="Regular expression as Python reads it; it fits within one line.",
            examples=[r"def \w+_total"],
        ),
    ]
    path: Annotated[Folder, Meta(description="Folder or file to search in.")] = "."
    glob: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1_000, examples=["*.py"])] | None,
        Meta(description="Search only files whose path fits."),
    ] = None
    ignore_case: bool = False
    context: Annotated[
        int, Meta(ge=0, le=20, description="Lines to show around a match.", examples=[2])
    ] = 0
    max_matches: Annotated[
        int, Meta(ge=1, le=1_000, description="Matches to show.", examples=[100])
    ] = 100


async def search(given: Search, context: ToolContext) -> Output:
    """Return the matching lines, by file."""
    query = Query(
        pattern=given.pattern,
        path=given.path,
        glob=given.glob,
        ignore_case=given.ignore_case,
        context=given.context,
        max_matches=given.max_matches,
    )
    ripgrep = find_ripgrep(context.environ.get("PATH", ""))
    found = await anyio.to_thread.run_sync(
        lambda: search_workspace(context.workspace, context.files, query, rg=ripgrep),
        abandon_on_cancel=True,
    )
    shown = [line for path, lines in _by_file(found) for line in (path, *_numbered(lines))]
    return Output(text="\n".join((summary(found, query), *shown)))


def _by_file(found: Found) -> list[tuple[str, list[FoundLine]]]:
    return [(path, list(lines)) for path, lines in groupby(found.lines, lambda line: line.path)]


def _numbered(lines: Sequence[FoundLine]) -> list[str]:
    shown: list[str] = []
    for before, line in zip((None, *lines), lines, strict=False):
        if before is not None and line.number > before.number + 1:
            shown.append("     --")
        shown.append(f"{line.number:>6}{':' if line.is_match else '|'} {line.text}")
    return shown


def summary(found: Found, query: Query) -> str:
    """Return how many matches there were, and what to do where there may be more."""
    if found.out_of_time:
        return (
            f"{found.matches} matches in the first {query.limit_s:g} s, then the time was up. "
            "Next: give a simpler pattern, a path or a glob."
        )
    if found.too_many:
        return (
            f"the first {found.matches} matches, there are more. "
            "Next: give a narrower pattern, a path or a glob, or a larger max_matches."
        )
    if not found.matches:
        where = f"{found.files_searched} files" + (f" that fit {query.glob}" if query.glob else "")
        return (
            f"no match in {where} (files that git ignores are searched only if `path` names them)"
        )
    return f"{found.matches} matches:"


SEARCH = Tool(
    name="search",
    arguments=Search,
    run=search,
    description=described_beside(__name__),
    reads_only=True,
    lever="give a narrower pattern, a path, a glob or a smaller context",
)
