"""A reply that is cut at any byte is discarded whole, and the run is what it is without it.

`make chaos` plays a whole run for every byte; here the rest of the run is played for each event.
"""

import anyio
import pytest
from chaos.cuts import DOOMED, IMPATIENT, PROTOCOLS, Doomed, Theatre, failures_in
from chaos.scene import Scene, member
from chaos.story import breaches
from chaos.teller import Teller
from models.endpoints import Endpoint
from msgspec.structs import replace
from simulators.gateway import Fault

from goldseam.app.clock import RunClock
from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.errors import UnknownConsumption
from goldseam.wire.transport import HttpTransport

EACH = pytest.mark.parametrize(
    ("one", "other"), PROTOCOLS, ids=lambda endpoint: endpoint.name.replace(" ", "-")
)


@EACH
def test_a_reply_that_breaks_at_any_byte_is_one_and_the_same_failure(
    one: Endpoint, other: Endpoint
) -> None:
    theatre = Theatre(one, other)
    first, _ = theatre.break_off(0)
    assert (first.kind, first.retryable, first.wait_s) == ("transport", True, 0)
    assert first.consumption == UnknownConsumption()
    seen = ""
    for cut_at in range(len(theatre.told) + 1):
        broke_off, words = theatre.break_off(cut_at)
        assert broke_off == first, cut_at
        assert words.startswith(seen), cut_at
        seen = words
    assert DOOMED.text in seen


@EACH
def test_the_backup_tells_the_story_once_after_a_cut_at_any_event(
    one: Endpoint, other: Endpoint
) -> None:
    theatre = Theatre(one, other)
    without = theatre.play(None)
    assert without.failures == ["overloaded"]
    assert breaches(without.history, without.ran) == []
    for cut_at in theatre.edges:
        assert theatre.play(cut_at) == replace(without, failures=["transport"]), cut_at


@EACH
def test_a_reply_that_just_ends_is_taken_whole_or_not_at_all(
    one: Endpoint, other: Endpoint
) -> None:
    theatre = Theatre(one, other)
    without, taken = theatre.play(None), theatre.play(len(theatre.told), breaks=False)
    assert (taken.failures, max(taken.ran.values())) == ([], 1)
    found = [theatre.play(cut_at, breaks=False) for cut_at in theatre.edges]
    histories = [played.history for played in found]
    discarded = histories.index(taken.history)
    assert {*histories[:discarded]} == {without.history}
    assert {*histories[discarded:]} == {taken.history}
    assert all(played.ran == without.ran for played in found[:discarded])
    assert all(played.ran == taken.ran for played in found[discarded:])


@pytest.mark.anyio
@EACH
async def test_a_connection_that_is_cut_leaves_no_trace(one: Endpoint, other: Endpoint) -> None:
    theatre = Theatre(one, other)
    without = theatre.play(None)
    with Doomed(one) as doomed, Teller(other) as teller:
        async with HttpTransport({}) as transport:
            for cut_at in theatre.edges[:: len(theatre.edges) // 6]:
                doomed.begin()
                teller.begin()
                doomed.fault = Fault(cut_at=cut_at)
                scene = Scene(
                    [member(one, doomed.url, transport), member(other, teller.url, transport)],
                    clock=RunClock(),
                    tasks=AnyioTasks(),
                    wait=anyio.sleep,
                    patience=IMPATIENT,
                )
                state = await scene.play()
                assert failures_in(scene.events) == ["transport"], cut_at
                assert tuple(state.conversation) == without.history, cut_at
                assert scene.tools.ran == without.ran, cut_at
