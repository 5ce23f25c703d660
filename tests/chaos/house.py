"""The seven simulators of the endpoints behind one network, in time that leaps."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from chaos.leaping import LeapingClock, LeapingLoop, Patient
from chaos.scene import Scene, facts_of, member
from models.endpoints import ENDPOINTS, Endpoint
from simulators.gateway import SCRIPT_ENDED, Asked, Gateway, Step

from goldseam.app.tasks import AnyioTasks
from goldseam.models.router.chain import Member
from goldseam.wire.transport import HttpTransport


class House:
    """Serves them from `open` to the end."""

    def __init__(self, loop: LeapingLoop) -> None:
        self._loop = loop
        self._gateways = {
            endpoint.name: Gateway(facts=facts_of(endpoint)) for endpoint in ENDPOINTS
        }
        self._transport = HttpTransport({})

    @asynccontextmanager
    async def open(self) -> AsyncIterator["House"]:
        """Serve until the end."""
        with ExitStack() as served:
            for gateway in self._gateways.values():
                served.enter_context(gateway)
            async with self._transport:
                yield self

    def seat(self, endpoint: Endpoint, *script: Step, ever_after: Step = SCRIPT_ENDED) -> Member:
        """Return the model of `endpoint`, whose simulator begins anew with `script`."""
        gateway = self._gateways[endpoint.name]
        gateway.begin(*script, ever_after=ever_after)
        return member(endpoint, gateway.url, Patient(self._transport, gateway, self._loop))

    def scene(self, *chain: Member) -> Scene:
        """Return a run with that chain."""
        return Scene(chain, clock=LeapingClock(self._loop), tasks=AnyioTasks(), now=self._loop.time)

    def asked_of(self, *endpoints: Endpoint) -> list[Asked]:
        """Return what was asked of `endpoints` since their scripts began."""
        return [asked for one in endpoints for asked in self._gateways[one.name].asked]
