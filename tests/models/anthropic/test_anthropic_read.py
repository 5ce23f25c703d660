"""What a reply is read as, streamed and whole."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.anthropic.anthropic_streams import (
    USAGE,
    Wire,
    deltas,
    event,
    message,
    read,
    read_events,
    replies,
    stream,
    text,
    thinking,
    tool_use,
)
from models.anthropic.own_histories import ADAPTIVE, ask, redacted, sealed, thought

from goldseam.kernel.conversation import (
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.errors import (
    ActualConsumption,
    InvalidModelOutputError,
    ModelProviderError,
    UnknownConsumption,
)
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, TokenUsage
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import WireEvent

COUNTED = TokenUsage(input=10, output=55, cache_read=200, cache_write=30, reasoning=40)


UNSENDABLE = frozenset("\x00\ud800\udf78\ud83c")


def said(words: str) -> Message:
    return Message(role="assistant", text=words)


def call(call_id: str = "toolu_1", **arguments: Any) -> ToolCall:
    return ToolCall(call_id=call_id, tool_name="read_file", arguments=arguments_of(arguments))


@given(replies(), st.lists(st.integers(1, 7), min_size=1, max_size=3))
def test_any_cutting_gives_the_same_reply_as_the_whole_body(body: Wire, pieces: list[int]) -> None:
    whole = read([body])
    assert read(stream(body, pieces)) == whole
    assert read(stream(body)) == whole


@given(replies())
def test_what_the_model_thought_and_called_goes_back_as_it_came(body: Wire) -> None:
    items = read([body]).items
    results = [
        ToolResult(call_id=item.call_id, content="") for item in items if isinstance(item, ToolCall)
    ]
    user = Message(role="user", text="go")
    sent: Any = AnthropicDialect().write(ask(user, *items, *results, user), ADAPTIVE).body
    thoughts = [
        block
        for block in json.loads(json.dumps(body))["content"]  # joins the halves of a pair
        if block["type"] == "redacted_thinking"
        or (block.get("signature") and not UNSENDABLE & set(block["thinking"]))
    ]
    found = [b for m in sent["messages"] for b in m["content"] if "thinking" in b["type"]]
    assert found == thoughts


def test_thoughts_words_and_calls_come_in_their_order_with_their_seals() -> None:
    body = message(  # agents 70, 73; ANT-25
        [
            thinking("why", "s1"),
            text("I look."),
            tool_use("toolu_1", path="a"),
            thinking("", "s2"),
            {"type": "redacted_thinking", "data": "ZGF0YQ=="},
            tool_use("toolu_2"),
        ],
        stop_reason="tool_use",
    )
    assert read(stream(body, [3])) == ModelResponse(
        items=(
            thought("why", "s1"),
            said("I look."),
            call("toolu_1", path="a"),
            thought("", "s2"),
            redacted("ZGF0YQ=="),
            call("toolu_2"),
        ),
        stop="tool_calls",
        usage=COUNTED,
        model="claude-test-20261101",
    )


def test_the_seal_names_its_origin() -> None:
    (found,) = read([message([thinking("", "s")])]).items
    assert found == Reasoning(text="", seals=(sealed("signature", "s"),))


def test_the_eye_sees_words_thoughts_and_the_names_of_calls_as_they_come() -> None:
    body = message([thinking("ab", "s"), text("cd"), tool_use(path="x")])
    shown = [
        Delta(kind="thought", text="a"),
        Delta(kind="thought", text="b"),
        Delta(kind="text", text="c"),
        Delta(kind="text", text="d"),
        Delta(kind="tool_call", text="read_file"),
    ]
    assert deltas(stream(body, [1])) == shown
    assert [delta.text for delta in deltas([body])] == ["ab", "cd", "read_file"]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("pause_turn", "pause"),
        ("refusal", "filter"),
        ("novel_reason", "unknown"),  # agents 121
        (None, "unknown"),
    ],
)
def test_each_reason_to_end_stays_distinct(reason: str | None, stop: str) -> None:  # ANT-28
    told = read(stream(message([text("so")], stop_reason=reason)))
    assert told.stop == stop
    assert bool(told.remarks) == (stop == "unknown")


def test_calls_are_found_by_their_blocks_not_by_the_reason() -> None:  # agents 112
    told = read(stream(message([tool_use()], stop_reason="end_turn")))
    assert (told.items, told.stop) == ((call(),), "end")


def test_an_empty_reply_is_legal_here() -> None:  # ANT-29, agents 118
    told = read(stream(message([], stop_reason="end_turn")))
    assert (told.items, told.stop) == ((), "end")


def test_a_refusal_says_its_category() -> None:  # agents 119
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    told = read(stream(message([], stop_reason="refusal", stop_details=details)))
    assert (told.stop, [remark.text for remark in told.remarks]) == (
        "filter",
        ["refused as 'cyber'"],
    )


def test_a_full_context_window_is_an_overflow_that_has_cost_something() -> None:
    with pytest.raises(ModelProviderError) as failed:
        read(stream(message([text("so")], stop_reason="model_context_window_exceeded")))
    assert (failed.value.kind, failed.value.retryable) == ("context_overflow", False)
    assert failed.value.consumption == ActualConsumption(usage=COUNTED)


# Arguments ----------------------------------------------------------------------------------------


def call_stream(*partial: str, start: Any = None, reason: str = "tool_use") -> list[Wire]:
    events = stream(message([{**tool_use(), "input": {}}], stop_reason=reason))
    place = next(n for n, one in enumerate(events) if one["type"] == "content_block_delta")
    events[place - 1]["content_block"]["input"] = start
    events[place : place + 1] = [
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": part},
        }
        for part in partial
    ]
    return events


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (call_stream(start={}), call()),  # ANT-31
        (call_stream("", "", start={}), call()),
        (call_stream("null", start={}), call()),  # agents 103
        (call_stream(start=None), call()),
        (call_stream('{"a"', ": 1}", start={}), call(a=1)),
        (call_stream('{"a": 1}', start={"b": 2}), call(a=1)),  # agents 100
        (call_stream(start={"b": 2}), call(b=2)),
    ],
)
def test_arguments_are_the_pieces_or_what_the_start_held(events: list[Wire], found: Any) -> None:
    told = read(events)
    assert (told.items, told.stop) == ((found,), "tool_calls")


@pytest.mark.parametrize("raw", ['{"a": 1', '{"a": "}', '{"a": "\\"}', "[1, 2"])
def test_arguments_that_are_never_closed_are_cut_whatever_the_reason(raw: str) -> None:
    assert read(call_stream(raw, start={})).stop == "length"  # agents 113, 115, 116
    assert read(call_stream(raw, start={}, reason="refusal")).stop == "filter"


@pytest.mark.parametrize("raw", ["[1]", '"a"', "{1}", '{"a": 1}}', '{"a": "{["} x'])
def test_arguments_that_are_closed_and_no_object_are_malformed(raw: str) -> None:
    told = read(call_stream(raw, start={}))
    (found,) = told.items
    assert isinstance(found, ToolCall)
    assert isinstance(found.arguments, Malformed)
    assert (found.arguments.raw, told.stop) == (raw, "tool_calls")


def test_a_call_whose_block_never_stops_is_cut() -> None:  # agents 116
    events = [one for one in stream(message([tool_use()])) if one["type"] != "content_block_stop"]
    assert read(events).stop == "length"
    events = [one for one in stream(message([text("a")])) if one["type"] != "content_block_stop"]
    assert read(events).stop == "end"


# Usage --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, TokenUsage()),  # agents 125: unknown, not 0
        ({"output_tokens": 7}, TokenUsage(output=7)),
        ({"input_tokens": True, "output_tokens": -1}, TokenUsage()),
        (USAGE, COUNTED),
    ],
)
def test_what_is_not_counted_is_unknown(usage: Any, counted: TokenUsage) -> None:  # ANT-30
    assert read([message(usage=usage)]).usage == counted
    assert read(stream(message(usage=usage))).usage == counted


def test_a_later_count_replaces_an_earlier_one_and_null_replaces_nothing() -> None:
    events = stream(message(usage={"input_tokens": 10, "output_tokens": 3}))
    more = {"input_tokens": 12, "cache_read_input_tokens": None, "output_tokens": 9}
    events[-1:-1] = [{"type": "message_delta", "delta": {}, "usage": more}]
    assert read(events).usage == TokenUsage(input=12, output=9)
    assert read(events).stop == "end"


def test_the_output_counted_at_the_start_of_a_stream_is_no_total() -> None:
    events = stream(message(usage={"input_tokens": 10, "output_tokens": 3}))
    del events[-2]["usage"]
    assert read(events).usage == TokenUsage(input=10)


# What breaks --------------------------------------------------------------------------------------


def test_a_stream_that_ends_before_its_reply_is_a_failure_of_transport() -> None:
    for end in range(len(stream(message([text("a")])))):
        with pytest.raises(ModelProviderError) as failed:
            read(stream(message([text("a")]))[:end])
        assert (failed.value.kind, failed.value.retryable) == ("transport", True)
        assert failed.value.consumption == UnknownConsumption()


def test_an_error_in_the_middle_of_a_stream_is_classified() -> None:  # ANT-32, agents 137
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(ModelProviderError) as failed:
        read([*stream(message([text("a")]))[:3], overloaded])
    assert (failed.value.kind, failed.value.retryable) == ("overloaded", True)
    assert failed.value.consumption == UnknownConsumption()


def test_an_error_without_a_type_is_one_too() -> None:
    told = WireEvent(data='{"error": {"type": "authentication_error", "message": "no"}}')
    with pytest.raises(ModelProviderError) as failed:
        read_events([told])
    assert failed.value.kind == "auth"


@pytest.mark.parametrize(
    "data",
    [
        "<html>gateway</html>",
        "[]",
        '{"type": "content_block_delta", "index": 3, "delta": {}}',
        '{"type": "content_block_stop", "index": 3}',
        '{"type": "content_block_start", "index": 0}',
        '{"type": "content_block_delta"}',
    ],
)
def test_what_breaks_the_protocol_is_told_in_one_line_with_what_it_cost(data: str) -> None:
    start = event(stream(message())[0])
    with pytest.raises(InvalidModelOutputError) as failed:
        read_events([start, WireEvent(data=data)])
    assert failed.value.usage == TokenUsage(input=10, cache_read=200, cache_write=30)
    assert failed.value.excerpt == data
    assert "\n" not in failed.value.why


def test_a_delta_for_an_open_block_needs_its_parts() -> None:
    with pytest.raises(InvalidModelOutputError):
        read([*stream(message([text("a")]))[:3], {"type": "content_block_delta", "index": 0}])


def test_what_is_not_known_is_left_out_and_said_once() -> None:
    blocks = [{"type": "server_tool_use", "server_tool_use": "x"}, text("a")]
    events = stream(message(blocks))
    place = next(n for n, one in enumerate(events) if one.get("index") == 1) + 1
    cited = {"type": "citations_delta", "citation": {}}
    events[place:place] = [{"type": "content_block_delta", "index": 1, "delta": cited}] * 2
    events[1:1] = [{"type": "novel_event"}, {"type": "novel_event"}, {"type": "ping"}]
    told = read(events)
    assert told.items == (said("a"),)
    assert [remark.text for remark in told.remarks] == [
        "a block of the kind 'server_tool_use' in the reply is not known and not kept",
        "a delta of the kind 'citations_delta' in the reply is not known and not kept",
        "an event of the type 'novel_event' is not known",
    ]


def test_a_body_of_wrong_types_is_read_as_far_as_it_goes() -> None:
    odd: Wire = {"type": "message", "content": None, "usage": [], "model": 3, "stop_reason": 1}
    told = read([odd])
    assert told == ModelResponse(
        items=(),
        stop="unknown",
        usage=TokenUsage(),
        model=ADAPTIVE.model,
        remarks=told.remarks,
    )
    assert read([message(content=["x"])]).items == ()
