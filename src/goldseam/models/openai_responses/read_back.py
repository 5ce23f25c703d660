"""The history that a body expresses: the inverse of `write`, less its losses.

Ids, names and texts are as they stand in the body.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from goldseam.kernel.conversation import (
    Arguments,
    HistoryItem,
    Image,
    Message,
    Seal,
    ToolCall,
    ToolResult,
    arguments_from_text,
)
from goldseam.kernel.json_text import Json
from goldseam.models.dialect import Body, Profile
from goldseam.models.fitting import read_arguments, read_result, read_told
from goldseam.models.openai_responses.forms import (
    IMAGES_OF,
    PHASE,
    seals_of,
    thought_of,
)


def read_back(body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
    """Return the items that `body` expresses.

    Raises:
        ValueError: it holds an item that is never written here.
    """
    history = list[HistoryItem]()
    items = body.get("input")
    for value in items if isinstance(items, list) else ():
        item = value if isinstance(value, dict) else {}
        match item:
            case {"role": "user", "content": [{"text": str(text)}, *_] as parts} if text.startswith(
                IMAGES_OF
            ):
                _give_pictures(history, parts)
            case {"role": str(role), "content": content}:
                history.append(_message(role, content, seals_of(profile.origin, item, PHASE)))
            case {"type": "reasoning"}:
                history.append(thought_of(item, profile.origin))
            case _:
                history.append(_call_or_result(item))
    return tuple(history)


def _message(role: str, content: Json, seals: tuple[Seal, ...]) -> HistoryItem:
    match role, content:
        case "user", [{"text": str(text)}, *parts]:
            told = read_told(text)
            images = tuple(_image(part) for part in parts)
            return replace(told, images=images) if isinstance(told, Message) else told
        case "user", str(text):
            return read_told(text)
        case "assistant", str(text):
            return Message(role="assistant", text=text, seals=seals)
        case "system" | "developer", str(text):
            return Message(role="system", text=text)
        case _:
            raise ValueError("a message that is never written here")


def _call_or_result(item: Json) -> HistoryItem:
    match item:
        case {
            "type": "function_call",
            "call_id": str(call_id),
            "name": str(name),
            "arguments": str(raw),
        }:
            arguments = arguments_from_text(raw)
            if isinstance(arguments, Arguments):
                arguments = read_arguments(arguments.value())
            return ToolCall(call_id=call_id, tool_name=name, arguments=arguments)
        case {"type": "function_call_output", "call_id": str(call_id), "output": str(text)}:
            return read_result(call_id, text)
        case _:
            raise ValueError("an input item that is never written here")


def _give_pictures(history: list[HistoryItem], parts: Sequence[Json]) -> None:
    """Give the pictures, which stand under words that name their call, to the results before."""
    pictures = dict[str, list[Image]]()
    call_id = ""
    for part in parts:
        match part:
            case {"type": "input_text", "text": str(text)}:
                call_id = text.removeprefix(IMAGES_OF).removesuffix("]")
            case _:
                pictures.setdefault(call_id, []).append(_image(part))
    for place in range(len(history) - 1, -1, -1):
        item = history[place]
        if not isinstance(item, ToolResult):
            break
        history[place] = replace(item, images=tuple(pictures.get(item.call_id, ())))


def _image(part: Json) -> Image:
    match part:
        case {"type": "input_image", "image_url": str(url)}:
            media_type, _, data = url.removeprefix("data:").partition(";base64,")
            return Image(media_type=media_type, data=data)
        case _:
            raise ValueError("a part that is never written here")
