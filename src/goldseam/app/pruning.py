"""Remove the records of old runs: first decide which, then do it, and never one that is written.

A run is renamed before it is removed, with its lock held: nobody ever finds half of one.
"""

import fcntl
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from goldseam.journal.runs import runs_home
from goldseam.journal.store import EVENTS, LOCK
from goldseam.journal.summaries import RunSummary
from goldseam.workspace.removal import remove_tree

_GOING = ".removing-"


class Aged(Struct, frozen=True, kw_only=True):
    """A run with what pruning turns on: seconds since it was last written, and bytes on disk."""

    run: RunSummary
    age_s: float
    size: int


class Bounds(Struct, frozen=True, kw_only=True):
    """What may stay: runs that are no older, and no more bytes than these, the newest first."""

    age_s: float | None = None
    size: int | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """What is to go. Of `resumable` runs the person must be asked; running ones are in neither."""

    finished: tuple[Aged, ...]
    resumable: tuple[Aged, ...]


Runs: TypeAlias = Sequence[Aged]


def aged(runs: Iterable[RunSummary], *, now_s: float) -> tuple[Aged, ...]:
    """Return `runs` with their age and size; one that is gone meanwhile is left out."""
    found: list[Aged] = []
    for run in runs:
        with suppress(FileNotFoundError):
            written_s = (run.folder / EVENTS).stat().st_mtime
            size = sum(path.lstat().st_size for path in run.folder.rglob("*"))
            found.append(Aged(run=run, age_s=max(now_s - written_s, 0.0), size=size))
    return tuple(found)


def plan_for(runs: Runs, bounds: Bounds) -> Plan:
    """Return which of `runs` are to go. Pure."""
    kept = 0
    going: list[Aged] = []
    for one in sorted(runs, key=lambda one: one.age_s):
        too_old = bounds.age_s is not None and one.age_s > bounds.age_s
        too_much = bounds.size is not None and kept + one.size > bounds.size
        if one.run.standing != "running" and (too_old or too_much):
            going.append(one)
        else:
            kept += one.size
    going.reverse()
    return Plan(
        finished=tuple(one for one in going if one.run.standing == "finished"),
        resumable=tuple(one for one in going if one.run.standing != "finished"),
    )


def remove_run(folder: Path) -> bool:
    """Remove the run in `folder`; return whether it is gone, `False` where somebody writes it.

    Raises:
        OSError: it cannot be removed.
    """
    descriptor = os.open(
        folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        going = folder.with_name(_GOING + folder.name)
        folder.rename(going)
        remove_tree(going)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def remove_leftovers(home: Path) -> None:
    """Remove what an earlier pruning was stopped in the middle of.

    Raises:
        OSError: something cannot be removed.
    """
    for folder in runs_home(home).glob(f"{_GOING}*"):
        remove_tree(folder)
