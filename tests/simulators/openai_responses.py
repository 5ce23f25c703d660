"""A judge of Responses requests: what OpenAI refuses (RSP-*), and no more than that."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simulators.chat_hosts import openai_voice
from simulators.chat_tools import INVALID, NAME, schema_fault
from simulators.refusal import Issued, Refusal, dicts_in, first, print_of

ITEMS = {"message", "function_call", "function_call_output", "reasoning", "custom_tool_call"}
PREFIXES = {"function_call": "fc", "message": "msg", "reasoning": "rs", "custom_tool_call": "ctc"}
ROLES = {"user", "assistant", "system", "developer"}
CALL_ID_LIMIT = 64
LEAST_TOKENS = 16


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of the model and of the seals that it handed out."""

    thinks: bool = True
    issued: Issued | None = None
    demands_strict: bool = False
    """Whether `strict` must stand on each tool (RSP-2, unconfirmed of the live server)."""
    pairs_calls_with_reasoning: bool = False
    """Whether a call whose thought was dropped is refused (RSP-8's mirror, unconfirmed)."""


def judge(body: Any, facts: Facts | None = None) -> Refusal | None:
    """Return how the vendor refuses `body`, or `None` where it takes it."""
    return first(_refusals(body, facts or Facts()), _refuse("Invalid type in the request."))


def _refuse(
    message: str, *, param: str | None = "input", code: str | None = None, status: int = 400
) -> Refusal:
    return openai_voice(status, message, INVALID, code, param)


def _refusals(body: Any, facts: Facts) -> Iterator[Refusal]:
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        yield _refuse("Missing required parameter: 'model'.", param="model")
        return
    items = body.get("input")
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    if not isinstance(items, list) or len(dicts_in(items)) < len(items):  # RSP-1
        yield _refuse("Invalid type for 'input': expected a string or an array of objects.")
        return
    items = [{**item, "type": item.get("type") or "message"} for item in items]
    for at, item in enumerate(items):
        yield from _item(item, at)
    yield from _pairing(items)
    yield from _thoughts(items, facts, stored=body.get("store") is not False)
    yield from _tools(body, facts)
    yield from _settings(body, facts)


# Items --------------------------------------------------------------------------------------------


def _item(item: dict[str, Any], at: int) -> Iterator[Refusal]:
    kind = item["type"]
    if kind not in ITEMS:  # RSP-1
        text = f"Invalid value: '{kind}'. Supported values are: {', '.join(sorted(ITEMS))}."
        yield _refuse(text, param=f"input[{at}].type", code="invalid_value")
        return
    yield from _item_id(item, at)
    match kind:
        case "message":
            yield from _message(item, at)
        case "function_call":
            yield from _call(item, at)
        case "function_call_output":
            if not isinstance(item.get("output"), str | list):
                yield _refuse(f"Missing required parameter: 'input[{at}].output'.")
            yield from _call_id(item, at)
        case "reasoning":
            if not isinstance(item.get("summary"), list):  # RSP-4
                yield _refuse(f"Missing required parameter: 'input[{at}].summary'.")
        case _:
            pass


def _call(item: dict[str, Any], at: int) -> Iterator[Refusal]:
    if not isinstance(item.get("arguments"), str):  # RSP-1
        text = f"Invalid type for 'input[{at}].arguments': expected a string."
        yield _refuse(text, param=f"input[{at}].arguments", code="invalid_type")
    if not NAME.fullmatch(str(item.get("name", ""))):  # OAI-10
        text = f"Invalid 'input[{at}].name': string does not match pattern."
        yield _refuse(text, param=f"input[{at}].name", code="invalid_value")
    yield from _call_id(item, at)


def _item_id(item: dict[str, Any], at: int) -> Iterator[Refusal]:
    item_id, kind = item.get("id"), item["type"]
    param, code = f"input[{at}].id", "invalid_value"
    if item_id is None:  # RSP-3, RSP-17
        if kind == "reasoning":  # RSP-4
            yield _refuse(f"Missing required parameter: '{param}'.", param=param)
        return
    prefix = PREFIXES.get(kind, "")
    if not re.fullmatch(r"[A-Za-z0-9_-]+", str(item_id)):  # RSP-4
        text = (
            f"Invalid '{param}': '{item_id}'. Expected an ID that contains letters, numbers,"
            " underscores, or dashes, but this value contained additional characters."
        )
        yield _refuse(text, param=param, code=code)
    elif not item_id.startswith(prefix):  # RSP-3
        text = f"Invalid '{param}': '{item_id}'. Expected an ID that begins with '{prefix}'."
        yield _refuse(text, param=param, code=code)


def _call_id(item: dict[str, Any], at: int) -> Iterator[Refusal]:
    call_id = item.get("call_id")
    if not isinstance(call_id, str) or not 1 <= len(call_id) <= CALL_ID_LIMIT:  # RSP-5
        text = f"Invalid 'input[{at}].call_id': expected a string of 1 to {CALL_ID_LIMIT}."
        yield _refuse(text, param=f"input[{at}].call_id", code="string_above_max_length")


def _message(item: dict[str, Any], at: int) -> Iterator[Refusal]:
    role, content = item.get("role"), item.get("content")
    if role not in ROLES:  # RSP-1
        text = f"Invalid value: '{role}'. Supported values are: {', '.join(sorted(ROLES))}."
        yield _refuse(text, param=f"input[{at}].role", code="invalid_value")
    allowed = {"output_text", "refusal"} if role == "assistant" else {"input_text", "input_image"}
    kinds = {part.get("type") for part in dicts_in(content)}
    if not isinstance(content, str) and (not kinds or not kinds <= allowed | {"input_file"}):
        text = f"Invalid value: {kinds}. Supported values are: {', '.join(sorted(allowed))}."
        yield _refuse(text, param=f"input[{at}].content", code="invalid_value")


def _pairing(items: list[dict[str, Any]]) -> Iterator[Refusal]:
    answered = {item["call_id"] for item in items if item["type"] == "function_call_output"}
    called = set[str]()
    for item in items:
        if item["type"] == "function_call":
            called.add(item["call_id"])
            if item["call_id"] not in answered:  # RSP-6
                yield _refuse(f"No tool output found for function call {item['call_id']}.")
        elif item["type"] == "function_call_output" and item["call_id"] not in called:  # RSP-7
            text = f"No tool call found for function call output with call_id {item['call_id']}."
            yield _refuse(text)


# Thoughts -----------------------------------------------------------------------------------------


def following(item: dict[str, Any] | None) -> str:
    """Return by what the item behind a thought is known again."""
    match item:
        case {"type": "function_call", "name": str(name)}:
            return f"call of {name}"
        case {"type": "message", "role": "assistant", "content": str(text)}:
            return text
        case {"type": "message", "role": "assistant", "content": list(parts)}:
            return "".join(str(part.get("text", "")) for part in dicts_in(parts))
        case _:
            return ""


def _thoughts(items: list[dict[str, Any]], facts: Facts, *, stored: bool) -> Iterator[Refusal]:
    for at, item in enumerate(items):
        if item["type"] != "reasoning":
            continue
        led_to = next((i for i in items[at + 1 :] if i["type"] != "reasoning"), None)
        if led_to is None or not (
            led_to["type"] == "function_call" or led_to.get("role") == "assistant"
        ):  # RSP-8
            text = (
                f"Item '{item['id']}' of type 'reasoning' was provided without its required"
                " following item."
            )
            yield _refuse(text)
        yield from _sealed(item, following(led_to), facts, stored=stored)
    if facts.pairs_calls_with_reasoning:
        yield from _bare_calls(items, facts)


def _sealed(item: dict[str, Any], led_to: str, facts: Facts, *, stored: bool) -> Iterator[Refusal]:
    secret = item.get("encrypted_content")
    if not secret:
        if not stored:  # RSP-9
            text = (
                f"Item with id '{item['id']}' not found. Items are not persisted when 'store' is"
                " set to false. Try again with 'store' set to true, or remove this item from your"
                " input."
            )
            yield _refuse(text, status=404)
        return
    if not facts.thinks:  # RSP-10
        yield _refuse("Encrypted content is not supported with this model.")
    if facts.issued is None:
        return
    handed = facts.issued.get(secret)
    if handed is None or handed.on != print_of([item["id"], item.get("summary")]):  # XLT-3
        text = f"The encrypted content for item {item['id']} could not be verified."
        yield _refuse(text, code="invalid_encrypted_content")
    elif handed.before != led_to:  # RSP-8
        text = (
            f"Item '{item['id']}' of type 'reasoning' was provided without its required"
            " following item."
        )
        yield _refuse(text)


def _bare_calls(items: list[dict[str, Any]], facts: Facts) -> Iterator[Refusal]:
    given = {item.get("encrypted_content") for item in items}
    for item in items:
        owed = [
            seal
            for seal, handed in (facts.issued or {}).items()
            if handed.before == following(item)
        ]
        if item.get("type") == "function_call" and not given.issuperset(owed):
            text = (
                f"Item '{item.get('id')}' of type 'function_call' was provided without its required"
                " 'reasoning' item."
            )
            yield _refuse(text)


# Tools and settings -------------------------------------------------------------------------------


def _tools(body: dict[str, Any], facts: Facts) -> Iterator[Refusal]:
    for at, tool in enumerate(dicts_in(body.get("tools"))):
        if tool.get("type") != "function":
            continue
        if "name" not in tool:  # RSP-2
            path = f"tools[{at}].name"
            yield _refuse(f"Missing required parameter: '{path}'.", param=path)
        elif not NAME.fullmatch(str(tool["name"])):  # OAI-10
            path = f"tools[{at}].name"
            text = f"Invalid '{path}': string does not match pattern."
            yield _refuse(text, param=path, code="invalid_value")
        if facts.demands_strict and "strict" not in tool:  # RSP-2
            yield _refuse(f"Missing required parameter: 'tools[{at}].strict'.", param="tools")
        broken = schema_fault(tool.get("parameters"), strict=tool.get("strict") is not False)
        if broken:  # OAI-15, OAI-16
            text = f"Invalid schema for function '{tool.get('name')}': {broken}"
            param = f"tools[{at}].parameters"
            yield _refuse(text, param=param, code="invalid_function_parameters")
    choice = body.get("tool_choice")
    if not isinstance(choice, dict) and choice not in {None, "none", "auto", "required"}:  # OAI-13
        yield _refuse(f"Invalid value: '{choice}'.", param="tool_choice", code="invalid_value")


def _settings(body: dict[str, Any], facts: Facts) -> Iterator[Refusal]:
    limit = body.get("max_output_tokens")
    if limit is not None and limit < LEAST_TOKENS:  # RSP-12
        text = (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >="
            f" {LEAST_TOKENS}, but got {limit} instead."
        )
        yield _refuse(text, param="max_output_tokens", code="integer_below_min_value")
    if facts.thinks and body.get("temperature") is not None:  # OAI-19
        text = "Unsupported parameter: 'temperature' is not supported with this model."
        yield _refuse(text, param="temperature")
    if body.get("previous_response_id") and body.get("conversation"):  # RSP-11
        text = "Mutually exclusive parameters: 'previous_response_id' and 'conversation'."
        yield _refuse(text, param="previous_response_id", code="mutually_exclusive_parameters")
    if not facts.thinks and "reasoning.encrypted_content" in (body.get("include") or ()):  # RSP-10
        yield _refuse("Encrypted content is not supported with this model.", param="include")
