"""Acts side by side and cut short, by anyio; the wish to stop is a flag that any part may raise."""

from collections.abc import Sequence

import anyio

from goldseam.kernel.ports import Act, CutShort


class AnyioTasks:
    """Implements `kernel.ports.Tasks`. Belongs to the event loop that it was first used in."""

    def __init__(self) -> None:
        self._stop = anyio.Event()
        self._reason: str | None = None

    @property
    def stop_reason(self) -> str | None:
        """Why the run should stop, once somebody wishes it."""
        return self._reason

    def stop(self, why: str) -> None:
        """Wish that the run stop; the first wish gives the reason."""
        if self._reason is None:
            self._reason = why
            self._stop.set()

    async def guard(self, act: Act, *, limit_s: float) -> CutShort | None:
        """Run `act`, cancelled on a wish to stop or after `limit_s`; what it raises is raised.

        Does not begin it where a wish stands already, or no time is left.
        """
        errors: list[Exception] = []
        finished = False

        async def watched() -> None:
            nonlocal finished
            try:
                await act()
                finished = True
            except Exception as error:  # noqa: BLE001 - carried out of the group unwrapped, below
                errors.append(error)
            group.cancel_scope.cancel()

        if self._reason is None and limit_s > 0:
            with anyio.move_on_after(limit_s):
                async with anyio.create_task_group() as group:
                    group.start_soon(watched)
                    await self._stop.wait()
                    group.cancel_scope.cancel()
        if errors:
            raise errors[0]
        if finished:
            return None
        if self._reason is not None:
            return CutShort(by="stop", why=self._reason)
        return CutShort(by="time", why="the time for it ran out")

    async def together(self, acts: Sequence[Act]) -> None:
        """Run all `acts` side by side to their ends; then raise the first error there was."""
        errors: list[Exception] = []

        async def caught(act: Act) -> None:
            try:
                await act()
            except Exception as error:  # noqa: BLE001 - raised once the siblings have ended
                errors.append(error)

        async with anyio.create_task_group() as group:
            for act in acts:
                group.start_soon(caught, act)
        if errors:
            raise errors[0]

    async def shielded(self, act: Act) -> None:
        """Run a short `act` that no cancelling reaches."""
        with anyio.CancelScope(shield=True):
            await act()
