"""A judge of Messages requests: what Anthropic refuses (ANT-*), and no more than that."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from simulators.anthropic_thoughts import (
    NEWER,
    THOUGHTS,
    Facts,
    Turn,
    blocks_of,
    refuse,
    refused_signatures,
    refused_thinking,
)
from simulators.refusal import Refusal, dicts_in, first, print_of

FIELDS = {
    "text": {"text", "citations"},
    "image": {"source"},
    "document": {"source", "title", "context", "citations"},
    "search_result": {"source", "title", "content", "citations"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input", "caller"},
    "tool_result": {"tool_use_id", "content", "is_error"},
    "server_tool_use": {"id", "name", "input"},
}
REQUIRED = {
    "text": {"text"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id"},
}
IN_RESULTS = {"text", "image", "search_result", "document", "tool_reference"}
MARKS_LIMIT = 4
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def judge(body: Any, facts: Facts | None = None) -> Refusal | None:
    """Return how the vendor refuses `body`, or `None` where it takes it."""
    return first(_refusals(body, facts or Facts()), refuse("Input should be a valid type"))


def _refusals(body: Any, facts: Facts) -> Iterator[Refusal]:
    for name in ("model", "messages", "max_tokens"):  # ANT-3
        if not isinstance(body, dict) or name not in body:
            yield refuse(f"{name}: Field required")
            return
    messages = dicts_in(body["messages"])
    if not messages or len(messages) < len(body["messages"]):
        yield refuse("messages: at least one message is required")
        return
    for at, message in enumerate(messages):
        yield from _message(message, at, facts)
    system = body.get("system", [])
    if not isinstance(system, str):
        for at, block in enumerate(dicts_in(system)):
            yield from _block(block, f"system.{at}", {"text"})
    turns = _turns(messages)
    yield from _pairing(turns, facts)
    yield from _ending(turns, facts)
    yield from _marks(body)
    yield from refused_thinking(body, turns, facts)
    yield from refused_signatures(turns, facts)
    yield from _tools(body)
    yield from _settings(body, facts)


# Messages and blocks ------------------------------------------------------------------------------


def _message(message: dict[str, Any], at: int, facts: Facts) -> Iterator[Refusal]:
    roles = {"user", "assistant"} | ({"system"} if facts.takes_system_turns else set())
    if message.get("role") not in roles:  # ANT-4
        yield refuse(f"messages.{at}.role: Input should be 'user' or 'assistant'")
    for name in {*message} - {"role", "content"}:  # ANT-16
        yield refuse(f"messages.{at}.{name}: Extra inputs are not permitted")
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or len(dicts_in(content)) < len(content):
        yield refuse(f"messages.{at}.content: Input should be a valid string or list")
        return
    for place, block in enumerate(content):
        yield from _block(block, f"messages.{at}.content.{place}", {*FIELDS})


def _block(block: dict[str, Any], path: str, tags: set[str]) -> Iterator[Refusal]:
    kind = block.get("type")
    if kind not in tags:  # ANT-6, ANT-16
        expected = ", ".join(f"'{tag}'" for tag in sorted(tags))
        yield refuse(
            f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected"
            f" tags: {expected}"
        )
        return
    allowed = FIELDS[kind] | {"type"} | (set() if kind in THOUGHTS else {"cache_control"})
    for name in {*block} - allowed:  # ANT-16, ANT-20
        yield refuse(f"{path}.{kind}.{name}: Extra inputs are not permitted")
    for name in REQUIRED.get(kind, set()) - {*block}:  # ANT-22
        yield refuse(f"{path}.{kind}.{name}: Field required")
        return
    match block:
        case {"type": "text", "text": text}:
            yield from _text(text)
        case {"type": "tool_use", "input": value} if not isinstance(value, dict):  # ANT-7
            yield refuse(f"{path}.tool_use.input: Input should be a valid dictionary")
        case {"type": "tool_result"}:
            yield from _result(block, path)
        case _:
            pass


def _text(text: Any) -> Iterator[Refusal]:
    if text == "":  # ANT-13
        yield refuse("messages: text content blocks must be non-empty")
    elif not isinstance(text, str) or not text.strip():
        yield refuse("messages: text content blocks must contain non-whitespace text")


def _result(block: dict[str, Any], path: str) -> Iterator[Refusal]:
    content = block.get("content", "")  # ANT-19
    if isinstance(content, list):
        for place, inner in enumerate(dicts_in(content)):
            tags = {tag for tag in IN_RESULTS if tag in FIELDS}
            yield from _block(inner, f"{path}.tool_result.content.{place}", tags)
    elif not isinstance(content, str):
        yield refuse(f"{path}.tool_result.content: Input should be a valid string")
    if not isinstance(block.get("is_error", False), bool):
        yield refuse(f"{path}.tool_result.is_error: Input should be a valid boolean")


def _turns(messages: list[dict[str, Any]]) -> list[Turn]:
    turns = list[Turn]()
    for at, message in enumerate(messages):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if turns and turns[-1].role == message["role"]:  # ANT-5
            turns[-1].blocks.extend(blocks)
        else:
            turns.append(Turn(at=at, role=message["role"], blocks=[*blocks]))
    return turns


def _pairing(turns: list[Turn], facts: Facts) -> Iterator[Refusal]:
    for one, other in pairwise([None, *turns, None]):
        calls = [block["id"] for block in blocks_of(one, "tool_use")]
        results = [block["tool_use_id"] for block in blocks_of(other, "tool_result")]
        missing = [call for call in calls if call not in results]
        if one and missing:  # ANT-8
            yield refuse(
                f"messages.{one.at}: 'tool_use' ids were found without 'tool_result' blocks"
                f" immediately after: {', '.join(missing)}. Each 'tool_use' block must have a"
                " corresponding 'tool_result' block in the next message."
            )
        for orphan in (result for result in results if result not in calls):  # ANT-9
            at = other.at if other else 0
            yield refuse(
                f"messages.{at}.content.0: unexpected 'tool_use_id' found in 'tool_result' blocks:"
                f" {orphan}. Each 'tool_result' block must have a corresponding 'tool_use' block in"
                " the previous message."
            )
        if other and "ANT-10" in facts.doubts:
            kinds = [block["type"] == "tool_result" for block in other.blocks]
            if kinds != sorted(kinds, reverse=True):
                yield refuse(f"messages.{other.at}: tool_result blocks must come first")
    yield from _names(turns, facts)


def _names(turns: list[Turn], facts: Facts) -> Iterator[Refusal]:
    calls = [block for turn in turns for block in blocks_of(turn, "tool_use")]
    ids = [str(call["id"]) for call in calls]
    if "ANT-11" in facts.doubts:
        if len({*ids}) < len(ids):
            yield refuse("messages: `tool_use` ids must be unique")
        for bad in (one for one in ids if not ID.fullmatch(one)):
            yield refuse(f"tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$': {bad}")
    if "ANT-12" in facts.doubts:
        for call in calls:
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", str(call["name"])):
                yield refuse("tool_use.name: String should match '^[a-zA-Z0-9_-]{1,128}$'")


def _ending(turns: list[Turn], facts: Facts) -> Iterator[Refusal]:
    last = turns[-1]
    if last.role == "assistant":
        if not facts.takes_prefill:  # ANT-15
            yield refuse(
                "This model does not support assistant message prefill. The conversation must end"
                " with a user message."
            )
        text = last.blocks[-1].get("text", "") if last.blocks else ""
        if text != text.rstrip():  # ANT-14
            yield refuse("messages: final assistant content cannot end with trailing whitespace")


def _marks(body: dict[str, Any]) -> Iterator[Refusal]:
    found = str(print_of(body)).count('"cache_control": {')
    if found > MARKS_LIMIT:  # ANT-20
        yield refuse(
            f"A maximum of {MARKS_LIMIT} blocks with cache_control may be provided. Found {found}."
        )


# Tools and settings -------------------------------------------------------------------------------


def _tools(body: dict[str, Any]) -> Iterator[Refusal]:
    for at, tool in enumerate(dicts_in(body.get("tools"))):
        if tool.get("type", "custom") != "custom":
            continue
        schema, path = tool.get("input_schema"), f"tools.{at}.custom.input_schema"
        if not isinstance(schema, dict) or schema.get("type") != "object":  # ANT-17
            yield refuse(f"{path}.type: Field required")
        elif {"oneOf", "allOf", "anyOf"} & {*schema}:
            yield refuse(
                f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level"
            )
    choice = body.get("tool_choice", {"type": "auto"})
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind not in {"auto", "any", "tool", "none"}:  # ANT-18
        yield refuse("tool_choice: Input should be a valid dictionary")
    elif kind == "none" and "disable_parallel_tool_use" in choice:
        yield refuse("tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted")


def _settings(body: dict[str, Any], facts: Facts) -> Iterator[Refusal]:
    effort = (body.get("output_config") or {}).get("effort")
    if effort is not None and effort not in facts.efforts:  # ANT-21
        yield refuse(
            f"This model does not support effort level '{effort}'. Supported levels:"
            f" {', '.join(facts.efforts)}."
        )
    if "ANT-37" in facts.doubts and facts.version == NEWER:
        for name in {"temperature", "top_p", "top_k"} & {*body}:
            yield refuse(f"{name}: Extra inputs are not permitted")
