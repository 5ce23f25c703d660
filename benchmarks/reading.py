"""What reading a streamed reply costs: twice the stream may take little more than twice the time.

Streams of one and two megabytes come in 16 bytes at a time, half of each in words, half in the
arguments of one call. The figure is a ratio within this one run, of the processor's own time.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from msgspec import Struct

from benchmarks.row import Row, at_most
from benchmarks.writing import seconds
from goldseam.kernel.conversation import Arguments, Message, ToolCall
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import Dialect, Profile
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.hearing import Hearing
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.models.openai_responses.dialect import ResponsesDialect
from goldseam.wire.sse import SseDecoder

MEGABYTE = 2**20
CUT = 16
REPEATS = 2
PIECE = "0123456789abcdef" * 2
PROFILE = Profile(host="here", model="m", seal_scope="here")

Events = Iterator[dict[str, Any]]


class Stream(Struct, frozen=True, kw_only=True):
    """A dialect, and the events of a reply whose words and arguments have so many pieces each."""

    dialect: Dialect
    events: Callable[[int], Events]


def measure() -> tuple[Row, ...]:
    rows = [growth("server-sent events", decode, chat_events)]
    for name, stream in STREAMS.items():
        rows.append(growth(name, partial(heard, stream.dialect), stream.events))
    return tuple(rows)


def growth(what: str, read: Callable[[bytes], object], events: Callable[[int], Events]) -> Row:
    pieces = MEGABYTE * 100 // len(sse(events(100)))
    once, twice = sse(events(pieces)), sse(events(2 * pieces))
    times = [(seconds(partial(read, once)), seconds(partial(read, twice))) for _ in range(REPEATS)]
    once_s, twice_s = (min(each) for each in zip(*times, strict=True))
    return at_most(f"{what}: reading 2 MB", twice_s / once_s, limit=2.6, unit="x 1 MB")


def sse(events: Events) -> bytes:
    lines = (f"event: {event.get('type', '')}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "".join(lines).encode()


def decode(sent: bytes) -> None:
    decoder = SseDecoder()
    for at in range(0, len(sent), CUT):
        decoder.feed(sent[at : at + CUT])


def heard(dialect: Dialect, sent: bytes) -> ModelResponse:
    hearing = Hearing(dialect.reader(PROFILE), ignore)
    for at in range(0, len(sent), CUT):
        hearing.hear(sent[at : at + CUT])
    hearing.close()
    reply = hearing.reply()
    match reply.items:
        case (Message(text=words), ToolCall(arguments=Arguments(text=arguments))):
            if len(words) + len(arguments) > MEGABYTE // 10:
                return reply
        case _:
            pass
    raise SystemExit(f"the reply was read as something else: {reply.stop}")


def ignore(_: Delta) -> None:
    return None


def arguments_in(pieces: int) -> Iterator[str]:
    yield '{"text":"'
    for _ in range(pieces):
        yield PIECE
    yield '"}'


def chat_events(pieces: int) -> Events:
    def delta(fields: dict[str, Any]) -> dict[str, Any]:
        return {"model": "m-1", "choices": [{"index": 0, "delta": fields}]}

    for _ in range(pieces):
        yield delta({"content": PIECE})
    yield delta({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "write_file"}}]})
    for piece in arguments_in(pieces):
        yield delta({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def responses_events(pieces: int) -> Events:
    words: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "write_file"}
    yield {"type": "response.output_item.added", "output_index": 0, "item": words}
    for _ in range(pieces):
        yield {
            "type": "response.output_text.delta",
            "output_index": 0,
            "content_index": 0,
            "item_id": "msg_1",
            "delta": PIECE,
        }
    yield {"type": "response.output_item.added", "output_index": 1, "item": call}
    for piece in arguments_in(pieces):
        yield {
            "type": "response.function_call_arguments.delta",
            "output_index": 1,
            "item_id": "fc_1",
            "delta": piece,
        }
    content = [{"type": "output_text", "text": PIECE * pieces, "annotations": []}]
    output = [
        {**words, "content": content},
        {**call, "arguments": "".join(arguments_in(pieces))},
    ]
    response = {"id": "r1", "status": "completed", "model": "m-1", "output": output, "usage": None}
    yield {"type": "response.completed", "response": response}


def anthropic_events(pieces: int) -> Events:
    def delta(index: int, **fields: str) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": fields}

    message = {"role": "assistant", "model": "m-1", "content": [], "usage": {"input_tokens": 1}}
    call = {"type": "tool_use", "id": "c1", "name": "write_file", "input": {}}
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for _ in range(pieces):
        yield delta(0, type="text_delta", text=PIECE)
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "content_block_start", "index": 1, "content_block": call}
    for piece in arguments_in(pieces):
        yield delta(1, type="input_json_delta", partial_json=piece)
    yield {"type": "content_block_stop", "index": 1}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}
    yield {"type": "message_stop"}


def gemini_events(pieces: int) -> Events:
    def chunk(part: dict[str, Any]) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [part]}}]}

    for _ in range(pieces):
        yield chunk({"text": PIECE})
    # A call comes whole here, however long its arguments are.
    arguments = json.loads("".join(arguments_in(pieces)))
    yield chunk({"functionCall": {"name": "write_file", "args": arguments}})
    yield {"candidates": [{"finishReason": "STOP"}], "modelVersion": "m-1"}


STREAMS = {
    "openai_chat": Stream(dialect=ChatDialect(), events=chat_events),
    "openai_responses": Stream(dialect=ResponsesDialect(), events=responses_events),
    "anthropic": Stream(dialect=AnthropicDialect(), events=anthropic_events),
    "gemini": Stream(dialect=GeminiDialect(), events=gemini_events),
}
