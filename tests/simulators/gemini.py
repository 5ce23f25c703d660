"""A judge of generateContent requests: what Google refuses (GEM-*), and no more than that."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from simulators.gemini_tools import NAME, in_camel_case, refuse, refused_tools, unknown_names
from simulators.openai_chat import DUMMIES
from simulators.refusal import Issued, Refusal, dicts_in, first, print_of

Doubt: TypeAlias = Literal["GEM-33"]
"""The rules that nobody has confirmed."""

TOP = {
    *("contents", "tools", "toolConfig", "systemInstruction", "generationConfig"),
    *("safetySettings", "cachedContent", "model", "labels", "serviceTier", "store"),
}
DATA = {
    *("text", "inlineData", "functionCall", "functionResponse", "fileData"),
    *("executableCode", "codeExecutionResult"),
}
PART = DATA | {"thought", "thoughtSignature", "videoMetadata", "partMetadata", "mediaResolution"}
CALL = {"name", "args", "id", "partialArgs", "willContinue"}
ANSWER = {"name", "response", "id", "parts", "willContinue", "scheduling"}
PREFIX = "Please ensure that "


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of the model and of the signatures that it handed out."""

    checks_signatures: bool = True
    """Whether it is Gemini 3 or later (GEM-21, GEM-26)."""
    takes_both_dummies: bool = True
    """False on Vertex, which documents only one (GEM-24)."""
    issued: Issued | None = None
    doubts: frozenset[Doubt] = field(default_factory=frozenset)
    """The unconfirmed rules that are held all the same."""


def judge(body: Any, facts: Facts | None = None) -> Refusal | None:
    """Return how the vendor refuses `body`, or `None` where it takes it."""
    return first(_refusals(body, facts or Facts()), refuse("Invalid JSON payload received."))


def _refusals(body: Any, facts: Facts) -> Iterator[Refusal]:
    if not isinstance(body, dict):
        yield refuse("Invalid JSON payload received.")
        return
    body = in_camel_case(body)
    yield from unknown_names(body, TOP, "")
    contents = dicts_in(body.get("contents"))
    if not contents:
        yield refuse("* GenerateContentRequest.contents: contents is not specified\n")
        return
    for at, content in enumerate(contents):
        yield from _content(content, at)
    if "systemInstruction" in body and not dicts_in(
        body["systemInstruction"].get("parts")
    ):  # GEM-13
        yield refuse("* GenerateContentRequest.system_instruction.parts: must not be empty.\n")
    yield from _order(contents)
    yield from _signatures(contents, facts)
    yield from refused_tools(body)
    yield from _thinking(body, facts)


# Contents -----------------------------------------------------------------------------------------


def _content(content: dict[str, Any], at: int) -> Iterator[Refusal]:
    yield from unknown_names(content, {"role", "parts"}, f"contents[{at}]")
    if content.get("role", "user") not in {"user", "model"}:  # GEM-12
        yield refuse("Please use a valid role: user, model.")
    parts = dicts_in(content.get("parts"))
    if not parts:  # GEM-11
        text = f"* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.\n"
        yield refuse(text)
    for place, part in enumerate(parts):
        yield from _part(part, f"contents[{at}].parts[{place}]")


def _part(part: dict[str, Any], path: str) -> Iterator[Refusal]:
    yield from unknown_names(part, PART, path)  # GEM-6
    held = DATA & {*part}
    if not held:  # GEM-7
        text = f"* GenerateContentRequest.{path}.data: required oneof field 'data' must have one"
        yield refuse(f"{text} initialized field\n")
    elif len(held) > 1:
        names = ", ".join(sorted(held))
        yield refuse(
            f"Invalid value at '{path}' (oneof), oneof field 'data' is already set: {names}"
        )
    if "functionCall" in part:
        yield from _call(part["functionCall"], f"{path}.function_call")
    if "functionResponse" in part:
        yield from _answer(part["functionResponse"], f"{path}.function_response")


def _call(call: dict[str, Any], path: str) -> Iterator[Refusal]:
    yield from unknown_names(call, CALL, path)  # GEM-19
    if not isinstance(call.get("args", {}), dict):  # GEM-8
        yield refuse(f"Invalid value at '{path}.args' (Struct)")
    if not NAME.fullmatch(str(call.get("name", ""))):  # GEM-31
        yield refuse(f"* GenerateContentRequest.{path}.name: Invalid name.\n")


def _answer(answer: dict[str, Any], path: str) -> Iterator[Refusal]:
    yield from unknown_names(answer, ANSWER, path)
    if not isinstance(answer.get("response"), dict):  # GEM-8
        yield refuse(f"Invalid value at '{path}.response' (Struct)")
    if not answer.get("name"):  # GEM-9
        yield refuse(f"* GenerateContentRequest.{path}.name: Name cannot be empty.\n")


def _found(content: dict[str, Any] | None, kind: str) -> list[dict[str, Any]]:
    parts = dicts_in(content.get("parts")) if content else []
    return [part[kind] for part in parts if kind in part]


def _order(contents: list[dict[str, Any]]) -> Iterator[Refusal]:
    before: dict[str, Any] | None = None
    for content in [*contents, None]:
        asked = _found(before, "functionCall")
        answers = _found(content, "functionResponse")
        if answers and not asked:  # GEM-16
            rule = "function response turn comes immediately after a function call turn."
            yield refuse(PREFIX + rule)
        if len(asked) != len(answers):  # GEM-14, GEM-17
            yield refuse(
                f"{PREFIX}the number of function response parts is equal to the number of function"
                " call parts of the function call turn."
            )
        yield from _matching(asked, answers)
        if content and _found(content, "functionCall"):  # GEM-15, GEM-17
            mixed = bool(answers)
            if mixed or before is None or before.get("role", "user") != "user":
                yield refuse(
                    f"{PREFIX}function call turn comes immediately after a user turn or after a"
                    " function response turn."
                )
        before = content


def _matching(asked: list[dict[str, Any]], answers: list[dict[str, Any]]) -> Iterator[Refusal]:
    if sorted(call["name"] for call in asked) != sorted(one["name"] for one in answers):  # GEM-9
        yield refuse("Function response name does not match the name of the function call.")
    owed = sorted(call["id"] for call in asked if call.get("id"))
    if sorted(one["id"] for one in answers if one.get("id")) != owed:  # GEM-10
        yield refuse("Function response id does not match the id of the function call.")


# Signatures ---------------------------------------------------------------------------------------


def _signatures(contents: list[dict[str, Any]], facts: Facts) -> Iterator[Refusal]:
    ordinary = [
        at
        for at, content in enumerate(contents)
        if content.get("role", "user") == "user"
        and any("functionResponse" not in part for part in content["parts"])
    ]
    turn = ordinary[-1] if ordinary else 0
    for at, content in enumerate(contents):
        calls = [part for part in content["parts"] if "functionCall" in part]
        is_checked = facts.checks_signatures and at >= turn
        if is_checked and calls and not calls[0].get("thoughtSignature"):  # GEM-21
            name = calls[0]["functionCall"]["name"]
            yield refuse(
                "Function call is missing a thought_signature in functionCall parts. This is"
                " required for tools to work correctly, and missing thought_signature may lead to"
                f" degraded model performance. Additional data, function call 'default_api:{name}'"
                f" , position {at}. Please refer to"
                " https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            )
        for part in content["parts"]:
            if "thoughtSignature" in part:
                yield from _signature(part, facts, is_first_call=part is next(iter(calls), None))


def _signature(part: dict[str, Any], facts: Facts, *, is_first_call: bool) -> Iterator[Refusal]:
    signature = part["thoughtSignature"]
    if signature in DUMMIES:  # GEM-24, GEM-25
        known = facts.takes_both_dummies or not signature.startswith("context")
        if not known or not is_first_call:
            yield refuse("Corrupted thought signature.")
    elif facts.issued is not None:
        handed = facts.issued.get(signature)
        if handed is None or handed.on != mark_of(part):  # GEM-23, GEM-27
            yield refuse("Corrupted thought signature.")


def mark_of(part: dict[str, Any]) -> str:
    """Return by what a part is known again, its signature apart.

    What no request can carry (NUL, half a pair) counts as what stands for it: no rule refuses that.
    """
    bare = print_of({name: value for name, value in part.items() if name != "thoughtSignature"})
    return _UNSENDABLE.sub("?", bare)


_UNSENDABLE = re.compile(r"\\u(?:0000|2400|fffd|d[89a-f][0-9a-f]{2})")
"""In JSON text of ASCII alone."""


# Settings -----------------------------------------------------------------------------------------


def _thinking(body: dict[str, Any], facts: Facts) -> Iterator[Refusal]:
    thinking = (body.get("generationConfig") or {}).get("thinkingConfig") or {}
    both = {"thinkingBudget", "thinkingLevel"} <= {*thinking}
    if both and "GEM-33" in facts.doubts:
        yield refuse("You can only set only one of thinking budget and thinking level.")
    levels = {"MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH", "THINKING_LEVEL_UNSPECIFIED"}
    if str(thinking.get("thinkingLevel", "HIGH")).upper() not in levels:
        yield refuse("Invalid value at 'generation_config.thinking_config.thinking_level'")
