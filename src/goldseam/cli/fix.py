"""`goldseam fix`: the words that can be said. What they do is in `cli.fixing`, imported late."""

from typing import Any

import click


@click.command("fix")
@click.argument("issue")
@click.option("--repo", default=".", metavar="DIR", help="The repository; it is never written.")
@click.option("--model", metavar="A,B,…", help="Who mends it, HOST:MODEL; the next takes over.")
@click.option("--test", metavar="CMD", help="How the tests are run, where it cannot be found out.")
@click.option("--test-limit", type=float, metavar="S", help="Seconds for one run of the tests.")
@click.option("--out", metavar="DIR", help="Where patch.diff, result.json and report.md go.")
@click.option("--include-dirty", is_flag=True, help="Begin from the uncommitted changes as well.")
@click.option("--require-sandbox", is_flag=True, help="Refuse to run without proved walls.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; the result last.")
@click.option("--max-calls", "model_calls", type=int, metavar="N", help="The most model calls.")
@click.option("--max-steps", "action_steps", type=int, metavar="N", help="The most tool calls.")
@click.option("--max-tokens", "total_tokens", type=int, metavar="N", help="The most tokens.")
@click.option("--max-output", "max_output_tokens", type=int, metavar="N", help="Tokens of a reply.")
@click.option("--max-seconds", "wall_s", type=float, metavar="S", help="The most time in all.")
@click.option("--max-tool-seconds", "tool_s", type=float, metavar="S", help="The most in tools.")
@click.option("--max-cost", type=float, metavar="USD", help="The most money, in dollars.")
@click.option("--price", metavar="IN/OUT", help="Dollars a million tokens, where it is not known.")
def fix_command(**words: Any) -> int:  # noqa: ANN401 - click's own types are checked where joined
    """Mend ISSUE (text, a file, or - for standard input) and give a verified patch.

    Exit codes: 0 verified, 1 our defect, 2 usage, 3 unverified patch, 4 no patch, 5 budget,
    6 model failed, 7 stopped, 8 refused by policy or sandbox.
    """
    from goldseam.cli.fixing import fix_words_of, run_fix  # noqa: PLC0415 - help must stay cheap

    return run_fix(fix_words_of(words))
