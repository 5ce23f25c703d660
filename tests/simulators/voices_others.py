"""A scripted reply in Anthropic's form and in Gemini's."""

import json
from typing import Any

from simulators.anthropic_thoughts import following
from simulators.gemini import mark_of
from simulators.refusal import Memory, arguments_of, print_of
from simulators.saying import Say, Spoken, event, halves

MODEL = "simulated-1"


# Anthropic ----------------------------------------------------------------------------------------


def anthropic_reply(say: Say, memory: Memory) -> Spoken:
    """Return `say` as a message (ANT-28 to ANT-31)."""
    blocks = _blocks(say, memory)
    reason = "tool_use" if say.calls else "end_turn"
    usage = {"input_tokens": 40, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 0}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL}
    whole = {
        **head,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 20},
    }
    opening = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    ending = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 20},
    }
    raw = [call.arguments for call in say.calls]
    written = [""] * (len(blocks) - len(raw)) + raw
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": opening},
        {"type": "ping"},
        *(one for at, block in enumerate(blocks) for one in _block_events(block, at, written[at])),
        ending,
        {"type": "message_stop"},
    ]
    return Spoken(whole=whole, events=tuple(event(one, str(one["type"])) for one in events))


def _blocks(say: Say, memory: Memory) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": say.text}] if say.text else []
    for call in say.calls:
        given = arguments_of(call.arguments) or {}
        blocks.append({"type": "tool_use", "id": call.call_id, "name": call.name, "input": given})
    before = following(blocks)
    block: dict[str, Any]
    if say.redacted:
        block = {"type": "redacted_thinking", "data": f"cmVkYWN0ZWQ{memory.next_number:04}"}
        memory.hand_out(block["data"], print_of(block), before)
        blocks.insert(0, block)
    elif say.thought is not None:
        signature = f"c2lnbmF0dXJl{memory.next_number:04}"
        block = {"type": "thinking", "thinking": say.thought, "signature": signature}
        memory.hand_out(signature, print_of(block), before)
        blocks.insert(0, block)
    return blocks


def _block_events(block: dict[str, Any], at: int, raw: str) -> list[dict[str, Any]]:
    deltas = list[dict[str, Any]]()
    opened = block
    match block["type"]:
        case "text":
            opened = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": half} for half in halves(block["text"])]
        case "tool_use":
            opened = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": h} for h in ("", *halves(raw))]
        case "thinking":
            opened = {**block, "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": h} for h in halves(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case _:
            pass
    return [
        {"type": "content_block_start", "index": at, "content_block": opened},
        *({"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": at},
    ]


# Gemini -------------------------------------------------------------------------------------------


def gemini_reply(say: Say, memory: Memory) -> Spoken:
    """Return `say` as a generateContent response (GEM-20, GEM-34, GEM-38)."""
    parts = _parts(say, memory)
    whole = _response(parts, "STOP")
    pieces = [*map(_cut, parts)]
    cut = [part for piece in pieces for part in piece]
    chunks = [_response([part], None) for part in cut[:-1]]
    events = tuple(map(event, [*chunks, _response(cut[-1:], "STOP")]))
    return Spoken(whole=whole, events=events)


def _response(parts: list[dict[str, Any]], reason: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    usage = {"promptTokenCount": 100, "cachedContentTokenCount": 60, "totalTokenCount": 120}
    if reason:
        candidate["finishReason"] = reason
        usage |= {"candidatesTokenCount": 12, "thoughtsTokenCount": 8}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": MODEL,
        "responseId": "r1",
    }


def _parts(say: Say, memory: Memory) -> list[dict[str, Any]]:
    parts = list[dict[str, Any]]()
    if say.thought:
        parts.append({"text": say.thought, "thought": True})
    if say.text:
        parts.append({"text": say.text})
    for call in say.calls:
        told = {"name": call.name, "args": json.loads(call.arguments)}
        native = {"id": call.call_id} if call.call_id else {}
        parts.append({"functionCall": {**told, **native}})
    signed = next((part for part in parts if "functionCall" in part), None)
    if signed is None:
        # A stream of words alone may end in an empty part that carries the signature (GEM-20).
        signed = {"text": ""}
        parts.append(signed)
    number = memory.next_number
    signed["thoughtSignature"] = memory.hand_out(f"Z2VtaW5p{number:04}", mark_of(signed))
    return parts


def _cut(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return `part` as a stream gives it: words in pieces, everything signed whole."""
    if not part.get("text") or "thoughtSignature" in part:
        return [part]
    return [{**part, "text": half} for half in halves(part["text"]) if half]
