"""What a tool is: one typed function, the type of its arguments, and a description in Markdown.

Knows no policy: a tool is a value, and a toolbox does the rest with it.
"""

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from goldseam.kernel.conversation import Image
from goldseam.tools.context import ToolContext
from goldseam.tools.observation import LIMIT_BYTES

Given = TypeVar("Given", bound=Struct)


class ToolFailure(Exception):  # noqa: N818 - an expected answer to a model, not an error of ours
    """What the model can mend: one short text that says what was wrong and what to do next."""


class Output(Struct, frozen=True, kw_only=True):
    """What a tool gives: the text for the model, and the whole text where that is longer.

    `images` are pictures to look at, for models that can.
    """

    text: str
    full_text: str | None = None
    images: tuple[Image, ...] = ()


class Tool(Struct, Generic[Given], frozen=True, kw_only=True):
    """A tool as a value.

    `arguments` is a frozen Struct that forbids unknown fields: its type gives the schema that a
    model is shown, the check of what the model sends, and the errors that guide it.
    """

    name: str
    arguments: type[Given]
    run: Callable[[Given, ToolContext], Awaitable[Output]]
    """Raises `ToolFailure` or `WorkspaceError` for what the model can mend, in words meant for it;
    of anything else that it raises, the model is told the first line."""
    description: Callable[[], str]
    reads_only: bool = False
    path_arguments: frozenset[str] = frozenset({"path", "cwd"})
    """The names, at any depth, of arguments that are paths: policy sees what they come to."""
    command_arguments: frozenset[str] = frozenset({"command"})
    """The names, at any depth, of arguments that a shell reads: policy sees their parts."""
    further_paths: Callable[[Given], tuple[str, ...]] | None = None
    """Gives the paths that an argument only contains, as a patch does: policy sees them, too."""
    lever: str = "ask for less at a time"
    """What a model changes to see what a cut result leaves out."""
    limit_bytes: int = LIMIT_BYTES
    """UTF-8 bytes of text that are shown; what is longer is kept whole in a file."""


AnyTool: TypeAlias = "Tool[Any]"
"""A tool among others: its arguments were checked against its own type where it was made."""


def described_beside(module: str) -> Callable[[], str]:
    """Return a reader of the Markdown file that stands beside `module`, under the same name."""
    package, _, name = module.rpartition(".")
    return lambda: (files(package) / f"{name}.md").read_text(encoding="utf-8").strip()
