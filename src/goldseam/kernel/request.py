"""What a model is asked and what it gives back, before any vendor's form."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.conversation import HistoryItem, Message, Reasoning, ToolCall


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as a model sees it. `parameters` is a JSON Schema object as JSON text, keys sorted."""

    name: str
    description: str
    parameters: str
    reads_only: bool = False
    """Whether calls of it change nothing, so that they may run side by side and run again."""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One question to a model: the whole history, the tools on offer, and the longest answer."""

    history: Sequence[HistoryItem]
    tools: tuple[ToolSpec, ...]
    max_output_tokens: int


class TokenUsage(Struct, frozen=True, kw_only=True):
    """Tokens of one call. `None` is unknown, which is never the same as 0.

    `input` is fresh input alone; cache reads and writes stand beside it, reasoning within output.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    @property
    def total(self) -> int | None:
        """All tokens billed, or `None` where fresh input or output is unknown."""
        if self.input is None or self.output is None:
            return None
        return self.input + self.output + (self.cache_read or 0) + (self.cache_write or 0)


StopReason: TypeAlias = Literal[
    "end", "tool_calls", "length", "filter", "malformed_call", "pause", "unknown"
]
"""Why a reply ended. Calls run after `end` and `tool_calls` alone."""

ReplyItem: TypeAlias = Message | Reasoning | ToolCall


class Remark(Struct, frozen=True, kw_only=True):
    """Something a translation did that the record must show: a loss, a repair, a guess."""

    code: str
    text: str


class ModelResponse(Struct, frozen=True, kw_only=True):
    """One whole reply, in the order in which the model gave its items."""

    items: tuple[ReplyItem, ...]
    stop: StopReason
    usage: TokenUsage
    model: str
    remarks: tuple[Remark, ...] = ()
