"""Judges of what we write for Chat Completions: the vendor's own types, and its hosts' known rules.

The types are blind to order, pairing and ids, so `host_refusal` holds those by the rulebook. The
types are changed for this whole process (extras forbidden), and only when they are asked.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, pairwise
from typing import Any

from models.vendor_types import Judge, judge_by, strings_in
from openai.types.chat import completion_create_params

from goldseam.models.dialect import Profile

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def type_refusal(body: Mapping[str, Any], profile: Profile) -> str | None:
    """Return why the vendor's types refuse `body`, or `None` where they take it.

    What a host wants beyond the types, and has by its profile, is looked past.
    """
    whole, streamed = _judges()
    messages = [_without_extras(message, profile) for message in body["messages"]]
    return (streamed if body.get("stream") else whole)({**body, "messages": messages})


def _without_extras(message: dict[str, Any], profile: Profile) -> dict[str, Any]:
    extras = {"reasoning_details", "extra_content"} if profile.host != "openai" else set[str]()
    if profile.echoes_reasoning != "never":
        extras.add(str(profile.reasoning_field))
    if profile.names_tool_in_result and message["role"] == "tool":
        extras.add("name")
    plain = {name: value for name, value in message.items() if name not in extras}
    if "tool_calls" in plain:
        plain["tool_calls"] = [_without_extras({"role": "", **c}, profile) for c in _calls(plain)]
        for call in plain["tool_calls"]:
            del call["role"]
    return plain


def host_refusal(body: Mapping[str, Any], profile: Profile) -> str | None:
    """Return the first known rule that `body` breaks at the host, or `None`."""
    messages = body["messages"]
    broken = chain(
        _end(messages),
        _order(messages),
        _calls_and_names(messages, profile),
        _texts(body),
        _deviations(messages, profile),
        _neighbours(messages, profile),
        _tools(body),
    )
    return next(broken, None)


def _end(messages: list[dict[str, Any]]) -> Iterator[str]:
    if not messages or messages[-1]["role"] not in {"user", "tool", "system", "developer"}:
        yield "OAI-1, LCP-1: nothing asked at the end"


def _order(messages: list[dict[str, Any]]) -> Iterator[str]:
    waiting = list[str]()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"OAI-22: no call for {message['tool_call_id']}"
            if waiting[:1] != [message["tool_call_id"]]:
                yield f"XLT-4: {message['tool_call_id']} out of order"
            waiting = waiting[1:]
        elif waiting:
            yield f"OAI-21: no result for {waiting}"
        if message["role"] == "assistant":
            waiting = [call["id"] for call in _calls(message)]
    if waiting:
        yield f"OAI-21: no result for {waiting}"


def _calls_and_names(messages: list[dict[str, Any]], profile: Profile) -> Iterator[str]:
    rule, ids = profile.ids, list[str]()
    length = rule.exactly or f"1,{rule.longest}"
    for call in (call for message in messages for call in _calls(message)):
        ids.append(call["id"])
        if not re.fullmatch(f"{rule.alphabet}{{{length}}}", call["id"]):
            yield f"OAI-11, MIS-1: id {call['id']!r}"
        if not _NAME.fullmatch(call["function"]["name"]):
            yield f"OAI-10: name {call['function']['name']!r}"
        if not isinstance(json.loads(call["function"]["arguments"]), dict):
            yield f"XLT-2: arguments {call['function']['arguments']!r}"
    if len(set(ids)) < len(ids):
        yield f"43: ids {ids}"


def _texts(body: Mapping[str, Any]) -> Iterator[str]:
    for message in body["messages"]:
        if message["content"] is None and not _calls(message):
            yield "OAI-4, OAI-5: null content"
    for text in strings_in(body):
        if re.search("[\x00\ud800-\udfff]", text):
            yield f"152: text that cannot be sent: {text!r}"


def _deviations(messages: list[dict[str, Any]], profile: Profile) -> Iterator[str]:
    field = profile.reasoning_field
    for message in messages:
        calls = _calls(message)
        if field and profile.echoes_reasoning == "with_calls" and calls and field not in message:
            yield f"DSK-1: no {field} on a message with calls"
        must_echo = profile.echoes_reasoning == "always" and message["role"] == "assistant"
        if must_echo and field not in message:
            yield f"KIM-1: no {field}"
        if profile.requires_signatures and calls and not _signature(calls[0]):
            yield "GOC-1, GEM-22: the first call has no signature"


def _neighbours(messages: list[dict[str, Any]], profile: Profile) -> Iterator[str]:
    for one, other in pairwise(message["role"] for message in messages):
        if profile.bridges_user_after_tool and (one, other) == ("tool", "user"):
            yield "MIS-2: unexpected role 'user' after role 'tool'"
        if profile.merges_same_role and one == other != "tool":
            yield f"LCP-1, 80: roles must alternate, {one} {other}"
        if profile.merges_same_role and other == profile.system_role:
            yield "LCP-1: the system's words come first"


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in body.get("tools", ()):
        function = tool["function"]
        if not _NAME.fullmatch(function["name"]):
            yield f"OAI-10: tool name {function['name']!r}"
        if function.get("strict"):
            yield from _open_objects(function["parameters"])
        if "properties" not in function["parameters"]:
            yield "OAI-16: object schema missing properties"


def _open_objects(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for inner in schema:
            yield from _open_objects(inner)
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            if schema.get("additionalProperties") is not False:
                yield "OAI-15: additionalProperties is required to be false"
            if set(schema["required"]) != set(schema["properties"]):
                yield "OAI-15: all properties are required"
        for inner in schema.values():
            yield from _open_objects(inner)


def _signature(call: Mapping[str, Any]) -> object:
    return call.get("extra_content", {}).get("google", {}).get("thought_signature")


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = message.get("tool_calls", [])
    return found


@cache
def _judges() -> tuple[Judge, Judge]:
    return (
        judge_by(completion_create_params.CompletionCreateParamsNonStreaming),
        judge_by(completion_create_params.CompletionCreateParamsStreaming),
    )
