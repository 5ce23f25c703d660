"""Reading a reply: every cutting is the same, calls are found by content, nothing is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.gemini.gemini_histories import THREE, reply_parts, seal, signed

from goldseam.kernel.admission import Unusable, Withheld, admit
from goldseam.kernel.conversation import (
    Arguments,
    Conversation,
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    arguments_of,
)
from goldseam.kernel.errors import (
    ActualConsumption,
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.json_text import Json, write_json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, Remark, StopReason, TokenUsage
from goldseam.models.dialect import Body, WireEvent
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.gemini.read import GeminiReader

COUNTS: Body = {
    "promptTokenCount": 29,
    "candidatesTokenCount": 15,
    "thoughtsTokenCount": 804,
    "totalTokenCount": 848,
}
USAGE = TokenUsage(input=29, output=819, reasoning=804)


def chunk(*parts: Json, reason: str = "", **rest: Json) -> Body:
    finish: Body = {"finishReason": reason} if reason else {}
    return {"candidates": [{"content": {"parts": [*parts], "role": "model"}, **finish}], **rest}


def events(*bodies: Json) -> list[WireEvent]:
    return [WireEvent(data=write_json(body)) for body in bodies]


def read(*bodies: Json) -> ModelResponse:
    reader = GeminiDialect().reader(THREE)
    for event in events(*bodies):
        reader.feed(event)
    return reader.finish()


def seen(*bodies: Json) -> list[Delta]:
    reader = GeminiDialect().reader(THREE)
    return [delta for event in events(*bodies) for delta in reader.feed(event)]


def call_part(name: str = "read_file", /, **call: Json) -> Body:
    return {"functionCall": {"name": name, **call}}


# --- Law 3 ------------------------------------------------------------------------------------


@given(reply_parts(), st.data())
def test_a_reply_is_the_same_however_it_was_cut(  # design law 3, GEM-3, cases 49, 50, 124
    parts: list[Body], data: st.DataObject
) -> None:
    end: Body = {"usageMetadata": COUNTS, "modelVersion": "gemini-3-pro-002"}
    whole = read(chunk(*parts, reason="STOP", **end))
    pieces = [piece for part in parts for piece in data.draw(cut(part))]
    chunks = list[Json]()
    while pieces:
        size = data.draw(st.integers(1, 3))
        chunks.append(chunk(*pieces[:size]))
        pieces = pieces[size:]
    last = chunk({"text": ""}, reason="STOP", **end)
    assert read(*chunks, last) == whole
    assert read([*chunks, last]) == whole
    assert read(*chunks, chunk(reason="STOP"), end) == whole
    assert said(seen(*chunks, last)) == said(seen(chunk(*parts, reason="STOP", **end)))


@st.composite
def cut(draw: st.DrawFn, part: Body) -> list[Body]:
    text = part.get("text")
    if not isinstance(text, str) or "thoughtSignature" in part:
        return [part]
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    bounds = zip([0, *places], [*places, len(text)], strict=True)
    return [{**part, "text": text[begin:end]} for begin, end in bounds]


def said(deltas: list[Delta]) -> dict[str, str]:
    kinds = {delta.kind for delta in deltas}
    return {kind: "".join(d.text for d in deltas if d.kind == kind) for kind in kinds}


def test_a_long_stream_in_small_pieces_is_one_text() -> None:
    pieces = [chunk({"text": "ab"}) for _ in range(2000)]
    reply = read(*pieces, chunk(reason="STOP"))
    assert reply.items == (Message(role="assistant", text="ab" * 2000),)


# --- Items ------------------------------------------------------------------------------------


def test_a_reply_holds_thoughts_words_and_calls_in_their_order() -> None:  # F1, F2, F11, 38, 40
    reply = read(
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "I "}, {"text": "read."}),
        chunk({**call_part(args={"b": 1, "a": []}, id="gjl2yj5t"), "thoughtSignature": "c2ln"}),
        chunk(call_part(args={"path": "todo.txt"})),
        chunk(reason="STOP", usageMetadata=COUNTS, modelVersion="gemini-3-pro-002"),
    )
    assert reply == ModelResponse(
        items=(
            Reasoning(text="hm"),
            Message(role="assistant", text="I read."),
            ToolCall(
                call_id="gjl2yj5t",
                tool_name="read_file",
                arguments=Arguments(text='{"a":[],"b":1}'),
                seals=(*signed("c2ln"), seal("call_id", "gjl2yj5t")),
            ),
            ToolCall(
                call_id="", tool_name="read_file", arguments=arguments_of({"path": "todo.txt"})
            ),
        ),
        stop="tool_calls",
        usage=USAGE,
        model="gemini-3-pro-002",
    )


def test_a_signature_at_the_end_remembers_where_its_part_began() -> None:  # cases 49, 50
    ending: Body = {"text": "", "thoughtSignature": "c2ln"}
    reply = read(chunk({"text": "Hel"}), chunk({"text": "lo"}), chunk(ending, reason="STOP"))
    seals = (*signed("c2ln"), seal("signed_from", "5"))
    assert reply.items == (Message(role="assistant", text="Hello", seals=seals),)
    assert reply.stop == "end"


SIGNED = signed("s")


@pytest.mark.parametrize(
    ("part", "item"),
    [
        ({"text": ""}, Message(role="assistant", text="", seals=SIGNED)),
        ({}, Message(role="assistant", text="", seals=SIGNED)),
        ({"text": "a"}, Message(role="assistant", text="a", seals=SIGNED)),
        ({"text": "a", "thought": False}, Message(role="assistant", text="a", seals=SIGNED)),
        ({"text": "", "thought": True}, Reasoning(text="", seals=SIGNED)),
        ({"thought": True}, Reasoning(text="", seals=SIGNED)),
    ],
)
def test_only_a_part_that_says_so_is_a_thought(  # case 49
    part: Body, item: Message | Reasoning
) -> None:
    signature: Body = {**part, "thoughtSignature": "s"}
    reply = read(chunk({"text": "x", "thought": True}, signature, reason="STOP"))
    assert reply.items == (Reasoning(text="x"), item)


@pytest.mark.parametrize(
    ("args", "arguments"),
    [
        ({}, Arguments(text="{}")),
        (None, Arguments(text="{}")),  # case 103
        ('{"a": 1}', Arguments(text='{"a":1}')),  # XLT-2
        ("", Arguments(text="{}")),  # case 98
        ([1], Malformed(raw="[1]", why="expected a JSON object, got an array")),  # F8
        (1.5, Malformed(raw="1.5", why="expected a JSON object, got a number")),
        ({"a": "\ud83c\udf78"}, Arguments(text='{"a":"\\ud83c\\udf78"}')),  # case 152
    ],
)
def test_arguments_are_an_object_or_kept_as_what_they_are(
    args: Json, arguments: Arguments | Malformed
) -> None:
    [item] = read(chunk(call_part(args=args), reason="STOP")).items
    assert item == ToolCall(call_id="", tool_name="read_file", arguments=arguments)


def test_a_call_without_arguments_or_name_is_still_a_call() -> None:  # GEM-8
    reply = read(chunk({"functionCall": {}}, {"functionCall": {"name": 1, "id": 2}}, reason="STOP"))
    nameless = ToolCall(call_id="", tool_name="", arguments=arguments_of({}))
    assert reply.items == (nameless, nameless)


def test_a_part_of_another_kind_is_named_as_not_kept() -> None:
    reply = read(chunk({"inlineData": {}, "thought": True}, {"text": 1}, {}, reason="STOP"))
    kept = "a part of the reply is of a kind that is not kept: "
    texts = (f"{kept}inlineData", f"{kept}text", kept)
    assert reply.remarks == tuple(Remark(code="part_not_kept", text=text) for text in texts)


@pytest.mark.parametrize("nothing", [{"text": ""}, {"text": "", "thought": True}])
def test_a_part_that_says_nothing_parts_no_text(nothing: Body) -> None:  # GEM-27
    reply = read(chunk({"text": "a"}, nothing, {"text": "b"}, reason="STOP"))
    assert reply.items == (Message(role="assistant", text="ab"),)


def test_the_eye_sees_words_thoughts_and_names_of_tools() -> None:
    parts: list[Json] = [{"text": "hm", "thought": True}, {"text": "a"}, {"text": ""}, call_part()]
    assert seen(chunk(*parts)) == [
        Delta(kind="reasoning", text="hm"),
        Delta(kind="text", text="a"),
        Delta(kind="tool_call", text="read_file"),
    ]


# --- Why it ended -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("STOP", "tool_calls"),  # GEM-34, XLT-8, case 112
        ("MAX_TOKENS", "length"),  # cases 113, 115
        ("CONTINUATION", "length"),
        ("SAFETY", "filter"),  # case 119
        ("RECITATION", "filter"),
        ("PROHIBITED_CONTENT", "filter"),
        ("MODEL_ARMOR", "filter"),
        ("MALFORMED_FUNCTION_CALL", "malformed_call"),
        ("UNEXPECTED_TOOL_CALL", "malformed_call"),
        ("TOO_MANY_TOOL_CALLS", "malformed_call"),
        ("MALFORMED_RESPONSE", "unknown"),
        ("OTHER", "unknown"),
        ("FINISH_REASON_UNSPECIFIED", "unknown"),
        ("SOMETHING_OF_2031", "unknown"),  # GEM-35, case 121
    ],
)
def test_why_a_reply_ended_is_never_mixed_up(reason: str, stop: StopReason) -> None:
    reply = read(chunk(call_part(args={}), reason=reason))
    assert reply.stop == stop
    named = () if reason in {"STOP", "MAX_TOKENS"} else ("stop_reason",)
    assert tuple(remark.code for remark in reply.remarks) == named


@pytest.mark.parametrize("content", [{}, {"content": {}}, {"content": {"parts": [call_part()]}}])
def test_a_call_that_the_host_could_not_read_never_runs(content: Body) -> None:  # GEM-36
    candidate: Body = {
        "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call:\n print(x)",
        **content,
    }
    reply = read({"candidates": [candidate], "usageMetadata": COUNTS})
    text = "MALFORMED_FUNCTION_CALL Malformed function call: print(x)"
    assert reply.remarks == (Remark(code="stop_reason", text=text),)
    assert reply.usage == USAGE
    assert isinstance(admit(reply, Conversation()), Unusable)


def test_a_filtered_reply_is_withheld() -> None:  # case 119
    reply = read({"candidates": [{"finishReason": "SAFETY"}]})
    assert isinstance(admit(reply, Conversation()), Withheld)


@pytest.mark.parametrize("end", [chunk(reason="STOP"), chunk({"text": ""}, reason="STOP")])
def test_an_empty_reply_is_no_success(end: Body) -> None:  # F12, case 118
    reply = read(end)
    assert (reply.items, reply.stop) == ((), "end")
    assert isinstance(admit(reply, Conversation()), Unusable)


def failure(*bodies: Json) -> ModelProviderError:
    with pytest.raises(ModelProviderError) as caught:
        read(*bodies)
    return caught.value


def test_a_blocked_prompt_is_a_refusal() -> None:  # GEM-37, F12
    blocked: Body = {"blockReason": "PROHIBITED_CONTENT"}
    error = failure({"promptFeedback": blocked, "usageMetadata": {"promptTokenCount": 9}})
    assert (error.kind, error.retryable) == ("refused", False)
    assert error.consumption == ActualConsumption(usage=TokenUsage(input=9))
    assert "PROHIBITED_CONTENT" in error.text


@pytest.mark.parametrize("bodies", [[], [{}], [{"candidates": []}], [chunk(call_part())]])
def test_a_reply_that_never_ended_is_a_broken_connection(bodies: list[Json]) -> None:  # F15
    error = failure(*bodies)
    assert (error.kind, error.retryable) == ("transport", True)
    assert error.consumption == UnknownConsumption()


def test_a_missing_signature_is_a_defect_of_ours() -> None:  # GEM-35, GEM-22
    error = failure({"candidates": [{"finishReason": "MISSING_THOUGHT_SIGNATURE"}]})
    assert (error.kind, error.retryable) == ("structural", False)


@pytest.mark.parametrize(
    "call",
    [
        {"name": "write", "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.path", "stringValue": "a"}], "willContinue": True},
        {"partialArgs": []},
    ],
)
def test_arguments_in_pieces_fail_clearly(call: Body) -> None:  # GEM-45, cases 94-97
    error = failure(chunk({"functionCall": call}))
    assert (error.kind, error.retryable) == ("structural", False)
    assert "streamFunctionCallArguments" in error.text


EXHAUSTED: Body = {"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}}


def test_an_error_in_a_stream_is_told_by_its_code() -> None:  # case 137, F15
    for bodies in ([EXHAUSTED], [[EXHAUSTED]]):
        error = failure(*bodies)
        assert (error.kind, error.retryable) == ("rate_limited", True)
        assert error.consumption == NoConsumption()


def test_an_error_after_parts_may_have_cost_anything() -> None:
    error = failure(chunk({"text": "a"}), EXHAUSTED)
    assert (error.kind, error.consumption) == ("rate_limited", UnknownConsumption())


@pytest.mark.parametrize(
    "data", ["", "<html>no</html>", '{"candidates": [', "1", "[1]", '{"a":1,"a":1}', "NaN"]
)
def test_what_is_no_reply_is_said_to_be_none(data: str) -> None:
    reader = GeminiReader(THREE)
    reader.feed(WireEvent(data=write_json({"usageMetadata": COUNTS})))
    with pytest.raises(InvalidModelOutputError, match="what the host sent is") as caught:
        reader.feed(WireEvent(data=data))
    assert (caught.value.excerpt, caught.value.usage) == (data, USAGE)


def test_a_part_that_is_no_object_is_no_reply() -> None:
    with pytest.raises(InvalidModelOutputError, match="no JSON object"):
        read(chunk("text"))


def test_what_stands_where_it_should_not_is_passed_over() -> None:
    odd: Body = {
        "error": None,
        "usageMetadata": [],
        "modelVersion": 3,
        "promptFeedback": "x",
        "candidates": {"0": 1},
        "somethingNew": {},
    }
    reply = read(odd, chunk({"text": "a"}, reason="STOP"))
    assert reply == ModelResponse(
        items=(Message(role="assistant", text="a"),),
        stop="end",
        usage=TokenUsage(),
        model="gemini-3-pro",
    )


# --- Usage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({}, TokenUsage()),  # case 125
        (COUNTS, USAGE),
        (
            {"promptTokenCount": 100, "cachedContentTokenCount": 80, "candidatesTokenCount": 5},
            TokenUsage(input=20, output=5, cache_read=80),
        ),
        (
            {
                "promptTokenCount": 10,
                "toolUsePromptTokenCount": 3,
                "candidatesTokenCount": 0,
                "totalTokenCount": 13,
            },
            TokenUsage(input=13, output=0),
        ),
        (
            {"promptTokenCount": 8, "thoughtsTokenCount": 95, "totalTokenCount": 103},
            TokenUsage(input=8, output=95, reasoning=95),
        ),
        ({"promptTokenCount": 8}, TokenUsage(input=8)),
        ({"totalTokenCount": 8}, TokenUsage()),
        ({"promptTokenCount": 8, "totalTokenCount": 7}, TokenUsage(input=8, output=0)),
        ({"promptTokenCount": True, "candidatesTokenCount": -1}, TokenUsage()),
        ({"promptTokenCount": "8", "candidatesTokenCount": 1.5}, TokenUsage()),
    ],
)
def test_all_classes_of_tokens_are_counted_and_none_is_guessed(  # GEM-38, F13
    counts: Body, usage: TokenUsage
) -> None:
    assert read(chunk(reason="STOP"), {"usageMetadata": counts}).usage == usage


def test_the_last_count_is_the_count_of_the_reply() -> None:  # case 124
    early: Body = {"promptTokenCount": 29, "totalTokenCount": 29}
    first = chunk({"text": "a"}, usageMetadata=early)
    assert read(first, chunk(reason="STOP", usageMetadata=COUNTS), {}).usage == USAGE
