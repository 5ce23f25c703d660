"""What the vendor refuses and no type shows: order, pairing, ids, texts, marks (ANT-8 to 27)."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

MANUAL = "enabled"
THINKING = {"thinking", "redacted_thinking"}
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def breaches(body: dict[str, Any]) -> list[str]:
    """Return every rule that `body` breaks, with what breaks it."""
    return [*_order(body), *_pairing(body), *_texts(body), *_marks(body), *_thinking(body)]


def _order(body: dict[str, Any]) -> Iterator[str]:
    roles = [message["role"] for message in body["messages"]]
    if not roles or roles[0] != "user" or roles[-1] != "user":
        yield f"ANT-15: messages begin and end with {roles[:1]}, {roles[-1:]}"
    if any(one == next_one for one, next_one in pairwise(roles)):
        yield f"merged roles: {roles}"
    if not all(message["content"] for message in body["messages"]):
        yield "a message without content"


def _pairing(body: dict[str, Any]) -> Iterator[str]:
    ids = list[str]()
    waiting = list[str]()
    for message in body["messages"]:
        blocks = message["content"]
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if results != waiting:
            yield f"ANT-8, ANT-9: calls {waiting}, results {results}"
        if any(b["type"] == "tool_result" for b in blocks[len(results) :]):
            yield "ANT-10: results do not come first"
        calls = [b for b in blocks if b["type"] == "tool_use"]
        waiting = [call["id"] for call in calls]
        ids += waiting
        for call in calls:
            if not ID.fullmatch(call["name"]) or not isinstance(call["input"], dict):
                yield f"ANT-7, ANT-12: {call}"
    if waiting or len(set(ids)) < len(ids) or not all(ID.fullmatch(one) for one in ids):
        yield f"ANT-11: ids {ids}, waiting {waiting}"


def _texts(body: dict[str, Any]) -> Iterator[str]:
    for message in [{"role": "system", "content": body.get("system", [])}, *body["messages"]]:
        for block in _with_nested(message["content"]):
            if block["type"] == "text" and not block["text"].strip():
                yield f"ANT-13: {block!r}"
        last = message["content"][-1] if message["content"] else {"type": "none"}
        if message["role"] == "assistant":
            if last["type"] == "text" and last["text"] != last["text"].rstrip():
                yield f"ANT-14: {last!r}"
            if last["type"] in THINKING:
                yield "the final block of an assistant message is a thought"


def _with_nested(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        yield block
        content = block.get("content")
        if isinstance(content, list):
            yield from content


def _marks(body: dict[str, Any]) -> Iterator[str]:
    blocks = [b for message in body["messages"] for b in message["content"]]
    marked = [
        b
        for b in [*body.get("tools", []), *body.get("system", []), *blocks]
        if "cache_control" in b
    ]
    if len(marked) > 4 or any(b.get("type") in THINKING for b in marked):
        yield f"ANT-20: {marked}"


def _thinking(body: dict[str, Any]) -> Iterator[str]:
    thinking = body.get("thinking", {})
    if thinking.get("type") == MANUAL:
        if not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
            yield f"ANT-21: {thinking}"
        first = None
        for message in reversed(body["messages"]):
            if message["role"] == "assistant":
                first = message["content"][0]
            elif any(block["type"] != "tool_result" for block in message["content"]):
                break
        if first and first["type"] not in THINKING:
            yield f"ANT-23: {first}"
    if thinking.get("type") in {MANUAL, "adaptive"} and "temperature" in body:
        yield "ANT-27: temperature while thinking"
