"""The state that a record leads to, also where it is not whole. Pure.

Where events are lost, those after them may not follow any more: what was open is closed, and what
still cannot follow is passed over. The same record always gives the same state.
"""

from msgspec import Struct

from goldseam.journal.reading import ReadRecord
from goldseam.kernel.conversation import PairingError
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event, Resumed, RunFinished, RunStarted
from goldseam.kernel.outcome import Stopped
from goldseam.kernel.state import RunState, begin, evolve

_CANNOT_FOLLOW = (KeyError, ValueError, PairingError)


class Folded(Struct, frozen=True, kw_only=True):
    """Where a run stands, and how many events had to be `passed_over`."""

    state: RunState
    passed_over: int = 0


def fold_record(record: ReadRecord) -> Folded:
    """Return the state that `record` leads to.

    Raises:
        JournalError: its beginning is lost.
    """
    first, *others = record.events or (None,)
    if not isinstance(first, RunStarted):
        raise JournalError("the beginning of the record is lost: nothing can go on from it")
    state, passed_over = begin(first), 0
    for event in others:
        after = _after(state, event) or _after(_closed(state), event)
        if after is None:
            passed_over += 1
        else:
            state = after
    return Folded(state=state, passed_over=passed_over)


def _after(state: RunState, event: Event) -> RunState | None:
    try:
        return evolve(state, event)
    except _CANNOT_FOLLOW:
        return None


def _closed(state: RunState) -> RunState:
    """Close what is open, as the end of a sitting does, and go on."""
    at_s, limits = state.elapsed_s, state.opening.limits
    outcome = Stopped(why="the record is not whole here")
    ended = evolve(state, RunFinished(at_s=at_s, outcome=outcome))
    return evolve(ended, Resumed(at_s=at_s, limits=limits, why=outcome.why))
