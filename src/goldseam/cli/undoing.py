"""What `goldseam undo`, `diff` and `fork` do."""

import sys

import anyio

from goldseam.app.forking import fork
from goldseam.app.models import secrets_in
from goldseam.app.place import person_can_mend
from goldseam.app.settings import hosts_of, read_settings
from goldseam.app.undoing import Access, changes_of, difference, undo
from goldseam.app.world import World, home_of, this_machine
from goldseam.cli.endings import result_line
from goldseam.cli.screen import show_patch
from goldseam.journal.runs import new_run_id
from goldseam.journal.store import Writing
from goldseam.journal.visible import visible
from goldseam.workspace.differences import Change
from goldseam.workspace.git import find_git


def undo_run(run: str, to: int | None, *, as_json: bool) -> int:
    """Take changes back, and say what the run's patch is now.

    Raises:
        UsageError: there is no such run or state, or nothing to undo.
    """
    result = anyio.run(undo, run, to, access_to(this_world()))
    if as_json:
        sys.stdout.write(result_line(result))
    else:
        sys.stderr.write(f"{result.message}\n")
        for path in filter(None, (result.patch,)):
            sys.stderr.write(f"  {visible(path)}\n")
    return 0


def show_difference(run: str, states: str | None) -> None:
    """Write the patch between two states. Raises as `difference`."""
    show_patch(difference(run, states, access_to(this_world())), sys.stdout)


def list_changes(run: str) -> None:
    """Write a line for each change. Raises as `changes_of`."""
    for done in changes_of(run, access_to(this_world())):
        files = ", ".join(map(_shown, done.changes))
        sys.stdout.write(f"{done.number:>4}  {visible(done.made_by)}: {visible(files)}\n")


def fork_run(run: str, at: int | None) -> None:
    """Make the fork and write its name. Raises as `fork`."""
    world = this_world()
    run_id = new_run_id(world.now(), world.dice)

    async def make() -> None:
        await fork(run, at, access_to(world), run_id=run_id)

    anyio.run(make)
    sys.stdout.write(f"{run_id}\n")
    sys.stderr.write(f"goldseam resume {run_id}\n")


def _shown(change: Change) -> str:
    if change.added is None or change.removed is None:
        return f"{change.path} ({change.status})"
    return f"{change.path} +{change.added} -{change.removed}"


def this_world() -> World:
    """Return the world of a command that asks nobody anything."""
    return this_machine(read_stdin=bytes, is_attended=False)


def access_to(world: World) -> Access:
    """Return the way to the runs of a home. Raises UsageError where git is not there."""
    hosts = hosts_of(read_settings(world.environ))
    keys = tuple(key.value for key in secrets_in(world.environ, hosts))
    with person_can_mend():
        git = find_git(world.environ.get("PATH", ""))
    return Access(
        home=home_of(world.environ), git=git, writing=Writing(wall=world.now, secrets=keys)
    )
