"""Tool `repo_map`: what the repository defines, the most used first, within a budget."""

import threading
from collections.abc import Callable
from typing import Annotated

import anyio.to_thread
from msgspec import Meta, Struct

from goldseam.tools.arguments import Folder
from goldseam.tools.context import ToolContext
from goldseam.tools.map.repository import Question, RepositoryMap
from goldseam.tools.tool import Output, Tool, described_beside

DEFAULT_TOKENS = 2_000
MAX_TOKENS = 10_000
LIMIT_S = 2.0
"""Seconds for looking at files and drawing; what is not reached is said."""


class RepoMap(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `repo_map`."""

    path: Annotated[Folder, Meta(description="Folder to map.")] = "."
    about: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=1_000)], ...],
        Meta(
            max_length=50,
            description="Names and paths that the work is about.",
            examples=[["Invoice", "src/billing/tax.py"]],
        ),
    ] = ()
    max_tokens: Annotated[
        int,
        Meta(
            ge=200,
            le=MAX_TOKENS,
            description="Size of the map, in tokens (estimated).",
            examples=[DEFAULT_TOKENS],
        ),
    ] = DEFAULT_TOKENS


def repo_map_of(find: Callable[[ToolContext], RepositoryMap]) -> Tool[RepoMap]:
    """Return the tool; `find` gives the run's one map, which remembers what it has looked at."""

    async def repo_map(given: RepoMap, context: ToolContext) -> Output:
        """Return the map."""
        question = Question(
            path=given.path, about=given.about, max_tokens=given.max_tokens, limit_s=LIMIT_S
        )
        stop = threading.Event()
        try:
            text = await anyio.to_thread.run_sync(
                find(context).draw, question, stop, abandon_on_cancel=True
            )
        finally:
            # The thread of a cancelled call ends at the next file, and lets go of the map.
            stop.set()
        return Output(text=text)

    return Tool(
        name="repo_map",
        arguments=RepoMap,
        run=repo_map,
        description=described_beside(__name__),
        reads_only=True,
        lever="give a larger max_tokens, or map a folder by path",
    )
