"""A judge of Chat Completions requests: what OpenAI and the hosts of its protocol refuse.

Follows the rulebook alone (OAI-*, and the deviating hosts); what it marks ACCEPT is let through.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

from simulators.chat_hosts import OPENAI, Host
from simulators.chat_tools import (
    FOREIGN_FIELDS,
    INVALID,
    NAME,
    calls_of,
    refuse,
    refused_settings,
    refused_tools,
)
from simulators.refusal import Refusal, arguments_of, dicts_in, first, print_of

ROLES = {"developer", "system", "user", "assistant", "tool", "function"}
PARTS = {
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
}
TEXT_ALONE = {"text"}
DUMMIES = {
    "context_engineering_is_the_way_to_go",
    "skip_thought_signature_validator",
    "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
}


def judge(body: Any, host: Host = OPENAI) -> Refusal | None:
    """Return how `host` refuses `body`, or `None` where it takes it."""
    return first(_refusals(body, host), refuse(host, "Invalid type in the request."))


def _refusals(body: Any, host: Host) -> Iterator[Refusal]:
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        yield refuse(host, "you must provide a model parameter")  # OAI-1
        return
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield refuse(host, "Invalid 'messages': empty array.", param="messages")  # OAI-1
        return
    if len(dicts_in(messages)) < len(messages):
        yield refuse(host, "Invalid type for 'messages': expected an object.", param="messages")
        return
    yield from chain.from_iterable(_message(m, at, host) for at, m in enumerate(messages))
    yield from _order(messages, host)
    yield from _deviations(messages, host)
    yield from refused_tools(body, host)
    yield from refused_settings(body, host)


# Messages -----------------------------------------------------------------------------------------


def _message(message: dict[str, Any], at: int, host: Host) -> Iterator[Refusal]:
    role = message.get("role")
    if role not in ROLES or role == host.refused_role:  # OAI-2
        text = f"Unsupported value: 'messages[{at}].role' does not support {role!r} with this model"
        yield refuse(host, text, code="unsupported_value", param=f"messages[{at}].role")
        return
    yield from _content(message, at, host)
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield refuse(host, f"Missing parameter 'messages[{at}].tool_call_id'.")  # OAI-8
    if role == "assistant":
        calls = message.get("tool_calls", [])
        if "tool_calls" in message and not dicts_in(calls):
            yield refuse(host, f"Invalid 'messages[{at}].tool_calls': empty array.")
        for place, call in enumerate(dicts_in(calls)):
            yield from _call(call, f"messages[{at}].tool_calls[{place}]", host)
    if "OAI-17" in host.doubts and FOREIGN_FIELDS & {*message}:
        yield refuse(host, f"Unknown parameter: 'messages[{at}]'.", code="unknown_parameter")


def _content(message: dict[str, Any], at: int, host: Host) -> Iterator[Refusal]:
    role, content = message["role"], message.get("content")
    if content is None:
        if role == "assistant" and (message.get("tool_calls") or message.get("function_call")):
            return  # OAI-5
        text = "Invalid value for 'content': expected a string, got null."
        yield refuse(host, text, param=f"messages.[{at}].content")  # OAI-4
    elif isinstance(content, list):
        allowed = PARTS.get(role, TEXT_ALONE)
        if not content or any(part.get("type") not in allowed for part in dicts_in(content)):
            words = " or ".join(sorted(allowed))  # OAI-6
            text = f"Invalid 'messages[{at}]'. Content blocks are expected to be either {words}."
            yield refuse(host, text, code="invalid_value", param=f"messages[{at}]")
    elif not isinstance(content, str):
        text = f"Invalid type for 'messages[{at}].content': expected a string or an array."
        yield refuse(host, text, code="invalid_type", param=f"messages[{at}].content")


def _call(call: dict[str, Any], path: str, host: Host) -> Iterator[Refusal]:
    function = call.get("function")
    if call.get("type") == "custom":  # OAI-7
        return
    if call.get("type") != "function" or not isinstance(function, dict):
        yield refuse(host, f"Missing required parameter: '{path}.type'.", param=f"{path}.type")
        return
    if not isinstance(function.get("arguments"), str):  # OAI-7
        text = f"Invalid type for '{path}.function.arguments': expected a string."
        yield refuse(host, text, code="invalid_type", param=f"{path}.function.arguments")
    elif arguments_of(function["arguments"]) is None:  # XLT-2
        yield refuse(host, f"Invalid '{path}.function.arguments': not valid JSON.")
    if not NAME.fullmatch(str(function.get("name", ""))):  # OAI-10
        text = f"Invalid '{path}.function.name': string does not match pattern."
        yield refuse(host, text, code="invalid_value", param=f"{path}.function.name")
    yield from _call_id(call.get("id"), path, host)


def _call_id(call_id: Any, path: str, host: Host) -> Iterator[Refusal]:
    if not isinstance(call_id, str) or not call_id:
        yield refuse(host, f"Missing required parameter: '{path}.id'.", param=f"{path}.id")
    elif host.longest_id and len(call_id) > host.longest_id:  # OAI-11
        text = (
            f"Invalid '{path}.id': string too long. Expected a string with maximum length"
            f" {host.longest_id}, but got a string with length {len(call_id)} instead."
        )
        yield refuse(host, text, code="string_above_max_length", param=f"{path}.id")
    elif host.id_pattern and not re.fullmatch(host.id_pattern, call_id):  # MIS-1
        text = f"Tool call id was {call_id} but must be a-z, A-Z, 0-9, with a length of 9."
        yield refuse(host, text, code="3280", kind="invalid_function_call")


def _order(messages: list[dict[str, Any]], host: Host) -> Iterator[Refusal]:
    waiting = list[str]()
    for at, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:  # OAI-22, OAI-23
                text = (
                    "Invalid parameter: messages with role 'tool' must be a response to a"
                    " preceeding message with 'tool_calls'."
                )
                yield refuse(host, text, param=f"messages.[{at}].role")
                return
            waiting.remove(message["tool_call_id"])
        elif waiting:  # OAI-21, QWN-3, DSK-3
            text = (
                "An assistant message with 'tool_calls' must be followed by tool messages"
                " responding to each 'tool_call_id'. The following tool_call_ids did not have"
                f" response messages: {', '.join(waiting)}"
            )
            yield refuse(host, text, param=f"messages.[{at}].role")
            return
        else:
            waiting = [call["id"] for call in calls_of(message)]


# What single hosts hold beside that ---------------------------------------------------------------


def _deviations(messages: list[dict[str, Any]], host: Host) -> Iterator[Refusal]:
    yield from _roles(messages, host)
    if host.reasoning_words:  # DSK-1, DSK-2, KIM-1
        for at, message in enumerate(messages):
            if calls_of(message) and not isinstance(message.get("reasoning_content"), str):
                yield refuse(host, host.reasoning_words.format(index=at), code=INVALID)
    if host.wants_details and host.issued:
        for message in messages:
            yield from _details(message, host)
    if host.signs_calls:
        yield from _signatures(messages, host)


def _roles(messages: list[dict[str, Any]], host: Host) -> Iterator[Refusal]:
    roles = [message["role"] for message in messages]
    if host.bridges_tool_to_user:
        order = "invalid_request_message_order"
        if ("tool", "user") in pairwise(roles):  # MIS-2
            text = "Unexpected role 'user' after role 'tool'"
            yield refuse(host, text, code="3230", kind=order)
        if roles[-1] not in {"user", "tool"} and not messages[-1].get("prefix"):
            text = "Expected last role User or Tool (or Assistant with prefix True)"
            yield refuse(host, text, code="3230", kind=order)
    if host.alternates:  # LCP-1
        if roles[-2:] == ["assistant", "assistant"]:
            text = "Cannot have 2 or more assistant messages at the end of the list."
            yield refuse(host, text)
        if "system" in roles[1:]:
            yield refuse(
                host, "System message must be at the beginning.", kind="server_error", status=500
            )
        if any(one == other != "tool" for one, other in pairwise(roles)):
            yield refuse(
                host,
                "Conversation roles must alternate user/assistant/user/assistant",
                kind="server_error",
                status=500,
            )


def _details(message: dict[str, Any], host: Host) -> Iterator[Refusal]:
    given = {print_of(entry) for entry in dicts_in(message.get("reasoning_details"))}
    for call in calls_of(message):
        owed = [d for d, handed in (host.issued or {}).items() if handed.on == call["id"]]
        if not given.issuperset(owed):  # ORT-2
            text = (
                "Gemini models require OpenRouter reasoning details to be preserved in each request"
            )
            yield refuse(host, text)


def _signatures(messages: list[dict[str, Any]], host: Host) -> Iterator[Refusal]:
    users = [at for at, message in enumerate(messages) if message["role"] == "user"]
    for at, message in enumerate(messages):
        for place, call in enumerate(calls_of(message)):
            google = (call.get("extra_content") or {}).get("google") or {}
            signature = google.get("thought_signature")
            if not signature:
                if place == 0 and at > (users[-1] if users else -1):  # GOC-1, GEM-21
                    name = call["function"]["name"]
                    text = (
                        "Function call is missing a thought_signature in functionCall parts."
                        f" Additional data, function call 'default_api:{name}' , position {at}."
                    )
                    yield refuse(host, text)
            elif host.issued is not None and signature not in DUMMIES:
                handed = host.issued.get(signature)
                if not handed or handed.on != print_of(call["function"]):  # GEM-23, GEM-27
                    yield refuse(host, "Corrupted thought signature.")
