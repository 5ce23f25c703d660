"""A run is killed after any event, and a resume ends as if it had not been (issue 5, B4.7)."""

import os
import shutil
from pathlib import Path

import pytest
from e2e.crash_support import (
    USED,
    Heard,
    go_on,
    reference,
    run_in,
    times_counted,
)
from e2e.e2e_support import Desk

from goldseam.journal.folding import fold_record
from goldseam.journal.store import EVENTS, Writing, open_run, read_run
from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.events import (
    ApprovalRequested,
    CallJudged,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    Rejected,
    VerificationFinished,
)


def adds_up(home: Path) -> None:
    """Every reply is counted as it was reported; every call of which nobody knows is held."""
    record = read_run(run_in(home))
    assert (record.gaps, record.torn) == ((), b"")
    ledger = fold_record(record).state.ledger
    replies = [event for event in record.events if isinstance(event, ModelReplied)]
    asked = [event for event in record.events if isinstance(event, ModelCallPrepared)]
    assert ledger.spent_tokens == len(replies) * sum(USED.values())
    assert ledger.model_calls == len(asked)
    assert [event.call for event in asked] == list(range(1, len(asked) + 1))
    assert ledger.reservation is None


def counted_once_or_told(desk: Desk, home: Path, heard: Heard) -> None:
    state = fold_record(read_run(run_in(home))).state
    unknown = [
        item
        for item in state.conversation
        if isinstance(item, ToolResult) and item.kind == "unknown"
    ]
    if any("run_command" in item.content for item in unknown):
        assert times_counted(desk) <= 1
        assert any("not known whether run_command" in line for line in heard.lines)
    else:
        assert times_counted(desk) == 1


@pytest.mark.anyio
async def test_a_run_killed_after_any_event_ends_with_the_same_patch(
    desk: Desk, tmp_path: Path
) -> None:
    snapshots = tmp_path / "snapshots"
    result, heard = await reference(desk, snapshots)
    assert result.verdict == "verified"
    patch = (run_in(desk.home) / "patch.diff").read_bytes()
    kinds = {type(event) for event in heard.events}
    assert {ApprovalRequested, ModelChosen, VerificationFinished} <= kinds
    assert any(isinstance(e, CallJudged) and isinstance(e.verdict, Rejected) for e in heard.events)
    step = 1 if os.environ.get("GOLDSEAM_CRASHES") == "all" else 2
    for number in range(1, len(heard.events) + 1, step):
        home = snapshots / str(number)
        if number % 3 == 0:
            # Another run may have swept it, or the machine lost what was not synced.
            shutil.rmtree(home / "work")
        resumed, seen = await go_on(desk, home)
        assert resumed.verdict == "verified", (number, resumed.message)
        assert (run_in(home) / "patch.diff").read_bytes() == patch, number
        assert list((home / "work").iterdir()) == []
        adds_up(home)
        counted_once_or_told(desk, home, seen)


@pytest.mark.anyio
async def test_a_last_line_cut_at_any_byte_is_the_run_without_it(
    desk: Desk, tmp_path: Path
) -> None:
    _, heard = await reference(desk, tmp_path / "snapshots")
    run = run_in(desk.home)
    lines = (run / EVENTS).read_bytes().splitlines(keepends=True)
    for last in (2, len(lines) // 2, len(lines)):
        before, line = b"".join(lines[: last - 1]), lines[last - 1]
        state = None
        for kept in range(len(line) - 1):
            copy = tmp_path / "copy"
            (copy / "blobs").mkdir(parents=True)
            (copy / EVENTS).write_bytes(before + line[:kept])
            opened = open_run(copy, writing=Writing(wall=pytest.fail))
            opened.journal.close()
            assert opened.record.events == tuple(heard.events[: last - 1])
            assert (copy / EVENTS).read_bytes() == before
            found = fold_record(opened.record).state
            state = state or found
            assert found == state
            shutil.rmtree(copy)
