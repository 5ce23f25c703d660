"""Go back to how a run's files stood, and show what changed between; the user's tree is not met.

States are numbered: 0 is how the run found the files, each change since is one more.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from goldseam.app.left import LeftRun, last_tree, left_run, usable_record, workspace_again
from goldseam.app.moments import UNDONE, Moment, Station, moment_of, stations
from goldseam.app.place import person_can_mend
from goldseam.app.work import CHECKPOINTS, sweep, work_folder
from goldseam.journal.runs import find_run
from goldseam.journal.store import Writing, read_run
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.errors import UsageError
from goldseam.kernel.events import Event, ModelReplied, RunFinished
from goldseam.kernel.outcome import Stopped
from goldseam.repair.outputs import write_outputs
from goldseam.repair.result import ExitCode, Result, plain_result
from goldseam.repair.sections import files_section
from goldseam.workspace.checkpoint_store import BASE, Checkpoint, CheckpointStore
from goldseam.workspace.differences import Change
from goldseam.workspace.patch import Patch, make_patch

_RANGE = re.compile(r"(\d*)\.\.(\d*)")
_ONE = re.compile(r"\d+")


class Access(Struct, frozen=True, kw_only=True):
    """What going back stands on: the home of all runs, git, and how records are written."""

    home: Path
    git: str
    writing: Writing


class Done(Struct, frozen=True, kw_only=True):
    """A change of a run's files: its number, what made it, and what it did."""

    number: int
    made_by: str
    changes: tuple[Change, ...]


async def undo(name: str, to: int | None, access: Access) -> Result:
    """Make the files of the run `name` those of state `to`, or take back the last change.

    The patch in the run's folder is then that of this state, and a resume goes on from there. The
    record keeps all that was said and done.

    Raises:
        UsageError: there is no such run or state, nothing to undo, or somebody writes the run.
    """
    with left_run(access.home, name, access.writing, git=access.git) as left:
        with work_folder(access.home, left.run_id, git=access.git) as work, person_can_mend():
            number, tree = _target(left.store, to)
            workspace = workspace_again(left.store, work, tree)
            patch = make_patch(workspace, runner=left.beginning.tests.argv)
        why = f"{UNDONE}: the files are those of state {number}"
        at_s, seq = left.state.elapsed_s, left.record.end.seq + 1
        await left.journal.append(RunFinished(at_s=at_s, outcome=Stopped(why=why)), durable=True)
        moment = Moment(seq=seq, what="end")
        left.store.note(Checkpoint(name=moment.name, tree=left.store.tree_of(tree)))
        return _result(left, patch, why)


def _target(store: CheckpointStore, to: int | None) -> tuple[int, str]:
    states = _states(store)
    now = last_tree(store)
    if to is not None:
        if to not in states:
            raise UsageError(f"there is no state {to}: {_range_in_words(states)}")
        return to, states[to]
    first = next(number for number, tree in states.items() if store.tree_of(tree) == now)
    if first == 0:
        raise UsageError("there is nothing to undo: the files are as the run found them")
    return first - 1, states[first - 1]


def _result(left: LeftRun, patch: Patch, why: str) -> Result:
    result = replace(
        plain_result(
            ExitCode.STOPPED, f"{why}; `goldseam resume {left.run_id}` goes on from there"
        ),
        run_id=left.run_id,
        issue=left.beginning.issue.title,
        record=str(left.journal.folder),
        files=files_section(patch),
    )
    return write_outputs(result, patch.diff, folder=left.journal.folder, out=None)


def difference(name: str, between: str | None, access: Access) -> bytes:
    """Return the patch between two states of the run `name`: `A..B`, `N` for what change N did.

    A side that is left out is the first or the last state; so is all that is left out.

    Raises:
        UsageError: there is no such run or state.
    """
    store = _store(name, access)
    states = _states(store)
    last = max(states)
    if between is None:
        old, new = 0, last
    elif found := _RANGE.fullmatch(between):
        old, new = int(found[1] or 0), int(found[2] or last)
    elif _ONE.fullmatch(between):
        old, new = max(int(between) - 1, 0), int(between)
    else:
        raise UsageError(f"{between!r} names no states: write A..B, or N for what change N did")
    for number in (old, new):
        if number not in states:
            raise UsageError(f"there is no state {number}: {_range_in_words(states)}")
    with person_can_mend():
        return store.diff(states[old], states[new])


def changes_of(name: str, access: Access) -> Iterator[Done]:
    """Yield each change of the files of the run `name`. Raises as `difference`."""
    store = _store(name, access)
    with usable_record():
        names = _tool_names(read_run(store.folder.parent).events)
    before = BASE
    for station in _stations(store):
        with person_can_mend():
            changes = store.changed(before, station.checkpoint.tree)
        yield Done(number=station.number, made_by=_made_by(station, names), changes=changes)
        before = station.checkpoint.tree


def _made_by(station: Station, names: dict[str, str]) -> str:
    moment = moment_of(station.checkpoint)
    if moment is None or not moment.call_id:
        return "when the run was left, or undone"
    tool = names.get(moment.call_id, "")
    return f"{tool} ({moment.call_id})" if moment.what == "after" else f"found before {tool}"


def _tool_names(events: tuple[Event, ...]) -> dict[str, str]:
    replies = (event.response for event in events if isinstance(event, ModelReplied))
    calls = (item for reply in replies for item in reply.items if isinstance(item, ToolCall))
    return {call.call_id: call.tool_name for call in calls}


def _store(name: str, access: Access) -> CheckpointStore:
    sweep(access.home, git=access.git)
    with usable_record():
        folder = find_run(access.home, name) / CHECKPOINTS
    if not folder.is_dir():
        raise UsageError(f"run {folder.parent.name} has no checkpoints: an older goldseam wrote it")
    return CheckpointStore(folder, git=access.git)


def _stations(store: CheckpointStore) -> list[Station]:
    with person_can_mend():
        return list(stations(store.taken(), store.tree_of(BASE)))


def _states(store: CheckpointStore) -> dict[int, str]:
    """Return the tree of each state by its number."""
    return {0: BASE, **{one.number: one.checkpoint.tree for one in _stations(store)}}


def _range_in_words(states: dict[int, str]) -> str:
    return f"they go from 0 to {max(states)}" if len(states) > 1 else "nothing was changed yet"
