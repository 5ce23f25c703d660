"""The history that a body expresses: the inverse of writing, less its losses."""

from collections.abc import Iterator
from itertools import islice

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
from goldseam.models.dialect import Body, Profile
from goldseam.models.fitting import read_arguments, read_told
from goldseam.models.gemini.forms import (
    BRIDGE,
    NATIVE_ID,
    PLACEHOLDER,
    SIGNATURE,
    list_in,
    text_in,
    within,
)


def read_back(body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
    """Return the items that `body` expresses; a call that is sent without an id has the id "".

    Raises:
        ValueError: a body that this dialect never writes.
    """
    opening = list_in(body, "systemInstruction", "parts")
    said = [item for content in list_in(body, "contents") for item in _items(content, profile)]
    return (*(Message(role="system", text=_text(part)) for part in opening), *said)


def _items(content: Json, profile: Profile) -> list[HistoryItem]:
    match content:
        case {"role": "user", "parts": [{"text": text}]} if text == BRIDGE:
            return []
        case {"role": "model", "parts": list(parts)}:
            return [_said(part, profile) for part in parts]
        case {"role": "user", "parts": [{"functionResponse": dict()}, *_] as parts}:
            return list(_results(parts))
        case {"role": "user", "parts": list(parts)}:
            return _told(parts)
        case _:
            raise ValueError("not a content of this dialect")


def _told(parts: list[Json]) -> list[HistoryItem]:
    told = list[HistoryItem]()
    for part in parts:
        match told, _picture(part):
            case _, None:
                told.append(read_told(_text(part)))
            case [*_, Message() as message], Image() as image:
                told[-1] = replace(message, images=(*message.images, image))
            case _:
                raise ValueError("a picture of no message")
    return told


def _results(parts: list[Json]) -> Iterator[ToolResult]:
    pictures = iter([image for part in parts if (image := _picture(part))])
    for part in parts:
        response = within(part, "functionResponse", "response")
        if isinstance(response, dict):
            count = response.get("images")
            yield ToolResult(
                call_id=text_in(part, "functionResponse", "id"),
                content=text_in(response, "error") or text_in(response, "output"),
                kind="failed" if "error" in response else "done",
                images=tuple(islice(pictures, count if isinstance(count, int) else 0)),
            )


def _said(part: Json, profile: Profile) -> HistoryItem:
    signature = text_in(part, "thoughtSignature")
    seals = _seals(profile, SIGNATURE, "" if signature == PLACEHOLDER else signature)
    match part:
        case {"functionCall": {"name": str(name), "args": dict(args)}}:
            call_id = text_in(part, "functionCall", "id")
            native = _seals(profile, NATIVE_ID, call_id)
            return ToolCall(
                call_id=call_id,
                tool_name=name,
                arguments=read_arguments(args),
                seals=(*seals, *native),
            )
        case {"thought": True}:
            return Reasoning(text=_text(part), seals=seals)
        case _:
            return Message(role="assistant", text=_text(part), seals=seals)


def _seals(profile: Profile, name: str, value: str) -> tuple[Seal, ...]:
    return (Seal(origin=profile.origin, name=name, value=value),) if value else ()


def _picture(part: Json) -> Image | None:
    match part:
        case {"inlineData": {"mimeType": str(media_type), "data": str(data)}}:
            return Image(media_type=media_type, data=data)
        case _:
            return None


def _text(part: Json) -> str:
    match part:
        case {"text": str(text)}:
            return text
        case _:
            raise ValueError("not a part of this dialect")
