"""What `goldseam fix` does: words and settings become a request, and a person is kept informed."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec
from anyio.abc import TaskStatus
from msgspec import Struct
from msgspec.structs import asdict, replace

from goldseam.app.broken import RunBrokenError
from goldseam.app.fix import FixRequest, Watch, fix
from goldseam.app.settings import Settings, hosts_of, read_settings
from goldseam.app.tasks import AnyioTasks
from goldseam.app.world import World, this_machine
from goldseam.cli.interrupts import heeded_signals
from goldseam.cli.screen import JsonScreen, Screen, TextScreen
from goldseam.cli.terminal import TerminalApprover
from goldseam.kernel.budget import Limits
from goldseam.kernel.errors import UsageError
from goldseam.repair.result import ExitCode, Result
from goldseam.repair.task import read_issue
from goldseam.tools.approval import HeadlessApprover

if TYPE_CHECKING:
    from goldseam.kernel.ports import Approver

_LONGEST_TEST_RUN_S = 1e9


class FixWords(Struct, frozen=True, kw_only=True):
    """The words of one `goldseam fix`, as they were said; `None` where nothing was."""

    issue: str
    repo: str
    model: str | None
    test: str | None
    test_limit: float | None
    out: str | None
    include_dirty: bool
    require_sandbox: bool
    as_json: bool
    model_calls: int | None
    action_steps: int | None
    total_tokens: int | None
    max_output_tokens: int | None
    wall_s: float | None
    tool_s: float | None


def fix_words_of(words: Mapping[str, object]) -> FixWords:
    """Return the words that click has read."""
    return msgspec.convert(words, FixWords)


def run_fix(words: FixWords) -> int:
    """Mend the issue, tell of it, and return the exit code.

    Raises:
        GoldseamError: it could not begin, or could not go on; `cli.endings` tells of it.
    """
    attended = not words.as_json and sys.stdin.isatty() and words.issue != "-"
    world = this_machine(read_stdin=_read_stdin, is_attended=attended)
    request = request_of(words, read_settings(world.environ), world)
    screen: Screen = JsonScreen(sys.stdout) if words.as_json else TextScreen(sys.stderr)
    approver: Approver = TerminalApprover() if attended else HeadlessApprover()

    def watch_with(tasks: AnyioTasks) -> Watch:
        return Watch(
            say=screen.say, tap=screen.tap, listener=screen.listen, approver=approver, tasks=tasks
        )

    try:
        result = anyio.run(_fix_until_told_to_stop, request, world, watch_with)
    except RunBrokenError as broken:
        result = broken.result
        if result.exit_code == ExitCode.DEFECT:
            traceback.print_exception(broken.__cause__)
    screen.show_result(result, sys.stdout)
    return result.exit_code


def request_of(words: FixWords, settings: Settings, world: World) -> FixRequest:
    """Join words and settings; a word wins over a setting.

    Raises:
        UsageError: an issue that cannot be read, or a limit that is none.
    """
    return FixRequest(
        issue=read_issue(words.issue, folder=world.folder, read_stdin=world.read_stdin),
        repository=world.folder / words.repo,
        model=words.model or settings.model,
        test=words.test or settings.test,
        out=Path(os.path.normpath(world.folder / words.out)) if words.out else None,
        include_dirty=words.include_dirty,
        require_sandbox=words.require_sandbox or settings.require_sandbox,
        test_limit_s=_test_limit(words.test_limit, settings.test_limit_s),
        limits=_limits(words, settings.limits),
        rules=settings.rules,
        hosts=hosts_of(settings),
    )


def _test_limit(said: float | None, settled: float) -> float:
    limit_s = settled if said is None else said
    if not 0 < limit_s <= _LONGEST_TEST_RUN_S:
        raise UsageError(f"the limit of a test run must be seconds above zero, not {limit_s:g}")
    return limit_s


def _read_stdin() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise UsageError(f"cannot read standard input: {error.strerror or error}") from error


def _limits(words: FixWords, settled: Limits) -> Limits:
    names = set(Limits.__struct_fields__)
    said = {name: value for name, value in asdict(words).items() if name in names}
    try:
        return replace(
            settled, **{name: value for name, value in said.items() if value is not None}
        )
    except ValueError as error:
        raise UsageError(str(error)) from error


async def _fix_until_told_to_stop(
    request: FixRequest, world: World, watch_with: Callable[[AnyioTasks], Watch]
) -> Result:
    tasks = AnyioTasks()
    errors: list[Exception] = []
    async with anyio.create_task_group() as group:
        await group.start(_heed_signals, tasks)
        try:
            return await fix(request, world, watch_with(tasks))
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
