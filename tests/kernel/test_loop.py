"""Named runs: what a model and the world do, and what the record says of it."""

from itertools import pairwise

import pytest
from kernel.fakes import (
    FOREVER,
    Answer,
    FakeTool,
    Proving,
    Script,
    Turn,
    World,
    answer,
    fold,
    rejected,
)
from kernel.values import LOOK, PAY, READ, TASK, USAGE, WRITE, call, opening, reply, said
from msgspec.structs import replace

from goldseam.kernel.budget import Candidate, Limits
from goldseam.kernel.conversation import (
    Conversation,
    Feedback,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.errors import (
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.events import (
    ApprovalRequested,
    ApprovalResolved,
    BudgetWarning,
    CallJudged,
    ContextCompacted,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    Noted,
    Rejected,
    ReplyRejected,
    RunFinished,
    RunStarted,
    StopRequested,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
    Waited,
)
from goldseam.kernel.outcome import (
    Aborted,
    BudgetStopped,
    Completed,
    ModelFailed,
    Proof,
    Stopped,
)
from goldseam.kernel.ports import Delta, Executed
from goldseam.kernel.request import ModelResponse, TokenUsage
from goldseam.kernel.state import RunState

DONE = Completed(answer="done")


def turns(*gives: ModelResponse | Exception) -> tuple[Turn, ...]:
    return tuple(Turn(given) for given in gives)


def played(script: Script, started: RunStarted | None = None) -> tuple[RunState, World]:
    world = World(script)
    state = world.play(started or opening(script))
    assert world.watch.breaches == []
    assert fold(world.events) == state
    return state, world


def kinds(world: World) -> list[type[Event]]:
    return [type(event) for event in world.events]


def results(state: RunState) -> list[ToolResult]:
    return [item for item in state.conversation if isinstance(item, ToolResult)]


def test_the_record_of_a_run_with_one_call() -> None:
    script = Script(turns=turns(reply(call("read"))), tools=(READ,))
    state, world = played(script)
    assert state.outcome == DONE
    assert kinds(world) == [
        RunStarted,
        ModelChosen,
        ModelCallPrepared,
        ModelReplied,
        CallJudged,
        ToolStarted,
        ToolFinished,
        ModelCallPrepared,
        ModelReplied,
        RunFinished,
    ]
    assert list(state.conversation) == [
        *opening(script).history,
        call("read"),
        ToolResult(call_id="a", content="it ran"),
        said("done"),
    ]
    assert world.heard == [Delta(kind="text", text="…")] * 2


def test_readers_of_one_reply_run_side_by_side_and_results_come_in_call_order() -> None:
    # Invariant 9; the slower call is first, so that it also ends last.
    script = Script(turns=turns(reply(call("look", "a"), call("read", "b"))), tools=(READ, LOOK))
    state, world = played(script)
    (a_start, a_end), (b_start, b_end) = world.watch.spans["a"], world.watch.spans["b"]
    assert a_start <= b_start < b_end < a_end
    recorded = [event.result for event in world.events if isinstance(event, ToolFinished)]
    assert [result.call_id for result in recorded] == ["a", "b"]
    assert results(state) == recorded
    assert state.ledger.tool_s == 3.0


def test_changers_run_one_after_another_in_call_order() -> None:
    calls = [call("write", call_id, f'{{"n":"{call_id}"}}') for call_id in "cab"]
    _, world = played(Script(turns=turns(reply(*calls)), tools=(WRITE,)))
    spans = [world.watch.spans[call_id] for call_id in "cab"]
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_in_a_mixed_reply_nobody_overtakes_a_changer() -> None:
    calls = (call("look", "a"), call("read", "b"), call("write", "c"), call("read", "d"))
    _, world = played(Script(turns=turns(reply(*calls)), tools=(READ, LOOK, WRITE)))
    spans = world.watch.spans
    assert max(spans["a"][1], spans["b"][1]) <= spans["c"][0] < spans["c"][1] <= spans["d"][0]
    assert spans["b"][0] < spans["a"][1]


def test_one_failing_call_never_loses_its_siblings() -> None:  # Invariants 8 and 9, K1, M6
    fail = FakeTool("fail", reads_only=True, kind="failed", content="no such file")
    calls = (
        call("fail", "a"),
        call("unknown", "b"),
        call("read", "c", "null"),
        call("read", "d", '{"n": NaN}'),
        call("read", "e"),
    )
    state, world = played(Script(turns=turns(reply(*calls)), tools=(READ, fail)))
    assert results(state) == [
        ToolResult(call_id="a", kind="failed", content="no such file"),
        ToolResult(call_id="b", kind="denied", content="Not run: no such tool."),
        ToolResult(
            call_id="c", kind="denied", content="Not run: expected a JSON object, got null."
        ),
        ToolResult(call_id="d", kind="denied", content="Not run: NaN is not a JSON number."),
        ToolResult(call_id="e", content="it ran"),
    ]
    assert world.watch.acts_of("tool") == ["a", "e"]
    assert state.outcome == DONE


def test_a_tool_that_raises_is_our_bug_yet_its_siblings_are_on_record() -> None:  # Invariant 8
    defect = RuntimeError("a defect")
    bug = FakeTool("bug", reads_only=True, seconds=0.5, defect=defect)
    world = World(
        script := Script(turns=turns(reply(call("bug", "a"), call("look", "b"))), tools=(bug, LOOK))
    )
    with pytest.raises(RuntimeError) as raised:
        world.play(opening(script))
    assert raised.value is defect  # B4.4
    state = fold(world.events)
    assert state.outcome == Aborted(why="RuntimeError: a defect")
    assert [result.kind for result in results(state)] == ["interrupted", "done"]


def test_a_repeated_id_is_given_a_new_one_and_the_run_goes_on() -> None:  # M7
    script = Script(turns=turns(reply(call("read")), reply(call("read"))), tools=(READ,))
    state, world = played(script)
    assert [result.call_id for result in results(state)] == ["a", "a-4"]
    assert Noted in kinds(world)
    assert state.outcome == DONE


def test_the_same_call_twice_in_a_reply_runs_once() -> None:
    state, world = played(Script(turns=turns(reply(call("write"), call("write"))), tools=(WRITE,)))
    assert world.watch.acts_of("tool") == ["a"]
    assert len(results(state)) == 1


def test_two_edits_of_one_file_in_one_reply_both_land() -> None:  # K3
    edits = (call("write", "a", '{"old":"x"}'), call("write", "b", '{"old":"y"}'))
    state, world = played(Script(turns=turns(reply(*edits)), tools=(WRITE,)))
    assert world.watch.spans["a"][1] <= world.watch.spans["b"][0]
    assert [result.kind for result in results(state)] == ["done", "done"]


def test_each_word_that_a_tool_kept_back_is_in_the_record_and_not_in_the_context() -> None:
    _, world = played(Script(turns=turns(reply(call("read"))), tools=(READ,)))
    finished = next(event for event in world.events if isinstance(event, ToolFinished))
    assert (finished.full_text, finished.result.content) == ("all of it", "it ran")


def test_seals_go_back_as_received() -> None:  # Invariant 12
    seal = Seal(origin="one", name="signature", value="\x00é=")
    sealed = ToolCall(
        call_id="a", tool_name="read", arguments=call("read").arguments, seals=(seal,)
    )
    thought = Reasoning(text="hm", seals=(seal,))
    _, world = played(Script(turns=turns(reply(thought, sealed)), tools=(READ,)))
    assert world.model.seen[1][2:4] == (thought, sealed)


# Policy and approval.


def asked(world: World) -> list[tuple[str, bool]]:
    return [(e.call_id, e.granted) for e in world.events if isinstance(e, ApprovalResolved)]


def test_a_proposal_is_no_permission() -> None:  # Invariant 4, B3.4
    rm = FakeTool("rm", verdict="reject")
    state, world = played(Script(turns=turns(reply(call("rm"))), tools=(rm,)))
    assert world.watch.acts_of("tool") == []
    assert [result.kind for result in results(state)] == ["denied"]


def test_what_the_person_grants_is_judged_again_and_runs_once() -> None:  # B3.5, B3.6
    script = Script(turns=turns(reply(call("pay"))), tools=(PAY,), answers=(Answer(granted=True),))
    state, world = played(script)
    phases = [event.phase for event in world.events if isinstance(event, CallJudged)]
    assert (phases, asked(world)) == (["initial", "approval"], [("a", True)])
    assert world.watch.acts_of("tool") == ["a"]
    assert state.outcome == DONE


def test_a_new_denial_wins_over_an_approval() -> None:  # B3.6
    tool = FakeTool("pay", verdict="ask_then_reject")
    script = Script(turns=turns(reply(call("pay"))), tools=(tool,), answers=(Answer(granted=True),))
    state, world = played(script)
    assert world.watch.acts_of("tool") == []
    assert [result.content for result in results(state)] == ["Not run: the rules forbid it."]


def test_what_the_person_refuses_is_an_observation_and_siblings_run() -> None:  # B3.7
    script = Script(
        turns=turns(reply(call("pay", "a"), call("read", "b"), call("pay", "c", '{"n":1}'))),
        tools=(PAY, READ),
        answers=(Answer(granted=False), Answer(granted=True)),
    )
    state, world = played(script)
    assert [result.kind for result in results(state)] == ["denied", "done", "done"]
    assert results(state)[0].content == (
        "Not allowed: the person said so. The call was not run; reach the goal another way."
    )
    assert asked(world) == [("a", False), ("c", True)]


def test_no_answer_is_no_and_leaves_nothing_pending() -> None:  # M13, B2.10
    script = Script(turns=turns(reply(call("pay"))), tools=(PAY,))
    state, world = played(script, opening(script, limits=Limits(wall_s=60.0)))
    assert asked(world) == [("a", False)]
    assert [result.kind for result in results(state)] == ["denied"]
    assert isinstance(state.outcome, BudgetStopped)
    assert world.fake_clock.now == 60.0


# Failures and feedback.


def failure(*, retryable: bool = True, retry_after_s: float | None = None) -> ModelProviderError:
    return ModelProviderError(
        "the provider is busy",
        kind="overloaded",
        retryable=retryable,
        consumption=NoConsumption(),
        retry_after_s=retry_after_s,
    )


@pytest.mark.parametrize("named", [None, 0.0, -1.0, float("nan")])
def test_a_retryable_failure_is_waited_out_and_costs_nothing(named: float | None) -> None:
    # How long is its adapter's to say; the kernel has no patience of its own.
    script = Script(turns=turns(failure(), failure(retry_after_s=named), failure(retry_after_s=7)))
    state, world = played(script)
    assert state.outcome == DONE
    assert [e.seconds for e in world.events if isinstance(e, Waited)] == [7.0]
    assert (state.ledger.tokens, state.ledger.model_calls) == (20, 4)


def test_useless_replies_end_the_run_whatever_fails_between_them() -> None:  # B2.7
    invalid = InvalidModelOutputError("no JSON", excerpt="", usage=USAGE)
    script = Script(turns=turns(failure(), invalid, failure(), invalid, failure(), invalid))
    state, world = played(script, opening(script, limits=Limits(invalid_retries=2)))
    assert isinstance(state.outcome, ModelFailed)
    assert len(world.model.requests) == 6


def test_a_usable_reply_gives_the_quota_back() -> None:
    invalid = InvalidModelOutputError("no JSON", excerpt="", usage=USAGE)
    turn = turns(failure(), invalid, reply(call("read")))
    script = Script(turns=turn * 3, tools=(READ,))
    state, _ = played(script, opening(script, limits=Limits(invalid_retries=1)))
    assert state.outcome == DONE
    assert state.failure is None


def test_another_model_starts_with_a_clean_slate_and_all_that_was_said() -> None:  # issue 4
    invalid = InvalidModelOutputError("no JSON", excerpt="Sure!", usage=USAGE)
    one, two = Candidate(name="one"), Candidate(name="two")
    script = Script(
        turns=turns(reply(call("read")), invalid, reply(said("done"))),
        tools=(READ,),
        candidates=(one, one, two),
    )
    state, world = played(script, opening(script, limits=Limits(invalid_retries=0)))
    chosen = [e for e in world.events if isinstance(e, ModelChosen)]
    assert [(e.candidate, e.why) for e in chosen] == [(one, "its turn"), (two, "its turn")]
    assert [need.useless_replies for need in world.needs] == [0, 0, 1]
    assert world.model.seen[-1] == world.model.seen[1]
    assert state.outcome == DONE


def test_a_wait_before_a_retry_is_no_longer_than_the_run_has() -> None:
    script = Script(turns=turns(failure(retry_after_s=50.0)))
    state, world = played(script, opening(script, limits=Limits(wall_s=20.0)))
    assert (stopped_at(state), world.fake_clock.now) == ("wall_s", 20.0)


def test_what_cannot_be_retried_ends_the_run_at_once() -> None:
    state, world = played(Script(turns=turns(failure(retryable=False))))
    assert state.outcome == ModelFailed(kind="overloaded", text="the provider is busy")
    assert len(world.model.requests) == 1


def test_a_withheld_reply_is_a_refusal_that_cost_what_it_cost() -> None:
    state, _ = played(Script(turns=turns(reply(said("x"), stop="filter"))))
    assert state.outcome == ModelFailed(
        kind="refused", text="the provider's filter withheld the reply"
    )
    assert state.ledger.spent_tokens == 20


def test_feedback_quotes_the_model_and_is_gone_after_a_usable_reply() -> None:  # M10, B2.8
    invalid = InvalidModelOutputError("no JSON object", excerpt="Sure! {", usage=USAGE)
    cut = reply(call("write"), stop="length")
    script = Script(turns=turns(invalid, cut, reply(call("read"))), tools=(READ, WRITE))
    state, world = played(script)
    told = [[i.text for i in h if isinstance(i, Feedback)] for h in world.model.seen]
    first = (
        "Your reply could not be used: no JSON object. Nothing in it was run.\nYou wrote:\nSure! {"
    )
    second = (
        "Your reply reached the output limit and was cut off; nothing in it was run. "
        "Send a shorter one: fewer calls at once, smaller edits, less text."
    )
    assert told == [[], [first], [first, second], []]
    assert world.watch.acts_of("tool") == ["a"]
    assert state.ledger.spent_tokens == 80  # B1.9: usage survives a bad reply


def test_replies_that_never_keep_the_contract_end_the_run() -> None:
    invalid = InvalidModelOutputError("no JSON object", excerpt="", usage=USAGE)
    script = Script(turns=turns(*[invalid] * 4))
    state, world = played(script)
    assert state.outcome == ModelFailed(
        kind=None, text="4 replies in a row broke the contract; the last: no JSON object"
    )
    rejections = [event.feedback for event in world.events if isinstance(event, ReplyRejected)]
    assert (
        rejections == ["Your reply could not be used: no JSON object. Nothing in it was run."] * 4
    )


def test_a_paused_reply_is_gone_on_with() -> None:
    script = Script(turns=turns(reply(said("I think on"), stop="pause")))
    state, world = played(script)
    assert state.outcome == DONE
    assert world.model.seen[1][-1] == said("I think on")


def test_a_defect_of_an_adapter_is_recorded_and_raised_as_it_is() -> None:  # B4.4
    defect = KeyError("choices")
    world = World(script := Script(turns=turns(defect)))
    with pytest.raises(KeyError) as raised:
        world.play(opening(script))
    assert raised.value is defect
    state = fold(world.events)
    assert state.outcome == Aborted(why="KeyError: 'choices'")
    assert state.ledger.held_tokens > 0


# Budgets and deadlines.


def stopped_at(state: RunState) -> str | None:
    return state.outcome.limit if isinstance(state.outcome, BudgetStopped) else None


def test_a_reservation_that_does_not_fit_stops_before_the_call() -> None:  # M9
    state, world = played(script := Script(), opening(script, limits=Limits(total_tokens=100)))
    assert (stopped_at(state), world.model.requests) == ("total_tokens", [])


def test_a_reply_that_overshoots_runs_nothing_more() -> None:  # M9
    dear = reply(call("write"), usage=TokenUsage(input=10, output=50_000))
    script = Script(turns=turns(dear), tools=(WRITE,))
    state, world = played(script, opening(script, limits=Limits(total_tokens=40_000)))
    assert (stopped_at(state), world.watch.acts_of("tool")) == ("total_tokens", [])
    assert results(state) == [
        ToolResult(call_id="a", kind="cut_off", content="The run ended before this call was run.")
    ]


def test_an_answer_that_overshoots_is_still_proved() -> None:
    dear = reply(said("mended"), usage=TokenUsage(input=10, output=50_000))
    script = Script(turns=turns(dear))
    state, world = played(
        script, opening(script, limits=Limits(total_tokens=40_000), verifies=True)
    )
    proof = Proof(proven=True, text="all tests pass")
    assert state.outcome == Completed(answer="mended", proof=proof)
    assert world.watch.acts_of("verifier") == ["mended"]


def test_the_end_by_budget_has_a_summary_and_no_further_call() -> None:  # Invariant 15
    looking = reply(said("I look at a.py."), call("read"))
    script = Script(turns=turns(looking), tools=(READ,))
    state, world = played(script, opening(script, limits=Limits(model_calls=1)))
    assert state.outcome == BudgetStopped(
        limit="model_calls",
        summary="Stopped at the limit model_calls after 1 model calls, 1 action steps and 20 "
        "tokens.\nThe model said last: I look at a.py.",
    )
    assert len(world.model.requests) == 1


def test_each_limit_is_warned_of_once_at_four_fifths() -> None:
    script = Script(turns=turns(*[reply(call("read", f"c{n}")) for n in range(20)]), tools=(READ,))
    limits = Limits(model_calls=10, action_steps=10, tool_s=10, wall_s=10)
    state, world = played(script, opening(script, limits=limits))
    warned = {e.limit: e.share for e in world.events if isinstance(e, BudgetWarning)}
    assert warned == {"model_calls": 0.8, "action_steps": 0.8, "tool_s": 0.8, "wall_s": 0.8}
    assert kinds(world).count(BudgetWarning) == 4
    assert stopped_at(state) == "wall_s"


@pytest.mark.parametrize(
    ("wall_s", "entered"),
    [
        (1.0, []),  # before the choice
        (2.0, []),  # before reserve
        (3.0, []),  # after the intent was written
        (4.0, ["model"]),  # after the model returned
        (5.0, ["model"]),  # after policy was written
        (6.0, ["model"]),  # after the question was written
        (7.5, ["model", "approver"]),  # after the answer was written
        (8.5, ["model", "approver"]),  # after it was judged again
        (9.5, ["model", "approver"]),  # after the tool was announced
        (10.0, ["model", "approver", "tool"]),
        (11.0, ["model", "approver", "tool"]),  # after its result was written
    ],
)
def test_the_deadline_is_kept_at_each_boundary(wall_s: float, entered: list[str]) -> None:
    # B2.10, invariant 7. Each append takes a second: time that is lost while recording counts.
    script = Script(
        turns=turns(reply(call("pay"))),
        tools=(replace(PAY, seconds=0.5),),
        answers=(Answer(granted=True, seconds=0.5),),
        append_s=1.0,
    )
    state, world = played(script, opening(script, limits=Limits(wall_s=wall_s)))
    assert [who for who, _, _ in world.watch.entered] == entered
    assert stopped_at(state) == "wall_s"


def test_a_model_that_never_answers_is_cut_and_its_cost_is_held() -> None:
    script = Script(turns=(Turn(answer("late"), FOREVER),))
    state, world = played(script, opening(script, limits=Limits(wall_s=30)))
    failed = next(event for event in world.events if isinstance(event, ModelCallFailed))
    assert (failed.kind, failed.consumption) == ("timeout", UnknownConsumption())
    assert stopped_at(state) == "wall_s"
    assert state.ledger.held_tokens > 8192


def test_a_tool_that_never_ends_is_interrupted_and_its_time_counted() -> None:
    hang = FakeTool("hang", seconds=FOREVER)
    script = Script(turns=turns(reply(call("hang"))), tools=(hang,))
    state, _ = played(script, opening(script, limits=Limits(tool_s=5)))
    assert results(state) == [
        ToolResult(
            call_id="a",
            kind="interrupted",
            content="Interrupted: the time ran out. It may have partly taken effect.",
        )
    ]
    assert (stopped_at(state), state.ledger.tool_s) == ("tool_s", 5.0)


def test_calls_side_by_side_share_what_tool_time_is_left() -> None:
    hang = FakeTool("hang", reads_only=True, seconds=FOREVER)
    calls = (call("hang", "a"), call("read", "b"), call("hang", "c", '{"n":1}'))
    script = Script(turns=turns(reply(*calls)), tools=(hang, READ))
    state, world = played(script, opening(script, limits=Limits(tool_s=6)))
    assert [result.kind for result in results(state)] == ["interrupted", "done", "interrupted"]
    assert (state.ledger.tool_s, world.fake_clock.now) == (5.0, 2.0)


# Context.


def test_old_outputs_leave_the_context_and_the_run_goes_on() -> None:  # Invariants 10 and 11
    long = FakeTool("long", reads_only=True, content="x" * 3000)
    script = Script(turns=turns(*[reply(call("long", f"c{n}")) for n in range(12)]), tools=(long,))
    limits = Limits(context_tokens=12_000, max_output_tokens=1000)
    state, world = played(script, opening(script, limits=limits))
    compacted = [event for event in world.events if isinstance(event, ContextCompacted)]
    assert state.outcome == DONE
    assert len(compacted) == 1
    assert compacted[0].weight_after < 0.8 * compacted[0].weight_before
    assert Conversation(state.conversation) == state.conversation
    assert TASK in state.conversation
    kept = [event.result.content for event in world.events if isinstance(event, ToolFinished)]
    assert kept == [long.content] * 12
    contents = [result.content for result in results(state)]
    assert contents[0] == (
        "[3000 characters of this output were dropped to make room; "
        "make the call again to see them]"
    )
    assert contents[-6:] == [long.content] * 6


def test_a_context_that_cannot_be_made_smaller_stops_the_run() -> None:
    long = FakeTool("long", content="x" * 9000)
    script = Script(turns=turns(reply(call("long"))), tools=(long,))
    limits = Limits(context_tokens=3000, max_output_tokens=1000)
    state, world = played(script, opening(script, limits=limits))
    assert (stopped_at(state), len(world.model.requests)) == ("context", 1)


def test_a_full_context_with_nothing_to_drop_is_still_asked_while_it_has_room() -> None:
    long = FakeTool("long", content="x" * 6000)
    script = Script(turns=turns(reply(call("long"))), tools=(long,))
    limits = Limits(context_tokens=3200, max_output_tokens=1000)
    state, _ = played(script, opening(script, limits=limits))
    assert state.outcome == DONE


# Verification.

FAILED = Proof(proven=False, text="1 test fails")


def test_a_failed_proof_is_shown_to_the_model_and_the_run_goes_on() -> None:
    script = Script(
        turns=turns(answer("mended"), answer("mended now")),
        provings=(Proving(FAILED, go_on=True),),
    )
    state, world = played(script, opening(script, verifies=True))
    proof = Proof(proven=True, text="all tests pass")
    assert state.outcome == Completed(answer="mended now", proof=proof)
    assert world.model.seen[1][-1] == Message(role="user", text="1 test fails")
    assert kinds(world).count(VerificationStarted) == 2


@pytest.mark.parametrize(("go_on", "most", "proofs"), [(False, 5, 1), (True, 2, 2)])
def test_an_unproved_answer_is_accepted_where_the_verifier_or_the_limit_says_so(
    *, go_on: bool, most: int, proofs: int
) -> None:
    script = Script(provings=(Proving(FAILED, go_on=go_on),) * 9)
    started = opening(script, limits=Limits(verifications=most), verifies=True)
    state, world = played(script, started)
    assert state.outcome == Completed(answer="done", proof=FAILED)
    assert kinds(world).count(VerificationFinished) == proofs


def test_a_proof_that_takes_too_long_is_no_proof() -> None:
    script = Script(provings=(Proving(FAILED, seconds=FOREVER),))
    state, _ = played(script, opening(script, limits=Limits(tool_s=9), verifies=True))
    assert state.outcome == Completed(
        answer="done", proof=Proof(proven=False, text="Not proved: the time ran out.")
    )
    assert state.ledger.tool_s == 9.0


def test_a_proof_that_was_made_counts_though_the_time_has_run_out_since() -> None:
    script = Script(provings=(Proving(FAILED),), append_s=1.0)
    state, _ = played(script, opening(script, limits=Limits(wall_s=6.5), verifies=True))
    assert state.elapsed_s > 6.5
    assert state.outcome == Completed(answer="done", proof=FAILED)


def test_a_run_that_stops_says_what_the_last_proof_said() -> None:
    script = Script(provings=(Proving(FAILED, go_on=True),))
    state, _ = played(script, opening(script, limits=Limits(model_calls=1), verifies=True))
    assert isinstance(state.outcome, BudgetStopped)
    assert state.outcome.summary.endswith("The last proof said: 1 test fails")


# Stops.


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_wish_to_stop_is_on_record_and_ends_the_run_at_the_next_wait(moment: int) -> None:
    script = Script(
        turns=turns(reply(call("read")), *[failure(retry_after_s=1.0)] * 3),
        tools=(replace(READ, seconds=0.0),),
        stop_at=moment,
    )
    state, world = played(script)
    assert state.outcome == Stopped(why="enough")
    assert kinds(world)[-2:] == [StopRequested, RunFinished]


def test_a_wish_to_stop_interrupts_the_call_that_runs_and_cuts_off_the_others() -> None:
    calls = (call("write", "a"), call("write", "b", '{"n":1}'))
    state, world = played(Script(turns=turns(reply(*calls)), tools=(WRITE,), stop_at=2))
    assert state.outcome == Stopped(why="enough")
    assert [result.kind for result in results(state)] == ["interrupted", "cut_off"]
    assert world.watch.acts_of("tool") == ["a"]


def test_taps_hear_each_event_after_it_is_on_record() -> None:
    heard: list[Event] = []
    script = Script(turns=turns(reply(call("read"))), tools=(READ,))
    world = World(script, taps=(heard.append, lambda e: order.append(world.events[-1] is e)))
    order: list[bool] = []
    world.play(opening(script))
    assert heard == world.events
    assert all(order)


def test_a_tap_that_fails_ends_the_run_on_record() -> None:  # B3.8
    def broken(event: Event) -> None:
        if isinstance(event, ModelReplied):
            raise OSError("the terminal is gone")

    world = World(script := Script(turns=turns(reply(call("read"))), tools=(READ,)), taps=(broken,))
    with pytest.raises(OSError, match="the terminal is gone"):
        world.play(opening(script))
    assert world.watch.acts_of("tool") == []
    assert isinstance(fold(world.events).outcome, Aborted)


def test_a_tap_that_fails_at_the_end_leaves_the_end_as_it_is() -> None:
    def broken(event: Event) -> None:
        if isinstance(event, RunFinished):
            raise OSError("the terminal is gone")

    world = World(script := Script(), taps=(broken,))
    with pytest.raises(OSError, match="the terminal is gone"):
        world.play(opening(script))
    assert kinds(world).count(RunFinished) == 1
    assert fold(world.events).outcome == DONE


def test_the_question_put_to_the_person_is_on_record_word_for_word() -> None:
    script = Script(
        turns=turns(reply(call("pay", "a", '{"n":1}'))),
        tools=(PAY,),
        answers=(Answer(granted=True),),
    )
    _, world = played(script)
    asked_for = next(event for event in world.events if isinstance(event, ApprovalRequested))
    assert (asked_for.call_id, asked_for.shown) == ("a", '{"n":1}')


def test_a_verdict_for_another_call_is_our_defect_and_never_enters_the_record() -> None:
    class Confused:
        specs = (READ.spec,)

        def judge(self, call: ToolCall) -> Rejected:
            return rejected(replace(call, call_id="other"), "no")

        async def execute(self, call: ToolCall) -> Executed:
            raise NotImplementedError

    world = World(script := Script(turns=turns(reply(call("read"))), tools=(READ,)))
    world.ports = replace(world.ports, toolbox=Confused())
    with pytest.raises(KeyError):
        world.play(opening(script))
    state = fold(world.events)
    assert state.outcome == Aborted(why="KeyError: 'other'")
    assert [result.kind for result in results(state)] == ["cut_off"]
