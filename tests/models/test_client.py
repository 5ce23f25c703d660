"""One dialect, one host, one transport: every ending of an exchange, a value or a typed error."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from goldseam.kernel.conversation import (
    Arguments,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.errors import (
    ActualConsumption,
    FailureKind,
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelRequest, ModelResponse, Remark, TokenUsage, ToolSpec
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.client import DialectClient, Endpoint
from goldseam.models.dialect import Dialect, Profile
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.models.openai_responses.dialect import ResponsesDialect
from goldseam.models.plain_text import PlainTextProvider
from goldseam.wire.message import (
    FailedAt,
    Heard,
    HttpReply,
    HttpRequest,
    RequestRefusedError,
    TimeLimits,
    TransportError,
)
from goldseam.wire.secret import Secret

pytestmark = pytest.mark.anyio

KEY = "key/of+no shape 42"
TIMES = TimeLimits(connect_s=1, first_byte_s=2, idle_s=3, total_s=4)
PROFILE = Profile(host="here", model="m", seal_scope="here")
SPEC = ToolSpec(name="read_file", description="Reads.", parameters='{"type":"object"}')
ASKED = ModelRequest(
    history=(Message(role="user", text="Hello é"),), tools=(SPEC,), max_output_tokens=99
)
USAGE = TokenUsage(input=3, output=2)
COUNTS = {"prompt_tokens": 3, "completion_tokens": 2}
WHOLE = {
    "model": "m-1",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}
    ],
    "usage": COUNTS,
}
HI = ModelResponse(
    items=(Message(role="assistant", text="Hi"),), stop="end", usage=USAGE, model="m-1"
)


def sse(*values: Any) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(value).encode() for value in values)


STREAMED = (
    sse(
        {"model": "m-1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "H"}}]},
        {"choices": [{"index": 0, "delta": {"content": "i"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": COUNTS},
    )
    + b"data: [DONE]\n\n"
)


class FakeTransport:
    """Gives each request the next answer: pieces of a good reply, a refusal, or an error."""

    def __init__(self, *answers: bytes | HttpReply | TransportError, cut: int = 7) -> None:
        self._answers = list(answers)
        self._cut = cut
        self.requests: list[HttpRequest] = []
        self.limits: list[TimeLimits] = []

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        self.requests.append(request)
        self.limits.append(limits)
        match self._answers.pop(0):
            case TransportError() as error:
                raise error
            case HttpReply() as reply:
                return reply
            case bytes(body):
                for at in range(0, len(body), self._cut):
                    heard(body[at : at + self._cut])
                return HttpReply(status=200, headers={})

    @property
    def body(self) -> Any:
        return json.loads(self.requests[-1].body)


def client_of(
    transport: FakeTransport, *, dialect: Dialect | None = None, profile: Profile = PROFILE
) -> DialectClient:
    return DialectClient(
        dialect or ChatDialect(),
        profile,
        endpoint=Endpoint(
            url="https://here.example/v1",
            headers=(("authorization", Secret(KEY, scheme="Bearer")), ("x-more", "1")),
        ),
        transport=transport,
        times=TIMES,
    )


def ignore(delta: Delta) -> None:
    del delta


async def ask(*answers: bytes | HttpReply | TransportError) -> ModelResponse:
    return await client_of(FakeTransport(*answers)).complete(ASKED, ignore)


async def failure(*answers: bytes | HttpReply | TransportError) -> ModelProviderError:
    with pytest.raises(ModelProviderError) as caught:
        await ask(*answers)
    error = caught.value
    assert str(error) == error.text
    assert "\n" not in error.text
    assert len(error.text) <= 320
    return error


@pytest.mark.parametrize("cut", [1, 7, 10_000])
async def test_a_streamed_reply_is_heard_piece_by_piece_and_then_whole(cut: int) -> None:
    heard = list[Delta]()
    transport = FakeTransport(STREAMED, cut=cut)
    assert await client_of(transport).complete(ASKED, heard.append) == HI
    assert heard == [Delta(kind="text", text="H"), Delta(kind="text", text="i")]


async def test_a_request_is_one_post_with_the_key_in_its_header_alone() -> None:
    transport = FakeTransport(STREAMED)
    await client_of(transport).complete(ASKED, ignore)
    (request,) = transport.requests
    assert (request.method, request.url) == ("POST", "https://here.example/v1/chat/completions")
    assert request.headers == (
        ("content-type", "application/json"),
        ("authorization", Secret(KEY, scheme="Bearer")),
        ("x-more", "1"),
    )
    assert transport.limits == [TIMES]
    assert transport.body["messages"] == [{"role": "user", "content": "Hello é"}]
    assert "Hello é".encode() in request.body
    # What stays the same from turn to turn is in front (law 5).
    assert list(transport.body)[-2:] == ["tools", "messages"]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(WHOLE).encode(),
        b"\xef\xbb\xbf" + json.dumps(WHOLE, indent=2).encode(),
        b"\n\n \n" + json.dumps(WHOLE).encode(),
        json.dumps([WHOLE]).encode(),
        b": still thinking\n\n" + STREAMED,
        b"\n\n" + STREAMED.replace(b"\n", b"\r\n"),
    ],
)
async def test_a_reply_is_read_as_what_it_is_not_as_what_was_asked_for(body: bytes) -> None:
    assert await ask(body) == HI
    quiet = client_of(
        FakeTransport(body), profile=Profile(host="h", model="m", seal_scope="h", streams=False)
    )
    assert await quiet.complete(ASKED, ignore) == HI


CALLS: dict[str, tuple[Callable[[], Dialect], bytes]] = {
    "responses": (
        ResponsesDialect,
        sse({
            "type": "response.completed",
            "response": {
                "status": "completed",
                "model": "m-1",
                "output": [
                    {
                        "type": "function_call",
                        "call_id": "c1",
                        "name": "read_file",
                        "arguments": "{}",
                    }
                ],
                "usage": {"input_tokens": 3, "output_tokens": 2},
            },
        }),
    ),
    "anthropic": (
        AnthropicDialect,
        json.dumps({
            "type": "message",
            "model": "m-1",
            "content": [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {}}],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }).encode(),
    ),
    "gemini": (
        GeminiDialect,
        json.dumps([
            {
                "candidates": [
                    {"content": {"parts": [{"functionCall": {"name": "read_file", "args": {}}}]}}
                ]
            },
            {
                "candidates": [{"finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
                "modelVersion": "m-1",
            },
        ]).encode(),
    ),
}


@pytest.mark.parametrize("name", CALLS)
async def test_each_dialect_brings_its_calls_home(name: str) -> None:
    dialect, body = CALLS[name]
    reply = await client_of(FakeTransport(body), dialect=dialect()).complete(ASKED, ignore)
    (call,) = reply.items
    assert isinstance(call, ToolCall)
    assert (call.tool_name, call.arguments) == ("read_file", Arguments(text="{}"))
    assert (reply.stop, reply.usage, reply.model) == ("tool_calls", USAGE, "m-1")


async def test_a_loss_is_told_with_the_first_reply_that_comes_of_it_and_never_again() -> None:
    foreign = (Reasoning(text="secret thought"), Message(role="assistant", text="Yes"))
    history = (*ASKED.history, *foreign, Message(role="user", text="Go on"))
    more = (*history, Reasoning(text="another"), *foreign[1:], Message(role="user", text="On"))
    transport = FakeTransport(
        TransportError("idle", "silence", sent=True), STREAMED, STREAMED, STREAMED
    )
    client = client_of(transport)

    async def remarks(items: tuple[Any, ...]) -> list[str]:
        request = ModelRequest(history=items, tools=(), max_output_tokens=9)
        reply = await client.complete(request, ignore)
        return [remark.code for remark in reply.remarks]

    with pytest.raises(ModelProviderError):
        await remarks(history)
    assert await remarks(history) == ["reasoning_not_shown"]
    assert await remarks(history) == []
    assert await remarks(more) == ["reasoning_not_shown"]


async def test_a_call_that_leaked_into_words_is_found_for_offered_tools() -> None:  # case 106
    text = '<tool_call>{"name": "read_file", "arguments": {}}</tool_call>'
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": text}}
    reply = await ask(json.dumps({**WHOLE, "choices": [choice]}).encode())
    assert reply.items == (
        ToolCall(call_id="", tool_name="read_file", arguments=Arguments(text="{}")),
    )
    assert reply.remarks == (
        Remark(code="leaked_call", text="calls were found in the words: read_file"),
    )


@pytest.mark.parametrize(
    ("at", "kind", "retryable"),
    [
        ("connect", "transport", True),
        ("tls", "transport", False),
        ("broken", "transport", True),
        ("too_large", "transport", False),
        ("first_byte", "timeout", True),
        ("idle", "timeout", True),
        ("total", "timeout", True),
    ],
)
@pytest.mark.parametrize("sent", [True, False])
async def test_an_exchange_that_fails_says_how_and_what_it_may_have_cost(
    at: FailedAt, kind: FailureKind, retryable: bool, sent: bool
) -> None:
    error = await failure(TransportError(at, f"no luck with {KEY}", sent=sent))
    assert error.text == "here: no luck with [secret]"
    assert (error.kind, error.retryable) == (kind, retryable)
    assert error.consumption == (UnknownConsumption() if sent else NoConsumption())


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        (401, {}, {"error": {"message": "bad", "code": "invalid_api_key"}}, "auth"),
        (429, {"retry-after": "7"}, {"error": {"message": "slow"}}, "rate_limited"),
        (400, {}, {"error": {"message": "what?"}}, "structural"),
        (503, {}, {"error": {"message": "busy"}}, "overloaded"),
        (307, {}, {}, "structural"),
    ],
)
async def test_a_refusal_is_what_the_dialect_says_it_means(
    status: int, headers: Mapping[str, str], body: Any, kind: FailureKind
) -> None:
    refusal = HttpReply(status=status, headers=dict(headers), body=json.dumps(body).encode())
    error = await failure(refusal)
    assert error.kind == kind
    assert str(status) in error.text
    assert error.retry_after_s == (7.0 if headers else None)
    is_free = status // 100 == 4
    assert error.consumption == (NoConsumption() if is_free else UnknownConsumption())


PAGE = b"<!DOCTYPE html><html><head><title>Wartung\nbis morgen</title></head></html>"


async def test_a_page_instead_of_json_is_one_readable_line_under_any_status() -> None:
    error = await failure(HttpReply(status=502, headers={}, body=PAGE))
    assert (error.kind, "Wartung bis morgen" in error.text) == ("server", True)
    error = await failure(PAGE)
    assert (error.kind, "Wartung bis morgen" in error.text) == ("server", True)
    assert "200" in error.text


async def test_plain_words_instead_of_a_reply_are_shown() -> None:
    error = await failure(b"upstream connect error")
    assert "upstream connect error" in error.text


async def test_an_error_page_of_ten_megabytes_is_one_line() -> None:
    for filling in (b"x", b"<b>", b'{"error":', b"[", b"\xff"):
        body = filling * (2**20 // len(filling))
        await failure(HttpReply(status=500, headers={}, body=body, body_cut=True))
        await failure(b"<html>" + body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n \n",
        b": waiting\n\n",
        json.dumps(WHOLE).encode()[:-20],
        json.dumps([WHOLE]).encode()[:-1],
        sse({"choices": [{"index": 0, "delta": {"content": "H"}}]}),
        b"[1, 2]",
    ],
)
async def test_a_body_that_is_cut_is_asked_again(body: bytes) -> None:
    error = await failure(body)
    assert (error.kind, error.retryable) == ("transport", True)


async def test_an_error_within_a_reply_that_began_well_is_no_reply() -> None:  # case 137
    began = sse({"choices": [{"index": 0, "delta": {"content": "H"}}]})
    trouble = {"error": {"message": f"no more, {KEY}", "code": "insufficient_quota"}}
    for body in (began + sse(trouble), json.dumps(trouble).encode()):
        error = await failure(body)
        assert error.kind == "quota"
        assert KEY not in error.text
        assert "[secret]" in error.text


async def test_a_failure_after_usage_came_carries_it() -> None:
    error = await failure(
        sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}], "usage": COUNTS})
    )
    assert error.consumption == ActualConsumption(usage=USAGE)


async def test_a_reply_that_breaks_the_protocol_is_shown_without_the_key() -> None:
    body = f'data: {{"quote": "{KEY}", nonsense\n\n'.encode()
    client = client_of(FakeTransport(body), dialect=AnthropicDialect())
    with pytest.raises(InvalidModelOutputError) as caught:
        await client.complete(ASKED, ignore)
    assert "[secret]" in caught.value.excerpt
    assert KEY not in f"{caught.value.why}{caught.value.excerpt}{caught.value}"


@pytest.mark.parametrize("spelling", sorted(Secret(KEY).spellings()))
async def test_a_host_that_shows_the_key_in_any_spelling_is_not_quoted(spelling: str) -> None:
    body = json.dumps({"error": {"message": f"the key {spelling} is bad"}}).encode()
    for padding in range(200, 260, 7):
        padded = body.replace(b"the key", b"the key" + b" word" * (padding // 5))
        error = await failure(HttpReply(status=401, headers={}, body=padded))
        # Not even the front of it, where the line is cut.
        assert spelling[:8] not in error.text


@pytest.mark.parametrize(
    "url", ["http://far.example/v1", "", "https://h/v1?api_key=x", "https://u:p@h/v1"]
)
def test_an_address_that_may_not_be_asked_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(RequestRefusedError):
        DialectClient(
            ChatDialect(),
            PROFILE,
            endpoint=Endpoint(url=url),
            transport=FakeTransport(),
            times=TIMES,
        )


async def test_a_tool_loop_keeps_one_prefix_and_pairs_its_results() -> None:
    transport = FakeTransport(STREAMED, STREAMED)
    client = client_of(transport)
    await client.complete(ASKED, ignore)
    first = transport.requests[0].body
    call = ToolCall(call_id="c1", tool_name="read_file", arguments=Arguments(text="{}"))
    result = ToolResult(call_id="c1", content="text", kind="done")
    longer = ModelRequest(
        history=(*ASKED.history, call, result), tools=(SPEC,), max_output_tokens=99
    )
    await client.complete(longer, ignore)
    assert transport.requests[1].body.startswith(first.removesuffix(b"]}"))
    roles = [message["role"] for message in transport.body["messages"]]
    assert roles == ["user", "assistant", "tool"]


async def test_any_model_gives_plain_text_without_tools_or_thoughts() -> None:
    message = {"content": "Hi", "reasoning_content": "hm"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    transport = FakeTransport(json.dumps({**WHOLE, "choices": [choice]}).encode())
    provider = PlainTextProvider(client_of(transport))
    said: Iterable[ProviderMessage] = (
        ProviderMessage(role="system", content="Be brief."),
        ProviderMessage(role="user", content="Hello"),
    )
    reply = await provider.complete(tuple(said), max_output_tokens=9, listener=ignore)
    assert reply == ProviderResponse(text="Hi", usage=USAGE, stop="end", model="m-1")
    assert "tools" not in transport.body
    assert [message["role"] for message in transport.body["messages"]] == ["system", "user"]
