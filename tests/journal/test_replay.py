"""A record follows from itself, or the first event that does not is named."""

from hypothesis import given, settings
from hypothesis import strategies as st
from kernel.fakes import Script, Turn, World
from kernel.scripts import scripts
from kernel.test_run_laws import play
from kernel.values import READ, WRITE, call, opening, reply
from msgspec.structs import replace

from goldseam.journal.replay import Deviation, first_deviation
from goldseam.kernel.budget import Limits
from goldseam.kernel.events import ModelCallPrepared, ToolStarted

LIMITS = Limits(wall_s=1e12, tool_s=1e12, model_calls=1000, total_tokens=10**9)


@settings(max_examples=60)
@given(st.data(), scripts())
def test_every_record_follows_from_itself_also_one_that_was_gone_on_with(
    data: st.DataObject, script: Script
) -> None:
    script = replace(script, journal_fails_at=None)
    events = play(script, opening(script, verifies=True)).events
    assert first_deviation(events) is None
    kept = events[: data.draw(st.integers(1, len(events)), label="events kept")]
    assert first_deviation(kept) is None
    tools = tuple(replace(tool, seconds=0.0, defect=None) for tool in script.tools)
    world = World(Script(turns=(Turn(reply(call("read", "again"))),), tools=tools))
    world.go_on(kept, LIMITS, tell=lambda _: "unknown")
    assert first_deviation(world.events) is None


def test_the_first_event_that_does_not_follow_is_named() -> None:
    script = Script(
        turns=(Turn(reply(call("read", "a"), call("write", "b"))),), tools=(READ, WRITE)
    )
    events = list(play(script, opening(script)).events)
    place = next(n for n, event in enumerate(events) if isinstance(event, ToolStarted))
    wrong = [*events]
    wrong[place] = ToolStarted(at_s=events[place].at_s, call_id="b")
    assert first_deviation(wrong) == Deviation(
        place=place + 1, expected=repr(events[place]), found=repr(wrong[place])
    )
    asked = next(n for n, event in enumerate(events) if isinstance(event, ModelCallPrepared))
    dearer = [*events]
    prepared = events[asked]
    assert isinstance(prepared, ModelCallPrepared)
    dearer[asked] = replace(prepared, max_output_tokens=prepared.max_output_tokens + 1)
    found = first_deviation(dearer)
    assert found is not None
    assert found.place == asked + 1


def test_nothing_may_follow_the_end() -> None:
    script = Script(turns=(), tools=(READ,))
    events = list(play(script, opening(script)).events)
    found = first_deviation([*events, ToolStarted(at_s=9.0, call_id="a")])
    assert found is not None
    assert found.expected == "the end of the record: the run was over"
