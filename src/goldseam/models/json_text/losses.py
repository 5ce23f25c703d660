"""What of a conversation the JSON text dialect does not show: nothing is dropped in silence."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    HistoryItem,
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.request import Remark
from goldseam.models.json_text.forms import has_split_pair, looks_malformed


def losses_in(history: Sequence[HistoryItem], start: int) -> Iterator[Remark]:
    """Yield a remark for each thing that the items from `start` on hold and no message shows."""
    for index in range(start, len(history)):
        for code, what in _losses_of(history[index]):
            yield Remark(code=code, text=f"history item {index + 1}: {what}")


def _losses_of(item: HistoryItem) -> Iterator[tuple[str, str]]:
    match item:
        case Reasoning():
            yield "reasoning_not_shown", "a thought is never shown as the model's own words"
        case Message(text=text, seals=seals):
            yield from _losses_of_text(text)
            if seals:
                yield "seal_not_shown", "a seal means nothing outside its vendor"
        case Feedback(text=text):
            yield from _losses_of_text(text)
        case ToolResult(call_id=call_id, content=content, kind=kind):
            yield from _losses_of_text(call_id, content)
            if kind not in {"done", "failed"}:
                yield "result_kind_not_shown", f"that the call is {kind} is shown as an error"
        case ToolCall():
            yield from _losses_of_call(item)
        case _:
            assert_never(item)


def _losses_of_call(call: ToolCall) -> Iterator[tuple[str, str]]:
    if call.seals:
        yield "seal_not_shown", "a seal means nothing outside its vendor"
    match call.arguments:
        case Malformed(raw=raw, why=why):
            yield from _losses_of_text(call.call_id, call.tool_name, raw, why)
        case Arguments() as arguments:
            yield from _losses_of_text(call.call_id, call.tool_name)
            if looks_malformed(arguments):
                yield "arguments_look_malformed", "its arguments read as malformed ones"
        case _:
            assert_never(call.arguments)


def _losses_of_text(*texts: str) -> Iterator[tuple[str, str]]:
    if any(has_split_pair(text) for text in texts):
        yield "surrogates_joined", "two halves of one character were joined"
