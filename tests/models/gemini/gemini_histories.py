"""Histories and replies as this dialect meets them, some of the seals its own."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import turns

from goldseam.kernel.conversation import (
    HistoryItem,
    Image,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.dialect import Body, Profile, Written
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.gemini.forms import list_in

THREE = Profile(
    host="gemini",
    model="gemini-3-pro",
    seal_scope="gemini",
    requires_signatures=True,
    thinking=True,
    takes_images=True,
)
TWO = replace(
    THREE,
    model="gemini-2.5-flash",
    requires_signatures=False,
    schema_field="parametersJsonSchema",
    takes_images=False,
    streams=False,
    effort="low",
    temperature=0.5,
)
PROFILES = st.sampled_from([THREE, TWO])

USER = Message(role="user", text="Mend it.")
PICTURE = Image(media_type="image/png", data="aGVsbG8=")

TOOLS = (
    ToolSpec(
        name="read_file",
        description="Reads \x00 a file.",
        parameters='{"properties":{"lines":{"enum":[60,1440],"type":"integer"},'
        '"path":{"$ref":"#/$defs/Path"}},"required":["path"],"type":"object",'
        '"$defs":{"Path":{"anyOf":[{"type":"string"},{"type":"null"}]}},'
        '"additionalProperties":false}',
    ),
    ToolSpec(name="run tests!", description="", parameters="{}"),
)


def seal(name: str, value: str, profile: Profile = THREE) -> Seal:
    return Seal(origin=profile.origin, name=name, value=value)


def signed(value: str, profile: Profile = THREE) -> tuple[Seal, ...]:
    return (seal("thought_signature", value, profile),)


def call(
    call_id: str, name: str = "read_file", /, *, path: str | None = None, **rest: Any
) -> ToolCall:
    fields: dict[str, Any] = {"arguments": arguments_of({"path": path or call_id}), **rest}
    return ToolCall(call_id=call_id, tool_name=name, **fields)


def done(call_id: str, content: str = "ok", **rest: Any) -> ToolResult:
    return ToolResult(call_id=call_id, content=content, **rest)


def write(
    history: Sequence[HistoryItem], profile: Profile = THREE, tools: tuple[ToolSpec, ...] = ()
) -> Written:
    """Return what a dialect that never wrote before writes."""
    request = ModelRequest(history=history, tools=tools, max_output_tokens=4096)
    return GeminiDialect().write(request, profile)


def contents(*history: HistoryItem, profile: Profile = THREE) -> list[Json]:
    return list_in(write(history, profile).body, "contents")


SIGNATURES = st.binary(min_size=1, max_size=12).map(lambda raw: b64encode(raw).decode())


@st.composite
def own_turns(draw: st.DrawFn, profile: Profile) -> list[list[HistoryItem]]:
    """Turns of which some were made by the model of `profile`, beside those of others."""
    return [[draw(_owned(item, profile)) for item in part] for part in draw(turns())]


@st.composite
def _owned(draw: st.DrawFn, item: HistoryItem, profile: Profile) -> HistoryItem:
    seals = draw(st.just(()) | SIGNATURES.map(lambda value: signed(value, profile)))
    match item:
        case Message(role="assistant"):
            offset = draw(st.sampled_from(["", "0", "1", "7", "-1", "9" * 5000, "٣"]))
            if seals and offset:
                seals = (*seals, seal("signed_from", offset, profile))
            return replace(item, seals=(*item.seals, *seals))
        case Message() | ToolResult():
            return replace(item, images=draw(st.sampled_from([(), (PICTURE,), (PICTURE,) * 2])))
        case Reasoning():
            return replace(item, seals=(*item.seals, *seals))
        case ToolCall():
            native = draw(st.sampled_from(["", item.call_id, "another"]))
            if native:
                seals = (*seals, seal("call_id", native, profile))
            return replace(item, seals=(*item.seals, *seals))
        case _:
            return item


_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
_ARGUMENTS: st.SearchStrategy[dict[str, Json]] = st.dictionaries(
    _TEXTS, st.one_of(_TEXTS, st.none(), st.integers(), st.lists(st.booleans(), max_size=2))
)


@st.composite
def reply_parts(draw: st.DrawFn) -> list[Body]:
    """The parts of one reply, as the model gives them, cut no further than it had to."""
    return [draw(_part()) for _ in range(draw(st.integers(1, 5)))]


@st.composite
def _part(draw: st.DrawFn) -> Body:
    signature = draw(st.just("") | SIGNATURES)
    sign: Body = {"thoughtSignature": signature} if signature else {}
    match draw(st.sampled_from(["text", "thought", "call", "call"])):
        case "text":
            return {"text": draw(st.sampled_from(["", "a", "Héllo 🍸 "]) | _TEXTS), **sign}
        case "thought":
            return {"text": draw(_TEXTS), "thought": True, **sign}
        case _:
            name = draw(st.sampled_from(["read_file", "run_tests"]))
            native = draw(st.sampled_from(["", "gjl2yj5t", "k1"]))
            told: Body = {"name": name, "args": draw(_ARGUMENTS)}
            return {"functionCall": {**told, **({"id": native} if native else {})}, **sign}
