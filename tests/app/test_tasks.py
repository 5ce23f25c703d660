"""Acts in a real event loop: side by side, cut short, and never left running behind one's back."""

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest

from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.ports import CutShort, Tasks

pytestmark = pytest.mark.anyio

LONG_S = 60.0


class Sleeper:
    """An act that sleeps until it is cancelled and takes a while to let go."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.let_go = False

    async def __call__(self) -> None:
        self.began.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
            self.let_go = True


async def nothing() -> None:
    await anyio.lowlevel.checkpoint()


def raising(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def act() -> None:
        await anyio.lowlevel.checkpoint()
        raise error

    return act


async def test_it_fits_the_port() -> None:
    tasks: Tasks = AnyioTasks()
    assert tasks.stop_reason is None


async def test_an_act_that_ends_is_not_cut_short() -> None:
    assert await AnyioTasks().guard(nothing, limit_s=LONG_S) is None


async def test_what_an_act_raises_is_raised_as_it_is() -> None:
    error = KeyError("ours")
    with pytest.raises(KeyError) as raised:
        await AnyioTasks().guard(raising(error), limit_s=LONG_S)
    assert raised.value is error


async def test_the_time_cuts_an_act_short_and_the_act_has_ended() -> None:
    act = Sleeper()
    cut = await AnyioTasks().guard(act, limit_s=0.01)
    assert (cut, act.let_go) == (CutShort(by="time", why="the time for it ran out"), True)


async def test_a_wish_to_stop_cuts_an_act_short_and_the_act_has_ended() -> None:
    tasks, act, cuts = AnyioTasks(), Sleeper(), list[CutShort | None]()

    async def guarded() -> None:
        cuts.append(await tasks.guard(act, limit_s=LONG_S))
        assert act.let_go

    async with anyio.create_task_group() as group:
        group.start_soon(guarded)
        await act.began.wait()
        tasks.stop("enough")
    assert cuts == [CutShort(by="stop", why="enough")]


@pytest.mark.parametrize(
    ("why", "limit_s", "cut"),
    [
        ("enough", LONG_S, CutShort(by="stop", why="enough")),
        (None, 0.0, CutShort(by="time", why="the time for it ran out")),
        (None, -1.0, CutShort(by="time", why="the time for it ran out")),
    ],
)
async def test_an_act_that_comes_too_late_is_not_begun(
    why: str | None, limit_s: float, cut: CutShort
) -> None:
    tasks, act = AnyioTasks(), Sleeper()
    if why is not None:
        tasks.stop(why)
    assert await tasks.guard(act, limit_s=limit_s) == cut
    assert not act.began.is_set()


async def test_the_first_wish_gives_the_reason() -> None:
    tasks = AnyioTasks()
    tasks.stop("enough")
    tasks.stop("really")
    assert tasks.stop_reason == "enough"


async def test_an_error_while_letting_go_is_not_swallowed() -> None:
    async def act() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("the process would not die")

    with pytest.raises(OSError, match="would not die"):
        await AnyioTasks().guard(act, limit_s=0.01)


async def test_a_cancelling_from_outside_passes_through_and_the_act_has_ended() -> None:
    act, after = Sleeper(), list[str]()
    async with anyio.create_task_group() as group:

        async def guarded() -> None:
            try:
                await AnyioTasks().guard(act, limit_s=LONG_S)
                after.append("went on")
            finally:
                after.append("ended" if act.let_go else "left the act running")

        group.start_soon(guarded)
        await act.began.wait()
        group.cancel_scope.cancel()
    assert after == ["ended"]


async def test_an_act_that_was_cancelled_by_somebody_else_does_not_hang_the_guard() -> None:
    error = anyio.get_cancelled_exc_class()()
    with anyio.fail_after(20):
        assert await AnyioTasks().guard(raising(error), limit_s=LONG_S) is not None


async def test_guards_nest_and_the_outer_one_cuts_both() -> None:
    tasks, act = AnyioTasks(), Sleeper()

    async def inner() -> None:
        await tasks.guard(act, limit_s=LONG_S)

    assert await tasks.guard(inner, limit_s=0.05) is not None
    assert act.let_go


async def test_acts_together_meet_and_all_end() -> None:
    here, there = anyio.Event(), anyio.Event()

    async def one() -> None:
        here.set()
        await there.wait()

    async def other() -> None:
        there.set()
        await here.wait()

    with anyio.fail_after(20):
        await AnyioTasks().together([one, other])


async def test_no_acts_together_are_done_at_once() -> None:
    await AnyioTasks().together([])


async def test_siblings_of_an_act_that_fails_go_on_to_their_ends_and_its_error_is_raised() -> None:
    first, ended = KeyError("first"), list[str]()

    async def slow() -> None:
        await anyio.sleep(0.01)
        ended.append("slow")
        raise ValueError("second")

    with pytest.raises(KeyError) as raised:
        await AnyioTasks().together([slow, raising(first)])
    assert (raised.value, ended) == (first, ["slow"])


async def test_cancelling_acts_together_ends_each() -> None:
    acts = [Sleeper(), Sleeper()]
    tasks = AnyioTasks()
    cut = await tasks.guard(lambda: tasks.together(acts), limit_s=0.05)
    assert cut is not None
    assert [act.let_go for act in acts] == [True, True]


async def test_no_cancelling_reaches_a_shielded_act() -> None:
    ended = list[str]()

    async def act() -> None:
        await anyio.sleep(0.01)
        ended.append("shielded")

    with anyio.CancelScope() as scope:
        scope.cancel()
        await AnyioTasks().shielded(act)
    assert ended == ["shielded"]
