"""The folders of a run: its record, which stays, and its work folder, locked while it lives.

What a killed run left behind is swept away before the next one.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from goldseam.journal.runs import runs_home
from goldseam.journal.store import FileJournal, Writing, create_run
from goldseam.kernel.errors import JournalError, UsageError
from goldseam.workspace.removal import remove_tree

_RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")


@contextmanager
def work_folder(home: Path, run_id: str) -> Iterator[Path]:
    """Give an empty folder for the clones and checkouts of a run.

    Raises:
        UsageError: it cannot be made.
    """
    rooms, folder = home / "work", home / "work" / run_id
    with ExitStack() as held:
        try:
            rooms.mkdir(mode=0o700, parents=True, exist_ok=True)
            # While this is held, no folder is made and not yet locked.
            with _locked(rooms, fcntl.LOCK_EX):
                _sweep(rooms)
                folder.mkdir(mode=0o700)
                held.enter_context(_locked(folder, fcntl.LOCK_EX))
        except OSError as error:
            raise UsageError(
                f"cannot make {folder}: {error.strerror}; "
                "set GOLDSEAM_HOME to a folder you can write"
            ) from error
        try:
            yield folder
        finally:
            _remove(folder)


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


def _sweep(rooms: Path) -> None:
    """Remove the folders of runs that nobody holds; the kernel drops the lock of the dead."""
    for folder in rooms.iterdir():
        if not _RUN_ID.fullmatch(folder.name) or folder.is_symlink():
            continue
        with suppress(OSError), _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            _remove(folder)


def _remove(folder: Path) -> None:
    # What cannot be removed now is tried again by the sweep of the next run.
    with suppress(OSError):
        remove_tree(folder)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
