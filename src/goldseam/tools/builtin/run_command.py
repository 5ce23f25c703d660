"""Tool `run_command`: a line for the shell, run in the sandbox, nobody to answer its questions."""

from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.arguments import Folder, Seconds
from goldseam.tools.context import ToolContext
from goldseam.tools.observation import without_roots
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.sandbox.port import Command

_LEVER = "print less, with grep, head, tail or sed -n"

# Programs that would page, ask or open an editor give up at once instead (agents 26).
_NOBODY_ANSWERS = {
    "CI": "1",
    "EDITOR": "true",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PAGER": "cat",
    "TERM": "dumb",
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


async def run_command(given: RunCommand, context: ToolContext) -> Output:
    """Run the line and return its exit code and what it printed."""
    result = await context.sandbox.run(
        Command(
            argv=("sh", "-c", given.command),
            cwd=given.cwd,
            limit_s=given.limit_s,
            env=_NOBODY_ANSWERS,
        )
    )
    text = without_roots(result.output.text(), context.roots).rstrip()
    if result.timed_out:
        raise ToolFailure(_timed_out(given.limit_s, text))
    if not text:
        return Output(text=f"exit {result.exit_code}, no output")
    return Output(text=f"exit {result.exit_code}\n{text}")


def _timed_out(limit_s: float, text: str) -> str:
    so_far = f"It had printed:\n{text}" if text else "It had printed nothing."
    return (
        f"stopped at the limit of {limit_s:g} s (limit_s); what it had changed stays. "
        "Next: raise limit_s (600 at most) or do less in one command. If it waited for an answer, "
        f"give its flag for running without questions.\n{so_far}"
    )


RUN_COMMAND = Tool(
    name="run_command",
    arguments=RunCommand,
    run=run_command,
    description=described_beside(__name__),
    lever=_LEVER,
)
