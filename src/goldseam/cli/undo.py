"""`goldseam undo`, `diff`, `fork`: what can be said. What is done is imported late."""

import click


@click.command("undo")
@click.argument("run", default="last")
@click.option("--to", type=click.IntRange(min=0), metavar="N", help="State N; 0 is the beginning.")
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON object.")
def undo_command(run: str, *, to: int | None, as_json: bool) -> int:
    """Take back what RUN changed last, or all since state N; your own tree is never touched.

    The run's patch.diff is then that of this state, and `goldseam resume` goes on from there.
    """
    from goldseam.cli.undoing import undo_run  # noqa: PLC0415 - help must stay cheap

    return undo_run(run, to, as_json=as_json)


@click.command("diff")
@click.argument("run", default="last")
@click.argument("states", metavar="[A..B]", required=False)
@click.option("--list", "as_list", is_flag=True, help="The states, and what made each.")
def diff_command(run: str, states: str | None, *, as_list: bool) -> int:
    """Show what RUN changed: all, from state A to B, or in change N alone."""
    from goldseam.cli.undoing import list_changes, show_difference  # noqa: PLC0415 - as above

    if as_list:
        list_changes(run)
    else:
        show_difference(run, states)
    return 0


@click.command("fork")
@click.argument("run", default="last")
@click.option("--at", type=int, metavar="N", help="Only the first N events, as --events counts.")
def fork_command(run: str, *, at: int | None) -> int:
    """Make a new run out of the beginning of RUN, and print its name; `resume` goes on with it."""
    from goldseam.cli.undoing import fork_run  # noqa: PLC0415 - as above

    fork_run(run, at)
    return 0
