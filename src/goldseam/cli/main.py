"""The command line: what can be said, and one way out for every error.

Each path ends with one clear line and an exit code; with `--json`, the last line is the result.
"""

import sys
import traceback
from collections.abc import Sequence

import click

from goldseam._version import __version__
from goldseam.cli.fix import fix_command
from goldseam.cli.models import models_command
from goldseam.cli.replay import replay_command
from goldseam.cli.resume import resume_command
from goldseam.cli.runs import export_command, prune_command, runs_command, show_command
from goldseam.cli.undo import diff_command, fork_command, undo_command


@click.group(
    commands=[
        fix_command,
        resume_command,
        undo_command,
        diff_command,
        fork_command,
        replay_command,
        models_command,
        show_command,
        runs_command,
        export_command,
        prune_command,
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="goldseam", message="%(prog)s %(version)s")
@click.pass_context
def goldseam(context: click.Context) -> None:
    """Give Goldseam an issue and a repository; it returns a patch proved by running the tests."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run_command_line(words: Sequence[str]) -> int:
    """Run the command in `words` and return the exit code; nothing is raised."""
    try:
        code = goldseam.main(args=list(words), prog_name="goldseam", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - the edge: every error ends in a line and a code
        from goldseam.cli.endings import ending_of  # noqa: PLC0415 - help needs none of it

        ending = ending_of(error)
        if ending.is_defect:
            traceback.print_exception(error)
        return ending.tell(as_json="--json" in words, out=sys.stdout, err=sys.stderr)
    return code if isinstance(code, int) else 0
