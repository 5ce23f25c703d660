"""`goldseam resume`: the words that can be said. What they do is in `cli.resuming`."""

from typing import Any

import click


@click.command("resume")
@click.argument("run", default="last")
@click.option("--model", metavar="A,B,…", help="Who goes on with it; else those that began it.")
@click.option("--out", metavar="DIR", help="Where patch.diff, result.json and report.md go.")
@click.option("--require-sandbox", is_flag=True, help="Refuse to run without proved walls.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; the result last.")
@click.option("--max-calls", "model_calls", type=int, metavar="N", help="Model calls in all.")
@click.option("--max-steps", "action_steps", type=int, metavar="N", help="Tool calls in all.")
@click.option("--max-tokens", "total_tokens", type=int, metavar="N", help="Tokens in all.")
@click.option("--max-output", "max_output_tokens", type=int, metavar="N", help="Tokens of a reply.")
@click.option("--max-seconds", "wall_s", type=float, metavar="S", help="Time in all.")
@click.option("--max-tool-seconds", "tool_s", type=float, metavar="S", help="Time in tools in all.")
@click.option("--max-cost", type=float, metavar="USD", help="Money in all, in dollars.")
@click.option("--price", metavar="IN/OUT", help="Dollars a million tokens, where it is not known.")
def resume_command(**words: Any) -> int:  # noqa: ANN401 - click's own types are checked where joined
    """Go on with RUN (its id, the start of one, or `last`) where it was left.

    Limits count from the run's beginning. Nothing that may have changed something is done twice.
    """
    from goldseam.cli.resuming import (  # noqa: PLC0415 - help must stay cheap
        resume_words_of,
        run_resume,
    )

    return run_resume(resume_words_of(words))
