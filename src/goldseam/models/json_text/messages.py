"""A conversation as the messages of a plain chat model: system, user and assistant, nothing else.

The first message is the system's: the contract, the tools, then the conversation's own opening
system texts. After it user and assistant alternate, since many chat templates refuse anything
else: what the model said in one reply is one assistant message (one action, or an array), what it
was told since is one user message (plain text first, then one JSON object on each line). So a
longer history only ever adds at the end, and whatever a server caches of the beginning stays good.

Not shown, and named as a remark: thoughts, seals, how a failed call failed. Knows no vendor.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from goldseam.kernel.conversation import (
    Conversation,
    Feedback,
    HistoryItem,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.json_text import read_json
from goldseam.kernel.request import Remark, ToolSpec
from goldseam.models.json_text.forms import (
    UNSENDABLE,
    read_told,
    said_line,
    told_line,
    write_line,
)
from goldseam.models.json_text.losses import losses_in
from goldseam.models.json_text.provider import ProviderMessage
from goldseam.models.turn_cache import common_length

INSTRUCTIONS = "\n\n# Instructions\n\n"
"""Stands between what the dialect writes and the conversation's own system texts."""

_NO_TOOLS = "No tool is on offer: reply with a final_answer."

_Role: TypeAlias = Literal["system", "user", "assistant"]


class Written(Struct, frozen=True, kw_only=True):
    """What goes to the provider, and what of the history newly written it does not show."""

    messages: tuple[ProviderMessage, ...]
    remarks: tuple[Remark, ...]


def build_provider_messages(
    history: Sequence[HistoryItem], tools: tuple[ToolSpec, ...], *, several_calls: bool = True
) -> tuple[ProviderMessage, ...]:
    """Return the messages that show `history` to a model that may use `tools`."""
    return MessageWriter(tools, several_calls=several_calls).write(history).messages


class MessageWriter:
    """Writes a growing history at the cost of what is new.

    It remembers where each message it wrote begins. A history that shares the last one's beginning
    keeps the messages of that beginning, whether or not it is an extension of it.
    """

    def __init__(self, tools: tuple[ToolSpec, ...], *, several_calls: bool) -> None:
        self._head = system_head(tools, several_calls=several_calls)
        self._seen: Sequence[HistoryItem] = ()
        self._messages: list[ProviderMessage] = []
        self._starts: list[int] = []

    def write(self, history: Sequence[HistoryItem]) -> Written:
        """Return the messages for `history`, with remarks on what was not written last time."""
        kept = common_length(self._seen, history)
        # The message that holds the last common item may have grown: it is written again.
        whole = max(bisect_right(self._starts, kept - 1) - 1, 0)
        start = self._starts[whole] if self._starts else 0
        first = self._messages[whole].role if self._messages else "system"
        del self._messages[whole:], self._starts[whole:]
        for begin, role, items in _turns(history, start, first):
            self._starts.append(begin)
            self._messages.append(self._message(role, items))
        # A list that its owner changes later must not change what was seen.
        self._seen = history if isinstance(history, Conversation) else tuple(history)
        remarks = tuple(losses_in(history, kept))
        return Written(messages=tuple(self._messages), remarks=remarks)

    def _message(self, role: _Role, items: list[HistoryItem]) -> ProviderMessage:
        match role:
            case "system":
                body = _told(items, role)
                content = self._head + INSTRUCTIONS + body if items else self._head
            case "user":
                content = _told(items, role)
            case "assistant":
                content = _said(items)
            case _:
                assert_never(role)
        return ProviderMessage(role=role, content=content)


def system_head(tools: tuple[ToolSpec, ...], *, several_calls: bool) -> str:
    """Return what the dialect itself tells the model: how to answer, and the tools."""
    lines = [
        write_line({
            "name": tool.name,
            "description": tool.description,
            "parameters": read_json(tool.parameters),
        })
        for tool in tools
    ]
    contract = _contract(several_calls=several_calls)
    return "\n".join([contract, "", "# Tools", "", *(lines or [_NO_TOOLS])])


@cache
def _contract(*, several_calls: bool) -> str:
    text = files("goldseam.models.json_text").joinpath("contract.md").read_text(encoding="utf-8")
    one, several, told = text.strip().split("\n\n---\n\n")
    return "\n\n".join([one, several, told] if several_calls else [one, told])


def _turns(
    history: Sequence[HistoryItem], start: int, role: _Role
) -> Iterator[tuple[int, _Role, list[HistoryItem]]]:
    """Yield each message to be written: where it begins in the history, its role, what it shows.

    The first, of `role`, begins at `start`; the system's holds no item where none stands in front.
    """
    begin, items = start, list[HistoryItem]()
    for index in range(start, len(history)):
        item = history[index]
        side = _role_of(item, opening=role == "system")
        if side is None:
            continue
        if side != role:
            yield begin, role, items
            begin, role, items = index, side, []
        items.append(item)
    yield begin, role, items


def _role_of(item: HistoryItem, *, opening: bool) -> _Role | None:
    match item:
        case Reasoning():
            return None
        case ToolCall() | Message(role="assistant"):
            return "assistant"
        case Message(role="system") if opening:
            return "system"
        case Message() | ToolResult() | Feedback():
            return "user"
        case _:
            assert_never(item)


def _told(items: list[HistoryItem], role: _Role) -> str:
    """Return plain text as far as it can be told from JSON later on, then one line for each."""
    lines = [told_line(item) for item in items if not isinstance(item, Reasoning | ToolCall)]
    match items:
        case [Message(role=first, text=text), *_] if first == role and _stays_plain(text):
            return "\n".join([text, *lines[1:]])
        case _:
            return "\n".join(lines)


def _stays_plain(text: str) -> bool:
    if not text.strip() or UNSENDABLE.search(text):
        return False
    return read_told(text.rpartition("\n")[2]) is None


def _said(items: list[HistoryItem]) -> str:
    said = [item for item in items if isinstance(item, Message | ToolCall)]
    if len(said) == 1:
        return said_line(said[0], alone=True)
    return "[" + ",".join(said_line(item, alone=False) for item in said) + "]"
