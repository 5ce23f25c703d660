"""A checkpoint's name says when it was taken, and so what it has to do with a record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.app.moments import (
    Moment,
    What,
    before_call,
    last_known,
    last_until,
    moment_of,
    stations,
)
from goldseam.workspace.checkpoint_store import Checkpoint

CALLS: tuple[What, ...] = ("before", "after")


def taken(*names: str) -> list[Checkpoint]:
    """Return checkpoints, each of a tree named by its place."""
    return [Checkpoint(name=name, tree=f"t{place}") for place, name in enumerate(names)]


@given(st.integers(0, 10**6), st.sampled_from(CALLS), st.text(min_size=1))
def test_a_name_is_read_back(seq: int, what: What, call_id: str) -> None:
    moment = Moment(seq=seq, what=what, call_id=call_id)
    read = moment_of(Checkpoint(name=moment.name, tree="t"))
    assert read == Moment(seq=seq, what=what, call_id=call_id.rstrip())


@pytest.mark.parametrize("name", ["base", "", "x before a", "12 beside a", "٣ before a"])
def test_a_name_of_another_kind_is_no_moment(name: str) -> None:
    assert moment_of(Checkpoint(name=name, tree="t")) is None


def test_the_files_of_a_record_cut_after_an_event_are_found() -> None:
    kept = taken("base", "11 before a", "12 after a", "16 before b", "20 end", "20 resumed")
    found = {seq: last_until(kept, seq) for seq in (10, 11, 15, 19, 20, 99)}
    assert {seq: one and one.tree for seq, one in found.items()} == {
        10: None,
        11: "t1",
        15: "t2",
        19: "t3",
        20: "t5",
        99: "t5",
    }


def test_what_the_model_knows_last_is_what_no_end_of_a_sitting_shows() -> None:
    kept = taken("11 before a", "12 after a", "20 end")
    assert last_known(kept) == kept[1]
    assert last_known(kept[2:]) is None
    assert before_call(kept, "a") == kept[0]
    assert before_call(kept, "b") is None


def test_only_changes_are_numbered() -> None:
    names = ("1 before a", "2 after a", "3 before b", "4 after b", "5 end")
    trees = ("base", "one", "one", "two", "two")
    kept = [Checkpoint(name=n, tree=t) for n, t in zip(names, trees, strict=True)]
    assert [(one.number, one.checkpoint.name) for one in stations(kept, "base")] == [
        (1, "2 after a"),
        (2, "4 after b"),
    ]
