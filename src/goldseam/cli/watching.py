"""Let a run go with a person watching: shown as it goes, stopped by signals, its result last."""

import signal
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

import anyio
from anyio.abc import TaskStatus

from goldseam.app.broken import RunBrokenError
from goldseam.app.sitting import Watch
from goldseam.app.tasks import AnyioTasks
from goldseam.cli.interrupts import heeded_signals
from goldseam.cli.screen import JsonScreen, Screen, TextScreen
from goldseam.cli.terminal import TerminalApprover
from goldseam.repair.result import ExitCode, Result
from goldseam.tools.approval import HeadlessApprover

if TYPE_CHECKING:
    from goldseam.kernel.ports import Approver

Job: TypeAlias = Callable[[Watch], Awaitable[Result]]


def run_watched(job: Job, *, as_json: bool, is_attended: bool) -> int:
    """Do `job`, show its result, and return the exit code.

    Raises:
        GoldseamError: it could not begin, or could not go on; `cli.endings` tells of it.
    """
    screen: Screen = JsonScreen(sys.stdout) if as_json else TextScreen(sys.stderr)
    approver: Approver = TerminalApprover() if is_attended else HeadlessApprover()

    def watch_with(tasks: AnyioTasks) -> Watch:
        return Watch(
            say=screen.say, tap=screen.tap, listener=screen.listen, approver=approver, tasks=tasks
        )

    try:
        result = anyio.run(_until_told_to_stop, job, watch_with)
    except RunBrokenError as broken:
        result = broken.result
        if result.exit_code == ExitCode.DEFECT:
            traceback.print_exception(broken.__cause__)
    screen.show_result(result, sys.stdout)
    return result.exit_code


async def _until_told_to_stop(job: Job, watch_with: Callable[[AnyioTasks], Watch]) -> Result:
    tasks = AnyioTasks()
    errors: list[Exception] = []
    async with anyio.create_task_group() as group:
        await group.start(_heed_signals, tasks)
        try:
            return await job(watch_with(tasks))
        except Exception as error:  # noqa: BLE001 - carried out of the group unwrapped, below
            errors.append(error)
        finally:
            group.cancel_scope.cancel()
    raise errors[0]


async def _heed_signals(
    tasks: AnyioTasks, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """The first signal stops the run with a whole record; the second ends the process at once."""
    with anyio.open_signal_receiver(*heeded_signals()) as signals:
        task_status.started()
        async for number in signals:
            if tasks.stop_reason is not None:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)
            tasks.stop(signal.Signals(number).name)
