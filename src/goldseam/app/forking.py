"""Make a new run out of the beginning of another: its record up to an event, its own folder."""

import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from goldseam.app.beginning import BEGINNING
from goldseam.app.left import usable_record
from goldseam.app.moments import moment_of
from goldseam.app.place import person_can_mend
from goldseam.app.undoing import Access
from goldseam.app.work import CHECKPOINTS, sweep
from goldseam.journal.codec import Entry
from goldseam.journal.runs import find_run, runs_home
from goldseam.journal.store import Writing, create_run, read_run
from goldseam.kernel.errors import UsageError
from goldseam.kernel.events import RunStarted, Setting
from goldseam.workspace.checkpoint_store import CheckpointStore
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.objects import link_objects
from goldseam.workspace.removal import remove_tree

_OF_THE_TREE = shutil.ignore_patterns("objects", "index*", "sharedindex.*", "taken", "*.lock")
"""What the fork gets in another way, or makes anew."""


async def fork(name: str, at: int | None, access: Access, *, run_id: str) -> Path:
    """Make the run `run_id` of the events of the run `name`, up to `at` or all; return its folder.

    The other run may be written meanwhile, and is not changed. A resume goes on with the fork.

    Raises:
        UsageError: there is no such run or event, or its record is not whole.
    """
    sweep(access.home, git=access.git)
    with usable_record():
        source = find_run(access.home, name)
        entries = _until(source, at)
    target = runs_home(access.home) / run_id
    try:
        with usable_record():
            await _copy_record(entries, target, access, origin=source.name)
        with person_can_mend():
            shutil.copyfile(source / BEGINNING, target / BEGINNING)
            _copy_checkpoints(source, target, entries[-1].link.seq, git=access.git)
    except BaseException:
        remove_tree(target)
        raise
    return target


def _until(source: Path, at: int | None) -> Sequence[Entry]:
    record = read_run(source)
    if record.gaps:
        raise UsageError(f"the record is not whole: {record.gaps[0].why}; resume it instead")
    end = record.end.seq
    if not record.entries or (at is not None and not 1 <= at <= end):
        raise UsageError(f"there is no event {at}: they go from 1 to {end}")
    return record.entries[:at]


async def _copy_record(
    entries: Sequence[Entry], target: Path, access: Access, *, origin: str
) -> None:
    times = (datetime.fromisoformat(entry.time) for entry in entries)
    writing = Writing(wall=lambda: next(times), secrets=access.writing.secrets)
    with create_run(target.parent, target.name, writing=writing) as journal:
        for entry in entries:
            event = entry.event
            if isinstance(event, RunStarted):
                told = Setting(name="forked from", value=f"{origin}, {len(entries)} events")
                event = replace(event, run_id=target.name, settings=(*event.settings, told))
            await journal.append(event, durable=entry is entries[-1])


def _copy_checkpoints(source: Path, target: Path, seq: int, *, git: str) -> None:
    old, new = source / CHECKPOINTS, target / CHECKPOINTS
    try:
        shutil.copytree(old, new, ignore=_OF_THE_TREE, symlinks=True)
        link_objects(old / "objects", new / "objects")
        store = CheckpointStore(new, git=git)
        for checkpoint in CheckpointStore(old, git=git).taken():
            moment = moment_of(checkpoint)
            if moment is not None and moment.seq <= seq:
                store.note(checkpoint)
    except OSError as error:
        raise WorkspaceError(f"the checkpoints cannot be copied: {error.strerror}") from error
