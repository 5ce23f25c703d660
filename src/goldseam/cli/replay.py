"""`goldseam replay`: the words that can be said. What they do is in `cli.replaying`."""

import click


@click.command("replay")
@click.argument("run", default="last")
@click.option("--verify", "only_verify", is_flag=True, help="Only decide it again; run nothing.")
@click.option("--as-test", is_flag=True, help="Exit with 3 where anything differs.")
def replay_command(run: str, *, only_verify: bool, as_test: bool) -> int:
    """Decide RUN once more, then play it again: recorded replies, live tools, a fresh workspace."""
    from goldseam.cli.replaying import replay  # noqa: PLC0415 - help must stay cheap

    return replay(run, only_verify=only_verify, as_test=as_test)
