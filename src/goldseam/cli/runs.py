"""`goldseam show`: a run from its record, for a person to read."""

import click


@click.command("show")
@click.argument("run", default="last")
def show_command(run: str) -> int:
    """Print what happened in RUN: its id, the start of one, or `last`."""
    from goldseam.cli.showing import show_run  # noqa: PLC0415 - help must stay cheap

    show_run(run)
    return 0
