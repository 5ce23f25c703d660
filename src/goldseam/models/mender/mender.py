"""The provider `builtin:mender`: from the messages alone to the next action; see `next_step`.

Nothing is remembered between replies. The script of the repair is played anew each time with what
the messages hold, until it asks for something that they do not. Results are found by what was
asked, not by its place, so one that was dropped to make room is simply asked for again.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, assert_never, cast

from msgspec import Struct

from goldseam.kernel.conversation import (
    Arguments,
    HistoryItem,
    Message,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.json_text import write_json
from goldseam.kernel.ports import Delta, Listener
from goldseam.kernel.request import TokenUsage
from goldseam.models.json_text.forms import UNSENDABLE
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse, TextProvider
from goldseam.models.json_text.read_back import read_back
from goldseam.models.mender.script import Answer, Observed, Step, Use
from goldseam.models.mender.strategy import repair

NAME = "builtin:mender"
NEEDED_TOOLS = ("run_tests", "read_file", "search", "try_edits", "edit_file")
_MARK = "mender-"
"""What the ids of its own calls begin with."""
_DROPPED = re.compile(r"\[\d+ characters of this output were dropped")


class Mender:
    """A `TextProvider` that mends small mistakes in Python by trying edits against the tests."""

    async def complete(
        self,
        messages: tuple[ProviderMessage, ...],
        *,
        max_output_tokens: int,  # noqa: ARG002 - its replies are bounded by themselves
        listener: Listener,
    ) -> ProviderResponse:
        """Return the next action as JSON text; see `TextProvider.complete`. Costs nothing."""
        text = next_text(messages)
        listener(Delta(kind="text", text=text))
        usage = TokenUsage(input=0, output=0)
        return ProviderResponse(text=text, usage=usage, stop="end", model=NAME)


def next_text(messages: Sequence[ProviderMessage]) -> str:
    """Return the action that comes next, the same for the same messages."""
    offered = "\n".join(message.content for message in messages if message.role == "system")
    missing = [tool for tool in NEEDED_TOOLS if tool not in offered]
    try:
        heard = _listen(read_back(messages))
    except ValueError:
        return _final("No patch: the conversation is in a form that builtin:mender cannot read.")
    if missing:
        return _final(f"No patch: builtin:mender cannot work without the tool {missing[0]}.")
    match next_step(heard):
        case Answer(text=text):
            return _final(text)
        case Use(tool=tool, arguments=arguments):
            call_id = f"{_MARK}{heard.calls + 1}"
            return write_json({
                "type": "tool_call",
                "call_id": call_id,
                "tool_name": tool,
                "arguments": arguments,
            })
        case step:
            assert_never(step)


class Heard(Struct, frozen=True, kw_only=True):
    """What the messages hold for a script that is played again."""

    issue: str
    calls: int
    """Calls of ours so far, to number the next."""
    results: dict[tuple[str, str], Observed]
    """By tool and arguments, since the last act of another model."""
    doubts: dict[str, Observed]
    """What was said against an answer, by the answer."""


def next_step(heard: Heard) -> Step:
    """Play the script from its start with all that was heard; return the first step that is new."""
    script = repair(heard.issue)
    step = next(script)
    while (observed := _known(step, heard)) is not None:
        try:
            step = script.send(observed)
        except StopIteration:  # it has no more to say than its last answer
            break
    return step


def _known(step: Step, heard: Heard) -> Observed | None:
    match step:
        case Use(tool=tool, arguments=arguments):
            return heard.results.get((tool, arguments_of(arguments).text))
        case Answer(text=text):
            return heard.doubts.get(text)
        case _:
            assert_never(step)


def _listen(items: Sequence[HistoryItem]) -> Heard:
    ours = [item for item in items if isinstance(item, ToolCall) and _is_ours(item.call_id)]
    since = max((at + 1 for at, item in enumerate(items) if _is_foreign(item)), default=0)
    recent = items[since:]
    answers = {item.call_id: item for item in recent if isinstance(item, ToolResult)}
    results: dict[tuple[str, str], Observed] = {}
    for call in recent:
        match call:
            case ToolCall(call_id=call_id, tool_name=tool, arguments=Arguments(text=text)):
                result = answers.get(call_id)
                if result and not (tool != "try_edits" and _DROPPED.match(result.content)):
                    seen = Observed(text=result.content, is_error=result.is_error)
                    results[tool, text] = seen
            case _:
                pass
    doubts = {
        item.text: Observed(text=after.text)
        for item, after in pairwise(recent)
        if isinstance(item, Message) and item.role == "assistant" and isinstance(after, Message)
    }
    return Heard(issue=_issue(items), calls=len(ours), results=results, doubts=doubts)


def _issue(items: Sequence[HistoryItem]) -> str:
    """Return what the user said before anybody acted."""
    said: list[str] = []
    for item in items:
        if isinstance(item, ToolCall) or (isinstance(item, Message) and item.role == "assistant"):
            break
        if isinstance(item, Message) and item.role == "user":
            said.append(item.text)
    return "\n".join(said)


def _is_ours(call_id: str) -> bool:
    return call_id.startswith(_MARK)


def _is_foreign(item: HistoryItem) -> bool:
    return isinstance(item, ToolCall | ToolResult) and not _is_ours(item.call_id)


def _final(text: str) -> str:
    return write_json({"type": "final_answer", "content": UNSENDABLE.sub("\ufffd", text)})


if TYPE_CHECKING:
    _fits: TextProvider = cast("Mender", ...)
