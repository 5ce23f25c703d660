"""Go on with a run that was left: stopped, out of budget, crashed, or not proved yet.

The state is the fold of the record; the files are those of the last checkpoint, in a work folder
made anew. What was under way is settled by the kernel.
"""

import math
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from goldseam.app.chain import ChosenChain, Routing, choose_chain
from goldseam.app.left import LeftRun, last_tree, left_run, usable_record, words_on, workspace_again
from goldseam.app.models import secrets_in
from goldseam.app.moments import Moment
from goldseam.app.place import SCRATCH, Place, open_walls, person_can_mend
from goldseam.app.sitting import Sitting, Watch, sit
from goldseam.app.work import work_folder
from goldseam.app.world import World, home_of
from goldseam.journal.runs import find_run
from goldseam.journal.store import Writing
from goldseam.journal.summaries import summary_of
from goldseam.kernel.budget import Limits, reached
from goldseam.kernel.errors import UsageError
from goldseam.kernel.events import Resumed
from goldseam.kernel.loop import resume
from goldseam.repair.judgement import OPTIONS
from goldseam.repair.outputs import PATCH
from goldseam.repair.result import ExitCode, Result, plain_result
from goldseam.repair.site import Site
from goldseam.tools.policy import Rule
from goldseam.workspace.checkpoint_store import Checkpoint
from goldseam.workspace.git import find_git


class ResumeRequest(Struct, frozen=True, kw_only=True):
    """What a person asks for; what is not said is as the run began."""

    run: str
    model: str | None
    out: Path | None
    limits: Mapping[str, Any]
    """Those that were said, by name: they count from the beginning of the run."""
    require_sandbox: bool
    rules: tuple[Rule, ...]
    routing: Routing


async def resume_run(request: ResumeRequest, world: World, watch: Watch) -> Result:
    """Go on with the run and return its result, whose files are written.

    Raises:
        UsageError: there is nothing to go on with, or no more budget; nothing is changed.
        RefusedError: a sandbox is required and there is none.
        RunBrokenError: a defect of ours, or a lost record, broke it off; the files are written.
    """
    home = home_of(world.environ)
    with person_can_mend():
        git = find_git(world.environ.get("PATH", ""))
    with usable_record():
        refuse_verified(find_run(home, request.run))
    keys = tuple(key.value for key in secrets_in(world.environ, request.routing.hosts))
    writing = Writing(wall=world.now, secrets=keys)
    with left_run(home, request.run, writing, git=git) as left:
        limits = _limits(left, request.limits)
        model = request.model or left.beginning.model
        chosen = choose_chain(model, request.routing, world, limits=limits, health=world.health)
        async with aclosing(chosen) as chain:
            watch.say(f"model: {chain.name}")
            for banner in chain.banners:
                watch.say(banner)
            with work_folder(home, left.run_id, git=git) as work:
                place = await _place_unless_stopped(left, request, world, watch=watch, work=work)
                if isinstance(place, Result):
                    return place
                sitting = _sitting(left, request, place=place, chain=chain)
                return await _go_on(left, sitting, limits, world=world, watch=watch)


def refuse_verified(folder: Path) -> None:
    """Raise UsageError where the run in `folder` has come to its good end."""
    if summary_of(folder).verdict == "verified":
        raise UsageError(
            f"run {folder.name} is finished and its patch is proved: {folder / PATCH}; "
            f"`goldseam undo {folder.name}` takes changes back"
        )


def _limits(left: LeftRun, said: Mapping[str, Any]) -> Limits:
    """Return the limits from here on; refuse what would end at once, but a proof that is due."""
    state = left.state
    try:
        limits = replace(state.opening.limits, **said)
    except ValueError as error:
        raise UsageError(str(error)) from error
    limit = reached(state.ledger, limits, elapsed_s=state.elapsed_s)
    if limit is not None and state.answer is None:
        raise UsageError(
            f"the limit {limit} of run {left.run_id} is used up; give more in all: {OPTIONS[limit]}"
        )
    return limits


async def _place_unless_stopped(
    left: LeftRun, request: ResumeRequest, world: World, *, watch: Watch, work: Path
) -> Place | Result:
    places: list[Place] = []

    async def prepare() -> None:
        with person_can_mend():
            tree = last_tree(left.store)
            workspace = await to_thread.run_sync(workspace_again, left.store, work, tree)
            required = request.require_sandbox
            sandbox = await open_walls(workspace, world, watch.say, required=required)
        site = Site(
            workspace=workspace,
            tests=left.beginning.tests,
            sandbox_for=sandbox.on,
            scratch=work / SCRATCH,
            test_limit_s=left.beginning.test_limit_s,
        )
        places.append(Place(work=work, site=site, sandbox=sandbox))

    cut = await watch.tasks.guard(prepare, limit_s=math.inf)
    if cut is None:
        return places[0]
    return plain_result(ExitCode.STOPPED, f"stopped by {cut.why} before the run went on")


def _sitting(left: LeftRun, request: ResumeRequest, *, place: Place, chain: ChosenChain) -> Sitting:
    out = left.beginning.out if request.out is None else str(request.out)
    return Sitting(
        beginning=replace(left.beginning, out=out),
        rules=request.rules,
        chain=chain,
        place=place,
        journal=left.journal,
        store=left.store,
        earlier=left.record,
        elapsed_s=left.state.elapsed_s,
    )


async def _go_on(
    left: LeftRun, sitting: Sitting, limits: Limits, *, world: World, watch: Watch
) -> Result:
    seq = left.record.end.seq
    with person_can_mend():
        words = await to_thread.run_sync(words_on, left)
        moment = Moment(seq=seq, what="resumed")
        left.store.note(Checkpoint(name=moment.name, tree=last_tree(left.store)))
    why = f"a person resumed it after {seq} events"
    watch.say(f"run: {left.run_id}, gone on with after {seq} events")
    for line in words.for_person:
        watch.say(f"warning: {' '.join(line.split())}")
    resumed = Resumed(at_s=left.state.elapsed_s, limits=limits, why=why, told=words.of_run)
    return await sit(
        sitting,
        world,
        watch,
        go=lambda ports: resume(
            left.state, ports, resumed, tell=lambda call: words.of_calls[call.call_id]
        ),
    )
