"""Histories as this dialect meets them: generated ones, some of whose thoughts are its own."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import joined, texts, tool_specs, turns

from goldseam.kernel.conversation import (
    Feedback,
    HistoryItem,
    Image,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.request import ModelRequest
from goldseam.models.dialect import IdRule, Profile

ADAPTIVE = Profile(
    host="anthropic",
    model="claude-test",
    seal_scope="anthropic",
    ids=IdRule(longest=64),
    takes_images=True,
    thinking=True,
    effort="high",
    caches=True,
    version="2026-10-21",
)
BUDGETED = replace(ADAPTIVE, effort=None)
PLAIN = replace(ADAPTIVE, thinking=False, effort=None)
BARE = replace(
    PLAIN, caches=False, streams=False, takes_images=False, temperature=0.5, version="2023-06-01"
)

PROFILES = st.sampled_from([ADAPTIVE, BUDGETED, PLAIN, BARE, replace(BUDGETED, temperature=1.5)])


def sealed(name: str, value: str, profile: Profile = ADAPTIVE) -> Seal:
    return Seal(origin=profile.origin, name=name, value=value)


def thought(text: str = "so be it", signature: str = "c2ln") -> Reasoning:
    return Reasoning(text=text, seals=(sealed("signature", signature),))


def redacted(value: str = "ZGF0YQ==") -> Reasoning:
    return Reasoning(seals=(sealed("redacted_thinking", value),))


def ask(*history: HistoryItem, **rest: Any) -> ModelRequest:
    """Return the request for `history`, which need not be a sound conversation."""
    fields: dict[str, Any] = {"tools": (), "max_output_tokens": 8192, **rest}
    return ModelRequest(history=history, **fields)


def _owned(item: HistoryItem, draw: st.DrawFn) -> HistoryItem:
    match item:
        case Reasoning():
            own = st.one_of(
                st.builds(thought, st.sampled_from(["", "why\n", "\x00", "é"]) | texts()),
                st.just(redacted()),
                st.just(item),
            )
            return draw(own)
        case Message(role="user") | ToolResult():
            picture = st.builds(
                Image, media_type=st.sampled_from(["image/png", "image/tiff"]), data=st.just("aGk=")
            )
            return replace(item, images=tuple(draw(st.lists(picture, max_size=1))))
        case Message() | ToolCall() | Feedback():
            return item


@st.composite
def own_turns(draw: st.DrawFn) -> list[list[HistoryItem]]:
    """Return turns as `strategies.turns` does, in which thoughts may be this model's own."""
    return [[_owned(item, draw) for item in turn] for turn in draw(turns())]


@st.composite
def requests(draw: st.DrawFn) -> ModelRequest:
    return request_for(draw(own_turns()), draw(tool_specs()), draw(st.sampled_from([1000, 8192])))


def request_for(
    parts: Sequence[Sequence[HistoryItem]], tools: Any = (), max_output_tokens: int = 8192
) -> ModelRequest:
    return ModelRequest(history=joined(parts), tools=tools, max_output_tokens=max_output_tokens)
