"""Do each step through its port: the intent on record before the act, what came of it after."""

from typing import assert_never

from goldseam.kernel.admission import Unusable, Usable, Withheld, admit
from goldseam.kernel.compaction import without_outputs
from goldseam.kernel.conversation import ToolCall, ToolResult
from goldseam.kernel.decide import (
    AskApproval,
    CallModel,
    Compact,
    JudgeCalls,
    RunTools,
    Verify,
    Wait,
)
from goldseam.kernel.errors import (
    ActualConsumption,
    FailureKind,
    InvalidModelOutputError,
    ModelProviderError,
    UnknownConsumption,
)
from goldseam.kernel.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallJudged,
    ContextCompacted,
    ModelCallFailed,
    ModelCallPrepared,
    ModelReplied,
    Noted,
    ReplyRejected,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
    Waited,
)
from goldseam.kernel.outcome import Proof
from goldseam.kernel.ports import Act, CutShort, Executed, Ports
from goldseam.kernel.record import Record
from goldseam.kernel.request import ModelRequest, ModelResponse
from goldseam.kernel.state import RunState


async def call_model(step: CallModel, record: Record, ports: Ports) -> None:
    """Ask the model once and record what came: a reply, a useless reply, or a failure."""
    prepared = ModelCallPrepared(
        at_s=record.now(),
        call=step.call,
        reservation=step.reservation,
        max_output_tokens=step.max_output_tokens,
    )
    await record.write(prepared, durable=True)
    request = request_for(record.state, step.max_output_tokens)
    replies: list[ModelResponse] = []

    async def ask() -> None:
        replies.append(await ports.model.complete(request, ports.listener))

    try:
        cut = await ports.tasks.guard(ask, limit_s=_time_left(record))
    except ModelProviderError as error:
        await _record_failure(error, step, record)
    except InvalidModelOutputError as error:
        await _record_invalid(error, step, record)
    else:
        if cut is None:
            await _record_reply(replies[0], step, record)
        else:
            await _record_failure(_cut_call(cut), step, record)


def request_for(state: RunState, max_output_tokens: int) -> ModelRequest:
    """Return what the model is asked in `state`; the state alone decides it, byte for byte."""
    history = state.conversation.extend(state.feedback) if state.feedback else state.conversation
    return ModelRequest(
        history=history, tools=state.opening.tools, max_output_tokens=max_output_tokens
    )


async def _record_reply(response: ModelResponse, step: CallModel, record: Record) -> None:
    admitted = admit(response, record.state.conversation)
    match admitted:
        case Usable(response=usable, remarks=remarks):
            for remark in remarks:
                await record.write(Noted(at_s=record.now(), remark=remark))
            await record.write(ModelReplied(at_s=record.now(), call=step.call, response=usable))
        case Unusable(why=why, feedback=feedback):
            rejected = ReplyRejected(
                at_s=record.now(),
                call=step.call,
                why=why,
                excerpt="",
                feedback=feedback,
                usage=response.usage,
            )
            await record.write(rejected)
        case Withheld(why=why):
            consumption = ActualConsumption(usage=response.usage)
            error = ModelProviderError(why, kind="refused", consumption=consumption)
            await _record_failure(error, step, record)
        case _:
            assert_never(admitted)


async def _record_invalid(error: InvalidModelOutputError, step: CallModel, record: Record) -> None:
    """Tell the model what was wrong, in its own words where it helps (M10)."""
    quoted = f"\nYou wrote:\n{error.excerpt}" if error.excerpt else ""
    rejected = ReplyRejected(
        at_s=record.now(),
        call=step.call,
        why=error.why,
        excerpt=error.excerpt,
        feedback=f"Your reply could not be used: {error.why}. Nothing in it was run.{quoted}",
        usage=error.usage,
    )
    await record.write(rejected)


async def _record_failure(error: ModelProviderError, step: CallModel, record: Record) -> None:
    failed = ModelCallFailed(
        at_s=record.now(),
        call=step.call,
        kind=error.kind,
        text=error.text,
        retryable=error.retryable,
        consumption=error.consumption,
        wait_s=_wait_after(error, record),
    )
    await record.write(failed)


def _wait_after(error: ModelProviderError, record: Record) -> float:
    """What the provider or its adapter names, if it names a time; never more than the run has."""
    named = error.retry_after_s or 0.0
    return min(named, record.state.opening.limits.wall_s) if error.retryable and named > 0 else 0.0


def _cut_call(cut: CutShort) -> ModelProviderError:
    """The reply is discarded whole; what it cost is unknown."""
    kind: FailureKind = "cancelled" if cut.by == "stop" else "timeout"
    return ModelProviderError(cut.why, kind=kind, retryable=True, consumption=UnknownConsumption())


async def judge(step: JudgeCalls, record: Record, ports: Ports) -> None:
    """Let policy speak on each call."""
    for call in step.calls:
        judged = CallJudged(
            at_s=record.now(),
            call_id=call.call_id,
            phase="approval" if step.again else "initial",
            verdict=ports.toolbox.judge(call),
        )
        await record.write(judged)


async def ask_approval(step: AskApproval, record: Record, ports: Ports) -> None:
    """Ask the person about one call; no answer is no."""
    call, question = step.call, step.question
    requested = ApprovalRequested(
        at_s=record.now(), call_id=call.call_id, why=question.why, shown=question.shown
    )
    await record.write(requested, durable=True)
    answers: list[tuple[bool, str]] = []

    async def ask() -> None:
        answers.append(await ports.approver.ask(call, question))

    cut = await ports.tasks.guard(ask, limit_s=_time_left(record))
    granted, why = answers[0] if cut is None else (False, cut.why)
    resolved = ApprovalResolved(at_s=record.now(), call_id=call.call_id, granted=granted, why=why)
    await record.write(resolved, durable=True)


async def run_tools(step: RunTools, record: Record, ports: Ports) -> None:
    """Run calls side by side and record their results in call order; none loses its siblings."""
    for call in step.calls:
        await record.write(
            ToolStarted(at_s=record.now(), call_id=call.call_id), durable=call is step.calls[-1]
        )
    done: dict[str, tuple[Executed, float]] = {}
    started = record.now()

    def running(call: ToolCall) -> Act:
        async def act() -> None:
            executed = await ports.toolbox.execute(call)
            done[call.call_id] = (executed, record.now() - started)

        return act

    async def all_of_them() -> None:
        await ports.tasks.together([running(call) for call in step.calls])

    try:
        cut = await ports.tasks.guard(
            all_of_them, limit_s=_tool_time_left(record) / len(step.calls)
        )
    finally:
        # Before anything is recorded: writing is not the tools' time.
        seconds = record.now() - started
        finished = [call for call in step.calls if call.call_id in done]
        await _record_finished(finished, done, record)
    if cut is not None:
        await _record_interrupted(cut, seconds, record)


async def _record_finished(
    calls: list[ToolCall], done: dict[str, tuple[Executed, float]], record: Record
) -> None:
    for call in calls:
        executed, seconds = done[call.call_id]
        finished = ToolFinished(
            at_s=record.now(),
            result=executed.result,
            seconds=seconds,
            full_text=executed.full_text,
        )
        await record.write(finished, durable=call is calls[-1])


async def _record_interrupted(cut: CutShort, seconds: float, record: Record) -> None:
    running = [entry.call for entry in record.state.calls if entry.stage == "running"]
    for call in running:
        content = f"Interrupted: {cut.why}. It may have partly taken effect."
        result = ToolResult(call_id=call.call_id, kind="interrupted", content=content)
        await record.write(ToolFinished(at_s=record.now(), result=result, seconds=seconds))


async def verify(step: Verify, record: Record, ports: Ports) -> None:
    """Have the answer proved."""
    await record.write(VerificationStarted(at_s=record.now(), answer=step.answer), durable=True)
    started = record.now()
    proofs: list[tuple[Proof, bool]] = []

    async def prove() -> None:
        proofs.append(await ports.verifier.verify(step.answer))

    cut = await ports.tasks.guard(prove, limit_s=_tool_time_left(record))
    if cut is None:
        proof, go_on = proofs[0]
    else:
        proof, go_on = Proof(proven=False, text=f"Not proved: {cut.why}."), False
    now = record.now()
    await record.write(
        VerificationFinished(at_s=now, proof=proof, go_on=go_on, seconds=now - started),
        durable=True,
    )


async def wait(step: Wait, record: Record, ports: Ports) -> None:
    """Let time pass, no longer than the run has."""
    seconds = min(step.seconds, _time_left(record))
    await ports.tasks.guard(lambda: ports.clock.sleep(seconds), limit_s=seconds + 1)
    await record.write(Waited(at_s=record.now(), seconds=seconds))


async def compact(step: Compact, record: Record) -> None:
    """Record which outputs leave the context."""
    before = record.state.conversation
    compacted = ContextCompacted(
        at_s=record.now(),
        call_ids=step.call_ids,
        weight_before=before.weight,
        weight_after=without_outputs(before, frozenset(step.call_ids)).weight,
    )
    await record.write(compacted)


def _time_left(record: Record) -> float:
    return max(record.state.opening.limits.wall_s - record.now(), 0.0)


def _tool_time_left(record: Record) -> float:
    tool_s = record.state.opening.limits.tool_s - record.state.ledger.tool_s
    return max(min(tool_s, _time_left(record)), 0.0)
