"""The one way an event happens: written down, then folded into the state, then told to the taps."""

from collections.abc import Sequence

from goldseam.kernel.events import Event, RunStarted
from goldseam.kernel.ports import Clock, Journal, Tap
from goldseam.kernel.state import RunState, begin, evolve


class Record:
    """The journal and the state that follows from it. One task at a time may write."""

    def __init__(self, journal: Journal, clock: Clock, taps: Sequence[Tap]) -> None:
        self._journal = journal
        self._clock = clock
        self._taps = tuple(taps)
        self._state: RunState | None = None

    @property
    def state(self) -> RunState:
        """Where the run stands."""
        if self._state is None:
            raise ValueError("the run has not started")
        return self._state

    def now(self) -> float:
        """Return the time for the next event."""
        return self._clock.elapsed_s()

    async def open(self, opening: RunStarted) -> None:
        """Write the first event of a run.

        Raises:
            JournalError: it could not be written; nothing may be done.
        """
        await self._journal.append(opening, durable=True)
        self._state = begin(opening)
        self._tell(opening)

    async def write(self, event: Event, *, durable: bool = False) -> None:
        """Write `event`; where it is the intent of an act, `durable`.

        Raises:
            JournalError: it could not be written; the act must not follow.
        """
        await self._journal.append(event, durable=durable)
        self._state = evolve(self.state, event)
        self._tell(event)

    def _tell(self, event: Event) -> None:
        for tap in self._taps:
            tap(event)
