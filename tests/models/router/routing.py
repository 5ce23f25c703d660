"""A world for routers: models that follow a script in a time that is a number, and many runs in it.

Each run asks as the kernel does: it chooses, asks, waits as long as it was told, and asks again.
"""

import heapq
from collections.abc import Callable, Coroutine, Iterator, Sequence

from kernel.fakes import answer, pause
from msgspec import Struct

from goldseam.kernel.budget import Candidate
from goldseam.kernel.conversation import Message
from goldseam.kernel.errors import FailureKind, InvalidModelOutputError, ModelProviderError
from goldseam.kernel.ports import Delta, Listener, Need
from goldseam.kernel.request import ModelRequest, ModelResponse, TokenUsage
from goldseam.models.router.chain import Member
from goldseam.models.router.health import Broken, Cooling, HealthBoard
from goldseam.models.router.patience import Patience
from goldseam.models.router.router import Router

REQUEST = ModelRequest(
    history=(Message(role="user", text="Mend the bug."),), tools=(), max_output_tokens=100
)
DONE = answer("done")
NEED = Need(context_tokens=10, useless_replies=0, refuted=0)

Given = ModelResponse | Exception


class Asked(Struct, frozen=True):
    """One question that reached a model: which, when, until when, and what came of it."""

    name: str
    run: str
    began: float
    ended: float
    gave: Given | None
    """`None` where it was cut short."""
    is_trial: bool = False
    """Whether one run alone may ask it at that time."""


class Heard(Struct, frozen=True):
    """What one reply of a router came to: the reply or the last error, and the waits before."""

    gave: Given
    waits: tuple[float, ...]
    texts: tuple[str, ...]
    at_s: float


class Now:
    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


class Actor:
    """A model of one run: gives what its script says, then `DONE`; each takes some seconds."""

    def __init__(self, place: "Place", name: str, *, run: str, script: Iterator[Given]) -> None:
        self._place = place
        self._name = name
        self._run = run
        self._script = script

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        assert request is REQUEST
        listener(Delta(kind="text", text="…"))
        gave = next(self._script, DONE)
        began = self._place.now()
        seen: Given | None = None
        standing = self._place.board.standing(self._name)
        is_trial = isinstance(standing, Broken) or (
            isinstance(standing, Cooling) and standing.strikes > 1
        )
        try:
            await pause(self._place.reply_s)
            seen = gave
        finally:
            asked = Asked(self._name, self._run, began, self._place.now(), seen, is_trial)
            self._place.asked.append(asked)
        if isinstance(gave, Exception):
            raise gave
        return gave


class Place:
    """One process: a clock, a board, and all that was asked."""

    def __init__(self, *, patience: Patience | None = None, reply_s: float = 0.5) -> None:
        self.now = Now()
        self.board = HealthBoard()
        self.asked: list[Asked] = []
        self.heard: list[Delta] = []
        self.patience = patience or Patience()
        self.reply_s = reply_s
        self.chosen: list[str] = []

    def member(
        self,
        name: str,
        *script: Given,
        run: str = "",
        until_unverified: bool = False,
        window: int | None = None,
    ) -> Member:
        return Member(
            candidate=Candidate(name=name, context_tokens=window),
            adapter=Actor(self, name, run=run, script=iter(script)),
            until_unverified=until_unverified,
        )

    def router(self, *members: Member, dice: Callable[[], float] = lambda: 1.0) -> Router:
        """Return a router without luck: waits are 1, 2, 4… seconds."""
        return Router(members, health=self.board, now=self.now, dice=dice, patience=self.patience)

    async def reply(self, router: Router, need: Need = NEED) -> Heard:
        """Ask as the kernel asks, until there is a reply or no use in asking again."""
        waits: list[float] = []
        texts: list[str] = []
        while True:
            self.chosen.append(router.choose(need).candidate.name)
            gave: Given
            try:
                gave = await router.complete(REQUEST, self.heard.append)
            except InvalidModelOutputError as error:
                gave = error
            except ModelProviderError as error:
                texts.append(error.text)
                gave = error
                if error.retryable:
                    waits.append(error.retry_after_s or 0.0)
                    await pause(waits[-1])
                    continue
            return Heard(gave, tuple(waits), tuple(texts), self.now())

    def ask(self, router: Router, need: Need = NEED) -> Heard:
        """Play one reply of one router."""
        (heard,) = self.together([self.reply(router, need)])
        return heard

    def together(self, runs: Sequence[Coroutine[object, None, Heard]]) -> list[Heard]:
        """Play runs side by side: whose wait ends first goes on first."""
        waiting = [(self.now.s, order) for order in range(len(runs))]
        heard: dict[int, Heard] = {}
        while waiting:
            at_s, order = heapq.heappop(waiting)
            self.now.s = max(self.now.s, at_s)
            try:
                seconds = runs[order].send(None)
            except StopIteration as end:
                heard[order] = end.value
                continue
            assert isinstance(seconds, float)
            heapq.heappush(waiting, (self.now.s + seconds, order))
        return [heard[order] for order in range(len(runs))]

    def names(self) -> list[str]:
        return [one.name for one in self.asked]


def failing(
    kind: FailureKind,
    *,
    after_s: float | None = None,
    retryable: bool = True,
    text: str = "the host is ill (wait)",
) -> ModelProviderError:
    return ModelProviderError(text, kind=kind, retryable=retryable, retry_after_s=after_s)


def useless() -> InvalidModelOutputError:
    return InvalidModelOutputError("no JSON", excerpt="", usage=TokenUsage(input=1, output=1))
