"""Which runs go, and how: a pure plan first, then each run under its lock."""

import fcntl
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from goldseam.app.pruning import (
    Aged,
    Bounds,
    aged,
    plan_for,
    remove_leftovers,
    remove_run,
)
from goldseam.journal.summaries import RunStanding, RunSummary

STANDINGS: tuple[RunStanding, ...] = ("running", "finished", "stopped", "crashed")


def run(number: int, *, standing: RunStanding = "finished", age_s: float, size: int = 10) -> Aged:
    name = f"20261130-101502-{number:04x}"
    summary = RunSummary(run_id=name, folder=Path(name), standing=standing)
    return Aged(run=summary, age_s=age_s, size=size)


RUNS = st.lists(
    st.builds(
        run,
        st.integers(0, 99),
        standing=st.sampled_from(STANDINGS),
        age_s=st.floats(0, 1e6),
        size=st.integers(0, 1_000),
    ),
    max_size=8,
    unique_by=lambda one: one.run.run_id,
)
BOUNDS = st.builds(
    Bounds,
    age_s=st.none() | st.floats(0, 1e6),
    size=st.none() | st.integers(0, 4_000),
)


@given(RUNS, BOUNDS)
def test_no_running_run_goes_and_no_run_goes_without_a_bound_it_breaks(
    runs: list[Aged], bounds: Bounds
) -> None:
    plan = plan_for(runs, bounds)
    going = [*plan.finished, *plan.resumable]
    assert all(one.run.standing == "finished" for one in plan.finished)
    assert all(one.run.standing in {"stopped", "crashed"} for one in plan.resumable)
    stays = [one for one in runs if one not in going]
    for one in stays:
        assert one.run.standing == "running" or bounds.age_s is None or one.age_s <= bounds.age_s
    if bounds.size is not None:
        kept = [one.size for one in stays if one.run.standing != "running"]
        assert sum(kept) <= bounds.size
    if bounds == Bounds():
        assert going == []


def test_the_newest_stay_and_the_oldest_are_named_first() -> None:
    runs = [run(n, age_s=n * 10.0) for n in (3, 1, 2, 4)]
    plan = plan_for(runs, Bounds(size=25))
    assert [one.age_s for one in plan.finished] == [40.0, 30.0]
    assert plan_for(runs, Bounds(age_s=20)).finished == plan.finished


def folder_of(home: Path, name: str = "20261130-101502-7f3a") -> Path:
    folder = home / "runs" / name
    (folder / "blobs").mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(b"x" * 100)
    (folder / "blobs" / "b").write_bytes(b"y" * 50)
    return folder


def test_age_and_size_are_those_of_the_record(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    os.utime(folder / "events.jsonl", (1_000, 1_000))
    summary = RunSummary(run_id=folder.name, folder=folder, standing="finished")
    gone = RunSummary(run_id="x", folder=tmp_path / "gone", standing="finished")
    (one,) = aged([summary, gone], now_s=1_500)
    assert one.age_s == 500
    assert one.size >= 150
    (before,) = aged([summary], now_s=10)
    assert before.age_s == 0


def test_a_run_whose_lock_is_held_is_never_touched(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not remove_run(folder)
        assert (folder / "blobs" / "b").read_bytes() == b"y" * 50
    assert remove_run(folder)
    assert list((tmp_path / "runs").iterdir()) == []


def test_what_a_stopped_pruning_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = folder_of(tmp_path, ".removing-20261130-101502-7f3a")
    stays = folder_of(tmp_path)
    remove_leftovers(tmp_path)
    assert (left.exists(), stays.exists()) == (False, True)
