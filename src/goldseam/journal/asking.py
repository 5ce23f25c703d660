"""What exactly a model was asked in a step of a run, folded from its record. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from goldseam.journal.reading import ReadRecord
from goldseam.kernel.acts import request_for
from goldseam.kernel.conversation import PairingError
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import (
    ContextCompacted,
    Event,
    ModelCallPrepared,
    ModelChosen,
    RunFinished,
    RunStarted,
)
from goldseam.kernel.outcome import Stopped
from goldseam.kernel.request import ModelRequest
from goldseam.kernel.state import RunState, begin, evolve


class Asked(Struct, frozen=True, kw_only=True):
    """The request of one step, byte for byte, and the model it went to."""

    number: int
    model: str
    request: ModelRequest


def asked_in_step(record: ReadRecord, number: int) -> Asked:
    """Return what the model was asked in step `number`, the first being 1.

    Raises:
        JournalError: there is no such step, or the record before it is not whole.
    """
    model = ""
    for event, state in _states(record.events):
        if isinstance(event, ModelChosen):
            model = event.candidate.name
        if isinstance(event, ModelCallPrepared) and event.call == number:
            request = request_for(state, event.max_output_tokens)
            return Asked(number=number, model=model, request=request)
    numbers = [event.call for event in record.events if isinstance(event, ModelCallPrepared)]
    known = (
        f"they go from {numbers[0]} to {numbers[-1]}" if numbers else "the model was never asked"
    )
    raise JournalError(f"the run has no step {number}: {known}")


def whole_request(record: ReadRecord) -> Asked:
    """Return the conversation as it stands at the end, nothing dropped from it to make room.

    Raises:
        JournalError: the record is not whole.
    """
    events = [event for event in record.events if not isinstance(event, ContextCompacted)]
    model, state = "", None
    for event, after in _states(events):
        state = after
        if isinstance(event, ModelChosen):
            model = event.candidate.name
    if state is None:
        raise JournalError("the record holds no run")
    if state.outcome is None:
        # As the end of a run does: a call that is open yet gets a result that says so.
        closing = RunFinished(at_s=state.elapsed_s, outcome=Stopped(why="the record ends here"))
        state = evolve(state, closing)
    request = request_for(state, state.max_output_tokens)
    return Asked(number=state.ledger.model_calls, model=model, request=request)


def _states(events: Sequence[Event]) -> Iterator[tuple[Event, RunState]]:
    """Yield each event with the state after it."""
    state: RunState | None = None
    for event in events:
        try:
            if state is None:
                state = begin(event) if isinstance(event, RunStarted) else None
            else:
                state = evolve(state, event)
        except (KeyError, ValueError, PairingError) as error:
            # What was written can be folded: so something that was is lost.
            raise JournalError(f"the record is not whole here: {error}") from error
        if state is None:
            raise JournalError("the beginning of the record is lost")
        yield event, state
