"""Replies of the Responses protocol: streamed as whole, however they end, errors in any shape."""

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.openai_responses.responses_streams import (
    PROFILE,
    USAGE,
    body,
    call,
    event,
    item_events,
    message,
    outputs,
    pieces,
    stream,
    thought,
    whole,
)

from goldseam.kernel.conversation import (
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    arguments_of,
)
from goldseam.kernel.errors import (
    ActualConsumption,
    ModelProviderError,
    UnknownConsumption,
)
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, Remark, TokenUsage
from goldseam.models.dialect import WireEvent
from goldseam.models.openai_responses.read import ResponsesReader


def reply_of(events: Iterable[WireEvent]) -> ModelResponse:
    reader = ResponsesReader(PROFILE)
    for one in events:
        reader.feed(one)
    return reader.finish()


def seen(events: Iterable[WireEvent]) -> list[Delta]:
    reader = ResponsesReader(PROFILE)
    return [delta for one in events for delta in reader.feed(one)]


def seal(name: str, value: str) -> Seal:
    return Seal(origin="openai:m-1", name=name, value=value)


CALL = ToolCall(call_id="call_1", tool_name="read_file", arguments=arguments_of({"path": "a"}))

MANY = 40

# --- Laws -------------------------------------------------------------------------------------


@settings(max_examples=MANY)
@given(outputs(), st.integers(1, 9), st.sampled_from(["completed", "incomplete"]))
def test_a_streamed_reply_is_the_whole_one_however_it_is_cut(  # design law 3, RSP-14
    items: list[dict[str, Any]], size: int, status: str
) -> None:
    value = body(*items, status=status)
    assert reply_of(stream(value, size=size)) == reply_of([whole(value)])


@settings(max_examples=MANY)
@given(outputs(), st.data())
def test_items_that_come_woven_into_each_other_are_told_apart(  # cases 94-97
    items: list[dict[str, Any]], data: st.DataObject
) -> None:
    value = body(*items)
    tracks = [list(item_events(item, at, size=4)) for at, item in enumerate(items)]
    woven = list[WireEvent]()
    while tracks := [track for track in tracks if track]:
        woven.append(data.draw(st.sampled_from(tracks)).pop(0))
    told = [*woven, event("response.completed", response={**value, "output": []})]
    assert reply_of(told) == reply_of([whole(value)])


@settings(max_examples=MANY)
@given(outputs(), st.integers(1, 9))
def test_without_the_ends_of_items_all_is_there_but_the_seals(  # RSP-10
    items: list[dict[str, Any]], size: int
) -> None:
    bare = [{**item, "encrypted_content": None} if "summary" in item else item for item in items]
    told = stream(body(*items), size=size, ends=False)
    assert reply_of(told) == reply_of([whole(body(*bare))])


@settings(max_examples=MANY)
@given(outputs(), st.integers(0, 40))
def test_a_stream_that_breaks_off_is_no_reply(  # origin F15
    items: list[dict[str, Any]], length: int
) -> None:
    told = list(stream(body(*items)))[:-1][:length]
    with pytest.raises(ModelProviderError) as caught:
        reply_of(told)
    assert (caught.value.kind, caught.value.retryable) == ("transport", True)


# --- What a reply holds -----------------------------------------------------------------------


def test_a_reply_is_its_items_in_their_order_with_what_it_cost() -> None:  # RSP-1, RSP-16
    value = body(thought("Hm."), message("Let me ", "look.", phase="commentary"), call())
    assert reply_of([whole(value)]) == ModelResponse(
        items=(
            Reasoning(
                text="Hm.", seals=(seal("item_id", "rs_1"), seal("encrypted_content", "gAAA="))
            ),
            Message(role="assistant", text="Let me look.", seals=(seal("phase", "commentary"),)),
            CALL,
        ),
        stop="tool_calls",
        usage=TokenUsage(input=30, output=20, cache_read=60, cache_write=10, reasoning=8),
        model="m-1-2026",
    )


def test_the_eye_sees_text_thoughts_and_names_of_tools_as_they_come() -> None:
    value = body(thought("Hm."), message("Look."), call(arguments="{}"))
    assert seen(stream(value, size=3)) == [
        Delta(kind="thought", text="Hm."),
        Delta(kind="text", text="Loo"),
        Delta(kind="text", text="k."),
        Delta(kind="tool_call", text="read_file"),
    ]
    assert seen([done(ONE), done(ONE)]) == [Delta(kind="tool_call", text="read_file")]


def test_open_thoughts_are_read_as_summaries_are() -> None:
    where = {"output_index": 0, "item_id": "rs_1", "content_index": 0}
    told = [
        added(thought(), output_index=0),
        *pieces("response.reasoning_text", "text", "open", size=4, **where),
        event("response.completed", response=body()),
    ]
    assert seen(told) == [Delta(kind="thought", text="open")]
    (read,) = reply_of(told).items
    assert read == Reasoning(text="open", seals=(seal("item_id", "rs_1"), seal("summary", "[]")))


def test_of_a_whole_reply_the_eye_sees_the_same() -> None:
    value = body(thought("Hm."), thought(), message("Look."), call())
    assert seen([whole(value)]) == [
        Delta(kind="thought", text="Hm."),
        Delta(kind="text", text="Look."),
        Delta(kind="tool_call", text="read_file"),
    ]


@pytest.mark.parametrize(
    ("item", "text", "summary"),
    [
        (thought(), None, None),
        (thought(""), "", None),
        (
            thought("a", "b"),
            "a\n\nb",
            '[{"text":"a","type":"summary_text"},{"text":"b","type":"summary_text"}]',
        ),
        (thought(content=[{"type": "reasoning_text", "text": "open"}]), "open", "[]"),
        (thought(content=None), None, None),
        ({**thought(), "summary": None}, None, None),
        ({**thought(), "summary": ["odd", {"text": 1}]}, None, '["odd",{"text":1}]'),
    ],
)
def test_a_summary_that_its_text_does_not_give_back_is_sealed(
    item: dict[str, Any], text: str | None, summary: str | None
) -> None:
    extra = (seal("summary", summary),) if summary else ()
    (read,) = reply_of([whole(body(item, message()))]).items[:-1]
    assert read == Reasoning(
        text=text, seals=(seal("item_id", "rs_1"), seal("encrypted_content", "gAAA="), *extra)
    )


def test_a_thought_without_its_sealed_form_has_none() -> None:  # case 134
    sealed = [thought(sealed=None), thought(sealed=""), thought(item_id="")]
    read = reply_of([whole(body(*sealed, message("a")))]).items[:-1]
    assert read == (
        Reasoning(seals=(seal("item_id", "rs_1"),)),
        Reasoning(seals=(seal("item_id", "rs_1"),)),
        Reasoning(seals=(seal("encrypted_content", "gAAA="),)),
    )


def test_the_sealed_form_is_taken_from_the_end_of_the_item() -> None:  # RSP-10
    told = [
        event("response.output_item.added", output_index=0, item=thought(sealed="half")),
        event("response.output_item.done", output_index=0, item=thought(sealed="whole")),
        event("response.completed", response=body()),
    ]
    (read,) = reply_of(told).items
    assert read == Reasoning(seals=(seal("item_id", "rs_1"), seal("encrypted_content", "whole")))


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ("", {}),
        (None, {}),  # case 103
        ({"path": "a"}, {"path": "a"}),
        (" \n", {}),
    ],
)
def test_arguments_that_are_no_text_are_read_all_the_same(arguments: Any, read: Any) -> None:
    (item,) = reply_of([whole(body(call(arguments=arguments)))]).items
    assert item == ToolCall(call_id="call_1", tool_name="read_file", arguments=arguments_of(read))


def test_a_call_without_an_id_has_none() -> None:
    (item,) = reply_of([whole(body(call(call_id=None)))]).items  # type: ignore[arg-type] # hostile
    assert isinstance(item, ToolCall)
    assert item.call_id == ""


def test_bad_arguments_keep_what_the_model_wrote() -> None:  # case 101, XLT-2
    reply = reply_of([whole(body(call(arguments="{'a': 1}")))])
    (item,) = reply.items
    assert isinstance(item, ToolCall)
    assert isinstance(item.arguments, Malformed)
    assert item.arguments.raw == "{'a': 1}"
    assert reply.stop == "tool_calls"


def test_halves_of_a_character_in_two_pieces_are_one_character() -> None:  # case 152
    where = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
    name = "response.output_text.delta"
    told = [
        event(name, **where, delta="\ud83c"),
        event(name, **where, delta="\udf78"),
        event("response.completed", response=body()),
    ]
    assert reply_of(told).items == (Message(role="assistant", text="🍸"),)


# --- Which piece belongs to which call --------------------------------------------------------


def told_as_calls(*events: WireEvent) -> list[tuple[str, str]]:
    """Return id and arguments of each call of a stream that tells nothing at its end."""
    reply = reply_of([*events, event("response.completed", response=body())])
    return [
        (item.call_id, item.arguments.text if not isinstance(item.arguments, Malformed) else "?")
        for item in reply.items
        if isinstance(item, ToolCall)
    ]


def added(item: dict[str, Any], **where: Any) -> WireEvent:
    return event("response.output_item.added", item=item, **where)


def done(item: dict[str, Any], **where: Any) -> WireEvent:
    return event("response.output_item.done", item=item, **where)


def delta(text: str, **where: Any) -> WireEvent:
    return event("response.function_call_arguments.delta", delta=text, **where)


ONE = call("call_1", '{"a":1}', item_id="fc_1")
TWO = call("call_2", '{"a":2}', item_id="fc_2")
BOTH = [("call_1", '{"a":1}'), ("call_2", '{"a":2}')]


def begun(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "arguments": ""}


def without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "id"}


def test_two_calls_of_one_index_are_two_calls() -> None:  # cases 94, 97
    by_id = (
        added(begun(ONE), output_index=0),
        added(begun(TWO), output_index=0),
        delta('{"a":1}', item_id="fc_1", output_index=0),
        delta('{"a":2}', item_id="fc_2", output_index=0),
    )
    assert told_as_calls(*by_id) == BOTH
    assert told_as_calls(*by_id, done(ONE, output_index=0), done(TWO, output_index=0)) == BOTH
    assert told_as_calls(done(ONE, output_index=0), done(TWO, output_index=0)) == BOTH
    one, two = without_id(ONE), without_id(TWO)
    assert told_as_calls(done(one, output_index=0), done(two, output_index=0)) == BOTH


def test_a_missing_index_is_no_zero() -> None:  # case 95
    assert (
        told_as_calls(
            added(begun(ONE), output_index=0),
            added(begun(TWO), output_index=1),
            delta('{"a":2}', item_id="fc_2"),
            delta('{"a":1}', item_id="fc_1"),
        )
        == BOTH
    )
    assert (
        told_as_calls(
            added(begun(without_id(ONE))),
            delta('{"a":1}'),
            done(without_id(ONE)),
            added(begun(without_id(TWO))),
            delta('{"a":2}'),
        )
        == BOTH
    )


def test_ids_that_change_from_event_to_event_are_matched_by_index() -> None:
    assert (
        told_as_calls(
            added({**begun(ONE), "id": "x1"}, output_index=0),
            added({**begun(TWO), "id": "x2"}, output_index=1),
            delta('{"a":2}', item_id="x3", output_index=1),
            delta('{"a":1}', item_id="x4", output_index=0),
            done({**begun(TWO), "id": "x5"}, output_index=1),
            done({**begun(ONE), "id": "x6"}, output_index=0),
        )
        == BOTH
    )


def test_a_piece_without_text_is_none() -> None:
    assert told_as_calls(added(ONE), event("response.function_call_arguments.delta")) == BOTH[:1]


def test_pieces_before_their_item_wait_for_it() -> None:
    assert told_as_calls(
        delta('{"a":', item_id="fc_1"), delta("1}", item_id="fc_1"), done(begun(ONE))
    ) == [("call_1", '{"a":1}')]


def test_what_the_end_of_an_item_says_counts() -> None:  # case 100
    assert told_as_calls(
        added(ONE), delta("{}", item_id="fc_1"), delta("{}", item_id="fc_1"), done(ONE)
    ) == [("call_1", '{"a":1}')]
    assert told_as_calls(
        added({**ONE, "arguments": "{}"}),
        *pieces("response.function_call_arguments", "arguments", '{"a":1}', size=2, item_id="fc_1"),
    ) == [("call_1", '{"a":1}')]


def test_an_end_that_tells_more_than_the_stream_did_is_believed() -> None:
    told = [
        added(begun(ONE), output_index=0),
        event("response.completed", response=body(ONE, TWO)),
    ]
    assert len(reply_of(told).items) == 2
    assert reply_of([event("response.completed", response=body(ONE))]).items[0] == ToolCall(
        call_id="call_1", tool_name="read_file", arguments=arguments_of({"a": 1})
    )


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_items_stand_by_their_index_in_whatever_order_they_end(order: tuple[int, ...]) -> None:
    items = [thought(), ONE, TWO]
    told = [done(items[at], output_index=at) for at in order]
    reply = reply_of([*told, event("response.completed", response=body())])
    assert reply == reply_of([whole(body(*items))])


# --- Why a reply ended ------------------------------------------------------------------------


def stop_of(*items: dict[str, Any], **fields: Any) -> str:
    return reply_of([whole(body(*items, **fields))]).stop


@pytest.mark.parametrize(
    ("stop", "items", "status", "reason"),
    [
        ("end", [message("a")], "completed", None),
        ("tool_calls", [message("a"), call()], "completed", None),  # case 112, XLT-8
        ("end", [message("a")], None, None),
        ("length", [message("a")], "incomplete", "max_output_tokens"),
        ("length", [call()], "incomplete", "max_output_tokens"),  # cases 113, 115
        ("length", [call()], "completed", "max_output_tokens"),
        ("length", [call(arguments='{"a": "x')], "completed", None),  # case 116
        ("length", [call(arguments='{"a": [1')], "completed", None),
        ("length", [call(status="incomplete")], "completed", None),
        ("filter", [], "incomplete", "content_filter"),  # case 119
        ("filter", [call(arguments="{")], "incomplete", "content_filter"),
        ("unknown", [message("a")], "incomplete", None),
        ("unknown", [message("a")], "incomplete", "steered"),  # case 121
        ("unknown", [message("a")], "in_progress", None),
    ],
)
def test_a_reply_ends_for_the_reason_that_is_true(
    stop: str, items: list[dict[str, Any]], status: Any, reason: str | None
) -> None:
    details = {"reason": reason} if reason else None
    assert stop_of(*items, status=status, incomplete_details=details) == stop


def test_a_refusal_is_the_filters_word_and_kept() -> None:  # OAI-26
    refusal = message(content=[{"type": "refusal", "refusal": "I cannot."}])
    for told in ([whole(body(refusal))], stream(body(refusal))):
        reply = reply_of(told)
        assert (reply.stop, reply.items) == (
            "filter",
            (Message(role="assistant", text="I cannot."),),
        )


@pytest.mark.parametrize("status", ["completed", "incomplete"])
def test_the_end_of_a_stream_says_how_it_ended(status: str) -> None:
    told = event(f"response.{status}", response={**body(message("a")), "status": "in_progress"})
    assert reply_of([told]).stop == {"completed": "end", "incomplete": "unknown"}[status]


# --- What is not known ------------------------------------------------------------------------


def test_what_nobody_here_knows_is_remarked() -> None:  # design habit 10
    odd: Any = 7
    value = body(
        {"type": "web_search_call", "id": "ws_1"},
        odd,
        {"type": "function_call", "name": None},
        message(content=[{"type": "output_audio"}, {"type": "output_text", "text": "a"}]),
    )
    told = [event("response.audio.delta"), event("response.audio.delta")]
    reply = reply_of([*told, event("response.completed", response=value)])
    assert reply.items == (Message(role="assistant", text="a"),)
    assert reply.remarks == (
        Remark(code="unknown_item", text="output item 1 of type 'web_search_call' was left out"),
        Remark(code="unknown_item", text="output item 2 has no type that is known"),
        Remark(code="unknown_item", text="output item 3 of type 'function_call' was left out"),
        Remark(code="unknown_part", text="a part of output item 4 is no text and was left out"),
        Remark(code="unknown_event", text="events 'response.audio.delta' were left out"),
    )


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, TokenUsage()),
        ({}, TokenUsage()),
        ({"input_tokens": 5, "output_tokens": 0}, TokenUsage(input=5, output=0)),
        (
            {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 9}},
            TokenUsage(input=0, cache_read=9),
        ),
        ({"input_tokens": True, "output_tokens": -1}, TokenUsage()),
        ({"input_tokens": "5", "input_tokens_details": 3}, TokenUsage()),
    ],
)
def test_usage_that_is_missing_is_unknown(usage: Any, read: TokenUsage) -> None:  # cases 124, 125
    assert reply_of([whole(body(message("a"), usage=usage))]).usage == read


def test_a_reply_that_names_no_model_is_of_the_one_that_was_asked() -> None:
    assert reply_of([whole(body(message("a"), model=None))]).model == "m-1"


def test_what_follows_the_end_is_left_alone() -> None:
    value = body(message("a"))
    told = [*stream(value), WireEvent(data="[DONE]"), event("error", message="late")]
    assert reply_of(told) == reply_of([whole(value)])


def test_an_event_is_known_by_its_name_where_its_body_has_no_type() -> None:
    told = WireEvent(name="response.completed", data=whole({"response": body(message("a"))}).data)
    assert reply_of([told]) == reply_of([whole(body(message("a")))])


@pytest.mark.parametrize("data", ["<html>busy</html>", '{"type":"resp', "", "NaN", "<" * 1_000_000])
def test_an_event_that_is_no_json_is_a_fault_of_the_way(data: str) -> None:
    with pytest.raises(ModelProviderError) as caught:
        reply_of([WireEvent(data=data)])
    assert (caught.value.kind, caught.value.retryable) == ("transport", True)
    assert "\n" not in caught.value.text
    assert len(caught.value.text) < 300


@pytest.mark.parametrize(
    "value",
    [[1], 7, {}, body(output=None), {"id": "x", "output": "text"}, body(status="cancelled")],
)
def test_what_is_no_reply_is_a_fault_of_the_host(value: Any) -> None:
    with pytest.raises(ModelProviderError) as caught:
        reply_of([whole(value)])
    assert (caught.value.kind, caught.value.retryable) == ("server", True)


def test_what_a_reply_cost_that_was_given_up_is_known_where_it_is_told() -> None:
    cost = TokenUsage(input=30, output=20, cache_read=60, cache_write=10, reasoning=8)
    for told, consumption in ((USAGE, ActualConsumption(usage=cost)), (None, UnknownConsumption())):
        with pytest.raises(ModelProviderError) as caught:
            reply_of([whole(body(status="cancelled", usage=told))])
        assert caught.value.consumption == consumption


def test_an_end_without_its_body_is_a_reply_of_what_was_streamed() -> None:
    told = [*list(stream(body(message("a"))))[:-1], event("response.completed")]
    assert reply_of(told).items == (Message(role="assistant", text="a"),)
    assert reply_of(told).usage == TokenUsage()


# --- Errors within a reply --------------------------------------------------------------------

LIMITED = {"code": "rate_limit_exceeded", "message": "Slow down.", "param": None}
FAILED = body(status="failed", usage=None, error={"code": "server_error", "message": "Oops."})


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (event("error", **LIMITED, sequence_number=2), "rate_limited"),
        (event("error", error=LIMITED, sequence_number=2), "rate_limited"),
        (event("response.failed", response=FAILED), "server"),
        (whole(FAILED), "server"),
        (whole({"error": LIMITED}), "rate_limited"),  # an error inside HTTP 200
        (whole({"error": "busy"}), "server"),
    ],
)
def test_an_error_is_raised_in_each_shape_it_comes_in(told: WireEvent, kind: str) -> None:
    opening = event("response.created", response=body(status="in_progress"))
    with pytest.raises(ModelProviderError) as caught:
        reply_of([opening, told])
    assert (caught.value.kind, caught.value.retryable) == (kind, True)  # RSP-15, case 137
