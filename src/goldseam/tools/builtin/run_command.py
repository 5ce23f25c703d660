"""Tool `run_command`: a line for the shell, run in the sandbox, nobody to answer its questions."""

import signal
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from goldseam.tools.arguments import Folder, Seconds
from goldseam.tools.builtin.jobs import told_job
from goldseam.tools.context import ToolContext
from goldseam.tools.program_output import Ending, shown_output
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.downloads import Spool
from goldseam.workspace.sandbox.port import Command

_LEVER = "print less, with grep, head, tail or sed -n"
_AT_ONCE_S = 0.5
"""How long a job is watched for an end that comes at once, such as a program that is not there."""

# Programs that would page, ask, open an editor or paint give up at once instead (agents 26).
_NOBODY_ANSWERS = {
    "CI": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "true",
    "GIT_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "PYTHONUNBUFFERED": "1",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "VISUAL": "true",
}


class RunCommand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `run_command`."""

    command: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100_000,
            description="One command line for `sh -c`.",
            examples=["git log --oneline -5"],
        ),
    ]
    cwd: Folder = "."
    limit_s: Seconds = 120.0
    background: Annotated[
        bool, Meta(description="Whether to start it as a job and go on; it has no limit_s.")
    ] = False


async def run_command(given: RunCommand, context: ToolContext) -> Output:
    """Run the line and return its exit code and what it printed."""
    command = Command(
        argv=("sh", "-c", given.command),
        cwd=given.cwd,
        limit_s=given.limit_s,
        env=_NOBODY_ANSWERS,
    )
    if given.background:
        return await _start(command, given, context)
    spool = Spool(context.files.downloads, "run_command")
    try:
        result = await context.sandbox.run(replace(command, listener=spool.add))
    finally:
        spool.close()
    if result.timed_out:
        ending = _timed_out(given.limit_s)
        shown = shown_output(ending, result.output, spool, context=context, lever=_LEVER)
        raise ToolFailure(shown.text)
    ending = _ended(result.exit_code)
    shown = shown_output(ending, result.output, spool, context=context, lever=_LEVER)
    return Output(text=shown.text, full_text=shown.full_text)


async def _start(command: Command, given: RunCommand, context: ToolContext) -> Output:
    if context.jobs is None:
        raise ToolFailure(
            "nothing can run in the background here. "
            "Next: run it without background, with a limit_s that is long enough."
        )
    started = context.jobs.start(
        context.sandbox, command, shown=given.command, downloads=context.files.downloads
    )
    view = await context.jobs.wait(started.name, limit_s=_AT_ONCE_S)
    way_on = f'Next: go on; the tool jobs reads it (job "{view.name}"), waits for it and stops it.'
    return Output(text=f"{told_job(view)}\n{way_on}")


def _ended(exit_code: int | None) -> Ending:
    told = f"exit {exit_code}"
    if exit_code is not None and exit_code < 0:
        told += f" (ended by {_signal_name(-exit_code)})"
    return Ending(told=told, silent=f"{told}, no output")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _timed_out(limit_s: float) -> Ending:
    told = (
        f"stopped at the limit of {limit_s:g} s (limit_s); what it had changed stays. "
        "Next: raise limit_s (600 at most), give background: true, or do less in one command. "
        "If it waited for an answer, give its flag for running without questions. It had printed"
    )
    return Ending(told=f"{told}:", silent=f"{told} nothing.")


RUN_COMMAND = Tool(
    name="run_command",
    arguments=RunCommand,
    run=run_command,
    description=described_beside(__name__),
    lever=_LEVER,
)
