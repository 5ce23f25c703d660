"""Where a run stands: a fold over its events. Pure; the one place that says what an event means.

`evolve` costs the same at any length of the run, except where a compaction rewrites the context.
"""

from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.admission import answer_of, calls_of
from goldseam.kernel.budget import Candidate, Ledger, LimitName, Price
from goldseam.kernel.compaction import without_outputs
from goldseam.kernel.conversation import Conversation, Feedback, Message, ToolResult
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
    ModelChosen,
    ModelReplied,
    MustAsk,
    Noted,
    Rejected,
    ReplyRejected,
    Resumed,
    RunFinished,
    RunStarted,
    StopRequested,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
    Waited,
)
from goldseam.kernel.open_calls import (
    OpenCall,
    OpenCalls,
    call_named,
    denied,
    results_of,
    taken_up,
    unfinished,
    with_call,
    with_result,
)
from goldseam.kernel.outcome import Outcome, Proof


class RunState(Struct, frozen=True, kw_only=True):
    """All that the next step is decided from."""

    opening: RunStarted
    elapsed_s: float
    conversation: Conversation
    ledger: Ledger = Ledger()
    feedback: tuple[Feedback, ...] = ()
    calls: OpenCalls = ()
    candidate: Candidate | None = None
    failure: ModelCallFailed | None = None
    wait_s: float = 0.0
    untold: tuple[Message, ...] = ()
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
        return self.candidate.price if self.candidate else None

    @property
    def window(self) -> int:
        """How many tokens the model holds, its reply among them."""
        known = self.candidate.context_tokens if self.candidate else None
        return known or self.opening.limits.context_tokens

    @property
    def max_output_tokens(self) -> int:
        """How long the next reply may be."""
        limit = self.opening.limits.max_output_tokens
        own = self.candidate.max_output_tokens if self.candidate else None
        return min(own or limit, limit)


def begin(opening: RunStarted) -> RunState:
    """Return the state of a run that has just started."""
    return RunState(
        opening=opening, elapsed_s=opening.at_s, conversation=Conversation(opening.history)
    )


def evolve(state: RunState, event: Event) -> RunState:
    """Return the state after `event`."""
    return _evolved(replace(state, elapsed_s=max(state.elapsed_s, event.at_s)), event)


_ModelEvent: TypeAlias = (
    ModelChosen | ModelCallPrepared | ModelReplied | ReplyRejected | ModelCallFailed | Waited
)
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
    if isinstance(event, RunStarted):
        raise ValueError("a run starts once")  # noqa: TRY004 - of the right type, at a wrong time
    if isinstance(event, Resumed):
        return _gone_on(state, event)
    if isinstance(event, _ModelEvent):
        return _after_model_event(state, event)
    if isinstance(event, _CallEvent):
        return _after_call_event(state, event)
    return _after_run_event(state, event)


def _after_model_event(state: RunState, event: _ModelEvent) -> RunState:
    match event:
        case ModelChosen(candidate=candidate):
            # What another model did wrong is not this one's to be told of.
            return replace(state, candidate=candidate, feedback=(), invalid_replies=0)
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
    return replace(state, ledger=ledger, failure=event, wait_s=event.wait_s)


def _after_call_event(state: RunState, event: _CallEvent) -> RunState:
    match event:
        case CallJudged():
            return _after_verdict(state, event)
        case ApprovalRequested():
            return state
        case ApprovalResolved(call_id=call_id, granted=True):
            return _with(state, replace(call_named(state.calls, call_id), stage="granted"))
        case ApprovalResolved(call_id=call_id, why=why):
            return _closed(state, denied(call_id, why))
        case ToolStarted(call_id=call_id):
            return _with(state, replace(call_named(state.calls, call_id), stage="running"))
        case ToolFinished(result=result, seconds=seconds):
            ledger = replace(state.ledger, tool_s=state.ledger.tool_s + seconds)
            return _closed(replace(state, ledger=ledger), result)
        case _:
            assert_never(event)


def _after_verdict(state: RunState, event: CallJudged) -> RunState:
    entry = call_named(state.calls, event.call_id)
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


def _gone_on(state: RunState, event: Resumed) -> RunState:
    """Open a run anew; what was asked of a model is held."""
    told = tuple(Message(role="user", text=text) for text in (event.told,) if text)
    opened = replace(
        state,
        opening=replace(state.opening, limits=event.limits),
        ledger=state.ledger.hold(),
        calls=taken_up(state.calls, state.opening.tools),
        failure=None,
        wait_s=0.0,
        invalid_replies=0,
        untold=(*state.untold, *told),
        warned=frozenset(),
        stop_why=None,
        outcome=None,
    )
    if told:
        opened = replace(opened, answer=None, proof=None)
    return opened if opened.calls else _told(opened)


def _after_proof(state: RunState, event: VerificationFinished) -> RunState:
    ledger = replace(state.ledger, tool_s=state.ledger.tool_s + event.seconds)
    count = state.verifications + 1
    state = replace(state, ledger=ledger, verifications=count, proof=event.proof)
    if not event.go_on or count >= state.opening.limits.verifications:
        return state
    told = state.conversation.append(Message(role="user", text=event.proof.text))
    return replace(state, conversation=told, answer=None)


def _with(state: RunState, changed: OpenCall) -> RunState:
    return replace(state, calls=with_call(state.calls, changed))


def _closed(state: RunState, result: ToolResult) -> RunState:
    """Give a call its result; once all of the reply have one, they enter the history in order."""
    calls = with_result(state.calls, result)
    results = results_of(calls)
    if results is None:
        return replace(state, calls=calls)
    return _told(replace(state, calls=(), conversation=state.conversation.extend(results)))


def _told(state: RunState) -> RunState:
    """Tell the model what it could not be told while calls were open."""
    return replace(state, conversation=state.conversation.extend(state.untold), untold=())


def _all_closed(state: RunState) -> RunState:
    """The end of a run closes what is open: running calls are interrupted, the others never ran."""
    for entry in state.calls:
        if entry.result is None:
            state = _closed(state, unfinished(entry))
    return replace(state, ledger=state.ledger.hold())
