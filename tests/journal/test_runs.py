from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.journal.runs import find_run, new_run_id, run_folders, runs_home
from goldseam.kernel.errors import JournalError

IDS = ("20261129-235959-ffff", "20261130-101502-7f3a", "20261130-101502-7f3b")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (*IDS, "notes", "20261130-101502-zzzz"):
        (runs_home(tmp_path) / name).mkdir(parents=True)
        (runs_home(tmp_path) / name / "events.jsonl").touch()
    (runs_home(tmp_path) / "20261130-101502-0000").mkdir()
    return tmp_path


def test_a_run_id_is_readable() -> None:
    now = datetime(2026, 11, 30, 10, 15, 2, tzinfo=UTC)
    assert new_run_id(now, Random(1)) == "20261130-101502-2265"


SPANS = st.timedeltas(timedelta(seconds=1), timedelta(days=9000))


@given(SPANS, SPANS, st.randoms(use_true_random=False))
def test_run_ids_sort_by_time(since: timedelta, later: timedelta, dice: Random) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC) + since
    assert new_run_id(now, dice) < new_run_id(now + later, dice)


def test_runs_are_listed_newest_first_and_nothing_else_is(home: Path) -> None:
    assert [folder.name for folder in run_folders(home)] == [*reversed(IDS)]
    assert run_folders(home / "nowhere") == ()


def test_a_home_that_is_no_directory_is_said(tmp_path: Path) -> None:
    runs_home(tmp_path).touch()
    with pytest.raises(JournalError, match="runs: Not a directory"):
        run_folders(tmp_path)


@pytest.mark.parametrize(
    ("name", "found"), [("last", IDS[2]), (IDS[1], IDS[1]), ("20261129", IDS[0])]
)
def test_a_run_is_found_by_its_id_the_start_of_it_or_as_the_last(
    home: Path, name: str, found: str
) -> None:
    assert find_run(home, name) == runs_home(home) / found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2027", f"no run is called '2027': the last one is {IDS[2]}"),
        ("", f"no run is called '': the last one is {IDS[2]}"),
        ("../runs", f"no run is called '../runs': the last one is {IDS[2]}"),
        (
            "20261130",
            f"2 runs begin with '20261130': {IDS[2]}, {IDS[1]}; write more of the name",
        ),
    ],
)
def test_a_name_that_fits_no_run_or_several_is_refused_with_a_way_on(
    home: Path, name: str, message: str
) -> None:
    with pytest.raises(JournalError) as refusal:
        find_run(home, name)
    assert str(refusal.value) == message


def test_a_home_without_runs_is_said(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"there are no runs in .* yet"):
        find_run(tmp_path, "last")
