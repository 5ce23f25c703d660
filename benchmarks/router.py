"""What the chain adds to a healthy call: choosing and asking through it, less asking directly."""

import time

import anyio

from benchmarks.row import Row, at_most
from goldseam.kernel.budget import Candidate
from goldseam.kernel.conversation import Message
from goldseam.kernel.ports import Delta, Listener, Need
from goldseam.kernel.request import ModelRequest, ModelResponse, TokenUsage
from goldseam.models.router.chain import Member
from goldseam.models.router.health import Cooling, HealthBoard
from goldseam.models.router.router import Router

CALLS = 2000
PLAYS = 5
REQUEST = ModelRequest(
    history=(Message(role="user", text="Mend it."),), tools=(), max_output_tokens=8192
)
REPLY = ModelResponse(
    items=(Message(role="assistant", text="so"),), stop="end", usage=TokenUsage(), model="instant"
)
NEED = Need(context_tokens=50_000, useless_replies=0, refuted=0)


class Instant:
    """A model that answers at once."""

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        listener(Delta(kind="text", text=str(len(request.history))))
        return REPLY


def silent(_: Delta) -> None:
    return None


def chain_of(length: int) -> Router:
    """Return a router of so many members; another model on its board is ill, as in a long day."""
    board = HealthBoard()
    board.cool("other:m", Cooling(kind="overloaded", since=0.0, until=1e12, strikes=2))
    members = tuple(
        Member(
            candidate=Candidate(name=f"host{place}:model", context_tokens=200_000),
            adapter=Instant(),
        )
        for place in range(length)
    )
    return Router(members, health=board, now=time.monotonic, dice=lambda: 0.5)


async def direct_s() -> float:
    model = Instant()
    began = time.process_time()
    for _ in range(CALLS):
        await model.complete(REQUEST, silent)
    return (time.process_time() - began) / CALLS


async def through_s(length: int) -> float:
    router = chain_of(length)
    began = time.process_time()
    for _ in range(CALLS):
        router.choose(NEED)
        await router.complete(REQUEST, silent)
    return (time.process_time() - began) / CALLS


def measure() -> tuple[Row, ...]:
    """Judge by the least of a few plays: a busy machine only ever adds."""
    direct = min(anyio.run(direct_s) for _ in range(PLAYS))
    return tuple(
        at_most(
            f"a healthy call through a chain of {length}, own time added",
            1000 * (min(anyio.run(through_s, length) for _ in range(PLAYS)) - direct),
            limit=2,
            unit="ms",
        )
        for length in (1, 7)
    )


if __name__ == "__main__":
    from benchmarks.run import print_table

    print_table(list(measure()))
