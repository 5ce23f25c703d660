"""Laws of every run, held against random scripts of the world."""

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

from hypothesis import given, settings
from hypothesis import strategies as st
from kernel.fakes import NativeCancelError, Script, World, fold
from kernel.scripts import limits, scripts
from kernel.values import opening
from msgspec import Struct

from goldseam.kernel.budget import Price, Reservation
from goldseam.kernel.conversation import (
    Conversation,
    Feedback,
    HistoryItem,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.errors import ActualConsumption, JournalError, NoConsumption
from goldseam.kernel.events import (
    BudgetWarning,
    ContextCompacted,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    ReplyRejected,
    RunFinished,
    RunStarted,
)
from goldseam.kernel.outcome import Aborted, Stopped
from goldseam.kernel.request import TokenUsage
from goldseam.kernel.state import RunState, begin, evolve


class Played(Struct, frozen=True):
    world: World
    started: RunStarted
    state: RunState | None
    """What the run returned; `None` where it raised."""
    raised: BaseException | None

    @property
    def events(self) -> list[Event]:
        return self.world.events


def play(script: Script, started: RunStarted) -> Played:
    world = World(script)
    try:
        return Played(world, started, world.play(started), None)
    except (JournalError, RuntimeError, NativeCancelError) as error:
        return Played(world, started, None, error)


def runs() -> st.SearchStrategy[Played]:
    return st.builds(
        lambda script, within, verifies: play(
            script, opening(script, limits=within, verifies=verifies)
        ),
        scripts(),
        limits(),
        st.booleans(),
    )


def states(events: Sequence[Event]) -> list[RunState]:
    """Return the state after each event."""
    assert isinstance(events[0], RunStarted)
    found = [begin(events[0])]
    for event in events[1:]:
        found.append(evolve(found[-1], event))
    return found


def pairs_hold(history: Sequence[HistoryItem]) -> bool:
    """Whether each call has exactly one result, in call order, before the next reply begins."""
    open_calls: list[str] = []
    seen: set[str] = set()
    for item in history:
        match item:
            case ToolCall(call_id=call_id):
                if call_id in seen:
                    return False
                seen.add(call_id)
                open_calls.append(call_id)
            case ToolResult(call_id=call_id):
                if not open_calls or open_calls.pop(0) != call_id:
                    return False
            case _:
                pass
    return not open_calls


@settings(max_examples=400)
@given(run=runs())
def test_every_law_of_a_run_holds(run: Played) -> None:
    it_ends_on_record(run)
    the_record_is_the_state(run)
    each_call_has_one_result(run)
    each_reservation_is_closed(run)
    no_limit_is_overrun(run)
    intents_come_first(run)
    feedback_is_gone_after_a_usable_reply(run)
    requests_extend_each_other(run)
    nothing_handed_out_has_changed(run)


def it_ends_on_record(run: Played) -> None:
    finished = [number for number, e in enumerate(run.events) if isinstance(e, RunFinished)]
    if run.world.journal.failed:
        assert isinstance(run.raised, JournalError)
        assert finished == []
        assert run.world.journal.appends_after_failure == 0
        return
    assert finished == [len(run.events) - 1]
    outcome = fold(run.events).outcome
    match run.raised:
        case None:
            assert not isinstance(outcome, Aborted)
        case NativeCancelError():
            assert outcome == Stopped(why="cancelled (NativeCancelError)")
        case defect:
            assert outcome == Aborted(why=f"RuntimeError: {defect}")
    calls = sum(isinstance(item, ToolCall) for item in fold(run.events).conversation)
    asked = len(run.world.model.requests)
    assert len(run.events) <= 20 + 8 * asked + 8 * calls


def the_record_is_the_state(run: Played) -> None:
    if run.state is not None:
        assert fold(run.events) == run.state
    times = [state.elapsed_s for state in states(run.events)]
    assert times == sorted(times)


def each_call_has_one_result(run: Played) -> None:
    end = fold(run.events)
    if run.world.journal.failed:
        end = evolve(end, RunFinished(at_s=0.0, outcome=Stopped(why="repaired")))
    assert pairs_hold(end.conversation)
    assert not end.conversation.open_calls
    assert not end.calls
    kinds = {item.call_id: item.kind for item in end.conversation if isinstance(item, ToolResult)}
    ran = run.world.watch.acts_of("tool")
    assert len(ran) == len(set(ran)), "a call ran twice"
    assert all(kinds[call_id] in {"done", "failed", "interrupted"} for call_id in ran)
    assert all(
        kind in {"denied", "cut_off", "interrupted"}
        for call_id, kind in kinds.items()
        if call_id not in ran
    )


def each_reservation_is_closed(run: Played) -> None:
    end = fold(run.events)
    if run.world.journal.failed:
        end = evolve(end, RunFinished(at_s=0.0, outcome=Stopped(why="repaired")))
    spent, held, calls = tokens_by_hand(run.events)
    ledger = end.ledger
    assert ledger.reservation is None
    assert (ledger.spent_tokens, ledger.spent_money) == (spent.tokens, spent.money)
    assert (ledger.held_tokens, ledger.held_money) == (held.tokens, held.money)
    assert ledger.model_calls == calls


def tokens_by_hand(events: Sequence[Event]) -> tuple[Reservation, Reservation, int]:
    """Count spent and held from the events alone, by the rows B2.3 and B2.4."""
    spent, held, calls = Reservation(tokens=0), Reservation(tokens=0), 0
    reserved: Reservation | None = None
    price: Price | None = None
    for event in events:
        if isinstance(event, ModelChosen):
            price = event.candidate.price
        elif isinstance(event, ModelCallPrepared):
            assert reserved is None
            reserved, calls = event.reservation, calls + 1
        elif isinstance(event, ModelReplied | ReplyRejected | ModelCallFailed):
            assert reserved is not None
            usage = reported_by(event)
            if usage is None or usage.total is None:
                held = plus(held, reserved)
            else:
                money = price.of(usage) if price else 0
                spent = plus(spent, Reservation(tokens=usage.total, money=money))
            reserved = None
    return spent, plus(held, reserved or Reservation(tokens=0)), calls


def reported_by(event: ModelReplied | ReplyRejected | ModelCallFailed) -> TokenUsage | None:
    match event:
        case ModelReplied(response=response):
            return response.usage
        case ReplyRejected(usage=usage):
            return usage
        case ModelCallFailed(consumption=NoConsumption()):
            return TokenUsage(input=0, output=0)
        case ModelCallFailed(consumption=ActualConsumption(usage=usage)):
            return usage
        case ModelCallFailed():
            return None
        case _:
            assert_never(event)


def plus(one: Reservation, other: Reservation) -> Reservation:
    return Reservation(tokens=one.tokens + other.tokens, money=one.money + other.money)


def no_limit_is_overrun(run: Played) -> None:
    limits = run.started.limits
    reserved_at = [state for state in states(run.events) if state.ledger.reservation is not None]
    assert all(state.ledger.tokens <= limits.total_tokens for state in reserved_at)
    assert all(state.ledger.action_steps < limits.action_steps for state in reserved_at)
    assert all(limits.money is None or state.ledger.money <= limits.money for state in reserved_at)
    ledger = fold(run.events).ledger
    assert ledger.model_calls <= limits.model_calls
    assert ledger.tool_s <= limits.tool_s + 1e-6
    assert all(at_s < limits.wall_s for _, _, at_s in run.world.watch.entered)
    assert all(ended <= limits.wall_s + 1e-6 for _, ended in run.world.watch.spans.values())
    warned = [event.limit for event in run.events if isinstance(event, BudgetWarning)]
    assert len(warned) == len(set(warned))


def intents_come_first(run: Played) -> None:
    assert run.world.watch.breaches == []


def feedback_is_gone_after_a_usable_reply(run: Played) -> None:
    fresh = 0
    asked = 0
    for event in run.events:
        match event:
            case ModelCallPrepared() if asked < len(run.world.model.seen):
                feedback = [i for i in run.world.model.seen[asked] if isinstance(i, Feedback)]
                assert len(feedback) == fresh
                asked += 1
            case ReplyRejected():
                fresh += 1
            case ModelReplied() | ModelChosen():
                fresh = 0
            case _:
                pass


def requests_extend_each_other(run: Played) -> None:
    compacted = any(isinstance(event, ContextCompacted) for event in run.events)
    seen = [[i for i in h if not isinstance(i, Feedback)] for h in run.world.model.seen]
    for earlier, later in pairwise(seen):
        if not compacted:
            assert later[: len(earlier)] == earlier
        assert len(later) >= len(earlier)


def nothing_handed_out_has_changed(run: Played) -> None:
    requests = run.world.model.requests
    assert [tuple(request.history) for request in requests] == run.world.model.seen
    assert run.events[0] == run.started
    assert {request.tools for request in requests} <= {run.started.tools}
    again = [pairs_hold(history) for history in run.world.model.seen]
    assert all(again)
    assert Conversation(run.world.model.seen[-1]) if run.world.model.seen else True
