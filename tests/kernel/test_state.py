"""The fold: what each event means, and what it refuses."""

import pytest
from kernel.fakes import Script
from kernel.values import PAY, READ, TASK, call, opening, reply
from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.budget import Reservation
from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.decide import JudgeCalls, RunTools, decide
from goldseam.kernel.events import (
    Allowed,
    CallJudged,
    Event,
    ModelCallPrepared,
    ModelReplied,
    MustAsk,
    Noted,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from goldseam.kernel.open_calls import OpenCall
from goldseam.kernel.outcome import Stopped
from goldseam.kernel.request import Remark
from goldseam.kernel.state import RunState, begin, evolve

OPENING = opening(Script(tools=(READ, PAY)))
PREPARED = ModelCallPrepared(
    at_s=1.0, call=1, reservation=Reservation(tokens=100), max_output_tokens=50
)
REPLIED = ModelReplied(at_s=2.0, call=1, response=reply(call("read", "a"), call("pay", "b")))


def after(*events: Event) -> RunState:
    state = begin(OPENING)
    for event in events:
        state = evolve(state, event)
    return state


def judged(call_id: str, verdict: Allowed | MustAsk) -> CallJudged:
    return CallJudged(at_s=3.0, call_id=call_id, phase="initial", verdict=verdict)


def test_a_run_starts_once() -> None:
    with pytest.raises(ValueError, match="a run starts once"):
        after(OPENING)


def test_its_time_never_falls() -> None:  # B2.9
    remark = Remark(code="c", text="t")
    times = [5.0, 3.0, float("nan"), 6.0]
    state = begin(OPENING)
    seen = []
    for at_s in times:
        state = evolve(state, Noted(at_s=at_s, remark=remark))
        seen.append(state.elapsed_s)
    assert seen == [5.0, 5.0, 5.0, 6.0]


def test_calls_come_far_step_by_step_and_enter_the_history_together() -> None:
    question = MustAsk(why="it pays", shown="{}")
    state = after(PREPARED, REPLIED, judged("a", Allowed(why="")), judged("b", question))
    assert state.calls == (
        OpenCall(call=call("read", "a"), stage="ready"),
        OpenCall(call=call("pay", "b"), stage="must_ask", question=question),
    )
    result = ToolResult(call_id="a", content="ok")
    done = ToolFinished(at_s=4.0, result=result, seconds=1.5)
    state = evolve(evolve(state, ToolStarted(at_s=3.0, call_id="a")), done)
    assert state.calls[0] == OpenCall(call=call("read", "a"), stage="closed", result=result)
    assert state.ledger.tool_s == 1.5
    assert state.conversation.open_calls == ("a", "b")


def test_the_first_result_of_a_call_is_its_result() -> None:
    results = [ToolResult(call_id="a", content=content) for content in ("first", "second")]
    finished = [ToolFinished(at_s=3.0, result=result, seconds=0.0) for result in results]
    assert after(PREPARED, REPLIED, *finished).calls[0].result == results[0]


def test_an_end_closes_calls_by_how_far_they_had_come() -> None:  # Invariant 1, K2
    state = after(
        PREPARED,
        REPLIED,
        judged("a", Allowed(why="")),
        ToolStarted(at_s=3.0, call_id="a"),
        RunFinished(at_s=4.0, outcome=Stopped(why="enough")),
    )
    assert state.conversation[-2:] == (
        ToolResult(
            call_id="a",
            kind="interrupted",
            content="The run ended while this call ran; it may have partly taken effect.",
        ),
        ToolResult(call_id="b", kind="cut_off", content="The run ended before this call was run."),
    )
    assert state.calls == ()


def test_an_end_holds_what_a_call_under_way_may_cost() -> None:  # Invariant 5, B2.4
    state = after(PREPARED, RunFinished(at_s=2.0, outcome=Stopped(why="enough")))
    assert (state.ledger.reservation, state.ledger.held_tokens) == (None, 100)


@pytest.mark.parametrize(
    "event",
    [
        judged("other", Allowed(why="")),
        ToolStarted(at_s=3.0, call_id="other"),
        ToolFinished(at_s=3.0, result=ToolResult(call_id="other", content=""), seconds=1.0),
    ],
)
def test_an_event_about_a_call_that_is_not_open_is_our_defect(event: Event) -> None:
    with pytest.raises(KeyError, match="other"):
        after(PREPARED, REPLIED, event)


def test_a_step_is_decided_from_the_state_alone() -> None:
    state = after(PREPARED, REPLIED)
    assert decide(state) == decide(after(PREPARED, REPLIED))
    assert decide(state) == JudgeCalls(calls=(call("read", "a"), call("pay", "b")))
    state = evolve(evolve(state, judged("a", Allowed(why=""))), judged("b", Allowed(why="")))
    assert decide(state) == RunTools(calls=(call("read", "a"),))


def test_calls_in_the_middle_of_an_act_must_be_settled_before_a_run_goes_on() -> None:
    state = after(
        PREPARED,
        ModelReplied(at_s=2.0, call=1, response=reply(call("read"))),
        judged("a", Allowed(why="")),
        ToolStarted(at_s=3.0, call_id="a"),
    )
    with pytest.raises(ValueError, match="a resume must settle it first"):
        decide(state)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"history": ()}, "at least one of a user"),  # B4.1
        ({"history": (replace(TASK, role="system"),)}, "at least one of a user"),
        ({"history": (TASK, replace(TASK, role="assistant"))}, "system and user messages"),
        ({"tools": (READ.spec, READ.spec)}, "two tools share a name"),  # B4.2
    ],
)
def test_a_run_that_cannot_go_on_does_not_open(change: dict[str, object], why: str) -> None:
    fields = {name: getattr(OPENING, name) for name in OPENING.__struct_fields__}
    with pytest.raises(ValueError, match=why):
        RunStarted(**{**fields, **change})


@pytest.mark.parametrize("value", [OPENING, PREPARED, REPLIED, begin(OPENING), TASK])
def test_values_are_frozen(value: Struct) -> None:  # Invariant 13
    for name in value.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(value, name, None)
