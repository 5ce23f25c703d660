"""Replies of any Chat host, read: what is there counts more than what a reply says of itself."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.openai_chat.chat_histories import own
from models.openai_chat.chat_streams import DONE, calls, chunk, event, piece, read, read_all, whole
from models.profiles import CHAT_PROFILES, DEEPSEEK, GEMINI, MISTRAL, OPENAI, OPENROUTER, VLLM

from goldseam.kernel.conversation import (
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    arguments_from_text,
)
from goldseam.kernel.errors import ActualConsumption, ModelProviderError, UnknownConsumption
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem, StopReason, TokenUsage
from goldseam.models.dialect import Profile, WireEvent

STOP = chunk(finish="stop")


def words(text: str) -> Message:
    return Message(role="assistant", text=text)


def call(call_id: str = "c1", arguments: str = "{}", name: str = "read_file") -> ToolCall:
    return ToolCall(call_id=call_id, tool_name=name, arguments=arguments_from_text(arguments))


def reply(*items: ReplyItem, stop: StopReason = "end", **rest: Any) -> ModelResponse:
    return ModelResponse(**{
        "items": items,
        "stop": stop,
        "usage": TokenUsage(),
        "model": "m-1",
        **rest,
    })


# The stream (OAI-27, OAI-28)


def test_a_stream_gives_its_reply_and_shows_it_as_it_comes() -> None:
    found, shown = read_all(
        OPENAI,
        [
            chunk({"role": "assistant", "content": ""}, obfuscation="x", service_tier="default"),
            chunk({"content": "I "}),
            chunk({"content": "look."}),
            calls(piece(0, "c1", "read_file", arguments="", type="function")),
            calls(piece(0, arguments='{"path":')),
            calls(piece(0, arguments='"a"}')),
            chunk(finish="tool_calls"),
            event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}),
            event({"choices": [], "moderation": {}}),
            DONE,
        ],
    )
    assert found == reply(
        words("I look."),
        call(arguments='{"path":"a"}'),
        stop="tool_calls",
        usage=TokenUsage(input=9, output=4),
    )
    assert shown == [
        Delta(kind="text", text="I "),
        Delta(kind="text", text="look."),
        Delta(kind="tool_call", text="read_file"),
    ]


def test_other_choices_and_unknown_events_are_looked_past() -> None:
    other = {"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}
    odd = event({"choices": [other, "x", {"delta": "x"}], "model": "m-1"})
    assert read(OPENAI, odd, event({"object": "ping"}), chunk({"content": "yes"}), STOP) == reply(
        words("yes")
    )


@pytest.mark.parametrize(
    "events",
    [
        [],
        [chunk({"content": "I "})],
        [calls(piece(0, "c1", "read_file", arguments="{}"))],
        [event({"choices": []})],
    ],
)
def test_a_stream_that_ends_before_its_reply_is_asked_again(events: list[WireEvent]) -> None:
    with pytest.raises(ModelProviderError) as caught:
        read(OPENAI, *events)
    assert (caught.value.kind, caught.value.retryable) == ("transport", True)
    assert caught.value.text == "openai ended its stream before the reply did; it is asked again"


def test_a_reply_is_over_with_its_reason_or_with_the_end_of_its_stream() -> None:
    assert read(OPENAI, chunk({"content": "a"}), STOP).stop == "end"
    assert read(OPENAI, chunk({"content": "a"}), DONE) == reply(
        words("a"),
        stop="unknown",
        remarks=(Remark(code="reply_noted", text="the reply ended for the reason none given"),),
    )


@pytest.mark.parametrize("data", ["<html>Login</html>", '{"choices": [', "", "NaN"])
def test_what_is_no_json_is_a_fault_of_the_way(data: str) -> None:
    with pytest.raises(ModelProviderError, match="openai sent what is") as caught:
        read(OPENAI, WireEvent(data=data))
    assert (caught.value.kind, caught.value.retryable) == ("transport", True)


# Calls by index, id and completeness


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        (  # 94, 97: several whole calls on one index
            [
                piece(0, "a", "read_file", arguments='{"n":1}'),
                piece(0, "b", "read_file", arguments='{"n":2}'),
            ],
            [call("a", '{"n":1}'), call("b", '{"n":2}')],
        ),
        (  # 94: nor any id
            [
                piece(0, None, "read_file", arguments='{"n":1}'),
                piece(0, None, "read_file", arguments='{"n":2}'),
            ],
            [call("", '{"n":1}'), call("", '{"n":2}')],
        ),
        (  # 95: no index is not index 0
            [
                piece(None, "a", "read_file", arguments='{"n":'),
                piece(None, "b", "read_file", arguments='{"n":2}'),
                piece(None, "a", arguments="1}"),
            ],
            [call("a", '{"n":1}'), call("b", '{"n":2}')],
        ),
        (  # 95: neither index nor id
            [
                piece(None, None, "read_file", arguments='{"n":1'),
                piece(None, None, None, arguments="}"),
                piece(None, None, "read_file", arguments="{}"),
            ],
            [call("", '{"n":1}'), call("", "{}")],
        ),
        (  # MIS-3: whole, without index and type
            [piece(None, "a", "read_file", arguments="{}"), piece(None, "b", "x", arguments="{}")],
            [call("a"), call("b", name="x")],
        ),
        (  # interleaved, the id in the first piece only
            [
                piece(0, "a", "read_file", arguments='{"n"'),
                piece(1, "b", "read_file", arguments='{"m"'),
                piece(0, arguments=":1}"),
                piece(1, arguments=":2}"),
            ],
            [call("a", '{"n":1}'), call("b", '{"m":2}')],
        ),
        (  # id and name repeated in every piece
            [
                piece(0, "a", "read_file", arguments='{"n":'),
                piece(0, "a", "read_file", arguments="1}"),
                piece(0, "a", "read_file", arguments=""),
            ],
            [call("a", '{"n":1}')],
        ),
        (  # the id comes after the name
            [piece(0, None, "read_file", arguments="{"), piece(0, "a", arguments="}")],
            [call("a")],
        ),
        (  # a bracket at the end of a piece is not yet the end
            [piece(0, "a", "read_file", arguments='{"n":{}'), piece(0, "a", "x", arguments="}")],
            [call("a", '{"n":{}}')],
        ),
        ([piece(7, "a", "read_file")], [call("a")]),  # 100
        ([piece(0, "a", "read_file", arguments="null")], [call("a")]),  # 103
        ([piece(0, "a", "read_file", arguments={"n": 1})], [call("a", '{"n":1}')]),  # OLL-1
        ([{"id": "a"}], [call("a", name="")]),
    ],
)
def test_calls_come_apart_however_they_are_numbered(
    pieces: list[dict[str, Any]], found: list[ToolCall]
) -> None:
    together = read(OPENAI, calls(*pieces), chunk(finish="tool_calls"))
    apart = read(OPENAI, *map(calls, pieces), chunk(finish="tool_calls"))
    assert together == apart == reply(*found, stop="tool_calls")


def test_calls_of_a_whole_message_are_told_apart_by_their_place() -> None:
    same = {"id": "c1", "function": {"name": "read_file", "arguments": "{"}}
    twice = read(OPENAI, whole({"content": None, "tool_calls": [same, same]}))
    assert twice.items == (call(arguments="{"), call(arguments="{"))


# Why it ended (XLT-8, OAI-25)


@pytest.mark.parametrize(
    ("arguments", "finish", "stop"),
    [
        ("{}", "tool_calls", "tool_calls"),
        ("{}", "stop", "tool_calls"),  # 112, ORT-3
        ("{}", "function_call", "tool_calls"),
        ('{"a": 1', "length", "length"),  # 113, 115
        ('{"a": 1', "tool_calls", "length"),  # 116
        ('{"a": 1', "stop", "length"),  # 118
        ('{"a": 1', "odd", "length"),
        ('{"a": 1', "content_filter", "filter"),
        ("{}", "content_filter", "filter"),
        ("not json", "tool_calls", "tool_calls"),
    ],
)
def test_whether_calls_are_whole_counts_more_than_the_reason(
    arguments: str, finish: str, stop: StopReason
) -> None:
    found = read(OPENAI, calls(piece(0, "c1", "read_file", arguments=arguments)), chunk({}, finish))
    assert found.stop == stop
    assert found.items == (call(arguments=arguments),)


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        *[("stop", "end"), ("eos", "end"), ("length", "length"), ("model_length", "length")],
        *[("content_filter", "filter"), ("sensitive", "filter"), ("tool_calls", "tool_calls")],
    ],
)
def test_a_known_reason_is_read(finish: str, stop: StopReason) -> None:
    assert read(OPENAI, chunk({"content": "a"}, finish)) == reply(words("a"), stop=stop)


def test_an_unknown_reason_stays_unknown_and_is_named() -> None:  # 121
    assert read(OPENAI, chunk({"content": "a"}, "refusal")) == reply(
        words("a"),
        stop="unknown",
        remarks=(Remark(code="reply_noted", text="the reply ended for the reason refusal"),),
    )


def test_a_refusal_is_withheld_whatever_the_reason() -> None:  # 119, OAI-26
    stream = [chunk({"refusal": "I can"}), chunk({"refusal": "not."}), STOP]
    assert read(OPENAI, *stream) == reply(words("I cannot."), stop="filter")
    assert read(OPENAI, whole({"content": None, "refusal": "No."})).stop == "filter"
    assert read(OPENAI, whole({"content": "Yes.", "refusal": None})).stop == "end"
    assert read(OPENAI, chunk({}, "content_filter")) == reply(stop="filter")


@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("error", "server"),
        ("network_error", "transport"),
        ("insufficient_system_resource", "overloaded"),
    ],
)
def test_a_reply_that_the_host_broke_off_is_asked_again(finish: str, kind: str) -> None:
    counts = {"prompt_tokens": 5, "completion_tokens": 1}
    with pytest.raises(ModelProviderError) as caught:
        read(OPENAI, chunk({"content": "a"}), chunk({}, finish, usage=counts))
    assert (caught.value.kind, caught.value.retryable) == (kind, True)
    assert caught.value.consumption == ActualConsumption(usage=TokenUsage(input=5, output=1))


# Errors within a reply that began well (137, ORT-1, GRQ-1)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (event({"error": {"message": "Overloaded", "code": 529}}), "overloaded"),
        (event({"error": {"code": "tool_use_failed", "message": "x"}}, "error"), "server"),
        (event({"message": "slow down"}, "error"), "rate_limited"),
        (event([{"error": {"status": "UNAVAILABLE", "message": "x"}}]), "overloaded"),
        (event({"object": "error", "message": "context length", "code": 400}), "context_overflow"),
        (event({"detail": "Insufficient Balance"}), "quota"),
        (event("over capacity: server is busy"), "overloaded"),
        (event({"choices": [{"error": {"code": 502, "message": "x"}, "delta": {}}]}), "server"),
        (event({"error": {"message": "Overloaded"}, "choices": []}), "overloaded"),
    ],
)
def test_an_error_within_a_reply_is_typed(error: WireEvent, kind: str) -> None:
    with pytest.raises(ModelProviderError) as caught:
        read(OPENAI, chunk({"content": "a"}), error)
    assert (caught.value.kind, caught.value.consumption) == (kind, UnknownConsumption())


def test_a_null_error_beside_choices_is_none() -> None:
    assert read(OPENAI, chunk({"content": "a"}, "stop", error=None)) == reply(words("a"))


# Thoughts


@pytest.mark.parametrize(
    ("profile", "delta"),
    [
        (DEEPSEEK, {"reasoning_content": "so"}),
        (VLLM, {"reasoning": "so"}),
        (VLLM, {"reasoning": "so", "reasoning_content": "so"}),  # 110
        (DEEPSEEK, {"reasoning": "so"}),
    ],
)
def test_a_thought_is_read_once_whichever_field_it_is_in(
    profile: Profile, delta: dict[str, str]
) -> None:
    found, shown = read_all(profile, [chunk(delta), chunk({"content": "Yes."}), STOP])
    seal = own(profile, "reasoning_field", profile.reasoning_field or "")
    assert found == reply(Reasoning(text="so", seals=(seal,)), words("Yes."))
    assert shown[0] == Delta(kind="thought", text="so")


def test_a_thought_of_a_host_that_wants_none_back_has_no_seal() -> None:
    assert read(OPENAI, chunk({"reasoning": "so"}), STOP) == reply(Reasoning(text="so"))


def test_a_thought_in_tags_at_the_very_start_is_a_thought() -> None:
    stream = [chunk({"content": text}) for text in ("<th", "ink>so</thi", "nk>\n\nYes.")]
    assert read(DEEPSEEK, *stream, STOP) == reply(Reasoning(text="so"), words("Yes."))


def test_a_thought_among_the_parts_of_a_content_is_a_thought() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}
    content = [thinking, {"type": "text", "text": "Yes."}]
    assert read(MISTRAL, chunk({"content": content}), STOP) == reply(
        Reasoning(text="so"), words("Yes.")
    )


def test_blank_words_are_none() -> None:  # 77
    found = read(OPENAI, whole({"content": "\n\n", "tool_calls": [piece(0, "c1", "read_file")]}))
    assert found == reply(call(), stop="tool_calls")


def test_structured_thoughts_are_sealed_as_they_came_their_pieces_put_together() -> None:  # ORT-2
    def thought(**entry: Any) -> WireEvent:
        return chunk({"reasoning": "seen", "reasoning_details": [entry]})

    found, shown = read_all(
        OPENROUTER,
        [
            thought(type="reasoning.text", text="so ", index=0, id=None),
            thought(type="reasoning.text", text="be it", index=0, id="r1", signature=None),
            thought(type="reasoning.text", signature="c2ln", text="", index=0, id=None),
            thought(type="reasoning.summary", summary="in short", index=1),
            thought(type="reasoning.encrypted", data="ZGF0", id="c1", index=2),
            thought(type="reasoning.encrypted", data="YQ==", id="c2", index=2),
            STOP,
        ],
    )
    value = [
        {"type": "reasoning.text", "text": "so be it", "index": 0, "id": "r1", "signature": "c2ln"},
        {"type": "reasoning.summary", "summary": "in short", "index": 1},
        {"type": "reasoning.encrypted", "data": "ZGF0", "id": "c1", "index": 2},
        {"type": "reasoning.encrypted", "data": "YQ==", "id": "c2", "index": 2},
    ]
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    seal = own(OPENROUTER, "reasoning_details", text)
    assert found == reply(Reasoning(text="so be itin short", seals=(seal,)))
    assert {delta.text for delta in shown} == {"seen"}
    assert read(OPENROUTER, whole({"content": "", "reasoning_details": value})) == found


def test_what_cannot_be_read_of_a_thought_is_still_sealed() -> None:  # 70
    entry = [{"type": "reasoning.encrypted", "data": "ZGF0YQ=="}]
    found = read(OPENROUTER, whole({"content": "a", "reasoning_details": entry}))
    text = '[{"data":"ZGF0YQ==","type":"reasoning.encrypted"}]'
    seal = own(OPENROUTER, "reasoning_details", text)
    assert found == reply(Reasoning(seals=(seal,)), words("a"))


def test_what_a_host_hangs_on_calls_and_words_is_kept_opaquely() -> None:  # 58, GOC-1
    extra = {"google": {"thought_signature": "c2ln"}}
    found = read(
        GEMINI,
        chunk({"content": "a", "extra_content": {"google": {"thought_signature": "d29yZA=="}}}),
        calls(piece(0, "c1", "read_file", arguments="{}", extra_content=extra)),
        calls(piece(1, "c2", "read_file", arguments="{}", extra_content="odd")),
        chunk(finish="stop"),
    )
    signed = own(GEMINI, "extra_content", '{"google":{"thought_signature":"c2ln"}}')
    worded = own(GEMINI, "extra_content", '{"google":{"thought_signature":"d29yZA=="}}')
    assert [item.seals for item in found.items] == [(worded,), (signed,), ()]


# Usage: 124, 125, OAI-26, DSK-4


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
            TokenUsage(input=30, output=20, cache_read=60, cache_write=10, reasoning=15),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4},
            TokenUsage(input=5, output=1, cache_read=4),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 9},
            TokenUsage(input=0, output=1, cache_read=9),
        ),
        (  # thoughts beside the answer
            {
                "prompt_tokens": 9,
                "completion_tokens": 1,
                "total_tokens": 30,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            TokenUsage(input=9, output=21, reasoning=20),
        ),
        ({"prompt_tokens": 9}, TokenUsage(input=9)),
        ({"completion_tokens": 0}, TokenUsage(output=0)),
        ({"prompt_tokens": "9", "completion_tokens": True}, TokenUsage()),
        ({"prompt_tokens": -1}, TokenUsage()),
        (None, TokenUsage()),
        ({}, TokenUsage()),
    ],
)
def test_counts_are_read_and_what_is_missing_is_unknown(counts: Any, usage: TokenUsage) -> None:
    assert read(OPENAI, whole({"content": "a"}, usage=counts)).usage == usage
    assert read(OPENAI, chunk({"content": "a"}, "stop", usage=counts)).usage == usage


def test_counts_are_taken_from_any_chunk_and_the_last_ones_hold() -> None:  # 124
    first = {"prompt_tokens": 9, "completion_tokens": 1}
    choice = {"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"completion_tokens": 7}}
    found = read(OPENAI, chunk({"content": "a"}, usage=first), event({"choices": [choice]}), DONE)
    assert found.usage == TokenUsage(input=9, output=7)


def test_the_model_that_answers_is_named_or_else_the_one_asked() -> None:
    unnamed = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
    assert read(OPENAI, event(unnamed)).model == "gpt-5.2"


# Any cutting


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """A message as a host would give it whole."""
    text = st.sampled_from(["", "Yes.", "<think>so</think>\n\nYes.", "é 🍸", "{", "\n"])
    arguments = st.sampled_from(["", "{}", '{"path": "a {b}"}', '{"a": {"b": []}}', "null", "{"])
    found: dict[str, Any] = {"role": "assistant", "content": draw(text)}
    if draw(st.booleans()):
        found[draw(st.sampled_from(["reasoning", "reasoning_content"]))] = draw(text)
    if draw(st.booleans()):
        entries = [{"type": "reasoning.text", "text": draw(text), "index": n} for n in range(2)]
        found["reasoning_details"] = entries
    count = draw(st.integers(0, 3))
    found["tool_calls"] = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "read_file", "arguments": draw(arguments)},
            **draw(st.sampled_from([{}, {"extra_content": {"google": {"x": "y"}}}])),
        }
        for n in range(count)
    ]
    return found


def cut(data: st.DataObject, text: str) -> list[str]:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=3)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def streamed(data: st.DataObject, message: dict[str, Any]) -> list[WireEvent]:
    """Return the message as chunks, each text cut anywhere; calls in pieces side by side."""
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    for field in ("reasoning", "reasoning_content", "content"):
        deltas += [{field: some} for some in cut(data, message.get(field, ""))]
    for entry in message.get("reasoning_details", []):
        for some in cut(data, entry["text"]):
            deltas.append({"reasoning_details": [{**entry, "text": some}]})
    lines: list[list[dict[str, Any]]] = []
    for index, one in enumerate(message["tool_calls"]):
        first = {**one, "index": index, "function": {"name": "read_file", "arguments": ""}}
        rest = cut(data, one["function"]["arguments"])
        deltas.append({"tool_calls": [first]})
        lines.append([{"index": index, "function": {"arguments": some}} for some in rest])
    while any(lines):
        line = data.draw(st.sampled_from([line for line in lines if line]))
        deltas.append({"tool_calls": [line.pop(0)]})
    return [*map(chunk, deltas), chunk({}, "stop"), DONE]


@given(messages(), st.sampled_from(CHAT_PROFILES), st.data())
def test_any_cutting_gives_the_reply_that_the_whole_message_gives(
    message: dict[str, Any], profile: Profile, data: st.DataObject
) -> None:
    expected = read(profile, whole(message))
    found, shown = read_all(profile, streamed(data, message))
    assert found == expected
    whole_shown = read_all(profile, [whole(message)])[1]
    assert joined(shown) == joined(whole_shown)


def joined(shown: list[Delta]) -> dict[str, str]:
    kinds = dict.fromkeys(delta.kind for delta in shown)
    return {kind: "".join(d.text for d in shown if d.kind == kind) for kind in sorted(kinds)}


def test_malformed_arguments_keep_what_the_model_wrote() -> None:  # 101
    [found] = read(OPENAI, calls(piece(0, "c1", "x", arguments="[1]")), STOP).items
    assert isinstance(found, ToolCall)
    assert found.arguments == Malformed(raw="[1]", why="expected a JSON object, got an array")
