"""Where a run stands: a fold over its events. Pure; the one place that says what an event means.

`evolve` costs the same at any length of the run, except where a compaction rewrites the context.
"""

from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.admission import answer_of, calls_of
from goldseam.kernel.budget import Ledger, LimitName, Price
from goldseam.kernel.compaction import without_outputs
from goldseam.kernel.conversation import Conversation, Feedback, Message, ToolCall, ToolResult
from goldseam.kernel.errors import ActualConsumption, NoConsumption, UnknownConsumption
from goldseam.kernel.events import (
    Allowed,
    ApprovalRequested,
    ApprovalResolved,
    BudgetWarning,
    CallJudged,
    ContextCompacted,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelReplied,
    MustAsk,
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
from goldseam.kernel.outcome import Outcome, Proof

CallStage: TypeAlias = Literal["proposed", "must_ask", "granted", "ready", "running", "closed"]


class OpenCall(Struct, frozen=True, kw_only=True):
    """A call of the reply under way and how far it has come."""

    call: ToolCall
    stage: CallStage = "proposed"
    question: MustAsk | None = None
    result: ToolResult | None = None


class RunState(Struct, frozen=True, kw_only=True):
    """All that the next step is decided from."""

    opening: RunStarted
    elapsed_s: float
    conversation: Conversation
    ledger: Ledger = Ledger()
    feedback: tuple[Feedback, ...] = ()
    calls: tuple[OpenCall, ...] = ()
    failure: ModelCallFailed | None = None
    failures: int = 0
    wait_s: float = 0.0
    invalid_replies: int = 0
    last_rejection: str = ""
    answer: str | None = None
    proof: Proof | None = None
    verifications: int = 0
    warned: frozenset[LimitName] = frozenset()
    stop_why: str | None = None
    outcome: Outcome | None = None

    @property
    def price(self) -> Price | None:
        """What the model costs, where that is known."""
        return self.opening.price


def begin(opening: RunStarted) -> RunState:
    """Return the state of a run that has just started."""
    return RunState(
        opening=opening, elapsed_s=opening.at_s, conversation=Conversation(opening.history)
    )


def evolve(state: RunState, event: Event) -> RunState:
    """Return the state after `event`."""
    return _evolved(replace(state, elapsed_s=max(state.elapsed_s, event.at_s)), event)


_ModelEvent: TypeAlias = ModelCallPrepared | ModelReplied | ReplyRejected | ModelCallFailed | Waited
_CallEvent: TypeAlias = (
    CallJudged | ApprovalRequested | ApprovalResolved | ToolStarted | ToolFinished
)
_RunEvent: TypeAlias = (
    ContextCompacted
    | VerificationStarted
    | VerificationFinished
    | BudgetWarning
    | Noted
    | StopRequested
    | RunFinished
)


def _evolved(state: RunState, event: Event) -> RunState:
    match event:
        case RunStarted():
            raise ValueError("a run starts once")
        case ModelCallPrepared() | ModelReplied() | ReplyRejected() | ModelCallFailed() | Waited():
            return _after_model_event(state, event)
        case (
            CallJudged() | ApprovalRequested() | ApprovalResolved() | ToolStarted() | ToolFinished()
        ):
            return _after_call_event(state, event)
        case _:
            return _after_run_event(state, event)


def _after_model_event(state: RunState, event: _ModelEvent) -> RunState:
    match event:
        case ModelCallPrepared(reservation=reservation):
            return replace(state, ledger=state.ledger.reserve(reservation))
        case ModelReplied():
            return _after_reply(state, event)
        case ReplyRejected(feedback=text, usage=usage):
            return replace(
                state,
                ledger=state.ledger.settle(usage, state.price),
                invalid_replies=state.invalid_replies + 1,
                last_rejection=event.why,
                feedback=(*state.feedback, Feedback(text=text)),
            )
        case ModelCallFailed():
            return _after_failure(state, event)
        case Waited():
            return replace(state, wait_s=0.0)
        case _:
            assert_never(event)


def _after_reply(state: RunState, event: ModelReplied) -> RunState:
    """Feedback leaves the context here: a usable reply has come."""
    response = event.response
    calls = calls_of(response)
    ledger = state.ledger.settle(response.usage, state.price)
    paused = response.stop == "pause"
    return replace(
        state,
        ledger=replace(ledger, action_steps=ledger.action_steps + max(len(calls), 1)),
        conversation=state.conversation.extend(response.items),
        feedback=(),
        calls=tuple(OpenCall(call=call) for call in calls),
        failure=None,
        failures=0,
        invalid_replies=0,
        answer=None if calls or paused else answer_of(response),
        proof=None,
    )


def _after_failure(state: RunState, event: ModelCallFailed) -> RunState:
    match event.consumption:
        case NoConsumption():
            ledger = state.ledger.release()
        case ActualConsumption(usage=usage):
            ledger = state.ledger.settle(usage, state.price)
        case UnknownConsumption():
            ledger = state.ledger.hold()
        case _:
            assert_never(event.consumption)
    return replace(
        state, ledger=ledger, failure=event, failures=state.failures + 1, wait_s=event.wait_s
    )


def _after_call_event(state: RunState, event: _CallEvent) -> RunState:
    match event:
        case CallJudged():
            return _after_verdict(state, event)
        case ApprovalRequested():
            return state
        case ApprovalResolved(call_id=call_id, granted=True):
            return _with(state, replace(_call(state, call_id), stage="granted"))
        case ApprovalResolved(call_id=call_id, why=why):
            return _closed(state, _denied(call_id, why))
        case ToolStarted(call_id=call_id):
            return _with(state, replace(_call(state, call_id), stage="running"))
        case ToolFinished(result=result, seconds=seconds):
            ledger = replace(state.ledger, tool_s=state.ledger.tool_s + seconds)
            return _closed(replace(state, ledger=ledger), result)
        case _:
            assert_never(event)


def _after_verdict(state: RunState, event: CallJudged) -> RunState:
    entry = _call(state, event.call_id)
    match event.verdict:
        case MustAsk() as question if event.phase == "initial":
            return _with(state, replace(entry, stage="must_ask", question=question))
        case Allowed() | MustAsk():
            return _with(state, replace(entry, stage="ready"))
        case Rejected(result=result):
            return _closed(state, result)
        case _:
            assert_never(event.verdict)


def _after_run_event(state: RunState, event: _RunEvent) -> RunState:
    match event:
        case ContextCompacted(call_ids=call_ids):
            smaller = without_outputs(state.conversation, frozenset(call_ids))
            return replace(state, conversation=smaller)
        case VerificationFinished():
            return _after_proof(state, event)
        case BudgetWarning(limit=limit):
            return replace(state, warned=state.warned | {limit})
        case StopRequested(why=why):
            return replace(state, stop_why=why)
        case RunFinished(outcome=outcome):
            return replace(_all_closed(state), outcome=outcome)
        case VerificationStarted() | Noted():
            return state
        case _:
            assert_never(event)


def _after_proof(state: RunState, event: VerificationFinished) -> RunState:
    ledger = replace(state.ledger, tool_s=state.ledger.tool_s + event.seconds)
    count = state.verifications + 1
    state = replace(state, ledger=ledger, verifications=count, proof=event.proof)
    if not event.go_on or count >= state.opening.limits.verifications:
        return state
    told = state.conversation.append(Message(role="user", text=event.proof.text))
    return replace(state, conversation=told, answer=None)


def _call(state: RunState, call_id: str) -> OpenCall:
    """Return the call of the reply under way; a `KeyError` is our defect."""
    return {entry.call.call_id: entry for entry in state.calls}[call_id]


def _with(state: RunState, changed: OpenCall) -> RunState:
    calls = (changed if entry.call == changed.call else entry for entry in state.calls)
    return replace(state, calls=tuple(calls))


def _closed(state: RunState, result: ToolResult) -> RunState:
    """Give a call its result; once all of the reply have one, they enter the history in order."""
    entry = _call(state, result.call_id)
    state = _with(state, replace(entry, stage="closed", result=entry.result or result))
    results = [entry.result for entry in state.calls if entry.result is not None]
    if len(results) < len(state.calls):
        return state
    return replace(state, calls=(), conversation=state.conversation.extend(results))


def _all_closed(state: RunState) -> RunState:
    """The end of a run closes what is open: running calls are interrupted, the others never ran."""
    for entry in state.calls:
        if entry.result is None:
            state = _closed(state, _unfinished(entry))
    ledger = state.ledger.hold() if state.ledger.reservation else state.ledger
    return replace(state, ledger=ledger)


def _unfinished(entry: OpenCall) -> ToolResult:
    call_id = entry.call.call_id
    if entry.stage == "running":
        return ToolResult(
            call_id=call_id,
            kind="interrupted",
            content="The run ended while this call ran; it may have partly taken effect.",
        )
    return ToolResult(
        call_id=call_id, kind="cut_off", content="The run ended before this call was run."
    )


def _denied(call_id: str, why: str) -> ToolResult:
    return ToolResult(
        call_id=call_id,
        kind="denied",
        content=f"Not allowed: {why}. The call was not run; reach the goal another way.",
    )
