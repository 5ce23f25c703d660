"""Histories as this dialect meets them, some of whose thoughts are its own; and what it keeps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from models.openai_responses.responses_streams import PROFILE, THINKING
from msgspec.structs import replace
from strategies import tool_specs, turns

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
    arguments_of,
)
from goldseam.kernel.json_text import Json, read_json
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.dialect import Body, IdRule, Profile
from goldseam.models.fitting import fit_name

SEEING = replace(THINKING, takes_images=True, caches=True, effort="high", system_role="developer")
BARE = replace(PROFILE, streams=False, temperature=0.5, ids=IdRule(longest=64))
PROFILES = st.sampled_from([PROFILE, THINKING, SEEING, BARE, replace(SEEING, strict_schemas=True)])

TWO_PARTS = '[{"text":"a","type":"summary_text"},{"text":"b","type":"summary_text"}]'
PICTURE = Image(media_type="image/png", data="aGk=")


def ours(name: str, value: str) -> Seal:
    return Seal(origin=PROFILE.origin, name=name, value=value)


def sealed(text: str | None = None, *, number: int = 1) -> Reasoning:
    seals = (ours("item_id", f"rs_{number}"), ours("encrypted_content", f"gAAA{number}="))
    return Reasoning(text=text, seals=seals)


def ask(
    *history: HistoryItem, tools: tuple[ToolSpec, ...] = (), max_output_tokens: int = 8192
) -> ModelRequest:
    return ModelRequest(history=history, tools=tools, max_output_tokens=max_output_tokens)


@st.composite
def own_turns(draw: st.DrawFn) -> list[list[HistoryItem]]:
    """A history turn by turn; some thoughts are this model's, some words have a phase."""
    return [[_owned(item, draw) for item in turn] for turn in draw(turns(3))]


def own_tools() -> st.SearchStrategy[tuple[ToolSpec, ...]]:
    return tool_specs()


def _owned(item: HistoryItem, draw: st.DrawFn) -> HistoryItem:
    pictures = st.lists(st.just(PICTURE), max_size=1).map(tuple)
    match item:
        case Reasoning(text=text):
            own = sealed(text, number=draw(st.integers(1, 9)))
            halves = [replace(own, seals=own.seals[:1]), replace(own, seals=own.seals[1:])]
            several = replace(own, text="a\n\nb", seals=(*own.seals, ours("summary", TWO_PARTS)))
            return draw(st.sampled_from([item, own, own, *halves, several]))
        case Message(role="assistant"):
            phase = draw(st.sampled_from(["", "", "commentary", "final_answer"]))
            return replace(item, seals=(ours("phase", phase),)) if phase else item
        case Message() | ToolResult():
            return replace(item, images=draw(pictures))
        case ToolCall() | Feedback():
            return item


# --- What is kept, said a second time ---------------------------------------------------------


def kept(
    history: Sequence[HistoryItem], ids: Mapping[str, str], profile: Profile
) -> list[tuple[int, HistoryItem]]:
    """Return the items as far as this protocol shows them, with their places in the history."""
    return [
        (place, shown)
        for place, item in enumerate(history)
        if (shown := _shown(history, place, item, ids, profile)) is not None
    ]


def _shown(  # one case for each kind of item
    history: Sequence[HistoryItem],
    place: int,
    item: HistoryItem,
    ids: Mapping[str, str],
    profile: Profile,
) -> HistoryItem | None:
    match item:
        case Reasoning(text=text, seals=seals):
            stays = goes_back(history, place)
            own = tuple(seal for seal in seals if seal.origin == PROFILE.origin)
            return replace(item, text=text and clean(text), seals=own) if stays else None
        case Message(role="assistant"):
            own = tuple(seal for seal in item.seals if seal.origin == PROFILE.origin)
            return replace(item, text=clean(item.text), seals=own)
        case Message(role=role):
            sees = profile.takes_images and role == "user"
            return pictured(Message(role=role, text=clean(item.text)), item.images, sees=sees)
        case Feedback(text=text):
            return Feedback(text=clean(text))
        case ToolCall(call_id=call_id, tool_name=name, arguments=arguments):
            return ToolCall(
                call_id=ids[call_id], tool_name=fit_name(name), arguments=clean_call(arguments)
            )
        case ToolResult(call_id=call_id, content=content):
            result = ToolResult(
                call_id=ids[call_id],
                content=clean(content),
                kind="failed" if item.is_error else "done",
            )
            return pictured(result, item.images, sees=profile.takes_images)


def goes_back(history: Sequence[HistoryItem], place: int) -> bool:
    """Whether the thought at `place` is ours, whole, and right before what it led to."""
    item = history[place]
    if not isinstance(item, Reasoning):
        return isinstance(item, ToolCall) or (
            isinstance(item, Message) and item.role == "assistant"
        )
    own = {seal.name for seal in item.seals if seal.origin == PROFILE.origin}
    follows = place + 1 < len(history) and goes_back(history, place + 1)
    return {"item_id", "encrypted_content"} <= own and follows


def pictured(
    item: Message | ToolResult, images: tuple[Image, ...], *, sees: bool
) -> Message | ToolResult:
    if sees:
        return replace(item, images=images)
    notes = ["[image not shown: image/png, 2 bytes]"] * len(images)
    if isinstance(item, Message):
        return replace(item, text="\n".join([*([item.text] if item.text else []), *notes]))
    # An error begins with its mark, so what is written of it is never empty.
    words = [item.content] if item.content or item.is_error else []
    return replace(item, content="\n".join([*words, *notes]))


def clean(text: str) -> str:
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in joined).replace(
        "\x00", "\u2400"
    )


def clean_call(arguments: Arguments | Malformed) -> Arguments | Malformed:
    match arguments:
        case Malformed(raw=raw):
            return Malformed(raw=clean(raw), why="it was malformed when it was written")
        case Arguments():
            value = clean_json(arguments.value())
            assert isinstance(value, dict)
            return arguments_of(value)


def clean_json(value: Json) -> Json:
    match value:
        case str():
            return clean(value)
        case list():
            return [clean_json(inner) for inner in value]
        case dict():
            return {clean(name): clean_json(inner) for name, inner in value.items()}
        case _:
            return value


def items_of(body: Body) -> list[dict[str, Any]]:
    items: Any = body["input"]
    return list(items)


def ids_in(body: Body, history: Sequence[HistoryItem]) -> dict[str, str]:
    """Return which wire id each call of `history` has in `body`: the n-th call the n-th id."""
    written = [item["call_id"] for item in items_of(body) if item["type"] == "function_call"]
    called = [item.call_id for item in history if isinstance(item, ToolCall)]
    return dict(zip(called, written, strict=True))


def arguments_in(body: Body) -> Iterator[Json]:
    return (read_json(i["arguments"]) for i in items_of(body) if i["type"] == "function_call")
