"""What a script says and is told. A script is a generator: it yields steps and is sent what came.

Whoever plays it may play it again from the start with the same answers and come to the same place.
"""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from msgspec import Struct

from goldseam.kernel.json_text import Json

Result = TypeVar("Result")


class Use(Struct, frozen=True, kw_only=True):
    """A tool to be used."""

    tool: str
    arguments: dict[str, Json]


class Answer(Struct, frozen=True, kw_only=True):
    """The last word; the script goes on where it is not believed."""

    text: str


class Observed(Struct, frozen=True, kw_only=True):
    """What came of it: a tool's answer, or what was said against an answer."""

    text: str
    is_error: bool = False


Step: TypeAlias = Use | Answer
Script: TypeAlias = Generator[Step, Observed, Result]
