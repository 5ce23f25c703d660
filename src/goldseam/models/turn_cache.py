"""Renders a growing history at the cost of what is new; what it gives is what a fresh one gives.

Knows neither what a turn is rendered to nor whom for: a dialect hands in one pure step, from the
state before a turn to the state after it, with the parts that the turn adds to the request.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from goldseam.kernel.conversation import Conversation, HistoryItem, Reasoning
from goldseam.kernel.request import Remark
from goldseam.models.encoding import encode_into
from goldseam.models.fitting import Losses
from goldseam.models.turns import ResultsTurn, SystemTurn, Turn, turns_of

State = TypeVar("State")


class Transcript(Struct, Generic[State], frozen=True, kw_only=True):
    """What a whole history adds to a request, what it loses, and the state it ends in."""

    text: bytearray
    """All parts, commas between them; good until the next history is written."""
    losses: tuple[Remark, ...]
    state: State


Render = Callable[[State, Turn, Losses], tuple[State, Sequence[object]]]


class _Mark(Struct, Generic[State], frozen=True, kw_only=True):
    """Where rendering may be taken up again: in front of the turn that begins at item `start`."""

    start: int
    opening: bool
    length: int
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
        self._text = bytearray()
        self._losses = Losses()
        self._marks = [_Mark(start=0, opening=True, length=0, losses=0, state=state)]

    def write(self, history: Sequence[HistoryItem]) -> Transcript[State]:
        """Return what all of `history` adds to a request."""
        self._cut_back(common_length(self._seen, history))
        mark, text, losses = self._marks[-1], self._text, self._losses
        state = mark.state
        for turn in turns_of(history, hides=self._hides, start=mark.start, opening=mark.opening):
            if type(turn) is not ResultsTurn and turn.start > self._marks[-1].start:
                self._mark(turn, state)
            if turn.losses:
                losses.found += turn.losses
            state, parts = self._render(state, turn, losses)
            for part in parts:
                if text:
                    text += b","
                encode_into(part, text, -1)
        # A list that its owner changes later must not change what was seen.
        self._seen = history if isinstance(history, Conversation) else tuple(history)
        return Transcript(text=text, losses=tuple(losses.found), state=state)

    def _mark(self, turn: Turn, state: State) -> None:
        self._marks.append(
            _Mark(
                start=turn.start,
                opening=type(turn) is SystemTurn,
                length=len(self._text),
                losses=len(self._losses.found),
                state=state,
            )
        )

    def _cut_back(self, kept: int) -> None:
        """Forget the last turn that begins within the first `kept` items, and all behind it."""
        last = max(bisect_right(self._marks, kept - 1, key=lambda mark: mark.start) - 1, 0)
        mark = self._marks[last]
        del self._marks[last + 1 :], self._text[mark.length :], self._losses.found[mark.losses :]


def common_length(seen: Sequence[HistoryItem], history: Sequence[HistoryItem]) -> int:
    """Return how many items at the start of both are the very same."""
    shorter = min(len(seen), len(history))
    match seen, history:
        case Conversation(root=one), Conversation(root=other) if one is other:
            return shorter
        case _:
            pairs = zip(seen, history, strict=False)
            return next((n for n, (old, new) in enumerate(pairs) if old is not new), shorter)
