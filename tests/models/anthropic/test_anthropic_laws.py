"""The laws of a dialect (design.md), for Anthropic Messages, over generated histories."""

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from models.anthropic.message_rules import breaches
from models.anthropic.own_histories import (
    ADAPTIVE,
    PROFILES,
    own_turns,
    request_for,
    requests,
)
from models.judges_anthropic import refusal
from msgspec.structs import replace

from goldseam.kernel.conversation import HistoryItem, Reasoning, ToolResult
from goldseam.kernel.request import ModelRequest
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.anthropic.forms import BRIDGE
from goldseam.models.dialect import Profile
from goldseam.models.fitting import WireIds

FEW = settings(max_examples=60)
PLACE = re.compile(r"history item (\d+):")


def written(request: ModelRequest, profile: Profile) -> dict[str, Any]:
    return dict(AnthropicDialect().write(request, profile).body)


def unmarked(value: Any) -> Any:
    """Return `value` without its cache marks, which move."""
    if isinstance(value, list):
        return [unmarked(inner) for inner in value]
    if isinstance(value, dict):
        return {k: unmarked(inner) for k, inner in value.items() if k != "cache_control"}
    return value


def prefix_of(body: dict[str, Any]) -> list[str]:
    """Return the blocks a cache would see, in order, without a bridge at the end."""
    plain = unmarked(body)
    flat = [("tools", tool) for tool in plain.get("tools", ())]
    flat += [("system", block) for block in plain.get("system", ())]
    flat += [(m["role"], block) for m in plain["messages"] for block in m["content"]]
    if flat[-1] == ("user", {"type": "text", "text": BRIDGE}):
        flat.pop()
    return [json.dumps(one) for one in flat]


@FEW
@given(requests(), PROFILES)
def test_every_body_is_taken_by_the_vendors_types_and_by_the_rules_of_order(
    request: ModelRequest, profile: Profile
) -> None:
    body = written(request, profile)
    assert (refusal(body), breaches(body)) == (None, [])
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()  # agents of kind Q


@FEW
@given(own_turns(), PROFILES)
def test_each_request_extends_the_one_before_apart_from_marks_and_bridge(
    turns: list[list[HistoryItem]], profile: Profile
) -> None:
    writer = AnthropicDialect().writer(profile)
    before = list[str]()
    for count in range(1, len(turns) + 1):
        body = dict(writer.write(request_for(turns[:count])).body)
        after = prefix_of(body)
        assert after[: len(before)] == before
        before = after


@FEW
@given(own_turns(), own_turns(), PROFILES, st.integers(0, 4))
def test_what_was_written_before_changes_nothing(
    turns: list[list[HistoryItem]], others: list[list[HistoryItem]], profile: Profile, cut: int
) -> None:
    writer = AnthropicDialect().writer(profile)
    for one in (turns, turns[:cut], turns, others, turns):
        request = request_for(one)
        assert writer.write(request) == AnthropicDialect().write(request, profile)


@FEW
@given(requests(), PROFILES)
def test_what_no_loss_names_is_read_back_as_it_was(request: ModelRequest, profile: Profile) -> None:
    dialect = AnthropicDialect()
    told = dialect.write(request, profile)
    lossy = {int(found[1]) - 1 for loss in told.losses if (found := PLACE.match(loss.text))}
    ids = WireIds(profile.ids)
    expected = [
        with_wire_ids(item, ids) for n, item in enumerate(request.history) if n not in lossy
    ]
    found_in_order = iter(dialect.read_back(told.body, profile))
    assert [item for item in expected if item not in found_in_order] == []


def with_wire_ids(item: HistoryItem, ids: WireIds) -> HistoryItem:
    return replace(item, call_id=ids.of(item.call_id)) if isinstance(item, ToolResult) else item


@FEW
@given(own_turns())
def test_own_thoughts_come_back_byte_for_byte_in_their_order(
    turns: list[list[HistoryItem]],
) -> None:  # A → B → A: foreign items stand anywhere between (ANT-22, ANT-25, agents 70, 74)
    sealed = [
        (thought.text or "", thought.seals[0].value)
        for turn in turns
        for thought in turn
        if isinstance(thought, Reasoning)
        and [seal.origin for seal in thought.seals] == [ADAPTIVE.origin]
        and not re.search("[\x00\ud800-\udfff]", thought.text or "")
    ]
    body = written(request_for(turns), ADAPTIVE)
    sent = [
        (block.get("thinking", ""), block.get("signature") or block["data"])
        for message in body["messages"]
        for block in message["content"]
        if "thinking" in block["type"]
    ]
    assert sent == sealed


@FEW
@given(requests(), st.sampled_from(["deepseek:x", "anthropic:another-model"]))
def test_another_model_is_shown_no_thought(request: ModelRequest, other: str) -> None:
    scope, _, model = other.partition(":")
    body = written(request, replace(ADAPTIVE, seal_scope=scope, model=model))
    assert '"signature"' not in json.dumps(body["messages"])  # XLT-3, agents 68
    assert '"redacted_thinking"' not in json.dumps(body["messages"])
