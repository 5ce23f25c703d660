"""`goldseam runs`, `show`, `export`, `prune`: what can be said. What is done is imported late."""

import click


@click.command("runs")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, each with run_id.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The newest N alone.")
def runs_command(*, as_json: bool, limit: int | None) -> int:
    """List the runs, the newest first: how each stands, what it took, and how to go on."""
    from goldseam.cli.run_list import list_all_runs  # noqa: PLC0415 - help must stay cheap

    list_all_runs(as_json=as_json, limit=limit)
    return 0


@click.command("show")
@click.argument("run", default="last")
@click.option("--events", is_flag=True, help="Every event, one after the other.")
@click.option("--step", type=int, metavar="N", help="The exact request and reply of step N.")
@click.option("--json", "as_json", is_flag=True, help="With --step or --events: as JSON.")
@click.option(
    "--html",
    "page",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write one page for a browser; to RUN.html where no FILE.html is named.",
)
def show_command(
    run: str, *, events: bool, step: int | None, as_json: bool, page: str | None
) -> int:
    """Show what happened in RUN: its id, the start of one, or `last`."""
    from goldseam.cli.showing import ShowWords, show_run  # noqa: PLC0415 - help must stay cheap

    show_run(ShowWords(run=run, events=events, step=step, as_json=as_json, page=page))
    return 0


@click.command("export")
@click.argument("run", default="last")
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice(["openai", "anthropic", "gemini", "atif", "markdown"]),
    help="A vendor's request body, a trajectory (ATIF), or text for people.",
)
def export_command(run: str, *, form: str) -> int:
    """Write the whole conversation of RUN to standard output, in another form."""
    from goldseam.cli.showing import export_run  # noqa: PLC0415 - help must stay cheap

    export_run(run, form)
    return 0


@click.command("prune")
@click.option("--older-than", metavar="AGE", help="Runs not written for this long, such as 30d.")
@click.option("--keep-size", metavar="SIZE", help="All but the newest runs of this much: 2GB.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@click.option("--yes", is_flag=True, help="Remove runs that could be resumed without asking.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def prune_command(
    *, older_than: str | None, keep_size: str | None, dry_run: bool, yes: bool, as_json: bool
) -> int:
    """Remove the records of old runs; never of one that is running."""
    from goldseam.cli.pruning import PruneWords, prune  # noqa: PLC0415 - help must stay cheap

    prune(
        PruneWords(
            older_than=older_than, keep_size=keep_size, dry_run=dry_run, yes=yes, as_json=as_json
        )
    )
    return 0
