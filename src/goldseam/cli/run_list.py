"""What `goldseam runs` does."""

import json
import os
import sys
from collections.abc import Iterator
from itertools import islice

from goldseam.app.world import home_of
from goldseam.journal.runs import run_folders
from goldseam.journal.summaries import RunSummary, list_runs
from goldseam.journal.visible import visible
from goldseam.kernel.errors import JournalError, UsageError
from goldseam.kernel.json_text import Json

_SHOWN = 20
_LONGEST_ISSUE = 44


def list_all_runs(*, as_json: bool, limit: int | None) -> None:
    """Write a line for each run to standard output, the newest first.

    Raises:
        UsageError: the runs cannot be read.
    """
    home = home_of(os.environ)
    try:
        if as_json:
            for run in islice(list_runs(home), limit):
                sys.stdout.write(json.dumps(fields_of(run), separators=(",", ":")) + "\n")
            return
        count = len(run_folders(home))
        runs = list(islice(list_runs(home), limit or _SHOWN))
    except JournalError as error:
        raise UsageError(str(error)) from error
    if not runs:
        sys.stdout.write("no runs yet: goldseam fix ISSUE begins one\n")
        return
    sys.stdout.writelines(f"{line}\n" for line in _table(runs))
    if limit is None and count > len(runs):
        sys.stdout.write(f"and {count - len(runs):,} older ones: --limit {count} shows all\n")


def fields_of(run: RunSummary) -> dict[str, Json]:
    """Return what is known of a run, for a program."""
    return {
        "type": "run",
        "run_id": run.run_id,
        "state": run.standing,
        "outcome": run.outcome,
        "verdict": run.verdict,
        "message": run.message,
        "issue": run.issue,
        "model": run.model,
        "repository": run.repository,
        "started": run.started,
        "seconds": run.seconds,
        "model_calls": run.model_calls,
        "tokens": run.tokens,
        "folder": str(run.folder),
        "go_on": go_on(run),
    }


def go_on(run: RunSummary) -> str:
    """Return the command that a person most likely wants next."""
    verb = "resume" if run.standing in {"stopped", "crashed"} else "show"
    return f"goldseam {verb} {run.run_id}"


def _table(runs: list[RunSummary]) -> Iterator[str]:
    rows = [("run", "state", "outcome", "calls", "tokens", "issue", "to go on")]
    rows += [
        (
            run.run_id,
            run.standing,
            visible(run.verdict or run.outcome or "-"),
            _count(run.model_calls),
            _count(run.tokens),
            _cut(visible(run.issue)) or "-",
            go_on(run),
        )
        for run in runs
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_ISSUE else f"{text[: _LONGEST_ISSUE - 1]}…"
