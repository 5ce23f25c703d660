"""Two runs of the same replies are compared by what policy, tools and proofs said."""

from kernel.fakes import FakeTool, Proving, Script, Turn, answer
from kernel.test_run_laws import play
from kernel.values import READ, call, opening, reply
from msgspec.structs import replace

from goldseam.journal.comparing import differences
from goldseam.kernel.events import CallJudged, Event, RunFinished
from goldseam.kernel.outcome import Proof

CALLS = Turn(reply(call("read", "a")))


def events_of(content: str, *, tool: FakeTool = READ, proven: bool = True) -> list[Event]:
    tool = replace(tool, content=content)
    proving = Proving(Proof(proven=proven, text=""))
    script = Script(turns=(CALLS, Turn(answer("done"))), tools=(tool,), provings=(proving,))
    return play(script, opening(script, verifies=True)).events


def test_times_and_scratch_folders_are_passed_over() -> None:
    old = events_of("ran in 1.25s in /tmp/goldseam-tests-ab_12xyz/cache, 3 ms")
    new = events_of("ran in 7 seconds in /tmp/goldseam-tests-00000000/cache, 12 ms")
    assert list(differences(old, old)) == []
    assert list(differences(old, new)) == []


def test_each_difference_is_a_line() -> None:
    old, new = events_of("one\ntwo"), events_of("one\nthree", proven=False)
    assert list(differences(old, new)) == [
        "the result of a: 'two' was recorded, 'three' now",
        "proof 1: 'proven is True' was recorded, 'proven is False' now",
        "the end: a proved answer was recorded, an answer now",
    ]
    longer = events_of("one\ntwo\nthree")
    assert list(differences(old, longer)) == ["the result of a: 2 lines were recorded, 3 now"]


def test_what_is_gone_or_new_is_named() -> None:
    old = events_of("one")
    cut = [event for event in old if not isinstance(event, CallJudged | RunFinished)]
    assert list(differences(old, cut)) == [
        "policy on a (initial) is gone",
        "the end: a proved answer was recorded, no end now",
    ]
    assert next(differences(cut, old)) == "policy on a (initial) is new"
