"""The JSON object that each history item is written as, and the way back.

One object is one line: compact, keys sorted, non-ASCII kept. Knows nothing of roles, order or
replies. Calls with arguments that no object can show are written with `{"_malformed", "_why"}` in
the place of their arguments, so that a bad call of any vendor never stops a later request.
"""

import json
import re
from typing import assert_never

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    HistoryItem,
    Malformed,
    Message,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.json_text import MAX_DEPTH, BadJsonError, Json, read_json

INSTRUCTION = "Reply again, with one valid action and nothing else."

UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
"""What many servers refuse in plain text: NUL and lone surrogates. Within JSON both are escaped."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_WRAPPING = 2
"""The levels that a call adds around its arguments: its own object and the array it stands in."""

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def write_line(value: Json) -> str:
    """Return `value` as one line of compact JSON that can be sent: no NUL, no lone surrogate."""
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", _ENCODER.encode(value))


def has_split_pair(text: str) -> bool:
    """Whether `text` holds both halves of one character apart; JSON gives the whole one back."""
    return _SPLIT_PAIR.search(text) is not None


def told_line(item: Message | ToolResult | Feedback) -> str:
    """Return the line that tells the model `item`."""
    match item:
        case Message(role="system", text=text):
            return write_line({"type": "system", "content": text})
        case Message(text=text):
            return write_line({"type": "message", "content": text})
        case ToolResult(call_id=call_id, content=content, is_error=bad):
            return write_line({
                "type": "tool_result",
                "call_id": call_id,
                "content": content,
                "is_error": bad,
            })
        case Feedback(text=text):
            return write_line({"type": "feedback", "error": text, "instruction": INSTRUCTION})
        case _:
            assert_never(item)


def said_line(item: Message | ToolCall, *, alone: bool) -> str:
    """Return the line that shows the model its own `item`, which stands `alone` or in an array."""
    match item:
        case Message(text=text):
            return write_line({"type": "final_answer" if alone else "message", "content": text})
        case ToolCall(call_id=call_id, tool_name=name, arguments=arguments):
            shown = _shown(arguments)
            return write_line({
                "type": "tool_call",
                "call_id": call_id,
                "tool_name": name,
                "arguments": shown,
            })
        case _:
            assert_never(item)


def looks_malformed(arguments: Arguments) -> bool:
    """Whether sound arguments cannot be told from malformed ones once they are written."""
    return arguments.text.startswith('{"_malformed":') or _too_deep(arguments.text)


def read_told(line: str) -> HistoryItem | None:
    """Return what the line tells, or `None` where it is no line of `told_line`."""
    match _object(line):
        case {"type": "system", "content": str(text), **rest} if not rest:
            return Message(role="system", text=text)
        case {"type": "message", "content": str(text), **rest} if not rest:
            return Message(role="user", text=text)
        case {"type": "feedback", "error": str(text), "instruction": str(), **rest} if not rest:
            return Feedback(text=text)
        case {
            "type": "tool_result",
            "call_id": str(call_id),
            "content": str(content),
            "is_error": bool(bad),
            **rest,
        } if not rest:
            return ToolResult(call_id=call_id, content=content, kind="failed" if bad else "done")
        case _:
            return None


def read_said(value: Json) -> Message | ToolCall:
    """Return what `said_line` wrote as `value`.

    Raises:
        ValueError: it wrote nothing like it.
    """
    match value:
        case {"type": "final_answer" | "message", "content": str(text)}:
            return Message(role="assistant", text=text)
        case {
            "type": "tool_call",
            "call_id": str(call_id),
            "tool_name": str(name),
            "arguments": dict(shown),
        }:
            return ToolCall(call_id=call_id, tool_name=name, arguments=_arguments(shown))
        case _:
            raise ValueError("not a form of this dialect")


def _shown(arguments: Arguments | Malformed) -> dict[str, Json]:
    match arguments:
        case Malformed(raw=raw, why=why):
            return {"_malformed": raw, "_why": why}
        case Arguments(text=text) if _too_deep(text):
            return {"_malformed": text, "_why": "nested too deeply to be shown"}
        case Arguments():
            return arguments.value()
        case _:
            assert_never(arguments)


def _too_deep(text: str) -> bool:
    """Whether arguments written as `text` would nest too deeply for any reader of ours."""
    if text.count("{") + text.count("[") <= MAX_DEPTH - _WRAPPING:
        return False
    try:
        read_json("[" * _WRAPPING + text + "]" * _WRAPPING)
    except BadJsonError:
        return True
    return False


def _arguments(shown: dict[str, Json]) -> Arguments | Malformed:
    match shown:
        case {"_malformed": str(raw), "_why": str(why), **rest} if not rest:
            return Malformed(raw=raw, why=why)
        case _:
            return arguments_of(shown)


def _object(line: str) -> Json:
    if not line.lstrip().startswith("{"):
        return None
    try:
        return read_json(line)
    except BadJsonError:
        return None
