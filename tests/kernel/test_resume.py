"""A run that broke off anywhere goes on: nothing that may have changed something is done twice."""

from hypothesis import given, settings
from hypothesis import strategies as st
from kernel.fakes import FakeTool, Script, Turn, World, answer, fold
from kernel.scripts import scripts
from kernel.test_run_laws import pairs_hold, play
from kernel.values import READ, TASK, WRITE, call, opening, reply, said
from msgspec.structs import replace

from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import Message, ToolCall, ToolResult
from goldseam.kernel.events import Event, RunFinished, ToolStarted
from goldseam.kernel.outcome import BudgetStopped, Completed, Stopped

LIMITS = Limits(wall_s=1e12, tool_s=1e12, model_calls=1000, total_tokens=10**9)


def tell(call: ToolCall) -> str:
    return f"It is not known whether {call.tool_name} ran."


def started(events: list[Event]) -> list[str]:
    return [event.call_id for event in events if isinstance(event, ToolStarted)]


@settings(max_examples=200)
@given(st.data(), scripts())
def test_a_record_cut_anywhere_can_be_gone_on_with(data: st.DataObject, script: Script) -> None:
    # B4.7, issue 5: the crash is after any event; the world that is met again is a sound one.
    first = play(replace(script, journal_fails_at=None), opening(script, verifies=True))
    kept = first.events[: data.draw(st.integers(1, len(first.events)), label="events kept")]
    tools = tuple(replace(tool, seconds=0.0, defect=None) for tool in script.tools)
    world = World(Script(turns=(Turn(reply(call("read", "again"))),), tools=tools))
    state = world.go_on(kept, LIMITS, tell=tell)
    assert fold(world.events) == state
    assert pairs_hold(state.conversation)
    assert isinstance(state.outcome, Completed)
    before, after = started(kept), started(world.events[len(kept) :])
    readers = {tool.name for tool in script.tools if tool.reads_only}
    names = {i.call_id: i.tool_name for i in state.conversation if isinstance(i, ToolCall)}
    assert all(names[call_id] in readers for call_id in set(before) & set(after))
    assert state.ledger.reservation is None
    assert state.ledger.tokens >= fold(kept).ledger.tokens - fold(kept).ledger.reserved.tokens
    assert state.ledger.model_calls == len(world.model.requests) + fold(kept).ledger.model_calls


def test_what_may_have_changed_something_is_told_of_and_what_only_read_runs_again() -> None:
    slow = FakeTool("write", seconds=5.0)
    script = Script(turns=(Turn(reply(call("read", "a"), call("write", "b"))),), tools=(READ, slow))
    events = play(script, opening(script)).events
    at_b = next(n for n, e in enumerate(events) if isinstance(e, ToolStarted) and e.call_id == "b")
    world = World(Script(turns=(Turn(answer("done")),), tools=(READ, WRITE)))
    state = world.go_on(events[: at_b + 1], LIMITS, tell=tell)
    results = {i.call_id: i for i in state.conversation if isinstance(i, ToolResult)}
    assert results["a"].content == "it ran"
    assert results["b"] == ToolResult(
        call_id="b", kind="unknown", content="It is not known whether write ran."
    )
    assert world.watch.acts_of("tool") == []
    at_a = next(n for n, e in enumerate(events) if isinstance(e, ToolStarted) and e.call_id == "a")
    world = World(Script(turns=(Turn(answer("done")),), tools=(READ, WRITE)))
    world.go_on(events[: at_a + 1], LIMITS, tell=tell)
    assert world.watch.acts_of("tool") == ["a", "b"]


def test_a_run_that_a_limit_stopped_goes_on_with_a_larger_one_and_goes_on_counting() -> None:
    script = Script(turns=(Turn(reply(call("read"))),), tools=(READ,))
    small = Limits(model_calls=1)
    first = play(script, opening(script, limits=small))
    assert isinstance(fold(first.events).outcome, BudgetStopped)
    world = World(Script(turns=(Turn(answer("done")),), tools=(READ,)))
    state = world.go_on(first.events, replace(small, model_calls=2), tell=tell)
    assert state.outcome == Completed(answer="done")
    assert state.ledger.model_calls == 2
    assert state.opening.limits.model_calls == 2
    assert list(state.conversation)[1:] == [
        TASK,
        call("read"),
        ToolResult(call_id="a", content="it ran"),
        said("done"),
    ]


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been() -> None:
    script = Script(turns=(Turn(reply(call("write"))),), tools=(WRITE,), stop_at=2)
    first = play(script, opening(script))
    assert isinstance(first.events[-1], RunFinished)
    assert fold(first.events).outcome == Stopped(why="enough")
    world = World(Script(turns=(Turn(answer("done")),), tools=(WRITE,)))
    state = world.go_on(first.events, LIMITS, tell=tell)
    assert (state.outcome, state.stop_why) == (Completed(answer="done"), None)
    asked = world.model.seen[0]
    assert [item.kind for item in asked if isinstance(item, ToolResult)] == ["interrupted"]
    assert isinstance(asked[0], Message)
