"""What comes next in a run. Pure: the same state always gives the same step.

The order of the questions is the policy of the kernel: a wish to stop first, then limits that are
passed, then what is open in the reply under way, then the answer, then the next model call.
"""

from typing import TypeAlias

from msgspec import Struct

from goldseam.kernel.budget import (
    LimitName,
    Reservation,
    does_not_fit,
    estimate_tokens,
    overshot,
    reached,
    reservation_for,
    used_shares,
)
from goldseam.kernel.compaction import outputs_to_drop
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.events import MustAsk
from goldseam.kernel.open_calls import CallStage, OpenCall
from goldseam.kernel.outcome import BudgetStopped, Completed, ModelFailed, Outcome, Stopped
from goldseam.kernel.ports import Need
from goldseam.kernel.state import RunState
from goldseam.kernel.summary import summary_of

WARN_AT = 0.8
COMPACT_AT = 0.85
"""The share of the context window at which old outputs leave it."""


class Warn(Struct, frozen=True, kw_only=True):
    """Say that most of a limit is used."""

    limit: LimitName
    share: float


class Wait(Struct, frozen=True, kw_only=True):
    """Let time pass before the model is asked again."""

    seconds: float


class CallModel(Struct, frozen=True, kw_only=True):
    """Ask the model."""

    call: int
    reservation: Reservation
    max_output_tokens: int


class JudgeCalls(Struct, frozen=True, kw_only=True):
    """Let policy speak on these calls; `again` after a person agreed."""

    calls: tuple[ToolCall, ...]
    again: bool = False


class AskApproval(Struct, frozen=True, kw_only=True):
    """Let a person speak."""

    call: ToolCall
    question: MustAsk


class RunTools(Struct, frozen=True, kw_only=True):
    """Run these calls side by side: several that only read, or one that changes something."""

    calls: tuple[ToolCall, ...]


class Compact(Struct, frozen=True, kw_only=True):
    """Drop the outputs of these calls from the context."""

    call_ids: tuple[str, ...]


class Verify(Struct, frozen=True, kw_only=True):
    """Prove the answer."""

    answer: str


class Finish(Struct, frozen=True, kw_only=True):
    """End the run."""

    outcome: Outcome


Step: TypeAlias = (
    Warn | Wait | CallModel | JudgeCalls | AskApproval | RunTools | Compact | Verify | Finish
)


def decide(state: RunState) -> Step:
    """Return the next step of a run that has no outcome yet."""
    if state.stop_why is not None:
        return Finish(outcome=Stopped(why=state.stop_why))
    if warning := _warning(state):
        return warning
    passed = overshot(state.ledger, state.opening.limits, elapsed_s=state.elapsed_s)
    if passed is not None and not _may_still_end_well(state, passed):
        return _stop_at(state, passed)
    if state.calls:
        return _next_for_calls(state)
    if state.answer is not None:
        return _next_for_answer(state, state.answer)
    return _next_for_model(state)


def next_need(state: RunState) -> Need | None:
    """Return what the next reply is wanted for, `None` where none is wanted now."""
    failed = state.failure is not None and not state.failure.retryable
    is_busy = bool(state.calls) or state.answer is not None or state.wait_s > 0
    if is_busy or failed or state.stop_why is not None:
        return None
    return Need(
        context_tokens=_context_tokens(state),
        useless_replies=state.invalid_replies,
        refuted=state.verifications,
    )


def _may_still_end_well(state: RunState, passed: LimitName) -> bool:
    """An answer that has come is still proved, unless time is what ran out; a proof made counts."""
    has_time = passed not in {"wall_s", "tool_s"}
    return state.answer is not None and (has_time or state.proof is not None)


def _warning(state: RunState) -> Warn | None:
    shares = used_shares(state.ledger, state.opening.limits, elapsed_s=state.elapsed_s)
    for limit, share in shares.items():
        if share >= WARN_AT and limit not in state.warned:
            return Warn(limit=limit, share=share)
    return None


def _stop_at(state: RunState, limit: LimitName) -> Finish:
    return Finish(outcome=BudgetStopped(limit=limit, summary=summary_of(state, limit)))


def _next_for_calls(state: RunState) -> Step:
    if proposed := _in_stage(state, "proposed"):
        return JudgeCalls(calls=tuple(entry.call for entry in proposed))
    if granted := _in_stage(state, "granted"):
        return JudgeCalls(calls=tuple(entry.call for entry in granted), again=True)
    for entry in state.calls:
        if entry.stage == "must_ask" and entry.question is not None:
            return AskApproval(call=entry.call, question=entry.question)
    return RunTools(calls=_next_batch(state))


def _in_stage(state: RunState, stage: CallStage) -> tuple[OpenCall, ...]:
    return tuple(entry for entry in state.calls if entry.stage == stage)


def _next_batch(state: RunState) -> tuple[ToolCall, ...]:
    """The next calls in call order: up to the first that changes something, or that one alone."""
    ready = [entry.call for entry in _in_stage(state, "ready")]
    if not ready:
        raise ValueError("a call is in the middle of an act; a resume must settle it first")
    readers = {spec.name for spec in state.opening.tools if spec.reads_only}
    batch: list[ToolCall] = []
    for call in ready:
        if call.tool_name not in readers:
            return tuple(batch) or (call,)
        batch.append(call)
    return tuple(batch)


def _next_for_answer(state: RunState, answer: str) -> Step:
    if state.opening.verifies and state.proof is None:
        return Verify(answer=answer)
    return Finish(outcome=Completed(answer=answer, proof=state.proof))


def _next_for_model(state: RunState) -> Step:
    limits = state.opening.limits
    if failed := _model_failed(state):
        return Finish(outcome=failed)
    limit = reached(state.ledger, limits, elapsed_s=state.elapsed_s)
    if limit is not None:
        return _stop_at(state, limit)
    if state.wait_s > 0:
        return Wait(seconds=state.wait_s)
    return _call_or_compact(state)


def _model_failed(state: RunState) -> ModelFailed | None:
    limits = state.opening.limits
    failure = state.failure
    if failure is not None and not failure.retryable:
        return ModelFailed(kind=failure.kind, text=failure.text)
    if state.invalid_replies > limits.invalid_retries:
        return ModelFailed(
            kind=None,
            text=f"{state.invalid_replies} replies in a row broke the contract; "
            f"the last: {state.last_rejection}",
        )
    return None


def _call_or_compact(state: RunState) -> Step:
    limits = state.opening.limits
    tokens = _context_tokens(state)
    room = state.window - state.max_output_tokens
    if tokens > COMPACT_AT * room:
        call_ids = outputs_to_drop(state.conversation)
        if call_ids:
            return Compact(call_ids=call_ids)
        if tokens > room:
            return _stop_at(state, "context")
    reservation = reservation_for(
        tokens, max_output_tokens=state.max_output_tokens, price=state.price
    )
    unfit = does_not_fit(state.ledger, limits, reservation=reservation)
    if unfit is not None:
        return _stop_at(state, unfit)
    return CallModel(
        call=state.ledger.model_calls + 1,
        reservation=reservation,
        max_output_tokens=state.max_output_tokens,
    )


def _context_tokens(state: RunState) -> int:
    tools = sum(len(spec.description) + len(spec.parameters) for spec in state.opening.tools)
    feedback = sum(len(item.text) for item in state.feedback)
    return estimate_tokens(state.conversation.weight + tools + feedback)
