"""Time that leaps: what a run would wait for is over at once, by the limits that hold in earnest.

A leap is made where the kernel waits, and where a gateway says that it keeps silent on purpose.
"""

import asyncio
from collections.abc import Callable, Coroutine

import anyio
from simulators.gateway import Gateway

from goldseam.app.models import TIMES
from goldseam.wire.message import Heard, HttpReply, HttpRequest, TimeLimits
from goldseam.wire.transport import Transport


class LeapingLoop(asyncio.SelectorEventLoop):
    """The event loop whose time this is."""

    _ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self._ahead_s

    def leap(self, seconds: float) -> None:
        """Have `seconds` be over."""
        self._ahead_s += seconds


def in_leaping_time(play: Callable[[LeapingLoop], Coroutine[object, object, None]]) -> None:
    """Run `play` to its end in such a loop."""

    async def playing() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, LeapingLoop)
        await play(loop)

    anyio.run(playing, backend_options={"loop_factory": LeapingLoop})


class LeapingClock:
    """Fits `Clock`; the clock of one run."""

    def __init__(self, loop: LeapingLoop) -> None:
        self._loop = loop
        self._zero = loop.time()

    def elapsed_s(self) -> float:
        return self._loop.time() - self._zero

    async def sleep(self, seconds: float) -> None:
        self._loop.leap(seconds)
        await anyio.lowlevel.checkpoint()


class Patient:
    """Fits `Transport`: asks `gateway` through another one; time leaps while it keeps silent."""

    def __init__(self, transport: Transport, gateway: Gateway, loop: LeapingLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._is_asking = False
        gateway.while_silent = lambda: loop.call_soon_threadsafe(self._leap)

    def _leap(self) -> None:
        # A leap that comes late must not hit the next one who is asked.
        if self._is_asking:
            self._loop.leap(TIMES.first_byte_s + 1)

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        self._is_asking = True
        try:
            return await self._transport.send(request, limits=limits, heard=heard)
        finally:
            self._is_asking = False
