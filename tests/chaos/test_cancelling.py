"""A run that is stopped while it waits for a model returns at once, and can be gone on with.

Each phase would last ten seconds otherwise; the run must be over in a tenth of that.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Literal, TypeAlias

import anyio
import pytest
from chaos.cuts import failures_in
from chaos.scene import Scene, member
from chaos.story import as_told_by, breaches, story
from kernel.fakes import fold
from models.endpoints import ENDPOINTS
from simulators.gateway import Fault, Gateway, Step
from wire.scripted_server import ScriptedServer

from goldseam.app.clock import RunClock
from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.events import RunFinished
from goldseam.kernel.outcome import Completed, Stopped
from goldseam.models.router.chain import Member
from goldseam.wire.message import TimeLimits
from goldseam.wire.transport import HttpTransport

pytestmark = pytest.mark.anyio

STALL_S = 10.0
TIMES = TimeLimits(connect_s=STALL_S, first_byte_s=STALL_S, idle_s=STALL_S, total_s=60)
CHAT, BACKUP = ENDPOINTS[0], ENDPOINTS[2]
FIRST, SECOND, _ = (as_told_by(CHAT, say) for say in story())

Phase: TypeAlias = Literal["connecting", "waiting", "streaming", "between retries"]
ILLS: dict[Phase, Step] = {
    "connecting": Fault(status=401),
    "waiting": Fault(cut_at=0, cut_by="falling silent"),
    "streaming": (SECOND, Fault(cut_at=200, cut_by="falling silent")),
    "between retries": Fault(status=429, headers=(("Retry-After", f"{STALL_S:g}"),)),
}


class Stage:
    """A run that is about to wait in the middle of its tool loop, and how to know that it does."""

    def __init__(self, chain: list[Member], is_there: Callable[[Scene], bool]) -> None:
        self.tasks = AnyioTasks()
        self.scene = Scene(chain, clock=RunClock(), tasks=self.tasks)
        self._is_there = is_there

    async def until_it_waits(self) -> None:
        # Threads and servers of others tell it, none of which can set an event of this loop.
        while not self._is_there(self.scene):  # noqa: ASYNC110
            await anyio.sleep(0.005)
        await anyio.sleep(0.02)


@asynccontextmanager
async def staged(phase: Phase) -> AsyncIterator[Stage]:
    """Give the stage for `phase`. Nobody answers there but for the first turn.

    A TLS server that says nothing keeps its client connecting; it is asked once the first one,
    whose key is refused, is out.
    """
    async with AsyncExitStack() as stack:
        gateway = stack.enter_context(Gateway(FIRST, ever_after=ILLS[phase]))
        server = await stack.enter_async_context(ScriptedServer([]))
        transport = await stack.enter_async_context(HttpTransport({}))
        chain = [member(CHAT, gateway.url, transport, times=TIMES)]
        silent: list[bool] = []
        gateway.while_silent = lambda: silent.append(True)
        if phase == "connecting":
            url = server.url.replace("http:", "https:")
            chain.append(member(BACKUP, url, transport, times=TIMES))
            yield Stage(chain, lambda _: server.connections > 0)
        elif phase == "between retries":
            yield Stage(chain, lambda scene: bool(failures_in(scene.events)))
        else:
            yield Stage(chain, lambda _: bool(silent))


@pytest.mark.parametrize("phase", ILLS)
@pytest.mark.parametrize("how", ["a wish", "a cancelling"])
async def test_stopping_is_quick_in_each_phase_and_the_run_can_go_on(
    phase: Phase, how: str
) -> None:
    async with staged(phase) as stage:
        async with anyio.create_task_group() as group:
            group.start_soon(stage.scene.play)
            await stage.until_it_waits()
            asked_at = monotonic()
            if how == "a wish":
                stage.tasks.stop("enough")
            else:
                group.cancel_scope.cancel()
        assert (monotonic() - asked_at) / STALL_S < 0.1
        first = stage.scene
    last = first.events[-1]
    assert isinstance(last, RunFinished)
    assert isinstance(last.outcome, Stopped)
    told = [as_told_by(BACKUP, say) for say in story()[1:]]
    with Gateway(*told) as gateway:
        async with HttpTransport({}) as transport:
            second = Scene(
                [member(BACKUP, gateway.url, transport)],
                clock=RunClock(before_s=fold(first.events).elapsed_s),
                tasks=AnyioTasks(),
            )
            state = await second.go_on(first.events)
    assert isinstance(state.outcome, Completed)
    assert gateway.refusals == []
    assert fold(second.events) == state
    assert breaches(state.conversation, first.tools.ran + second.tools.ran) == []
