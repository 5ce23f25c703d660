"""Many runs at once in one process, on simulators that fail by the dice; each has its own mark."""

import gc
import re
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from random import Random
from time import monotonic
from weakref import WeakSet

import anyio
from chaos.scene import Scene, member
from chaos.story import TASK, breaches, story
from chaos.teller import Teller
from models.endpoints import ENDPOINTS
from msgspec import Struct
from simulators.gateway import Asked, Fault, Step
from simulators.saying import Say

from goldseam.app.clock import RunClock
from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.events import ModelCallFailed, ModelCallPrepared
from goldseam.models.router.health import HealthBoard
from goldseam.models.router.patience import Patience
from goldseam.wire.message import TimeLimits
from goldseam.wire.transport import HttpTransport

WAVES = 3
PATIENCE = Patience(base_s=0.05, longest_s=1.0, switch_after_s=0.2)
_MARK = re.compile(r"run-\d{4} ")
_MIXED = Fault(status=400, body=b'{"error": {"message": "two runs in one request"}}')
_LATER = (("Retry-After-Ms", "100"),)


def mark_of(number: int) -> str:
    """Return the words that stand in every text of that run."""
    return f"run-{number:04} "


class RefusedAlone(list[Asked]):
    """Keeps what was refused, and lets go of all other requests: the crowd is large."""

    def append(self, asked: Asked) -> None:
        if asked.refusal:
            super().append(asked)


class Unruly(Teller):
    """Tells each run its own story, and fails: 10 % cut, 10 % 429, 5 % 500, 5 % silence."""

    def begin(self, *script: Step, ever_after: Step = _MIXED) -> None:
        super().begin(*script, ever_after=ever_after)
        self.asked = RefusedAlone()
        self.mixed: list[set[str]] = []
        self.times = Counter[str]()

    def tell(self, asked: str, turn: int) -> tuple[Say | None, Fault]:
        marks = {*_MARK.findall(asked)}
        if len(marks) != 1:
            self.mixed.append(marks)
            return None, _MIXED
        (mark,) = marks
        self.times[mark] += 1
        dice = Random(f"{self.endpoint.name} {mark} {self.times[mark]}")
        fault = _fault(dice)
        return (story(mark)[turn] if fault.status is None else None), fault


def _fault(dice: Random) -> Fault:
    throw = dice.random()
    if throw < 0.10:
        return Fault(cut_at=dice.randrange(1000))
    if throw < 0.20:
        return Fault(status=429, body=b"{}", headers=dice.choice(((), _LATER)))
    if throw < 0.25:
        return Fault(status=500, body=b"{}")
    if throw < 0.30:
        return Fault(cut_at=dice.choice((0, 100)), cut_by="falling silent")
    return Fault()


class Wave(Struct, frozen=True, kw_only=True):
    """What came of the runs of one wave."""

    wrong: list[str]
    calls: int
    failed: Counter[str]
    kept_bytes: int
    """What the process holds after it."""
    kept_runs: int
    """How many of its runs are still alive in memory."""


def growth(waves: Sequence[Wave], size: int) -> float:
    """Return how many bytes were kept for each run between the first third and the last."""
    return (waves[-1].kept_bytes - waves[0].kept_bytes) / (size * (len(waves) - 1))


async def play_crowd(size: int, *, silence_s: float) -> list[Wave]:
    """Play `WAVES` times `size` runs at once; a model that is silent so long has failed."""
    times = TimeLimits(connect_s=60, first_byte_s=silence_s, idle_s=silence_s, total_s=60)
    tracemalloc.start()
    try:
        async with AsyncExitStack() as stack:
            hosts = [stack.enter_context(Unruly(endpoint)) for endpoint in ENDPOINTS]
            transport = await stack.enter_async_context(HttpTransport({}))
            crowd = _Crowd(hosts, transport, times)
            return [await crowd.wave(range(at * size, (at + 1) * size)) for at in range(WAVES)]
    finally:
        tracemalloc.stop()


class _Crowd:
    def __init__(
        self, hosts: Sequence[Unruly], transport: HttpTransport, times: TimeLimits
    ) -> None:
        self._hosts = hosts
        self._transport = transport
        self._times = times
        self._health = HealthBoard()
        self._alive = WeakSet[Scene]()

    async def wave(self, numbers: range) -> Wave:
        wrong: list[str] = []
        calls, failed = Counter[str](), Counter[str]()

        async def play(number: int) -> None:
            mark = mark_of(number)
            scene = self._scene(number)
            self._alive.add(scene)
            state = await scene.play(mark + TASK)
            found = breaches(state.conversation, scene.tools.ran, mark)
            wrong.extend(f"{mark}: {state.outcome}: {what}" for what in found)
            calls.update(type(event).__name__ for event in scene.events)
            failed.update(e.kind for e in scene.events if isinstance(e, ModelCallFailed))

        async with anyio.create_task_group() as group:
            for number in numbers:
                group.start_soon(play, number)
        for host in self._hosts:
            wrong += [f"{host.endpoint.name} heard {marks}" for marks in host.mixed]
            wrong += [f"{host.endpoint.name} refused: {asked.refusal}" for asked in host.asked]
            host.begin()
        gc.collect()
        return Wave(
            wrong=wrong,
            calls=calls[ModelCallPrepared.__name__],
            failed=failed,
            kept_bytes=tracemalloc.get_traced_memory()[0],
            kept_runs=len(self._alive),
        )

    def _scene(self, number: int) -> Scene:
        places = [(number + step) % len(ENDPOINTS) for step in (0, 2, 3)]
        chain = [
            member(ENDPOINTS[at], self._hosts[at].url, self._transport, times=self._times)
            for at in places
        ]
        return Scene(
            chain,
            clock=RunClock(),
            tasks=AnyioTasks(),
            now=monotonic,
            health=self._health,
            patience=PATIENCE,
        )
