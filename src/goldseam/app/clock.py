"""The clocks of this machine, as the kernel's port wants them."""

import time

import anyio


class RunClock:
    """Counts the seconds of a run, `before_s` being those of earlier sittings; never falls."""

    def __init__(self, before_s: float = 0.0) -> None:
        self._zero = time.monotonic() - before_s

    def elapsed_s(self) -> float:
        """Return the seconds since the run's start."""
        return time.monotonic() - self._zero

    async def sleep(self, seconds: float) -> None:
        """Wait so long."""
        await anyio.sleep(seconds)
