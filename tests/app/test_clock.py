"""The clock of a run."""

from typing import TYPE_CHECKING

import anyio
import pytest

from goldseam.app.clock import RunClock

if TYPE_CHECKING:
    from goldseam.kernel.ports import Clock


def test_it_counts_from_the_start_of_the_run_and_never_falls() -> None:
    clock: Clock = RunClock()
    times = [clock.elapsed_s() for _ in range(1000)]
    assert times == sorted(times)
    assert times[0] >= 0


def test_the_seconds_before_a_resume_count() -> None:
    assert RunClock(before_s=1000.0).elapsed_s() >= 1000.0


@pytest.mark.anyio
async def test_it_sleeps_and_may_be_cancelled() -> None:
    clock = RunClock()
    await clock.sleep(0.01)
    assert clock.elapsed_s() >= 0.01
    with anyio.move_on_after(0.01) as scope:
        await clock.sleep(60.0)
    assert scope.cancelled_caught
