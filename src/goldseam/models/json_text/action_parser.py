"""Read the one action out of a model's reply. Strict: what is not plainly an action is refused.

Two habits of models are met half-way and remarked: a thought before the action, in a `<think>`
block, and a code fence around it. Anything that could be an example is never taken for an action.
Knows nothing of which tools exist or what their arguments mean.
"""

import json
import re

from msgspec import Struct

from goldseam.kernel.conversation import Message, Reasoning, ToolCall, arguments_of, json_kind
from goldseam.kernel.json_text import BadJsonError, Json, read_json
from goldseam.kernel.request import Remark, ReplyItem
from goldseam.models.json_text.forms import UNSENDABLE

_FORMS = {
    "tool_call": '{"type":"tool_call","call_id":"c1","tool_name":"NAME","arguments":{}}',
    "final_answer": '{"type":"final_answer","content":"TEXT"}',
    "message": '{"type":"message","content":"TEXT"}',
}
_FIELDS = {kind: frozenset(json.loads(form)) for kind, form in _FORMS.items()}
_ALONE = ("tool_call", "final_answer")
_IN_ARRAY = ("tool_call", "message")

_OPEN, _CLOSE, _FENCE = "<think>", "</think>", "```"
_LANGUAGES = {"", "json"}
_ACTION_WORD = re.compile(r'"(?:tool_call|final_answer)"')
_MAX_QUOTE = 80


class BadActionError(ValueError):
    """The reply holds no action that we take: the message says what, where, and the right form."""


class ParsedReply(Struct, frozen=True, kw_only=True):
    """What a reply holds, and how it had to be found."""

    items: tuple[ReplyItem, ...]
    remarks: tuple[Remark, ...] = ()


def parse_json_action(text: str, *, several_calls: bool = True) -> ParsedReply:
    """Return the action that `text` holds: one call, one answer, or an array with calls in it.

    In an array, words beside the calls may stand as `{"type":"message","content":…}`, as this
    dialect itself shows them to a model. Arguments are not judged beyond being an object.

    Raises:
        BadActionError: anything else.
    """
    thought, rest = _split_thought(text.strip())
    body, remarks = _unfenced(rest)
    actions = _actions(_value(body), several_calls=several_calls)
    if thought is None:
        return ParsedReply(items=actions, remarks=remarks)
    found = Remark(code="json_found_after_thought", text="the action stood after a <think> block")
    thoughts = (Reasoning(text=thought),) if thought else ()
    return ParsedReply(items=(*thoughts, *actions), remarks=(found, *remarks))


def _split_thought(text: str) -> tuple[str | None, str]:
    if not text.startswith(_OPEN):
        return None, text
    thought, closed, rest = text.removeprefix(_OPEN).partition(_CLOSE)
    if not closed:
        raise _bad(f"the {_OPEN} block is never closed, so no action follows it", *_ALONE)
    return thought.strip(), rest.strip()


def _unfenced(text: str) -> tuple[str, tuple[Remark, ...]]:
    if not text:
        raise _bad("no action in the reply", *_ALONE)
    if text[0] in "{[":
        return text, ()
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith(_FENCE)]
    match fences:
        case []:
            raise _bad(f"expected one JSON object, got plain text: {_quote(text)}", *_ALONE)
        case [first, last] if not lines[last].strip("` \t\r"):
            return _from_fence(lines, first, last)
        case [_] | [_, _]:
            raise _bad("the code fence is never closed on a line of its own", *_ALONE)
        case _:
            raise _bad("several code fences, so it is not clear which is the action", *_ALONE)


def _from_fence(lines: list[str], first: int, last: int) -> tuple[str, tuple[Remark, ...]]:
    language = lines[first].strip().lstrip("`").strip()
    if language.lower() not in _LANGUAGES:
        raise _bad(f"the code fence holds {_quote(language)}, not json", *_ALONE)
    around = "\n".join(lines[:first] + lines[last + 1 :]).strip()
    if _ACTION_WORD.search(around):
        raise _bad("an action stands in the code fence and another outside it", *_ALONE)
    body = "\n".join(lines[first + 1 : last]).strip()
    found = Remark(code="json_found_in_fence", text="the action stood in a code fence")
    if not around:
        return body, (found,)
    return body, (found, Remark(code="words_around_fence", text=f"left out: {_quote(around)}"))


def _value(text: str) -> Json:
    try:
        return read_json(text)
    except BadJsonError as error:
        raise _bad(_why_unread(text, error), *_ALONE) from error


def _why_unread(text: str, error: BadJsonError) -> str:
    """Return what is wrong with `text`, in the words that mend the commonest slips."""
    cause = error.__cause__
    if not isinstance(cause, json.JSONDecodeError):
        return str(error)
    where = f"line {cause.lineno}, column {cause.colno}"
    if cause.msg == "Extra data":
        return f"text stands after the JSON, from {where} on: {_quote(text[cause.pos :])}"
    if cause.msg == "Invalid control character at":
        return f"not valid JSON: a bare line break or tab in a string, {where}; write \\n or \\t"
    if cause.msg == "Unterminated string starting at":
        return f"not valid JSON: the reply ends within the string that starts at {where}"
    if cause.pos >= len(text):
        return f"{error}, where the reply ends before its JSON does"
    return f"{error}, after {_quote(text[max(cause.pos - _MAX_QUOTE, 0) : cause.pos])}"


def _actions(value: Json, *, several_calls: bool) -> tuple[ReplyItem, ...]:
    match value:
        case dict():
            return (_action(value, "the object", _ALONE),)
        case list() if several_calls:
            return _several(value)
        case list():
            raise _bad("an array of actions is not offered; one object is", *_ALONE)
        case _:
            raise _bad(f"expected one JSON object, got {json_kind(value)}", *_ALONE)


def _several(values: list[Json]) -> tuple[ReplyItem, ...]:
    items = list[ReplyItem]()
    for place, value in enumerate(values, start=1):
        where = f"action {place} of {len(values)}"
        if not isinstance(value, dict):
            raise _bad(f"{where} must be an object, got {json_kind(value)}", "tool_call")
        if value.get("type") == "final_answer":
            raise _bad(f"{where} is a final_answer, which stands alone", "final_answer")
        items.append(_action(value, where, _IN_ARRAY))
    if not any(isinstance(item, ToolCall) for item in items):
        raise _bad("the array holds no tool_call", *_ALONE)
    return tuple(items)


def _action(value: dict[str, Json], where: str, known: tuple[str, ...]) -> ReplyItem:
    match value.get("type"):
        case str(kind) if kind in known:
            _check_fields(value, where, kind)
        case None if "type" not in value:
            raise _bad(f'{where} has no "type"', *known)
        case other:
            raise _bad(f'{where} has an unknown "type": {_quote(json.dumps(other))}', *known)
    match value:
        case {"call_id": call_id, "tool_name": name, "arguments": dict(arguments)}:
            return ToolCall(
                call_id=_text(call_id, f'{where}: "call_id"', kind),
                tool_name=_text(name, f'{where}: "tool_name"', kind),
                arguments=arguments_of(arguments),
            )
        case {"arguments": other}:
            got = f'{where}: "arguments" must be an object, got {json_kind(other)}'
            raise _bad(f"{got}; where there are none, write {{}}", kind)
        case _:
            text = _text(value["content"], f'{where}: "content"', kind)
            return Message(role="assistant", text=text)


def _check_fields(value: dict[str, Json], where: str, kind: str) -> None:
    for words, names in (
        ("lacks", _FIELDS[kind] - value.keys()),
        ("has unknown", value.keys() - _FIELDS[kind]),
    ):
        if names:
            listed = ", ".join(json.dumps(name) for name in sorted(names))
            raise _bad(f"{where}, a {kind}, {words} {_quote(listed)}", kind)


def _text(value: Json, where: str, kind: str) -> str:
    if not isinstance(value, str):
        raise _bad(f"{where} must be a string, got {json_kind(value)}", kind)
    if not value.strip():
        raise _bad(f"{where} must not be blank", kind)
    if stray := UNSENDABLE.search(value):
        place = f"{json.dumps(stray[0])} at character {stray.start() + 1}"
        raise _bad(f"{where} holds what is no text: {place}", kind)
    return value


def _bad(why: str, *kinds: str) -> BadActionError:
    return BadActionError(f"{why}. Right form: {' or '.join(_FORMS[kind] for kind in kinds)}")


def _quote(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else f"{text[:_MAX_QUOTE]}…"
