"""Replies as the vendor sends them: a whole body, and the same as a stream cut anywhere."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st
from models.anthropic.own_histories import ADAPTIVE
from strategies import nested, texts

from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import WireEvent

Wire = dict[str, Any]

USAGE: Wire = {
    "input_tokens": 10,
    "cache_read_input_tokens": 200,
    "cache_creation_input_tokens": 30,
    "output_tokens": 55,
    "output_tokens_details": {"thinking_tokens": 40},
}


def event(value: Wire) -> WireEvent:
    return WireEvent(name=value["type"], data=json.dumps(value))


def message(content: Sequence[Any] = (), **fields: Any) -> Wire:
    """Return a whole reply."""
    told: Wire = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test-20261101",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }
    return told | fields


def stream(body: Wire, pieces: Iterable[int] = ()) -> list[Wire]:
    """Return the events of `body`; `pieces` are the lengths its texts are cut into, over again."""
    start_usage = {**body["usage"], "output_tokens": 1} if body["usage"] else None
    blank = {**body, "content": [], "stop_reason": None, "usage": start_usage}
    events: list[Wire] = [{"type": "message_start", "message": blank}, {"type": "ping"}]
    for index, block in enumerate(body["content"]):
        start, deltas = _opened(block, [*pieces] or [1000])
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {
        name: body[name]
        for name in ("stop_reason", "stop_sequence", "stop_details")
        if name in body
    }
    usage = {"output_tokens": body["usage"].get("output_tokens")} if body["usage"] else None
    details = (body["usage"] or {}).get("output_tokens_details")
    if usage and details:
        usage["output_tokens_details"] = details
    events.append({"type": "message_delta", "delta": end, "usage": usage})
    return [*events, {"type": "message_stop"}]


def _opened(block: Wire, pieces: list[int]) -> tuple[Wire, list[Wire]]:
    match block:
        case {"type": "text", "text": text}:
            deltas = [{"type": "text_delta", "text": part} for part in _cut(text, pieces)]
            return {**block, "text": ""}, deltas
        case {"type": "thinking", "thinking": text, "signature": signature}:
            deltas = [{"type": "thinking_delta", "thinking": part} for part in _cut(text, pieces)]
            signed = [{"type": "signature_delta", "signature": s} for s in _cut(signature, pieces)]
            return {**block, "thinking": "", "signature": ""}, [*deltas, *signed]
        case {"type": "tool_use", "input": arguments}:
            parts = ["", *_cut(json.dumps(arguments), pieces)] if arguments else [""]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            return {**block, "input": {}}, deltas
        case _:
            return block, []


def _cut(text: str, pieces: list[int]) -> list[str]:
    parts = list[str]()
    while text:
        size = pieces[len(parts) % len(pieces)]
        parts.append(text[:size])
        text = text[size:]
    return parts


def read(events: Iterable[Wire], **profile: Any) -> ModelResponse:
    return read_events(map(event, events), **profile)


def read_events(events: Iterable[WireEvent], **profile: Any) -> ModelResponse:
    reader = AnthropicDialect().reader(profile.get("profile", ADAPTIVE))
    for one in events:
        reader.feed(one)
    return reader.finish()


def deltas(events: Iterable[Wire]) -> list[Delta]:
    reader = AnthropicDialect().reader(ADAPTIVE)
    return [delta for one in events for delta in reader.feed(event(one))]


def text(words: str) -> Wire:
    return {"type": "text", "text": words, "citations": None}


def thinking(words: str, signature: str) -> Wire:
    return {"type": "thinking", "thinking": words, "signature": signature}


def tool_use(call_id: str = "toolu_1", name: str = "read_file", **arguments: Any) -> Wire:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


@st.composite
def replies(draw: st.DrawFn) -> Wire:
    inputs = st.dictionaries(texts(), texts(), max_size=2) | st.just(nested(50))
    blocks = st.one_of(
        st.builds(text, texts()),
        st.builds(thinking, texts(), st.sampled_from(["", "c2ln", "c2lnMg=="])),
        st.just({"type": "redacted_thinking", "data": "ZGF0YQ=="}),
        st.builds(lambda given: {**tool_use(), "input": given}, inputs),
        st.just({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
    )
    reasons = ["end_turn", "tool_use", "max_tokens", "pause_turn", "refusal", "novel", None]
    return message(
        draw(st.lists(blocks, max_size=4)),
        stop_reason=draw(st.sampled_from(reasons)),
        usage=draw(st.sampled_from([USAGE, {"input_tokens": 0, "output_tokens": 0}, None])),
    )
