"""The one way an event happens: written down, then folded into the state, then told to the taps."""

from goldseam.kernel.events import Event, RunStarted
from goldseam.kernel.ports import Ports
from goldseam.kernel.state import RunState, begin, evolve


class Record:
    """The journal and the state that follows from it. One task at a time may write.

    No cancelling parts the two: an event is written and folded, or neither.
    """

    def __init__(self, ports: Ports, state: RunState | None = None) -> None:
        """Begin a record, or go on with the one whose fold is `state`."""
        self._ports = ports
        self._state = state

    @property
    def state(self) -> RunState:
        """Where the run stands."""
        if self._state is None:
            raise ValueError("the run has not started")
        return self._state

    def now(self) -> float:
        """Return the time for the next event."""
        return self._ports.clock.elapsed_s()

    async def open(self, opening: RunStarted) -> None:
        """Write the first event of a run.

        Raises:
            JournalError: it could not be written; nothing may be done.
        """
        await self._keep(opening, begin(opening), durable=True)

    async def write(self, event: Event, *, durable: bool = False) -> None:
        """Write `event`; where it is the intent of an act, `durable`.

        Raises:
            JournalError: it could not be written; the act must not follow.
        """
        await self._keep(event, evolve(self.state, event), durable=durable)

    async def _keep(self, event: Event, after: RunState, *, durable: bool) -> None:
        """Fold first: an event that cannot follow is our defect and never enters the journal."""

        async def keep() -> None:
            await self._ports.journal.append(event, durable=durable)
            self._state = after

        await self._ports.tasks.shielded(keep)
        for tap in self._ports.taps:
            tap(event)
