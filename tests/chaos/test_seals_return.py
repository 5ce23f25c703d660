"""A hands over to B and gets the run back: each seal of A returns to A, in its place, and no other.

The simulators remember where each seal that they handed out belongs, and judge by it.
"""

import json
from collections.abc import Iterable
from dataclasses import replace as changed
from itertools import permutations

import pytest
from chaos.leaping import LeapingClock, LeapingLoop, in_leaping_time
from chaos.scene import Scene, facts_of, member, name_of
from chaos.story import ANSWER, CountingTools, as_told_by, story
from models.endpoints import ENDPOINTS, Endpoint, chat_judge
from models.profiles import GEMINI, OPENROUTER
from simulators import chat_hosts
from simulators.gateway import Fault, Gateway

from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.conversation import Message, ToolCall
from goldseam.kernel.outcome import Completed
from goldseam.kernel.ports import Executed
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.wire.transport import HttpTransport

SEALING = (
    *ENDPOINTS[1:4],
    Endpoint(
        name="Gemini as OpenAI",
        dialect=ChatDialect,
        profiles=(GEMINI,),
        vendor="chat",
        judges=chat_judge,
        host=chat_hosts.GEMINI,
    ),
    Endpoint(
        name="OpenRouter",
        dialect=ChatDialect,
        profiles=(OPENROUTER,),
        vendor="chat",
        judges=chat_judge,
        host=chat_hosts.OPENROUTER,
    ),
)
"""Every dialect, and every host of one, whose replies carry seals."""

BUSY_S = 30
BUSY = Fault(status=429, body=b"{}", headers=(("Retry-After", str(BUSY_S)),))


class SlowTools(CountingTools):
    """Tools that take so long that a busy model recovers meanwhile."""

    def __init__(self, loop: LeapingLoop) -> None:
        super().__init__()
        self._loop = loop

    async def execute(self, call: ToolCall) -> Executed:
        self._loop.leap(BUSY_S)
        return await super().execute(call)


def spelling(seal: str) -> str:
    """Return the text by which a seal is known in a body: some are an object."""
    return str(json.loads(seal)["data"]) if seal.startswith("{") else seal


def shown(gateway: Gateway, seals: Iterable[str]) -> set[str]:
    """Return which of `seals` stand in the last request to `gateway`."""
    text = json.dumps(gateway.asked[-1].body)
    return {seal for seal in map(spelling, seals) if seal in text}


@pytest.mark.parametrize(
    ("one", "other"),
    list(permutations(SEALING, 2)),
    ids=lambda endpoint: endpoint.name.replace(" ", "-"),
)
def test_a_run_that_comes_back_brings_every_seal_in_its_place(
    one: Endpoint, other: Endpoint
) -> None:
    first, second, last = story()
    # Ids of its own: reused ones are renamed, and OpenRouter's details would name the old ones.
    again, *_ = story("again ")
    again = changed(again, calls=tuple(changed(c, call_id=f"{c.call_id}0") for c in again.calls))
    ours = Gateway(
        *(as_told_by(one, first), BUSY, as_told_by(one, again), as_told_by(one, last)),
        facts=facts_of(one),
    )
    others = Gateway(as_told_by(other, second), facts=facts_of(other))

    async def play(loop: LeapingLoop) -> None:
        with ours, others:
            async with HttpTransport({}) as transport:
                scene = Scene(
                    [member(one, ours.url, transport), member(other, others.url, transport)],
                    clock=LeapingClock(loop),
                    tasks=AnyioTasks(),
                    now=loop.time,
                    tools=SlowTools(loop),
                )
                state = await scene.play()
        assert state.outcome == Completed(answer=ANSWER)
        assert scene.chosen == [name_of(one), name_of(other), name_of(one)]
        *_, final = state.conversation
        assert isinstance(final, Message)
        too_late = {seal.value for seal in final.seals}
        expected = {spelling(seal) for seal in ours.memory.issued} - too_late
        assert len(expected) >= 2
        assert shown(ours, ours.memory.issued) == expected

    in_leaping_time(play)
    assert (ours.refusals, others.refusals) == ([], [])
    assert shown(ours, others.memory.issued) == set()
    assert shown(others, ours.memory.issued) == set()
