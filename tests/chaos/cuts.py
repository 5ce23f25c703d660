"""Replies that are cut at any byte, played in the process and in the kernel's own loop.

The exchange is the simulator's own bytes, of which some do not come; the same run is played again
and again, from its middle on, each time with another cut.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from urllib.parse import urlsplit

from chaos.scene import LIMITS, Scene, member
from chaos.story import as_told_by, path_of
from chaos.teller import Teller
from kernel.fakes import fold, pause
from models.endpoints import ENDPOINTS, Endpoint
from msgspec import Struct
from msgspec.structs import replace
from simulators.door import vendor_of
from simulators.gateway import Fault
from simulators.saying import Call, Say

from goldseam.kernel.acts import request_for
from goldseam.kernel.conversation import HistoryItem, ToolCall
from goldseam.kernel.decide import next_need
from goldseam.kernel.errors import Consumption, FailureKind, ModelProviderError
from goldseam.kernel.events import Event, ModelCallFailed, ModelCallPrepared
from goldseam.kernel.outcome import Completed
from goldseam.models.router.health import HealthBoard
from goldseam.models.router.patience import Patience
from goldseam.models.router.router import Router
from goldseam.wire.message import Heard, HttpReply, HttpRequest, TimeLimits, TransportError

PROTOCOLS = tuple(zip(ENDPOINTS[:4], (*ENDPOINTS[1:4], ENDPOINTS[0]), strict=True))
"""Each of the four with its backup, which speaks another one."""

IMPATIENT = Patience(same_again=0, switch_after_s=0)
MIDDLE = 1
DOOMED = Say(
    thought="doomed thoughts",
    text="Doomed words.",
    calls=(
        Call(call_id="call_3", arguments='{"path":"doomed/a"}'),
        Call(call_id="call_4", arguments='{"path":"doomed/b"}'),
    ),
)


class Doomed(Teller):
    """Tells the story, but for its middle, in which `fault` befalls what it says."""

    fault = Fault()

    def tell(self, asked: str, turn: int) -> tuple[Say | None, Fault]:
        return (DOOMED, self.fault) if turn == MIDDLE else super().tell(asked, turn)


class Replay:
    """Fits `Transport`: plays what `teller` says, the same to the same body, without a network.

    Of a doomed reply come the first `cut_at` bytes; then it breaks, or just ends. Without any, the
    host refuses.
    """

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._said: dict[bytes, bytes] = {}
        self._doomed = as_told_by(teller.endpoint, DOOMED)
        self.doomed_body = b""
        self.cut_at: int | None = None
        self.breaks = True
        self.bodies: list[bytes] = []

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        del limits
        body = request.body
        self.bodies.append(body)
        if body not in self._said:
            self._said[body] = self._answer(request)
        if body == self.doomed_body:
            if self.cut_at is None:
                return HttpReply(status=503, headers={})
            heard(self._said[body][: self.cut_at])
            if self.breaks:
                raise TransportError("broken", "the connection broke", sent=True)
        else:
            heard(self._said[body])
        return HttpReply(status=200, headers={})

    def _answer(self, request: HttpRequest) -> bytes:
        vendor = vendor_of(urlsplit(request.url).path)
        assert vendor
        body = json.loads(request.body)
        assert self._teller.judge(vendor, body) is None
        say, _ = self._teller.next_step(body)
        assert say
        if say == self._doomed:
            self.doomed_body = request.body
        return b"".join(self._teller.speak(vendor, say).frames())

    @property
    def doomed_reply(self) -> bytes:
        """All of the doomed reply, once it was asked for."""
        return self._said[self.doomed_body]


class Played(Struct, frozen=True, kw_only=True):
    """What a run left behind."""

    history: tuple[HistoryItem, ...]
    ran: Counter[str]
    failures: list[str]
    asked_of_other: list[bytes]


class BrokeOff(Struct, frozen=True, kw_only=True):
    """What the kernel is told of a reply that broke off, and who is asked after it."""

    text: str
    kind: FailureKind
    retryable: bool
    consumption: Consumption
    wait_s: float | None
    following: str


class Theatre:
    """One run whose middle is told by `one`, and cut; `other` is its backup."""

    def __init__(self, one: Endpoint, other: Endpoint) -> None:
        self._one, self._other = Replay(Doomed(one)), Replay(Teller(other))
        self._chain = (
            member(one, "http://localhost", self._one),
            member(other, "http://localhost", self._other),
        )
        scene = Scene(self._chain, wait=pause, patience=IMPATIENT)
        scene.world.play(scene.opening())
        asked = [n for n, e in enumerate(scene.events) if isinstance(e, ModelCallPrepared)]
        self._begun = scene.events[: asked[MIDDLE]]
        self._state = fold(self._begun)
        self._ran = Counter(path_of(call) for call in calls_in(self._state.conversation))
        self.told = self._one.doomed_reply

    def play(self, cut_at: int | None, *, breaks: bool = True) -> Played:
        """Play the run from its middle to its end; without a cut the host refuses."""
        self._one.cut_at, self._one.breaks, self._other.bodies = cut_at, breaks, []
        scene = Scene(self._chain, wait=pause, patience=IMPATIENT)
        state = scene.world.go_on(self._begun, LIMITS, tell=lambda _: "unknown")
        assert isinstance(state.outcome, Completed), state.outcome
        return Played(
            history=tuple(state.conversation),
            ran=self._ran + scene.tools.ran,
            failures=failures_in(scene.events),
            asked_of_other=self._other.bodies,
        )

    def break_off(self, cut_at: int) -> tuple[BrokeOff, str]:
        """Ask for the doomed reply alone; return also what the eye saw of it."""
        self._one.cut_at, self._one.breaks = cut_at, True
        router = Router(
            self._chain,
            health=HealthBoard(),
            now=lambda: 0.0,
            dice=Random(1).random,
            patience=IMPATIENT,
        )
        need = next_need(self._state)
        assert need
        router.choose(need)
        request = request_for(self._state, LIMITS.max_output_tokens)
        heard: list[str] = []
        try:
            router.complete(request, lambda delta: heard.append(delta.text)).send(None)
        except ModelProviderError as error:
            broke_off = BrokeOff(
                text=error.text,
                kind=error.kind,
                retryable=error.retryable,
                consumption=error.consumption,
                wait_s=error.retry_after_s,
                following=router.choose(need).candidate.name,
            )
            return broke_off, "".join(heard)
        raise AssertionError("a reply came")

    @property
    def edges(self) -> list[int]:
        """Where each event of the doomed reply ends, and the bytes beside."""
        ends = [found.end() for found in re.finditer(rb"\n\n", self.told)]
        near = {0, 1, *(end + by for end in ends for by in (-2, -1, 0, 1))}
        return sorted(near - {len(self.told) + 1})

    def complaints(self) -> Iterator[str]:
        """Play a run for every byte of the doomed reply, and yield where one shows a trace."""
        without = self.play(None)
        for cut_at in range(len(self.told) + 1):
            cut = self.play(cut_at)
            if cut != replace(without, failures=["transport"]):
                yield f"cut at byte {cut_at}: {cut}"


def calls_in(history: Iterable[HistoryItem]) -> list[ToolCall]:
    return [item for item in history if isinstance(item, ToolCall)]


def failures_in(events: list[Event]) -> list[str]:
    return [event.kind for event in events if isinstance(event, ModelCallFailed)]
