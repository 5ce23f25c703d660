"""A run as it was left, opened to be gone on with: its state, its files, and what to tell."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from goldseam.app.beginning import Beginning, read_beginning
from goldseam.app.moments import UNDONE, before_call, last_known
from goldseam.app.place import WORKSPACE
from goldseam.app.work import CHECKPOINTS
from goldseam.journal.folding import fold_record
from goldseam.journal.reading import ReadRecord
from goldseam.journal.runs import find_run
from goldseam.journal.store import FileJournal, Writing, open_run
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.errors import JournalError, UsageError
from goldseam.kernel.outcome import Completed, Stopped
from goldseam.kernel.state import RunState
from goldseam.repair.going_on import LeftAs, person_notes, told_of_call, told_of_run
from goldseam.workspace.checkpoint_store import BASE, CheckpointStore
from goldseam.workspace.checkpoints import Checkpoints
from goldseam.workspace.clone import Workspace
from goldseam.workspace.kept import reopen_workspace


class LeftRun(Struct, frozen=True, kw_only=True):
    """A run whose record nobody else can write meanwhile."""

    journal: FileJournal
    record: ReadRecord
    state: RunState
    damage: int
    """Places where the record is not whole, and events that cannot follow there."""
    beginning: Beginning
    store: CheckpointStore

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self.journal.folder.name

    @property
    def under_way(self) -> tuple[ToolCall, ...]:
        """The calls that may have changed something when the run broke off."""
        readers = {spec.name for spec in self.state.opening.tools if spec.reads_only}
        running = (entry.call for entry in self.state.calls if entry.stage == "running")
        return tuple(call for call in running if call.tool_name not in readers)


class Words(Struct, frozen=True, kw_only=True):
    """What is told: to the model of each call that was `under_way`, and of the run; to a person."""

    of_calls: Mapping[str, str]
    of_run: str
    """Empty where there is nothing that the model must be told."""
    for_person: tuple[str, ...]


@contextmanager
def left_run(home: Path, name: str, writing: Writing, *, git: str) -> Iterator[LeftRun]:
    """Open the run `name`, as `find_run` understands it.

    Raises:
        UsageError: there is none, another process writes it, or it cannot be gone on with.
    """
    with usable_record():
        folder = find_run(home, name)
        beginning = read_beginning(folder)
        opened = open_run(folder, writing=writing)
    with opened.journal as journal:
        with usable_record():
            folded = fold_record(opened.record)
        yield LeftRun(
            journal=journal,
            record=opened.record,
            state=folded.state,
            damage=len(opened.record.gaps) or folded.passed_over,
            beginning=beginning,
            store=CheckpointStore(folder / CHECKPOINTS, git=git),
        )


@contextmanager
def usable_record() -> Iterator[None]:
    """Make an error of a record one for the person, who named it."""
    try:
        yield
    except JournalError as error:
        raise UsageError(str(error)) from error


def last_tree(store: CheckpointStore) -> str:
    """Return the tree of the last checkpoint, or of the base where none was taken."""
    taken = store.taken()
    return taken[-1].tree if taken else store.tree_of(BASE)


def workspace_again(store: CheckpointStore, work: Path, tree: str) -> Workspace:
    """Make the run's workspace in `work` anew, with the files of `tree`.

    Raises:
        WorkspaceError: it cannot be made: nothing usable was kept, or the disk is full.
    """
    workspace = reopen_workspace(store.folder, home=work / WORKSPACE, git=store.git_program)
    Checkpoints(store, workspace.root).restore(tree)
    return workspace


def words_on(left: LeftRun) -> Words:
    """Return what must be told of how the run is found.

    Raises:
        WorkspaceError: its checkpoints cannot be read.
    """
    taken, now = left.store.taken(), last_tree(left.store)
    known = last_known(taken)
    since = known.tree if known is not None else BASE
    of_calls: dict[str, str] = {}
    for call in left.under_way:
        before = before_call(taken, call.call_id)
        changes = left.store.changed(before.tree if before is not None else since, now)
        of_calls[call.call_id] = told_of_call(call, changes)
    outcome = left.state.outcome
    undone = isinstance(outcome, Stopped) and outcome.why.startswith(UNDONE)
    found = LeftAs(
        changes=() if of_calls else left.store.changed(since, now),
        undone=outcome.why if isinstance(outcome, Stopped) and undone else "",
        damage=left.damage,
        left_out=taken[-1].left_out if taken else (),
        was_answered=isinstance(outcome, Completed)
        and not (outcome.proof and outcome.proof.proven),
    )
    return Words(
        of_calls=of_calls,
        of_run=told_of_run(found) if _must_hear(left.state, found) else "",
        for_person=(*of_calls.values(), *person_notes(found)),
    )


def _must_hear(state: RunState, found: LeftAs) -> bool:
    """An answer that waits for its proof is void once the model is told something."""
    return state.answer is None or found != LeftAs()
