import json
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal.generated_events import NOON, noted

from goldseam.journal.runs import runs_home
from goldseam.journal.store import EVENTS, Writing, create_run
from goldseam.journal.summaries import RESULT, RunStanding, RunSummary, list_runs, summary_of
from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import Message, ToolResult
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event, RunFinished, RunStarted, Setting, ToolFinished, Waited
from goldseam.kernel.outcome import Aborted, BudgetStopped, Completed, ModelFailed, Outcome, Stopped

RUN = "20261130-120000-0001"
STARTED = "2026-11-30T12:00:00.125+00:00"


def noon() -> datetime:
    return NOON


def started(**facts: str) -> RunStarted:
    settings = {"repository": "/home/ann/r", "model": "mender", "issue": "issue.md"} | facts
    return RunStarted(
        at_s=0.0,
        run_id=RUN,
        history=(Message(role="user", text="Mend it. \ud800"),),
        tools=(),
        limits=Limits(),
        settings=tuple(Setting(name=name, value=value) for name, value in settings.items()),
    )


def write(home: Path, *events: Event, run_id: str = RUN) -> Path:
    async def append() -> None:
        for event in events:
            await journal.append(event, durable=False)

    with create_run(runs_home(home), run_id, writing=Writing(wall=noon)) as journal:
        anyio.run(append)
    return journal.folder


def finished(outcome: Outcome) -> RunFinished:
    return RunFinished(at_s=9.5, outcome=outcome)


@pytest.mark.parametrize(
    ("outcome", "tag", "standing"),
    [
        (Completed(answer="a" * 9000), "completed", "finished"),
        (BudgetStopped(limit="money", summary=""), "budget_stopped", "stopped"),
        (ModelFailed(kind=None, text=""), "model_failed", "stopped"),
        (Stopped(why="Ctrl-C"), "stopped", "stopped"),
        (Aborted(why="KeyError"), "aborted", "crashed"),
    ],
)
def test_every_way_out_is_a_standing(
    tmp_path: Path, outcome: Outcome, tag: str, standing: RunStanding
) -> None:
    folder = write(tmp_path, started(), noted("x"), finished(outcome))
    assert summary_of(folder) == RunSummary(
        run_id=RUN,
        folder=folder,
        standing=standing,
        started=STARTED,
        seconds=9.5,
        outcome=tag,
        issue="issue.md",
        model="mender",
        repository="/home/ann/r",
    )


def test_a_run_that_is_written_just_now_is_running(tmp_path: Path) -> None:
    folder = write(tmp_path, started(), finished(Stopped(why="x")))
    (folder / RESULT).write_text('{"verdict": "stopped"}')
    with create_run(runs_home(tmp_path), f"{RUN[:-1]}2", writing=Writing(wall=noon)) as journal:
        new, old = list_runs(tmp_path)
        assert (new.folder, new.standing, new.outcome) == (journal.folder, "running", None)
        assert (old.folder, old.standing, old.verdict) == (folder, "stopped", "stopped")
    (folder / "lock").unlink()
    assert summary_of(folder) == old


def test_a_result_counts_unless_the_run_went_on_after_it(tmp_path: Path) -> None:
    folder = write(tmp_path, started(), finished(Completed(answer="")))
    result = {
        "verdict": "verified",
        "message": "mended",
        "issue": "The sum is off",
        "model": "other",
        "usage": {"model_calls": 3, "tokens": {"input": 5, "output": 2, "reasoning": None}},
        "more": [1],
    }
    (folder / RESULT).write_text(json.dumps(result))
    summary = summary_of(folder)
    assert (summary.verdict, summary.message, summary.issue) == (
        "verified",
        "mended",
        "The sum is off",
    )
    assert (summary.model, summary.model_calls, summary.tokens) == ("other", 3, 7)
    os.utime(folder / RESULT, ns=(0, (folder / EVENTS).stat().st_mtime_ns - 1))
    assert (summary_of(folder).verdict, summary_of(folder).model) == (None, "mender")


def torn(content: bytes) -> Iterator[tuple[bytes, float]]:
    """Yield damaged records, and the time of the last event that is whole."""
    lines = content.splitlines(keepends=True)
    yield content[:-1], 0.5
    yield content[:-40] + b"\0" * 40, 0.5
    yield content + b"\0" * 9000, 9.5
    yield lines[0], 0.0
    yield lines[0][:-1], 0.0
    yield b"", 0.0
    yield b"\n\n", 0.0
    yield b"\xff\xfe\n" + lines[2], 9.5
    yield b'{"type":7}\n' + lines[2], 9.5
    yield b"[" * 100_000 + b"\n" + lines[2], 9.5


@pytest.mark.parametrize("case", range(10))
def test_of_a_damaged_record_is_told_what_can_be_had(tmp_path: Path, case: int) -> None:
    folder = write(tmp_path, started(), noted("x"), finished(Completed(answer="")))
    content, seconds = list(torn((folder / EVENTS).read_bytes()))[case]
    (folder / EVENTS).write_bytes(content)
    (folder / RESULT).write_bytes(b"{")
    summary = summary_of(folder)
    assert summary.seconds == seconds
    assert summary.standing == ("finished" if seconds == 9.5 else "crashed")


@given(st.integers(0, 300_000), st.integers(0, 3))
def test_the_last_line_is_found_however_long_the_lines_are(
    tmp_path_factory: pytest.TempPathFactory, length: int, behind: int
) -> None:
    result = ToolResult(call_id="c", content="y" * length)
    long = ToolFinished(at_s=1.0, result=result, seconds=0.0)
    waits = [Waited(at_s=2.0 + number, seconds=0.0) for number in range(behind)]
    folder = write(tmp_path_factory.mktemp("home"), started(), long, *waits)
    assert summary_of(folder).seconds == 1.0 + behind


def test_a_name_that_is_no_utf8_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path, started(repository="/home/\udcff"))
    assert summary_of(folder).repository == "/home/\udcff"


def vanish(folder: Path) -> None:
    (folder / EVENTS).unlink()


def become_a_folder(folder: Path) -> None:
    (folder / "lock").unlink()
    (folder / "lock").symlink_to(folder)


@pytest.mark.parametrize(("spoil", "told"), [(vanish, None), (become_a_folder, "lock: ")])
def test_runs_that_go_away_are_passed_over_and_unreadable_ones_are_said(
    tmp_path: Path, spoil: Callable[[Path], None], told: str | None
) -> None:
    folders = [write(tmp_path, started(), run_id=f"{RUN[:-1]}{number}") for number in range(3)]
    runs = list_runs(tmp_path)
    assert next(runs).folder == folders[2]
    spoil(folders[1])
    if told is None:
        assert [run.folder for run in runs] == [folders[0]]
    else:
        with pytest.raises(JournalError, match=told):
            list(runs)


def test_a_home_without_runs_lists_none(tmp_path: Path) -> None:
    assert list(list_runs(tmp_path / "nowhere")) == []
