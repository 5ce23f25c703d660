"""A history as turns: who speaks, what was said in one go, and each call answered right after.

A dialect renders turn by turn. Pure; knows no vendor and no wire shape.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.conversation import (
    Feedback,
    HistoryItem,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.request import Remark, ReplyItem
from goldseam.models.fitting import loss

INTERRUPTED = "No result: the call was interrupted and may have partly run."


class SystemTurn(Struct, frozen=True, kw_only=True):
    """The system messages that open the history, each with its place in it (from 0)."""

    start: int
    items: tuple[tuple[int, Message], ...]
    losses: tuple[Remark, ...] = ()


class UserTurn(Struct, frozen=True, kw_only=True):
    """What the model is told beside results: user messages, feedback, later system messages."""

    start: int
    items: tuple[tuple[int, Message | Feedback], ...]
    losses: tuple[Remark, ...] = ()


class AssistantTurn(Struct, frozen=True, kw_only=True):
    """What the model said in one go, in its order; empty only where all of a history is hidden."""

    start: int
    items: tuple[tuple[int, ReplyItem], ...]
    losses: tuple[Remark, ...] = ()


class Answered(Struct, frozen=True, kw_only=True):
    """A call and its one result, which stands at place `at` of the history."""

    at: int
    call: ToolCall
    result: ToolResult


class ResultsTurn(Struct, frozen=True, kw_only=True):
    """A result for each call of the assistant turn right before, in call order (XLT-4, XLT-5)."""

    start: int
    pairs: tuple[Answered, ...]
    losses: tuple[Remark, ...] = ()


Turn: TypeAlias = SystemTurn | UserTurn | AssistantTurn | ResultsTurn
_Side: TypeAlias = Literal["system", "user", "assistant", "results"]


def turns_of(
    history: Sequence[HistoryItem],
    *,
    hides: Callable[[Reasoning], bool] = lambda _: False,
    start: int = 0,
    opening: bool = True,
) -> Iterator[Turn]:
    """Yield the history, from item `start` on, as turns in which every call is answered.

    Thoughts that `hides` picks are left out, with a loss on the turn they fall in; they neither
    make a turn nor split one. A call left open is closed as interrupted, and a result whose call
    is gone is told as user text: losses, both. `start` must be the start of a turn, not one of
    results; `opening` says whether a system message there still belongs to the opening.
    """
    grouping = _Grouping(hides, start, opening=opening)
    finished, takers = grouping.finished, grouping.takers
    for at, item in enumerate(history[start:], start):
        takers[type(item)](at, item)
        if finished:
            yield from finished
            finished.clear()
    grouping.turn_to(None, len(history))
    yield from finished


_TURNS: Mapping[_Side | None, type[SystemTurn | UserTurn | AssistantTurn]] = {
    "system": SystemTurn,
    "user": UserTurn,
    "assistant": AssistantTurn,
}


class _Grouping:
    """The turn under way, and the calls whose results are not all in.

    Its `takers` run once for each item of a history, which may be long: they do as little as can be
    and know the type of their item beforehand.
    """

    def __init__(self, hides: Callable[[Reasoning], bool], start: int, *, opening: bool) -> None:
        self.finished: list[Turn] = []
        self.takers: Mapping[type[HistoryItem], Callable[[int, Any], None]] = {
            Message: self._take_message,
            Reasoning: self._take_thought,
            ToolCall: self._take_call,
            ToolResult: self._take_result,
            Feedback: self._take_feedback,
        }
        self._hides = hides
        self._side: _Side | None = None
        self._start = start
        self._opening = opening
        self._items: list[tuple[int, Any]] = []
        self._losses: list[Remark] = []
        self._calls: dict[str, tuple[int, ToolCall]] = {}
        self._answered: dict[str, Answered] = {}

    def _take_message(self, at: int, message: Message) -> None:
        side = message.role
        if side == "system" and not self._opening:
            side = "user"
        if side != self._side:
            self.turn_to(side, at)
        self._items.append((at, message))

    def _take_thought(self, at: int, thought: Reasoning) -> None:
        if self._hides(thought):
            self._note("reasoning_not_shown", at, "a thought that has no place here")
            return
        if self._side != "assistant":
            self.turn_to("assistant", at)
        self._items.append((at, thought))

    def _take_call(self, at: int, call: ToolCall) -> None:
        if self._side != "assistant":
            self.turn_to("assistant", at)
        self._items.append((at, call))
        self._calls[call.call_id] = at, call

    def _take_result(self, at: int, result: ToolResult) -> None:
        call_id = result.call_id
        if call_id in self._calls and call_id not in self._answered:
            if self._side != "results":
                self.turn_to("results", at)
            _, call = self._calls[call_id]
            self._answered[call_id] = Answered(at=at, call=call, result=result)
            return
        text = f"[result of a call that is not shown]\n{result.content}"
        self._take_message(at, Message(role="user", text=text, images=result.images))
        self._note("orphan_result_told", at, "its call is not shown; it is told as user text")

    def _take_feedback(self, at: int, feedback: Feedback) -> None:
        if self._side != "user":
            self.turn_to("user", at)
        self._items.append((at, feedback))

    def turn_to(self, side: _Side | None, at: int) -> None:
        """Finish what is finished now that the item at place `at` begins a turn of `side`."""
        turn = _TURNS.get(self._side)
        if turn is None and side is None and self._side is None and self._losses:
            turn = AssistantTurn
        if turn is not None:
            lost = self._lost() if self._losses else ()
            self.finished.append(turn(start=self._start, items=tuple(self._items), losses=lost))
        if self._calls and side != "results":
            self.finished.append(self._answers())
        if self._side:
            self._start, self._items = at, []
        self._opening = side == "system"
        self._side = side

    def _answers(self) -> ResultsTurn:
        answered = self._answered
        pairs = [answered.get(i) or self._interrupted(i) for i in self._calls]
        self._calls, self._answered = {}, {}
        lost = self._lost() if self._losses else ()
        return ResultsTurn(start=self._start, pairs=tuple(pairs), losses=lost)

    def _interrupted(self, call_id: str) -> Answered:
        at, call = self._calls[call_id]
        self._note("open_call_closed", at, "it had no result and is told as interrupted")
        result = ToolResult(call_id=call_id, content=INTERRUPTED, kind="interrupted")
        return Answered(at=at, call=call, result=result)

    def _note(self, code: str, at: int, what: str) -> None:
        self._losses.append(loss(code, at, what))

    def _lost(self) -> tuple[Remark, ...]:
        found, self._losses = tuple(self._losses), []
        return found
