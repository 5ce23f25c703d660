"""What the model is told of a run that goes on stands where a conversation may hold it."""

from kernel.fakes import Answer, FakeTool, Script, Turn, World, answer, fold
from kernel.test_run_laws import play
from kernel.values import READ, WRITE, call, opening, reply, said
from msgspec.structs import replace

from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import Message, ToolResult
from goldseam.kernel.events import (
    ApprovalRequested,
    CallJudged,
    Event,
    ModelReplied,
    Resumed,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
)
from goldseam.kernel.outcome import Proof
from goldseam.kernel.state import evolve

TOLD = Resumed(at_s=9.0, limits=Limits(), why="a person", told="Files were lost.")
WORD = Message(role="user", text="Files were lost.")


def until(events: list[Event], kind: type[Event]) -> list[Event]:
    """Return the events up to the first of `kind`."""
    return events[: 1 + next(n for n, event in enumerate(events) if isinstance(event, kind))]


def test_the_model_is_told_at_once_where_no_call_is_open() -> None:
    script = Script(turns=(Turn(answer("done")),), tools=(READ,))
    events = until(play(script, opening(script)).events, ModelReplied)
    assert fold(events).answer == "done"
    state = evolve(fold(events), TOLD)
    assert list(state.conversation)[-2:] == [said("done"), WORD]
    assert (state.answer, state.proof, state.untold) == (None, None, ())


def test_an_answer_stays_where_there_is_nothing_to_tell() -> None:
    script = Script(turns=(Turn(answer("done")),), tools=(READ,))
    events = until(play(script, opening(script)).events, ModelReplied)
    assert evolve(fold(events), replace(TOLD, told="")).answer == "done"


def test_a_proof_that_was_made_is_void_once_the_model_is_told_something() -> None:
    script = Script(turns=(Turn(answer("done")),), tools=(READ,))
    events = until(play(script, opening(script, verifies=True)).events, VerificationFinished)
    assert isinstance(fold(events).proof, Proof)
    assert evolve(fold(events), TOLD).proof is None


def test_the_model_is_told_once_the_open_calls_have_their_results() -> None:
    script = Script(turns=(Turn(reply(call("write", "a"))),), tools=(READ, WRITE))
    events = until(play(script, opening(script)).events, ToolStarted)
    state = evolve(fold(events), TOLD)
    assert (state.untold, WORD in list(state.conversation)) == ((WORD,), False)
    result = ToolResult(call_id="a", content="unknown", kind="unknown")
    state = evolve(state, ToolFinished(at_s=9.0, result=result, seconds=0.0))
    assert list(state.conversation)[-2:] == [result, WORD]
    assert state.untold == ()


def test_policy_speaks_again_on_what_did_not_begin_and_a_person_is_asked_again() -> None:
    pay = FakeTool("pay", verdict="ask")
    answers = (Answer(granted=True), Answer(granted=True))
    script = Script(turns=(Turn(reply(call("pay", "a"))),), tools=(pay,), answers=answers)
    events = until(play(script, opening(script)).events, ToolStarted)[:-1]
    world = World(replace(script, turns=(Turn(answer("done")),)))
    state = world.go_on(events, Limits(), tell=lambda _: "")
    after = world.events[len(events) :]
    assert [type(event) for event in after[1:3]] == [CallJudged, ApprovalRequested]
    assert world.watch.acts_of("tool") == ["a"]
    assert state.untold == ()
