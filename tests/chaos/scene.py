"""A run of the kernel with a chain of endpoints behind its ports, each at its own simulator."""

from collections.abc import Callable, Sequence
from dataclasses import replace as changed
from random import Random

import anyio
from chaos.story import TASK, CountingTools
from kernel.fakes import Script, Wait, World, fold
from models.endpoints import DOUBTS, Endpoint, strict
from msgspec.structs import replace
from simulators.door import KEY, MODEL, Vendor
from simulators.gateway import Facts

from goldseam.app.models import TIMES
from goldseam.kernel.budget import Candidate, Limits
from goldseam.kernel.conversation import Message
from goldseam.kernel.events import Event, ModelChosen, Resumed, RunStarted
from goldseam.kernel.loop import resume, run
from goldseam.kernel.ports import Clock, ModelAdapter, Tasks
from goldseam.kernel.state import RunState
from goldseam.models.client import DialectClient
from goldseam.models.client import Endpoint as Address
from goldseam.models.json_text.adapter import JsonTextModelAdapter
from goldseam.models.plain_text import PlainTextProvider
from goldseam.models.router.chain import Member
from goldseam.models.router.health import HealthBoard
from goldseam.models.router.patience import Patience
from goldseam.models.router.router import Router
from goldseam.wire.message import HeaderValue, TimeLimits
from goldseam.wire.secret import Secret
from goldseam.wire.transport import Transport

_ROOTS: dict[Vendor, str] = {
    "chat": "v1",
    "responses": "v1",
    "anthropic": "v1",
    "gemini": "v1beta",
}
LIMITS = Limits(wall_s=1e6)


def facts_of(endpoint: Endpoint) -> Facts:
    """Return the facts by which the simulator of `endpoint` judges: the strictest ones."""
    return changed(DOUBTS, chat=strict(endpoint.host))


def member(
    endpoint: Endpoint, url: str, transport: Transport, *, times: TimeLimits = TIMES
) -> Member:
    """Return the model of `endpoint`, which is asked at the gateway `url`."""
    host = _host_of(endpoint)
    profile = replace(endpoint.profiles[0], model=MODEL, host=host, seal_scope=host)
    client: ModelAdapter = DialectClient(
        endpoint.dialect(),
        profile,
        endpoint=Address(
            url=f"{url}/{_ROOTS[endpoint.vendor]}",
            headers=_headers(endpoint.vendor, profile.version),
        ),
        transport=transport,
        times=times,
    )
    if endpoint.speaks_json_text:
        client = JsonTextModelAdapter(PlainTextProvider(client))
    return Member(candidate=Candidate(name=name_of(endpoint)), adapter=client)


def name_of(endpoint: Endpoint) -> str:
    """Return the name of its model on record."""
    name = f"{_host_of(endpoint)}:{MODEL}"
    return f"json:{name}" if endpoint.speaks_json_text else name


def _host_of(endpoint: Endpoint) -> str:
    """Return the name of its host, as the catalog would tell it from all others."""
    return endpoint.name.lower().replace(" ", "-")


def _headers(vendor: Vendor, version: str) -> tuple[tuple[str, HeaderValue], ...]:
    match vendor:
        case "chat" | "responses":
            return (("authorization", Secret(KEY, scheme="Bearer")),)
        case "anthropic":
            return (("x-api-key", Secret(KEY, scheme="")), ("anthropic-version", version))
        case "gemini":
            return (("x-goog-api-key", Secret(KEY, scheme="")),)


class Scene:
    """One run: its chain, its tools, which count, and its record."""

    def __init__(
        self,
        chain: Sequence[Member],
        *,
        clock: Clock | None = None,
        tasks: Tasks | None = None,
        wait: Wait = anyio.sleep,
        now: Callable[[], float] | None = None,
        health: HealthBoard | None = None,
        patience: Patience | None = None,
        tools: CountingTools | None = None,
    ) -> None:
        self.world = World(Script(), wait=wait, clock=clock, tasks=tasks)
        self.tools = tools or CountingTools()
        self.router = Router(
            tuple(chain),
            health=health or HealthBoard(),
            now=now or self.world.ports.clock.elapsed_s,
            dice=Random(1).random,
            patience=patience,
            limits=LIMITS,
        )
        self.world.ports = replace(
            self.world.ports,
            model=self.router,
            choose=self.router.choose,
            toolbox=self.tools,
        )

    @property
    def events(self) -> list[Event]:
        """The record so far."""
        return self.world.events

    @property
    def chosen(self) -> list[str]:
        """The models in the order in which they were chosen."""
        return [e.candidate.name for e in self.events if isinstance(e, ModelChosen)]

    async def play(self, task: str = TASK) -> RunState:
        """Run to the end, in a real event loop."""
        return await run(self.opening(task), self.world.ports)

    async def go_on(self, events: Sequence[Event]) -> RunState:
        """Go on from the record of another scene to the end, in a real event loop."""
        state = fold(events)
        self.events.extend(events)
        resumed = Resumed(at_s=state.elapsed_s, limits=LIMITS, why="asked to")
        return await resume(state, self.world.ports, resumed, tell=lambda _: "unknown")

    def opening(self, task: str = TASK) -> RunStarted:
        return RunStarted(
            at_s=0.0,
            run_id="chaos",
            history=(
                Message(role="system", text="You mend code."),
                Message(role="user", text=task),
            ),
            tools=self.tools.specs,
            limits=LIMITS,
        )
