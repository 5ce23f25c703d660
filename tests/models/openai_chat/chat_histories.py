"""Histories as this dialect meets them, some of whose seals are its own, and what it shows of them.

`shown` is the law in plain words: what a body for a host must express of a history.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import joined, tool_specs, turns

from goldseam.kernel.conversation import (
    Arguments,
    Conversation,
    Feedback,
    HistoryItem,
    Image,
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.json_text import Json, write_json
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.dialect import Profile
from goldseam.models.fitting import WireIds, fit_name, sendable, sendable_json

IMAGE = Image(media_type="image/png", data="aGVsbG8=")
NOTE = "[image not shown: image/png, 5 bytes]"
"""The line for `IMAGE`, which is five bytes."""

MARKS = ("[system]\n", "[feedback]\n", "[user]\n")


def ask(
    *history: HistoryItem, tools: tuple[ToolSpec, ...] = (), max_output_tokens: int = 1000
) -> ModelRequest:
    """Return the request for `history`, which need not be a sound conversation."""
    return ModelRequest(history=history, tools=tools, max_output_tokens=max_output_tokens)


def own(profile: Profile, name: str, value: str) -> Seal:
    return Seal(origin=profile.origin, name=name, value=value)


def details(text: str) -> str:
    entry: dict[str, Json] = {
        "type": "reasoning.text",
        "text": text,
        "signature": "c2ln",
        "index": 0,
    }
    return write_json([entry])


@st.composite
def parts(draw: st.DrawFn, profile: Profile) -> list[list[HistoryItem]]:
    """Histories, cut where a model is asked, with items of this host beside those of others."""
    return [[draw(_settled(item, profile)) for item in turn] for turn in draw(turns())]


@st.composite
def requests(draw: st.DrawFn, profile: Profile) -> ModelRequest:
    """Requests with such a history."""
    history = joined(draw(parts(profile)))
    return ModelRequest(history=history, tools=draw(tool_specs()), max_output_tokens=1000)


def _settled(item: HistoryItem, profile: Profile) -> st.SearchStrategy[HistoryItem]:
    """Return the item as it is, or as this host would have made it; OpenAI seals nothing here."""
    match item:
        case Reasoning() | ToolCall() if profile.host == "openai":
            return st.just(item)
        case Reasoning(text=text):
            field = own(profile, "reasoning_field", profile.reasoning_field or "")
            sealed = own(profile, "reasoning_details", details(sendable(text or "so")))
            return st.sampled_from([
                item,
                Reasoning(text=text, seals=(field,)),
                Reasoning(text=sendable(text or "so"), seals=(sealed,)),
            ])
        case ToolCall():
            extra = own(profile, "extra_content", '{"google":{"thought_signature":"c2ln"}}')
            return st.sampled_from([item, replace(item, seals=(extra,))])
        case Message(role="user") | ToolResult():
            return st.sampled_from([item, replace(item, images=(IMAGE,))])
        case _:
            return st.just(item)


def shown(history: Conversation, profile: Profile) -> list[HistoryItem]:
    """Return the items that a body for `profile` expresses of `history`."""
    ids, found, opening = WireIds(profile.ids), list[HistoryItem](), True
    items = [item for item in history if not isinstance(item, Reasoning) or _thought(item, profile)]
    for side, group in groupby(items, _side):
        match side:
            case "assistant":
                found += _said(list(group), profile, ids)
            case "results":
                found += [_result(item, profile, ids) for item in group]
            case _:
                told = list(group)
                first = next((n for n, item in enumerate(told) if not _is_system(item)), len(told))
                found += _told(told[:first] if opening else [], profile, opening=True)
                found += _told(told[first:] if opening else told, profile, opening=False)
        opening = False
    return found


def _side(item: HistoryItem) -> str:
    match item:
        case ToolResult():
            return "results"
        case Message(role="assistant") | Reasoning() | ToolCall():
            return "assistant"
        case _:
            return "told"


def _is_system(item: HistoryItem) -> bool:
    return isinstance(item, Message) and item.role == "system"


def _told(items: Sequence[HistoryItem], profile: Profile, *, opening: bool) -> list[HistoryItem]:
    native = opening or not (profile.merges_same_role or profile.bridges_user_after_tool)
    told = list[tuple[str, str, tuple[Image, ...]]]()
    for item in items:
        match item:
            case Feedback(text=text):
                told.append(("user", f"[feedback]\n{sendable(text)}", ()))
            case Message(role="system", text=text) if native:
                told.append(("system", sendable(text), ()))
            case Message(role="system", text=text):
                told.append(("user", f"[system]\n{sendable(text)}", ()))
            case Message(text=text, images=images):
                marked = f"[user]\n{text}" if text.startswith(MARKS) else text
                told.append(("user", *_pictured(sendable(marked), images, profile)))
            case _:
                raise AssertionError(item)
    if profile.merges_same_role and told:
        pictures = tuple(image for _, _, images in told for image in images)
        told = [(told[0][0], "\n\n".join(text for _, text, _ in told), pictures)]
    return [_unmarked(role, text, images) for role, text, images in told]


def _pictured(
    text: str, images: tuple[Image, ...], profile: Profile
) -> tuple[str, tuple[Image, ...]]:
    if profile.takes_images:
        return text, images
    return "\n".join([*([text] if text else []), *(NOTE for _ in images)]), ()


def _unmarked(role: str, text: str, images: tuple[Image, ...]) -> HistoryItem:
    if role == "system":
        return Message(role="system", text=text)
    if text.startswith("[feedback]\n"):
        return Feedback(text=text.removeprefix("[feedback]\n"))
    if text.startswith("[system]\n"):
        return Message(role="system", text=text.removeprefix("[system]\n"), images=images)
    return Message(role="user", text=text.removeprefix("[user]\n"), images=images)


def _thought(item: Reasoning, profile: Profile) -> Reasoning | None:
    """Return the thought where it came from this host and goes back there."""
    for seal in item.seals:
        if seal.name == "reasoning_details" and seal.origin == profile.origin:
            return item
        if seal.name == "reasoning_field" and seal.origin == profile.origin and item.text:
            return item if profile.echoes_reasoning != "never" else None
    return None


def _said(items: list[HistoryItem], profile: Profile, ids: WireIds) -> Iterator[HistoryItem]:
    words = [item for item in items if isinstance(item, Message)]
    calls = [item for item in items if isinstance(item, ToolCall)]
    thoughts = [item for item in items if isinstance(item, Reasoning)]
    yield from _thoughts(thoughts, profile, has_calls=bool(calls))
    if not words and not calls:
        words = [Message(role="assistant", text="(empty)")]
    if words:
        yield Message(role="assistant", text="\n\n".join(sendable(w.text) for w in words))
    for call in calls:
        yield ToolCall(
            call_id=ids.of(call.call_id),
            tool_name=fit_name(call.tool_name),
            arguments=_arguments(call),
            seals=tuple(seal for seal in call.seals if seal.origin == profile.origin),
        )


def _thoughts(
    thoughts: list[Reasoning], profile: Profile, *, has_calls: bool
) -> Iterator[Reasoning]:
    field = profile.reasoning_field or ""
    echoes = profile.echoes_reasoning == "always" or (
        profile.echoes_reasoning == "with_calls" and has_calls
    )
    plain = [
        sendable(thought.text or "")
        for thought in thoughts
        if thought.seals[0].name == "reasoning_field" and echoes
    ]
    structured = [t for t in thoughts if t.seals[0].name == "reasoning_details"]
    words = "\n\n".join(plain) or "".join(thought.text or "" for thought in structured)
    entries = ",".join(thought.seals[0].value[1:-1] for thought in structured)
    seals = [
        *([own(profile, "reasoning_field", field)] if plain else []),
        *([own(profile, "reasoning_details", f"[{entries}]")] if structured else []),
    ]
    if seals:
        yield Reasoning(text=words or None, seals=tuple(seals))


def _arguments(call: ToolCall) -> Arguments | Malformed:
    match call.arguments:
        case Malformed(raw=raw):
            return Malformed(raw=sendable(raw), why="it was malformed when it was written")
        case Arguments() as arguments:
            sent = sendable_json(arguments.value())
            assert isinstance(sent, dict)
            return arguments_of(sent)


def _result(item: HistoryItem, profile: Profile, ids: WireIds) -> ToolResult:
    assert isinstance(item, ToolResult)
    text, images = _pictured(sendable(item.content), item.images, profile)
    return ToolResult(
        call_id=ids.of(item.call_id),
        content=text,
        kind="failed" if item.is_error else "done",
        images=images,
    )
