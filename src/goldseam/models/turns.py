"""A history as turns: who speaks, what was said in one go, and each call answered right after.

A dialect renders turn by turn. Pure; knows no vendor and no wire shape.
"""

from collections.abc import Callable, Iterator, Sequence
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
    grouping = _Grouping(start, opening=opening)
    for at, item in enumerate(history[start:], start):
        if isinstance(item, Reasoning) and hides(item):
            grouping.hide(at)
            continue
        side = grouping.side_of(item)
        if side != grouping.side:
            yield from grouping.turn_to(side, at)
        grouping.take(at, item)
    yield from grouping.turn_to(None, len(history))


class _Grouping:
    """The turn under way, and the calls whose results are not all in. Runs once for each item."""

    def __init__(self, start: int, *, opening: bool) -> None:
        self.side: _Side | None = None
        self._start = start
        self._opening = opening
        self._items: list[tuple[int, Any]] = []
        self._losses: list[Remark] = []
        self._calls: dict[str, tuple[int, ToolCall]] = {}
        self._results: dict[str, tuple[int, ToolResult]] = {}

    def side_of(self, item: HistoryItem) -> _Side:
        if isinstance(item, ToolResult):
            is_awaited = item.call_id in self._calls and item.call_id not in self._results
            return "results" if is_awaited else "user"
        if not isinstance(item, Message):
            return "user" if isinstance(item, Feedback) else "assistant"
        if item.role == "system":
            return "system" if self._opening else "user"
        return item.role

    def take(self, at: int, item: HistoryItem) -> None:
        """Put `item` into the turn under way, which is of its side."""
        if isinstance(item, ToolCall):
            self._calls[item.call_id] = at, item
        elif isinstance(item, ToolResult):
            if self.side == "results":
                self._results[item.call_id] = at, item
                return
            text = f"[result of a call that is not shown]\n{item.content}"
            self._note("orphan_result_told", at, "its call is not shown; it is told as user text")
            item = Message(role="user", text=text, images=item.images)
        self._items.append((at, item))

    def hide(self, at: int) -> None:
        self._note("reasoning_not_shown", at, "a thought that has no place here")

    def turn_to(self, side: _Side | None, at: int) -> list[Turn]:
        """Return what is finished now that the item at place `at` begins a turn of `side`."""
        finished = list[Turn]()
        if self.side == "assistant" or (side is None and self.side is None and self._losses):
            finished.append(self._said())
        elif self.side == "user":
            finished.append(
                UserTurn(start=self._start, items=tuple(self._items), losses=self._lost())
            )
        elif self.side == "system":
            finished.append(
                SystemTurn(start=self._start, items=tuple(self._items), losses=self._lost())
            )
        if self._calls and side != "results":
            finished.append(self._answers())
        if self.side:
            self._start, self._items = at, []
        self._opening = side == "system"
        self.side = side
        return finished

    def _answers(self) -> ResultsTurn:
        pairs = tuple([self._answered(*called) for called in self._calls.values()])
        self._calls, self._results = {}, {}
        return ResultsTurn(start=self._start, pairs=pairs, losses=self._lost())

    def _said(self) -> AssistantTurn:
        return AssistantTurn(start=self._start, items=tuple(self._items), losses=self._lost())

    def _answered(self, at: int, call: ToolCall) -> Answered:
        if call.call_id in self._results:
            at, result = self._results[call.call_id]
        else:
            result = ToolResult(call_id=call.call_id, content=INTERRUPTED, kind="interrupted")
            self._note("open_call_closed", at, "it had no result and is told as interrupted")
        return Answered(at=at, call=call, result=result)

    def _note(self, code: str, at: int, what: str) -> None:
        self._losses.append(loss(code, at, what))

    def _lost(self) -> tuple[Remark, ...]:
        if not self._losses:
            return ()
        found, self._losses = tuple(self._losses), []
        return found
