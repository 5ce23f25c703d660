"""The history that a body expresses: the inverse of `write`, less the losses that it names."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    HistoryItem,
    Image,
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
    arguments_from_text,
)
from goldseam.kernel.json_text import Json, write_json
from goldseam.models.dialect import Body, Profile
from goldseam.models.fitting import read_arguments, read_result, read_told
from goldseam.models.json_paths import inner_text, objects_in
from goldseam.models.openai_chat import forms


def read_back(body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
    """Return the items that `body` expresses, ids as they stand in it; bridges are no items."""
    found = list[HistoryItem]()
    for message in _without_bridges(list(objects_in(body.get("messages")))):
        pictures = _pictures(message)
        if pictures:
            found = [_with_pictures(item, pictures) for item in found]
        else:
            found += _items(message, profile)
    return tuple(found)


def _without_bridges(messages: Sequence[Body]) -> Iterator[Body]:
    before: Body = {}
    for n, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        after_results = before.get("role") == "tool" or bool(_pictures(before))
        is_noted = role == "assistant" and content == forms.NOTED and after_results
        is_last = n == len(messages) - 1 and before.get("role") in {None, "assistant"}
        if not is_noted and not (role == "user" and content == forms.CONTINUE and is_last):
            yield message
        before = message


def _items(message: Body, profile: Profile) -> Iterator[HistoryItem]:
    content = message.get("content")
    match message.get("role"):
        case "system" | "developer":
            yield Message(role="system", text=forms.text_in(content))
        case "user":
            yield _told(forms.text_in(content), forms.images_in(content))
        case "tool":
            yield read_result(inner_text(message, "tool_call_id"), forms.text_in(content))
        case "assistant":
            yield from _thoughts(message, profile)
            if content is not None:
                extra = _extra(message, profile)
                yield Message(role="assistant", text=forms.text_in(content), seals=extra)
            for call in objects_in(message.get("tool_calls")):
                yield _call(call, profile)
        case _:
            pass


def _told(text: str, images: tuple[Image, ...]) -> Message | Feedback:
    item = read_told(text)
    return replace(item, images=images) if isinstance(item, Message) and images else item


def _thoughts(message: Body, profile: Profile) -> Iterator[Reasoning]:
    origin = profile.origin
    seals = list[Seal]()
    text = inner_text(message, profile.reasoning_field or "") or None
    if text:
        field = profile.reasoning_field or ""
        seals.append(Seal(origin=origin, name=forms.REASONING_FIELD, value=field))
    details = message.get(forms.REASONING_DETAILS)
    if isinstance(details, list):
        text = text or forms.text_of_details(details)
        seals.append(Seal(origin=origin, name=forms.REASONING_DETAILS, value=write_json(details)))
    if seals:
        yield Reasoning(text=text, seals=tuple(seals))


def _call(call: Body, profile: Profile) -> ToolCall:
    return ToolCall(
        call_id=inner_text(call, "id"),
        tool_name=inner_text(call, "function", "name"),
        arguments=_arguments(inner_text(call, "function", "arguments")),
        seals=_extra(call, profile),
    )


def _arguments(text: str) -> Arguments | Malformed:
    arguments = arguments_from_text(text)
    return read_arguments(arguments.value()) if isinstance(arguments, Arguments) else arguments


def _extra(value: Body, profile: Profile) -> tuple[Seal, ...]:
    extra = value.get(forms.EXTRA_CONTENT)
    if not extra or extra == forms.PLACEHOLDER:
        return ()
    return (Seal(origin=profile.origin, name=forms.EXTRA_CONTENT, value=write_json(extra)),)


def _pictures(message: Body) -> dict[str, tuple[Image, ...]]:
    """Return the pictures of results that a message of their own holds, by call."""
    found = dict[str, tuple[Image, ...]]()
    wire_id: str | None = None
    for part in objects_in(message.get("content")):
        wire_id = forms.pictures_of(part) or wire_id
        if wire_id is not None:
            found[wire_id] = (*found.get(wire_id, ()), *forms.images_in(list[Json]([part])))
    return found


def _with_pictures(item: HistoryItem, pictures: dict[str, tuple[Image, ...]]) -> HistoryItem:
    if isinstance(item, ToolResult) and item.call_id in pictures:
        return replace(item, images=pictures[item.call_id])
    return item
