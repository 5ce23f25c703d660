"""The folders of a run: its record, which stays, and its work folder, locked while it lives.

What a killed run left behind is swept away before the next one, its files kept as a checkpoint.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from goldseam.app.moments import Moment
from goldseam.app.place import WORKSPACE
from goldseam.journal.runs import runs_home
from goldseam.journal.store import FileJournal, Writing, create_run, read_run
from goldseam.kernel.errors import JournalError, UsageError
from goldseam.workspace.checkpoint_store import CheckpointStore
from goldseam.workspace.checkpoints import Checkpoints
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.removal import remove_tree

CHECKPOINTS = "checkpoints"
"""The folder of a run's checkpoints, in the run's own."""

UNSAVED = "unsaved"
"""Stands in a work folder as long as its tree may hold what no checkpoint does."""

_RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
_GOING = ".going"


@contextmanager
def work_folder(home: Path, run_id: str, *, git: str) -> Iterator[Path]:
    """Give an empty folder for the clones and checkouts of a run.

    It is removed in the end, unless what is in it is `UNSAVED`: then the next sweep tries again.

    Raises:
        UsageError: it cannot be made, or another process has it.
    """
    rooms, folder = home / "work", home / "work" / run_id
    with ExitStack() as held:
        try:
            rooms.mkdir(mode=0o700, parents=True, exist_ok=True)
            # While this is held, no folder is made and not yet locked.
            with _locked(rooms, fcntl.LOCK_EX):
                _sweep(home, rooms, git)
                folder.mkdir(mode=0o700)
                held.enter_context(_locked(folder, fcntl.LOCK_EX))
        except FileExistsError as error:
            raise UsageError(
                f"what run {run_id} left in {folder} cannot be saved; if it can be done without, "
                "remove that folder and go on from the last checkpoint"
            ) from error
        except OSError as error:
            raise UsageError(
                f"cannot make {folder}: {error.strerror}; "
                "set GOLDSEAM_HOME to a folder you can write"
            ) from error
        try:
            yield folder
        finally:
            if not (folder / UNSAVED).exists():
                _remove(folder)


def sweep(home: Path, *, git: str) -> None:
    """Keep what dead runs left as checkpoints of theirs, and remove their work folders."""
    rooms = home / "work"
    with suppress(OSError), _locked(rooms, fcntl.LOCK_EX):
        _sweep(home, rooms, git)


@contextmanager
def run_record(home: Path, run_id: str, writing: Writing) -> Iterator[FileJournal]:
    """Give the empty record of a new run.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        journal = create_run(runs_home(home), run_id, writing=writing)
    except JournalError as error:
        raise UsageError(f"{error}; set GOLDSEAM_HOME to a folder you can write") from error
    with journal:
        yield journal


def _sweep(home: Path, rooms: Path, git: str) -> None:
    """Remove the folders of runs that nobody holds; the kernel drops the lock of the dead."""
    for folder in rooms.iterdir():
        name = folder.name.removesuffix(_GOING)
        if not _RUN_ID.fullmatch(name) or folder.is_symlink():
            continue
        # What cannot be saved now stays where it is.
        with (
            suppress(OSError, WorkspaceError, JournalError),
            _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB),
        ):
            if folder.name == name and (folder / UNSAVED).exists():
                _save(runs_home(home) / name, folder / WORKSPACE / "tree", git)
            _remove(folder)


def _save(run: Path, tree: Path, git: str) -> None:
    """Keep how a dead run left its files; where its record is gone, nobody can ask for them."""
    if (run / CHECKPOINTS).is_dir() and tree.is_dir():
        moment = Moment(seq=read_run(run).end.seq, what="end")
        Checkpoints(CheckpointStore(run / CHECKPOINTS, git=git), tree).take(moment.name)


def _remove(folder: Path) -> None:
    # What cannot be removed now is tried again by the sweep of the next run. Half of a tree must
    # not be taken for the whole of it: under this name it is saved by nobody.
    with suppress(OSError):
        going = folder
        if not folder.name.endswith(_GOING):
            going = folder.rename(folder.with_name(folder.name + _GOING))
        remove_tree(going)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
