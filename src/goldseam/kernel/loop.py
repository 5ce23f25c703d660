"""Decide, record, act, record: the whole of a run. The file to read first.

`decide` says what comes next; here it is announced in the record, done through a port, and its
outcome recorded. Nothing else happens in a run.
"""

from collections.abc import Callable
from typing import TypeAlias, assert_never

from goldseam.kernel import acts
from goldseam.kernel.conversation import ToolCall, ToolResult
from goldseam.kernel.decide import (
    AskApproval,
    CallModel,
    Compact,
    Finish,
    JudgeCalls,
    RunTools,
    Step,
    Verify,
    Wait,
    Warn,
    decide,
    next_need,
)
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import (
    BudgetWarning,
    ModelChosen,
    Resumed,
    RunFinished,
    RunStarted,
    StopRequested,
    ToolFinished,
)
from goldseam.kernel.outcome import Aborted, Outcome, Stopped
from goldseam.kernel.ports import Ports
from goldseam.kernel.record import Record
from goldseam.kernel.state import RunState

Tell: TypeAlias = Callable[[ToolCall], str]


async def run(opening: RunStarted, ports: Ports) -> RunState:
    """Run from `opening` until there is an outcome, and return the last state.

    Raises:
        JournalError: the record could not be written; nothing was done after that.
        BaseException: a defect of ours, or a cancelling from outside; recorded, then raised.
    """
    record = Record(ports)
    await record.open(opening)
    return await _run_on(record, ports)


async def resume(state: RunState, ports: Ports, resumed: Resumed, *, tell: Tell) -> RunState:
    """Go on from `state`, the fold of a record, until there is an outcome; see `run`.

    A call that may have changed something when the run broke off is not made again: `tell` says
    what is known of it, for the model.
    """
    record = Record(ports, state)
    await record.write(resumed, durable=True)
    for entry in record.state.calls:
        if entry.stage == "running":
            result = ToolResult(
                call_id=entry.call.call_id, kind="unknown", content=tell(entry.call)
            )
            await record.write(ToolFinished(at_s=record.now(), result=result, seconds=0.0))
    return await _run_on(record, ports)


async def _run_on(record: Record, ports: Ports) -> RunState:
    try:
        while record.state.outcome is None:
            await _heed_stop(record, ports)
            await _heed_choice(record, ports)
            await _perform(decide(record.state), record, ports)
    except JournalError:
        raise
    except Exception as defect:
        await _end(record, Aborted(why=f"{type(defect).__name__}: {defect}"))
        raise
    except BaseException as cancelled:
        await _end(record, Stopped(why=f"cancelled ({type(cancelled).__name__})"))
        raise
    return record.state


async def _heed_stop(record: Record, ports: Ports) -> None:
    why = ports.tasks.stop_reason
    if why is not None and record.state.stop_why is None:
        await record.write(StopRequested(at_s=record.now(), why=why))


async def _heed_choice(record: Record, ports: Ports) -> None:
    need = next_need(record.state)
    if need is None:
        return
    choice = ports.choose(need)
    if choice.candidate != record.state.candidate:
        await record.write(
            ModelChosen(at_s=record.now(), candidate=choice.candidate, why=choice.why)
        )


async def _perform(step: Step, record: Record, ports: Ports) -> None:
    match step:
        case CallModel():
            await acts.call_model(step, record, ports)
        case RunTools():
            await acts.run_tools(step, record, ports)
        case Verify():
            await acts.verify(step, record, ports)
        case JudgeCalls():
            await acts.judge(step, record, ports)
        case AskApproval():
            await acts.ask_approval(step, record, ports)
        case Wait() | Compact() | Warn() | Finish():
            await _perform_bookkeeping(step, record, ports)
        case _:
            assert_never(step)


async def _perform_bookkeeping(
    step: Wait | Compact | Warn | Finish, record: Record, ports: Ports
) -> None:
    match step:
        case Wait():
            await acts.wait(step, record, ports)
        case Compact():
            await acts.compact(step, record)
        case Warn(limit=limit, share=share):
            await record.write(BudgetWarning(at_s=record.now(), limit=limit, share=share))
        case Finish(outcome=outcome):
            await _end(record, outcome)
        case _:
            assert_never(step)


async def _end(record: Record, outcome: Outcome) -> None:
    if record.state.outcome is None:
        await record.write(RunFinished(at_s=record.now(), outcome=outcome), durable=True)
