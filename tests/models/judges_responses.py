"""Judges of what we write for the Responses protocol: the vendor's own types, and its known rules.

The types are blind to order, pairing and ids, so `host_refusal` holds those by the rulebook. The
types are changed for this whole process (extras forbidden), and only when they are asked.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from models.vendor_types import Judge, judge_by, strings_in
from openai.types.responses import response_create_params

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def type_refusal(body: Mapping[str, Any]) -> str | None:
    """Return why the vendor's types refuse `body`, or `None` where they take it."""
    whole, streamed = _judges()
    return (streamed if body.get("stream") else whole)(body)


def host_refusal(body: Mapping[str, Any]) -> str | None:
    """Return the first known rule of the host that `body` breaks, or `None`."""
    return next(_broken_rules(body), None)


def _broken_rules(body: Mapping[str, Any]) -> Iterator[str]:
    if body["store"] is not False:
        yield "RSP-13: stored unless it says otherwise"
    if body["max_output_tokens"] < 16:
        yield "RSP-12: fewer than 16 tokens"
    if "temperature" in body and "include" in body:
        yield "OAI-19: temperature of a model that thinks"
    yield from (broken for tool in body.get("tools", ()) for broken in _broken_tool(tool))
    yield from _broken_pairing(body["input"])
    for place, item in enumerate(body["input"]):
        yield from _broken_item(item, body["input"][place + 1 : place + 2])
    for text in strings_in(body):
        if re.search("[\x00\ud800-\udfff]", text):
            yield f"Q: text that cannot be sent: {text!r}"


def _broken_tool(tool: dict[str, Any]) -> Iterator[str]:
    if not _NAME.fullmatch(tool["name"]):
        yield f"OAI-10: tool name {tool['name']!r}"
    if "properties" not in tool["parameters"]:
        yield "OAI-16: object schema missing properties"


def _broken_pairing(items: list[dict[str, Any]]) -> Iterator[str]:
    called, waiting = set[str](), set[str]()
    for item in items:
        call_id = item.get("call_id", "")
        if item["type"] == "function_call":
            if not 1 <= len(call_id) <= 64 or call_id in called:
                yield f"RSP-5: call_id {call_id!r}"
            called.add(call_id)
            waiting.add(call_id)
        elif item["type"] == "function_call_output":
            if call_id not in waiting:
                yield f"RSP-7: no tool call found for {call_id}"
            waiting.discard(call_id)
        elif waiting and item.get("role") in {"user", "system", "developer"}:
            yield f"RSP-6: no tool output found for {waiting}"
    if waiting:
        yield f"RSP-6: no tool output found for {waiting}"


def _broken_item(item: dict[str, Any], following: list[dict[str, Any]]) -> Iterator[str]:
    match item["type"]:
        case "function_call":
            if not _NAME.fullmatch(item["name"]):
                yield f"OAI-10: name {item['name']!r}"
        case "reasoning":
            yield from _broken_thought(item, following)
        case "function_call_output" | "message":
            pass
        case other:
            yield f"RSP-1: item of type {other}"
    if item["type"] != "reasoning" and "id" in item:
        yield "RSP-3, RSP-9: an id of what nobody stored"


def _broken_thought(item: dict[str, Any], following: list[dict[str, Any]]) -> Iterator[str]:
    if not item["id"].startswith("rs_") or not item["encrypted_content"]:
        yield "RSP-4, RSP-9: a thought that cannot be told by itself"
    led_to = following[0] if following else {"type": None}
    if led_to["type"] not in {"reasoning", "function_call"} and led_to.get("role") != "assistant":
        yield "RSP-8: a thought without its required following item"


@cache
def _judges() -> tuple[Judge, Judge]:
    return (
        judge_by(response_create_params.ResponseCreateParamsNonStreaming),
        judge_by(response_create_params.ResponseCreateParamsStreaming),
    )
