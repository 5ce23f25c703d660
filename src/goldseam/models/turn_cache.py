"""Renders a growing history at the cost of what is new; what it gives is what a fresh one gives.

Knows neither what a turn is rendered to nor whom for: a dialect hands in one pure step, from the
state before a turn to the state after it, and what the turn adds to the request.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from goldseam.kernel.conversation import Conversation, HistoryItem, Reasoning
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import Remark
from goldseam.models.turns import ResultsTurn, SystemTurn, Turn, turns_of

State = TypeVar("State")


class Rendered(Struct, frozen=True, kw_only=True):
    """What one turn, or a whole history, adds to a request, and what it loses by that."""

    parts: tuple[dict[str, Json], ...] = ()
    losses: tuple[Remark, ...] = ()


Render = Callable[[State, Turn], tuple[State, Rendered]]


class _Mark(Struct, Generic[State], frozen=True, kw_only=True):
    """Where rendering may be taken up again: in front of the turn that begins at item `start`."""

    start: int
    opening: bool
    parts: int
    losses: int
    state: State


class TurnCache(Generic[State]):
    """Remembers what it rendered of one run.

    A history that shares the beginning of the last one keeps the parts of that beginning, whether
    or not it extends it; the turn that holds the last common item is rendered again, since it may
    have grown. `render` must give the same for the same state and turn.
    """

    def __init__(
        self,
        state: State,
        render: Render[State],
        *,
        hides: Callable[[Reasoning], bool] = lambda _: False,
    ) -> None:
        self._render = render
        self._hides = hides
        self._seen: Sequence[HistoryItem] = ()
        self._parts: list[dict[str, Json]] = []
        self._losses: list[Remark] = []
        self._marks = [_Mark(start=0, opening=True, parts=0, losses=0, state=state)]

    def write(self, history: Sequence[HistoryItem]) -> Rendered:
        """Return what all of `history` adds to a request; the parts must not be changed."""
        self._cut_back(common_length(self._seen, history))
        mark = self._marks[-1]
        state = mark.state
        for turn in turns_of(history, hides=self._hides, start=mark.start, opening=mark.opening):
            if turn.start > self._marks[-1].start and not isinstance(turn, ResultsTurn):
                self._mark(turn, state)
            state, rendered = self._render(state, turn)
            self._parts += rendered.parts
            self._losses += rendered.losses
        # A list that its owner changes later must not change what was seen.
        self._seen = history if isinstance(history, Conversation) else tuple(history)
        return Rendered(parts=tuple(self._parts), losses=tuple(self._losses))

    def _mark(self, turn: Turn, state: State) -> None:
        self._marks.append(
            _Mark(
                start=turn.start,
                opening=isinstance(turn, SystemTurn),
                parts=len(self._parts),
                losses=len(self._losses),
                state=state,
            )
        )

    def _cut_back(self, kept: int) -> None:
        """Forget the last turn that begins within the first `kept` items, and all behind it."""
        last = max(bisect_right(self._marks, kept - 1, key=lambda mark: mark.start) - 1, 0)
        mark = self._marks[last]
        del self._marks[last + 1 :], self._parts[mark.parts :], self._losses[mark.losses :]


def common_length(seen: Sequence[HistoryItem], history: Sequence[HistoryItem]) -> int:
    """Return how many items at the start of both are the very same."""
    shorter = min(len(seen), len(history))
    if isinstance(seen, Conversation) and isinstance(history, Conversation):
        # SLF001: two conversations that share their storage agree as far as both reach, which
        # nothing public says; comparing item by item would cost the whole history each turn.
        shared = seen._items is history._items  # noqa: SLF001
        if shared:
            return shorter
    pairs = zip(seen, history, strict=False)
    return next((n for n, (old, new) in enumerate(pairs) if old is not new), shorter)
