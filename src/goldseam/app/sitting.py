"""One sitting of a run: from its first event, or from where it was left, to an outcome.

What `fix` and `resume` share: tools, ports, checkpoints, and the end that is told on every path.
"""

from collections.abc import Awaitable, Callable

import anyio
from anyio import to_thread
from msgspec import Struct

from goldseam.app.beginning import Beginning
from goldseam.app.broken import BrokenRun, RunBrokenError, what_is_left
from goldseam.app.chain import ChosenChain
from goldseam.app.checkpointing import CheckpointingToolbox, EventCount, RunCheckpoints
from goldseam.app.clock import RunClock
from goldseam.app.place import Place
from goldseam.app.tasks import AnyioTasks
from goldseam.app.tooling import Doors, toolbox_of
from goldseam.app.work import UNSAVED
from goldseam.app.world import World
from goldseam.journal.reading import ReadRecord
from goldseam.journal.store import FileJournal
from goldseam.kernel.events import VerificationFinished
from goldseam.kernel.ports import Approver, Listener, Ports, Tap
from goldseam.kernel.state import RunState
from goldseam.repair.conclude import Finished, conclude
from goldseam.repair.result import Result
from goldseam.repair.spending import SpendingTap, spending_of
from goldseam.repair.verify import PatchVerifier
from goldseam.tools.policy import Rule
from goldseam.workspace.checkpoint_store import CheckpointStore
from goldseam.workspace.checkpoints import Checkpoints
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.files import Files
from goldseam.workspace.jobs import open_jobs
from goldseam.workspace.resolver import Root


class Watch(Struct, frozen=True, kw_only=True):
    """Who looks on, who is asked, and who may stop the run."""

    say: Callable[[str], None]
    """Takes one line for the person: banners and warnings."""
    tap: Tap
    listener: Listener
    approver: Approver
    tasks: AnyioTasks


class Sitting(Struct, frozen=True, kw_only=True):
    """What a sitting has to go by: what was asked, who does it, where, and on which record."""

    beginning: Beginning
    rules: tuple[Rule, ...]
    chain: ChosenChain
    place: Place
    journal: FileJournal
    store: CheckpointStore
    earlier: ReadRecord = ReadRecord()
    """What was on record before."""
    elapsed_s: float = 0.0
    """On the run's own clock, before."""


Go = Callable[[Ports], Awaitable[RunState]]


async def sit(sitting: Sitting, world: World, watch: Watch, *, go: Go) -> Result:
    """Let `go` bring the run to an outcome, and return the result, whose files are written.

    Raises:
        RunBrokenError: a defect of ours, or a lost record, broke it off; the files are written.
    """
    try:
        return await _mend(sitting, world, watch, go=go)
    except Exception as error:
        broken = BrokenRun(
            site=sitting.place.site,
            issue_title=sitting.beginning.issue.title,
            model=sitting.chain.name,
            sandbox=sitting.place.sandbox.banner,
            folder=sitting.journal.folder,
            out=sitting.beginning.out_folder,
        )
        result = await to_thread.run_sync(what_is_left, broken, error)
        raise RunBrokenError(result) from error


async def _mend(sitting: Sitting, world: World, watch: Watch, *, go: Go) -> Result:
    place, beginning = sitting.place, sitting.beginning
    spending = SpendingTap(spending_of(sitting.earlier.events))
    verifier = PatchVerifier(
        place.site,
        beginning.baseline,
        somebody_follows=lambda: sitting.chain.router.escalates,
        earlier=[e for e in sitting.earlier.events if isinstance(e, VerificationFinished)],
    )
    count = EventCount(sitting.earlier.end.seq)
    checkpoints = RunCheckpoints(Checkpoints(sitting.store, place.site.workspace.root), count)
    beside = _Beside(verifier=verifier, checkpoints=checkpoints, taps=(watch.tap, spending, count))
    (place.work / UNSAVED).touch()
    try:
        state = await _with_tools(sitting, world, watch, beside=beside, go=go)
    finally:
        with anyio.CancelScope(shield=True):
            await _keep_end(checkpoints, place, watch)
    finished = Finished(
        state=state,
        site=place.site,
        spending=spending.spending,
        verifier=verifier,
        baseline=beginning.baseline,
        issue_title=beginning.issue.title,
        model=sitting.chain.name,
        sandbox=place.sandbox.banner,
        folder=sitting.journal.folder,
        out=beginning.out_folder,
    )
    return await conclude(finished)


class _Beside(Struct, frozen=True, kw_only=True):
    """What hears and keeps a sitting, beside what acts in it."""

    verifier: PatchVerifier
    checkpoints: RunCheckpoints
    taps: tuple[Tap, ...]


async def _with_tools(
    sitting: Sitting, world: World, watch: Watch, *, beside: _Beside, go: Go
) -> RunState:
    workspace = sitting.place.site.workspace
    async with open_jobs() as jobs:
        with Root(workspace.root) as root:
            doors = Doors(files=Files(root, origin=workspace.origin), jobs=jobs)
            task = sitting.beginning.issue.text
            tools = toolbox_of(sitting.place, doors, world, rules=sitting.rules, task=task)
            ports = Ports(
                model=sitting.chain.router,
                choose=sitting.chain.router.choose,
                toolbox=CheckpointingToolbox(
                    tools, beside.checkpoints, is_disturbed=lambda: bool(jobs.all())
                ),
                approver=watch.approver,
                verifier=beside.verifier,
                journal=sitting.journal,
                clock=RunClock(sitting.elapsed_s),
                tasks=watch.tasks,
                listener=watch.listener,
                taps=beside.taps,
            )
            return await go(ports)


async def _keep_end(checkpoints: RunCheckpoints, place: Place, watch: Watch) -> None:
    """Keep the files as they are left, and let the work folder go; or say that it must stay."""
    try:
        await checkpoints.end()
    except WorkspaceError as error:
        watch.say(f"the files as they stand are in {place.work}; no checkpoint holds them: {error}")
    else:
        (place.work / UNSAVED).unlink(missing_ok=True)
