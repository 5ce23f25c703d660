"""The laws of a dialect, for every kind of host that speaks this one."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.judges_openai import host_refusal, type_refusal
from models.openai_chat.chat_histories import parts, requests, shown
from models.profiles import CHAT_PROFILES
from msgspec.structs import replace
from strategies import joined, turns

from goldseam.kernel.conversation import (
    Conversation,
    Feedback,
    HistoryItem,
    Seal,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest
from goldseam.models.dialect import Profile
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.models.openai_chat.write import ChatWriter

DIALECT = ChatDialect()

hosts = pytest.mark.parametrize("profile", CHAT_PROFILES, ids=lambda profile: profile.host)


@hosts
@given(data=st.data())
@settings(max_examples=12)
def test_every_body_is_taken_by_the_types_and_by_the_rules_of_its_host(
    profile: Profile, data: st.DataObject
) -> None:
    written = DIALECT.write(data.draw(requests(profile)), profile)
    assert type_refusal(written.body, profile) is None
    assert host_refusal(written.body, profile) is None


@hosts
@given(data=st.data())
@settings(max_examples=12)
def test_reading_back_gives_the_history_less_what_was_named(
    profile: Profile, data: st.DataObject
) -> None:
    request = data.draw(requests(profile))
    assert isinstance(request.history, Conversation)
    written = DIALECT.write(request, profile)
    read = DIALECT.read_back(written.body, profile)
    assert list(read) == shown(request.history, profile)
    if not written.losses:
        assert read == tuple(request.history)


@hosts
@given(data=st.data())
@settings(max_examples=12)
def test_a_longer_history_only_adds_behind_and_is_written_as_if_for_the_first_time(
    profile: Profile, data: st.DataObject
) -> None:
    writer, history = ChatWriter(profile), Conversation()
    before: list[Any] = []
    for part in data.draw(parts(profile)):
        history = history.extend(part)
        request = ModelRequest(history=history, tools=(), max_output_tokens=1000)
        written = writer.write(request)
        assert written == DIALECT.write(request, profile)
        messages: Any = written.body["messages"]
        assert_extends(before, messages, profile)
        before = messages[:-1] if messages[-1]["content"] == "(continue)" else messages


def assert_extends(before: list[Any], after: list[Any], profile: Profile) -> None:
    """Hold that `after` begins as `before`, whose last text may go on where roles are merged."""
    if profile.merges_same_role and before:
        last, grown = before[-1], after[len(before) - 1]
        assert grown["role"] == last["role"]
        if isinstance(grown["content"], type(last["content"])):
            begun = json.dumps(last["content"]).rstrip('"}]')
            assert json.dumps(grown["content"]).startswith(begun)
        before = before[:-1]
    assert after[: len(before)] == before


@hosts
@given(data=st.data())
@settings(max_examples=12)
def test_a_history_that_parts_from_the_last_one_is_written_as_if_for_the_first_time(
    profile: Profile, data: st.DataObject
) -> None:
    writer = ChatWriter(profile)
    shared = data.draw(parts(profile))
    for tail in (data.draw(turns(max_turns=1)), shared[-1:], []):
        kept = shared[: data.draw(st.integers(0, len(shared)))]
        request = ModelRequest(
            history=joined([*kept, *renamed(tail)]), tools=(), max_output_tokens=1000
        )
        assert writer.write(request) == DIALECT.write(request, profile)


def renamed(tail: list[list[HistoryItem]]) -> list[list[HistoryItem]]:
    """Return the turns with call ids that none in front of them has."""
    return [
        [
            replace(item, call_id=f"late {item.call_id}")
            if isinstance(item, ToolCall | ToolResult)
            else item
            for item in part
        ]
        for part in tail
    ]


@hosts
@given(data=st.data())
@settings(max_examples=12)
def test_a_seal_goes_to_its_origin_alone_and_comes_back_byte_for_byte(
    profile: Profile, data: st.DataObject
) -> None:
    request = data.draw(requests(profile))
    other = replace(profile, model="another model")
    for body, judged in (
        (DIALECT.write(request, other).body, other),
        (DIALECT.write(request, profile).body, profile),
    ):
        values = {s.value for item in read(body, judged) for s in seals_of(item)}
        made = {s.value for i in request.history for s in seals_of(i) if s.origin == judged.origin}
        known = {value for value in values if not value.startswith("[{")}
        assert known <= made | {judged.reasoning_field}


def read(body: dict[str, Json], profile: Profile) -> tuple[HistoryItem, ...]:
    return DIALECT.read_back(body, profile)


def seals_of(item: HistoryItem) -> tuple[Seal, ...]:
    return () if isinstance(item, ToolResult | Feedback) else item.seals
