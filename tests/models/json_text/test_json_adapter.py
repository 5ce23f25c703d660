"""The adapter: what reaches the provider, and what of its reply reaches the run."""

import pytest

from goldseam.kernel.conversation import (
    Conversation,
    HistoryItem,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.errors import (
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import (
    ModelRequest,
    ModelResponse,
    Remark,
    StopReason,
    TokenUsage,
    ToolSpec,
)
from goldseam.models.json_text.action_parser import BadActionError
from goldseam.models.json_text.adapter import JsonTextModelAdapter, excerpt_of
from goldseam.models.json_text.messages import build_provider_messages
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse
from goldseam.models.scripted import ScriptedTextProvider

CALL = '{"type":"tool_call","call_id":"c1","tool_name":"ls","arguments":{}}'
CALL_ITEM = ToolCall(call_id="c1", tool_name="ls", arguments=arguments_of({}))
ANSWER = '{"type":"final_answer","content":"Done."}'
ANSWER_ITEM = Message(role="assistant", text="Done.")
USER = Message(role="user", text="Mend it.")
USAGE = TokenUsage(input=10, output=3)
TOOLS = (ToolSpec(name="ls", description="Lists.", parameters='{"type":"object"}'),)


def request_of(*items: HistoryItem, tools: tuple[ToolSpec, ...] = TOOLS) -> ModelRequest:
    return ModelRequest(history=Conversation(items), tools=tools, max_output_tokens=100)


def said(text: str, stop: StopReason = "end") -> ProviderResponse:
    return ProviderResponse(text=text, usage=USAGE, stop=stop, model="m-1")


def ignore(_: Delta) -> None:
    """Listen to nothing."""


async def reply_to(text: str, stop: StopReason = "end") -> ModelResponse:
    adapter = JsonTextModelAdapter(ScriptedTextProvider([said(text, stop)]))
    return await adapter.complete(request_of(USER), ignore)


@pytest.mark.anyio
async def test_the_provider_is_shown_the_history_and_its_action_comes_back() -> None:
    provider = ScriptedTextProvider([said(CALL, "tool_calls")])
    heard = list[Delta]()
    response = await JsonTextModelAdapter(provider).complete(request_of(USER), heard.append)
    assert provider.questions == [build_provider_messages((USER,), TOOLS)]
    assert heard == [Delta(kind="text", text=CALL)]
    assert response == ModelResponse(
        items=(CALL_ITEM,), stop="tool_calls", usage=USAGE, model="m-1"
    )


@pytest.mark.anyio
async def test_an_array_is_offered_only_where_several_calls_are() -> None:
    provider = ScriptedTextProvider([f"[{CALL}]"])
    adapter = JsonTextModelAdapter(provider, several_calls=False)
    with pytest.raises(InvalidModelOutputError, match="an array of actions is not offered"):
        await adapter.complete(request_of(USER), ignore)
    assert provider.questions == [build_provider_messages((USER,), TOOLS, several_calls=False)]


@pytest.mark.anyio
async def test_calls_that_came_with_reason_stop_keep_both() -> None:  # K 112
    assert await reply_to(CALL, "end") == ModelResponse(
        items=(CALL_ITEM,), stop="end", usage=USAGE, model="m-1"
    )


@pytest.mark.anyio
async def test_repeated_ids_in_one_reply_are_left_to_the_run() -> None:  # M7
    assert (await reply_to(f"[{CALL},{CALL}]")).items == (CALL_ITEM, CALL_ITEM)


@pytest.mark.anyio
@pytest.mark.parametrize("stop", ["length", "filter", "malformed_call", "unknown"])
async def test_a_cut_reply_is_its_bare_text_and_keeps_its_reason(  # F12, K 113-121
    stop: StopReason,
) -> None:
    assert await reply_to(CALL[:-9], stop) == ModelResponse(
        items=(Message(role="assistant", text=CALL[:-9]),), stop=stop, usage=USAGE, model="m-1"
    )


@pytest.mark.anyio
async def test_a_cut_reply_with_a_whole_action_keeps_its_reason() -> None:  # K 115
    assert await reply_to(ANSWER, "length") == ModelResponse(
        items=(ANSWER_ITEM,), stop="length", usage=USAGE, model="m-1"
    )


@pytest.mark.anyio
async def test_an_empty_filtered_reply_is_no_item_and_no_error() -> None:  # K 119
    assert await reply_to(" ", "filter") == ModelResponse(
        items=(), stop="filter", usage=USAGE, model="m-1"
    )


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["", "I am done.", CALL[:-1], "{}"])
async def test_a_whole_reply_without_an_action_is_invalid_and_carries_its_cost(  # B1.9, F12, K 116
    text: str,
) -> None:
    with pytest.raises(InvalidModelOutputError) as caught:
        await reply_to(text)
    error = caught.value
    assert (error.excerpt, error.usage) == (text, USAGE)
    assert isinstance(error.__cause__, BadActionError)
    assert error.why == str(error.__cause__)


@pytest.mark.anyio
async def test_half_a_paused_reply_never_enters_the_run_as_words() -> None:  # J 106
    with pytest.raises(InvalidModelOutputError):
        await reply_to(CALL[:-9], "pause")


@pytest.mark.anyio
async def test_what_nobody_counted_stays_unknown() -> None:
    adapter = JsonTextModelAdapter(ScriptedTextProvider([ANSWER]))
    assert (await adapter.complete(request_of(USER), ignore)).usage == TokenUsage()


@pytest.mark.anyio
async def test_what_cannot_be_sent_on_is_replaced_at_the_entry_and_named() -> None:  # Q 154, 155
    assert await reply_to(f"<think>a\ud800\x00</think>{ANSWER}") == ModelResponse(
        items=(Reasoning(text="a\ufffd\ufffd"), ANSWER_ITEM),
        stop="end",
        usage=USAGE,
        model="m-1",
        remarks=(
            Remark(
                code="reply_repaired",
                text="2 characters of the reply that are no text were replaced",
            ),
            Remark(code="json_found_after_thought", text="the action stood after a <think> block"),
        ),
    )


@pytest.mark.anyio
async def test_an_error_of_the_provider_passes_as_it_is_with_its_cause() -> None:  # B1.10
    failure = ModelProviderError("busy", kind="overloaded", consumption=NoConsumption())
    failure.__cause__ = ConnectionError("reset")
    adapter = JsonTextModelAdapter(ScriptedTextProvider([failure]))
    with pytest.raises(ModelProviderError) as caught:
        await adapter.complete(request_of(USER), ignore)
    assert caught.value is failure
    assert isinstance(caught.value.__cause__, ConnectionError)


@pytest.mark.anyio
async def test_a_provider_out_of_reach_is_a_transport_failure_of_unknown_cost() -> None:  # B1.10
    def unreachable(_: tuple[ProviderMessage, ...]) -> ProviderResponse:
        raise TimeoutError("to 10.0.0.1 with key s3cret")

    adapter = JsonTextModelAdapter(ScriptedTextProvider([unreachable]))
    with pytest.raises(ModelProviderError) as caught:
        await adapter.complete(request_of(USER), ignore)
    error = caught.value
    assert (error.text, error.kind, error.retryable, error.consumption) == (
        "the model's provider could not be reached",
        "transport",
        True,
        UnknownConsumption(),
    )
    assert isinstance(error.__cause__, TimeoutError)


@pytest.mark.anyio
async def test_what_is_not_shown_is_named_once_with_the_first_reply_that_comes() -> None:
    busy = ModelProviderError("busy", kind="overloaded")
    adapter = JsonTextModelAdapter(ScriptedTextProvider([busy, "no", CALL, ANSWER]))
    asked = Conversation([USER, Reasoning(text="hm")])
    grown = asked.extend([CALL_ITEM, ToolResult(call_id="c1", content="a", kind="cut_off")])
    remarks = list[tuple[str, ...]]()
    for history in (asked, asked, asked, grown):
        request = ModelRequest(history=history, tools=TOOLS, max_output_tokens=100)
        try:
            response = await adapter.complete(request, ignore)
        except (ModelProviderError, InvalidModelOutputError):
            continue
        remarks.append(tuple(remark.code for remark in response.remarks))
    assert remarks == [("reasoning_not_shown",), ("result_kind_not_shown",)]


@pytest.mark.anyio
async def test_other_tools_are_written_when_they_change() -> None:
    provider = ScriptedTextProvider([ANSWER, ANSWER])
    adapter = JsonTextModelAdapter(provider)
    await adapter.complete(request_of(USER), ignore)
    await adapter.complete(request_of(USER, tools=()), ignore)
    assert provider.questions == [
        build_provider_messages((USER,), TOOLS),
        build_provider_messages((USER,), ()),
    ]


def test_an_excerpt_shows_head_and_tail_and_counts_the_rest() -> None:
    assert excerpt_of("a" * 600) == "a" * 600
    cut = excerpt_of("a" * 999_000 + "z" * 1000)
    assert cut == f"{'a' * 380}\n… 999440 characters …\n{'z' * 180}"
    assert len(cut) <= 600
