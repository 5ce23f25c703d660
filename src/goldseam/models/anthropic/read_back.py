"""The history that a body expresses: the inverse of writing, less its named losses."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from goldseam.kernel.conversation import (
    HistoryItem,
    Image,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.json_text import Json
from goldseam.models.anthropic.forms import REDACTED, SIGNATURE
from goldseam.models.dialect import Body, Profile
from goldseam.models.fitting import read_arguments, read_told
from goldseam.models.json_paths import inner_text, objects_in


def read_back(body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
    """Return the history that `body` expresses, ids as they stand in it."""
    system = [
        Message(role="system", text=inner_text(b, "text")) for b in objects_in(body.get("system"))
    ]
    said = [
        item
        for message in objects_in(body.get("messages"))
        for item in _items(message, profile.origin)
    ]
    return (*system, *said)


def _items(message: dict[str, Json], origin: str) -> Iterator[HistoryItem]:
    if message.get("role") == "assistant":
        return (_said(block, origin) for block in objects_in(message.get("content")))
    return _told(objects_in(message.get("content")))


def _said(block: dict[str, Json], origin: str) -> HistoryItem:
    match block:
        case {"type": "thinking", "thinking": str(text), "signature": str(value)}:
            return Reasoning(text=text, seals=(Seal(origin=origin, name=SIGNATURE, value=value),))
        case {"type": "redacted_thinking", "data": str(value)}:
            return Reasoning(seals=(Seal(origin=origin, name=REDACTED, value=value),))
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": dict(shown)}:
            return ToolCall(call_id=call_id, tool_name=name, arguments=read_arguments(shown))
        case _:
            return Message(role="assistant", text=inner_text(block, "text"))


def _told(blocks: Iterable[dict[str, Json]]) -> Iterator[HistoryItem]:
    """Yield each result, and each text with the pictures that follow it."""
    told = list[HistoryItem]()
    for block in blocks:
        match block.get("type"), told:
            case "tool_result", _:
                told.append(_result(block))
            case "image", [*_, Message() as message]:
                told[-1] = replace(message, images=(*message.images, _image(block)))
            case _:
                told.append(read_told(inner_text(block, "text")))
    return iter(told)


def _result(block: dict[str, Json]) -> ToolResult:
    parts = list(objects_in(block.get("content")))
    texts = [inner_text(part, "text") for part in parts if part.get("type") == "text"]
    return ToolResult(
        call_id=inner_text(block, "tool_use_id"),
        content=inner_text(block, "content") or "\n".join(texts),
        kind="failed" if block.get("is_error") else "done",
        images=tuple(_image(part) for part in parts if part.get("type") == "image"),
    )


def _image(block: dict[str, Json]) -> Image:
    match block.get("source"):
        case {"media_type": str(media_type), "data": str(data)}:
            return Image(media_type=media_type, data=data)
        case _:
            return Image(media_type="", data="")
