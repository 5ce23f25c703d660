"""What `builtin:mender` makes of programs that were not written for it, and what a trial costs.

Each program under `bugs/` is mended as a person would have it done; the figures come from the
record. A trial is one alternative of `try_edits`, a test start one `run_tests` of the same run.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

from msgspec import Struct

from benchmarks.child import ENVIRONMENT, GOLDSEAM, ROOT, run
from benchmarks.row import Row
from goldseam.journal.runs import run_folders
from goldseam.journal.store import read_run
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.events import Event, ModelReplied, ToolFinished
from goldseam.repair.result import ExitCode

BUGS = ROOT / "benchmarks" / "bugs"
TRIED = re.compile(r"^#\d+ (?:PASS|FAIL|TIMEOUT|ERROR)\b", re.MULTILINE)


class Repair(Struct, frozen=True, kw_only=True):
    """One program: how it ended, and what was tried at what cost beside a start of its tests."""

    program: str
    code: ExitCode
    tried: int
    trial_s: float
    start_s: float


def measure() -> tuple[Row, ...]:
    issues = sorted(BUGS.glob("*/ISSUE.md"))
    repairs = [repair(issue.parent) for issue in issues]
    return (*map(row_of, repairs), summary(repairs))


def repair(program: Path) -> Repair:
    with tempfile.TemporaryDirectory() as folder:
        tree, home, out = (Path(folder, name) for name in (program.name, "home", "out"))
        shutil.copytree(program, tree)
        words = ("fix", "ISSUE.md", "--repo", ".", "--model", "builtin:mender", "--out", str(out))
        environment = {
            **ENVIRONMENT,
            "GOLDSEAM_HOME": str(home),
            "VIRTUAL_ENV": sys.prefix,
            "PATH": f"{sys.prefix}/bin:{ENVIRONMENT['PATH']}",
        }
        done = run(GOLDSEAM, *words, cwd=tree, env=environment, check=False)
        (record,) = run_folders(home)
        events = read_run(record).events
    trials = list(finished("try_edits", events))
    starts = list(finished("run_tests", events))
    tried = sum(len(TRIED.findall(each.full_text or each.result.content)) for each in trials)
    return Repair(
        program=program.name,
        code=ExitCode(done.returncode),
        tried=tried,
        trial_s=sum(each.seconds for each in trials) / max(tried, 1),
        start_s=median(each.seconds for each in starts) if starts else 0.0,
    )


def finished(tool: str, events: Iterable[Event]) -> Iterator[ToolFinished]:
    """Yield the outcome of each call of `tool`."""
    calls = set[str]()
    for event in events:
        match event:
            case ModelReplied(response=response):
                items = response.items
                calls |= {
                    item.call_id
                    for item in items
                    if isinstance(item, ToolCall) and item.tool_name == tool
                }
            case ToolFinished(result=result) if result.call_id in calls:
                yield event
            case _:
                pass


def row_of(one: Repair) -> Row:
    cost = f", a trial {one.trial_s / one.start_s:.2g} x a test start" if one.start_s else ""
    figure = f"{one.code.verdict}, {one.tried} alternatives{cost}"
    return Row(what=f"mender: {one.program}", figure=figure)


def summary(repairs: list[Repair]) -> Row:
    mended = sum(one.code is ExitCode.VERIFIED for one in repairs)
    tried = sum(one.tried for one in repairs)
    return Row(
        what="mender: all", figure=f"{mended} of {len(repairs)} verified, {tried} alternatives"
    )
