"""The history that messages of this dialect express: the inverse of `messages`, less its losses."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from goldseam.kernel.conversation import HistoryItem, Message
from goldseam.kernel.json_text import read_json
from goldseam.models.json_text.forms import read_said, read_told
from goldseam.models.json_text.messages import INSTRUCTIONS
from goldseam.models.json_text.provider import ProviderMessage


def read_back(messages: Iterable[ProviderMessage]) -> tuple[HistoryItem, ...]:
    """Return the items that `messages` express.

    Raises:
        ValueError: a message that this dialect never writes.
    """
    return tuple(item for message in messages for item in _items(message))


def _items(message: ProviderMessage) -> Iterator[HistoryItem]:
    match message.role:
        case "system":
            _, mark, body = message.content.partition(INSTRUCTIONS)
            return _read_system(body) if mark else iter(())
        case "user":
            return _read_told(message.content)
        case "assistant":
            value = read_json(message.content)
            return map(read_said, value if isinstance(value, list) else [value])
        case _:
            assert_never(message.role)


def _read_system(body: str) -> Iterator[HistoryItem]:
    for item in _read_told(body):
        match item:
            case Message(role="user", text=plain):
                yield Message(role="system", text=plain)
            case _:
                yield item


def _read_told(content: str) -> Iterator[HistoryItem]:
    """Yield the plain text at the start, then what the JSON lines at the end tell."""
    lines = content.split("\n")
    told = list[HistoryItem]()
    while lines and (item := read_told(lines[-1])) is not None:
        told.append(item)
        lines.pop()
    if lines:
        yield Message(role="user", text="\n".join(lines))
    yield from reversed(told)
