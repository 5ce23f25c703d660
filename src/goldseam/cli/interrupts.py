"""Signals to stop that come while no run is there to be stopped: before it began, or in `show`.

A run has its own way to be stopped, in `cli.fixing`. Imported before anything else.
"""

import signal
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_STOPPED = 7


class Interrupted(SystemExit):
    """The process was told to stop; where nobody is left to catch it, a plain exit."""

    def __init__(self, number: int) -> None:
        super().__init__(_STOPPED)
        self.name = signal.Signals(number).name

    def __str__(self) -> str:
        """Return the signal's name."""
        return self.name


def heeded_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that stop us; `nohup` and its like have made us deaf to a hang-up."""
    return tuple(
        number
        for number in STOP_SIGNALS
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    )


def heed_interrupts() -> None:
    """Have the first signal raise `Interrupted`, and a second one end the process at once."""
    for number in heeded_signals():
        signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    del frame
    for heeded in heeded_signals():
        signal.signal(heeded, signal.SIG_DFL)
    raise Interrupted(number)
