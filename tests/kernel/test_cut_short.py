"""Runs that are cut: by a wish, from outside, by Ctrl-C, by a record that fails. Real waiting."""

import signal
from collections.abc import Callable, Iterator

import anyio
import pytest
from kernel.fakes import FOREVER, Answer, FakeTool, Proving, Script, Turn, World, answer, fold
from kernel.values import LOOK, PAY, READ, WRITE, call, opening, reply
from msgspec.structs import replace

from goldseam.app.clock import RunClock
from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import ModelCallFailed, RunFinished, ToolFinished, ToolStarted
from goldseam.kernel.loop import run
from goldseam.kernel.outcome import BudgetStopped, Outcome, Stopped

HANG = FakeTool("hang", reads_only=True, seconds=FOREVER)
QUICK = replace(READ, seconds=0.0)

AT_THE_MODEL = Script(turns=(Turn(answer("late"), FOREVER),))
AT_A_TOOL = Script(turns=(Turn(reply(call("read", "a"), call("hang", "b"))),), tools=(QUICK, HANG))
AT_THE_APPROVER = Script(turns=(Turn(reply(call("pay"))),), tools=(PAY,))
AT_THE_VERIFIER = Script(provings=(Proving(RuntimeError("never"), seconds=FOREVER),))
PLACES = {
    "model": AT_THE_MODEL,
    "tool": AT_A_TOOL,
    "approver": AT_THE_APPROVER,
    "verifier": AT_THE_VERIFIER,
}


class Real:
    """A run in a real event loop; `when_there` happens once the last act of the script began."""

    def __init__(self, place: str, when_there: Callable[[AnyioTasks], None]) -> None:
        self.tasks = AnyioTasks()
        self.let_go = 0
        self._place = place
        self._when_there = when_there
        self.script = PLACES[place]
        self.world = World(self.script, wait=self._wait, clock=RunClock(), tasks=self.tasks)

    async def _wait(self, seconds: float) -> None:
        if seconds < FOREVER:
            return
        self._when_there(self.tasks)
        try:
            await anyio.sleep_forever()
        finally:
            self.let_go += 1

    async def run(self) -> Outcome | None:
        started = opening(self.script, verifies=self._place == "verifier")
        return (await run(started, self.world.ports)).outcome

    def record_is_whole(self) -> bool:
        state = fold(self.world.events)
        return (
            isinstance(self.world.events[-1], RunFinished)
            and state.ledger.reservation is None
            and not state.calls
            and not state.conversation.open_calls
            and self.world.watch.breaches == []
        )


@pytest.mark.anyio
@pytest.mark.parametrize("place", PLACES)
async def test_a_wish_to_stop_reaches_whatever_runs(place: str) -> None:
    real = Real(place, lambda tasks: tasks.stop("enough"))
    with anyio.fail_after(20):
        assert await real.run() == Stopped(why="enough")
    assert real.record_is_whole()
    assert real.let_go == 1


@pytest.mark.anyio
@pytest.mark.parametrize("place", PLACES)
async def test_a_cancelling_from_outside_passes_through_and_leaves_a_whole_record(
    place: str,
) -> None:
    with anyio.fail_after(20), anyio.CancelScope() as scope:
        real = Real(place, lambda _: scope.cancel())
        await real.run()
    assert scope.cancelled_caught
    assert real.record_is_whole()
    assert real.let_go == 1
    outcome = fold(real.world.events).outcome
    assert isinstance(outcome, Stopped)
    assert outcome.why.startswith("cancelled (")


@pytest.fixture
def heard_ctrl_c() -> Iterator[None]:
    """Hear Ctrl-C as a program at a terminal does; one in the background is born deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_ctrl_c")
@pytest.mark.parametrize("place", PLACES)
def test_ctrl_c_leaves_a_whole_record(place: str) -> None:  # M12
    real: list[Real] = []

    async def main() -> None:
        real.append(Real(place, lambda _: signal.raise_signal(signal.SIGINT)))
        with anyio.fail_after(20):
            await real[0].run()

    with pytest.raises(KeyboardInterrupt):
        anyio.run(main)
    assert real[0].record_is_whole()
    assert real[0].let_go == 1


@pytest.mark.anyio
async def test_a_cancelled_batch_keeps_the_result_of_the_call_that_had_ended() -> None:  # K2
    with anyio.CancelScope() as scope:
        real = Real("tool", lambda _: scope.cancel())
        await real.run()
    found = [i for i in fold(real.world.events).conversation if isinstance(i, ToolResult)]
    assert [(r.call_id, r.kind) for r in found] == [("a", "done"), ("b", "interrupted")]


@pytest.mark.anyio
async def test_the_time_of_a_run_cuts_a_model_that_hangs() -> None:
    script = AT_THE_MODEL
    world = World(script, wait=anyio.sleep, clock=RunClock(), tasks=AnyioTasks())
    state = await run(opening(script, limits=Limits(wall_s=0.05)), world.ports)
    assert isinstance(state.outcome, BudgetStopped)
    assert state.outcome.limit == "wall_s"
    assert state.ledger.held_tokens > 0


@pytest.mark.anyio
async def test_readers_really_run_side_by_side() -> None:
    met = [anyio.Event(), anyio.Event()]

    async def wait(seconds: float) -> None:
        if seconds < LOOK.seconds:
            return
        number = sum(event.is_set() for event in met)
        met[number].set()
        with anyio.fail_after(20):
            await met[1].wait()

    calls = (call("look", "a"), call("look", "b"))
    script = Script(turns=(Turn(reply(*calls)),), tools=(LOOK,))
    world = World(script, wait=wait, clock=RunClock(), tasks=AnyioTasks())
    await run(opening(script), world.ports)
    assert all(event.is_set() for event in met)


# The record fails.


def rich_script(fails_at: int | None) -> Script:
    return Script(
        turns=(
            Turn(reply(call("read", "a"), call("look", "b"), call("write", "c"), call("pay", "d"))),
            Turn(RuntimeError("never")),
        ),
        tools=(READ, LOOK, WRITE, PAY),
        answers=(Answer(granted=True),),
        journal_fails_at=fails_at,
    )


WHOLE = World(rich_script(None))
with pytest.raises(RuntimeError):
    WHOLE.play(opening(WHOLE.script))


@pytest.mark.parametrize("fails_at", range(len(WHOLE.events)))
def test_once_the_record_fails_nothing_acts_and_nothing_is_written(  # Invariant 6
    fails_at: int,
) -> None:
    script = rich_script(fails_at)
    world = World(script)
    # The last append would say that a defect ended the run: then the failed record is what counts.
    with pytest.raises(JournalError):
        world.play(opening(script))
    assert world.events == WHOLE.events[:fails_at]
    assert world.journal.appends_after_failure == 0
    assert world.watch.breaches == []
    acted = world.watch.entered
    assert acted == WHOLE.watch.entered[: len(acted)]


def test_a_call_whose_start_could_not_be_recorded_never_runs() -> None:
    fails_at = next(n for n, event in enumerate(WHOLE.events) if isinstance(event, ToolStarted))
    script = rich_script(fails_at)
    world = World(script)
    with pytest.raises(JournalError):
        world.play(opening(script))
    assert world.watch.acts_of("tool") == []


def test_a_result_that_could_not_be_recorded_is_not_settled_twice() -> None:
    finished = [n for n, event in enumerate(WHOLE.events) if isinstance(event, ToolFinished)]
    script = rich_script(finished[1])
    world = World(script)
    with pytest.raises(JournalError):
        world.play(opening(script))
    kinds = [type(event) for event in world.events]
    assert kinds.count(ToolFinished) == 1
    assert kinds.count(ModelCallFailed) == 0
