"""The main job put together: an issue and a repository in, a result out, everything on record.

Prepare, which leaves nothing behind where it fails; then one sitting.
"""

import math
from contextlib import aclosing
from pathlib import Path

from anyio import to_thread
from msgspec import Struct

from goldseam.app.beginning import Beginning, keep_beginning
from goldseam.app.chain import Routing, choose_chain
from goldseam.app.place import SCRATCH, WORKSPACE, Place, open_walls, person_can_mend
from goldseam.app.sitting import Sitting, Watch, sit
from goldseam.app.work import CHECKPOINTS, run_record, work_folder
from goldseam.app.world import World, home_of, ignore_file_of
from goldseam.journal.redact import Redactor
from goldseam.journal.runs import new_run_id
from goldseam.journal.store import Writing
from goldseam.kernel.budget import Limits
from goldseam.kernel.errors import UsageError
from goldseam.kernel.events import RunStarted, Setting
from goldseam.kernel.loop import run
from goldseam.kernel.request import ToolSpec
from goldseam.repair.prepare import opening_messages
from goldseam.repair.prove import run_baseline
from goldseam.repair.result import ExitCode, Result, plain_result
from goldseam.repair.site import Site
from goldseam.repair.task import Issue
from goldseam.tools.policy import Rule
from goldseam.workspace.checkpoint_store import CheckpointStore
from goldseam.workspace.checkpoints import make_store
from goldseam.workspace.clone import Workspace, open_workspace
from goldseam.workspace.git import find_git
from goldseam.workspace.testing.detect import TestCommand, detect_tests, given_tests
from goldseam.workspace.testing.report import TestReport


class FixRequest(Struct, frozen=True, kw_only=True):
    """What a person asks for, options and settings already joined."""

    issue: Issue
    repository: Path
    model: str | None
    test: str | None
    out: Path | None
    include_dirty: bool
    require_sandbox: bool
    test_limit_s: float
    limits: Limits
    rules: tuple[Rule, ...]
    routing: Routing


class _Prepared(Struct, frozen=True, kw_only=True):
    place: Place
    baseline: TestReport


async def fix(request: FixRequest, world: World, watch: Watch) -> Result:
    """Mend the issue and return the result, whose files are written.

    Raises:
        UsageError: it cannot be done as asked; nothing is left behind.
        RefusedError: a sandbox is required and there is none; nothing is left behind.
        RunBrokenError: a defect of ours, or a lost record, broke it off; the files are written.
    """
    chosen = choose_chain(
        request.model, request.routing, world, limits=request.limits, health=world.health
    )
    async with aclosing(chosen) as chain:
        refuse_bad_out(request.out)
        watch.say(f"model: {chain.name}")
        for banner in chain.banners:
            watch.say(banner)
        with person_can_mend():
            git = find_git(world.environ.get("PATH", ""))
        home = home_of(world.environ)
        run_id = new_run_id(world.now(), world.dice)
        with work_folder(home, run_id, git=git) as work:
            prepared = await _prepare_unless_stopped(request, world, watch, work=work)
            if isinstance(prepared, Result):
                return prepared
            watch.say(f"run: {run_id}")
            keys = tuple(secret.value for secret in chain.secrets)
            writing = Writing(wall=world.now, secrets=keys)
            with run_record(home, run_id, writing) as journal:
                beginning = _beginning(request, prepared)
                keep_beginning(journal.folder, beginning, clean=Redactor(keys))
                store = (work / CHECKPOINTS).rename(journal.folder / CHECKPOINTS)
                sitting = Sitting(
                    beginning=beginning,
                    rules=request.rules,
                    chain=chain,
                    place=prepared.place,
                    journal=journal,
                    store=CheckpointStore(store, git=git),
                )
                return await sit(
                    sitting,
                    world,
                    watch,
                    go=lambda ports: run(_opening(request, sitting, ports.toolbox.specs), ports),
                )


async def _prepare_unless_stopped(
    request: FixRequest, world: World, watch: Watch, *, work: Path
) -> _Prepared | Result:
    places: list[_Prepared] = []

    async def prepare() -> None:
        places.append(await _prepare(request, world, watch, work=work))

    cut = await watch.tasks.guard(prepare, limit_s=math.inf)
    if cut is None:
        return places[0]
    return plain_result(ExitCode.STOPPED, f"stopped by {cut.why} before the run began")


async def _prepare(request: FixRequest, world: World, watch: Watch, *, work: Path) -> _Prepared:
    with person_can_mend():
        workspace = await to_thread.run_sync(_open, request, world, work)
        sandbox = await open_walls(workspace, world, watch.say, required=request.require_sandbox)
        site = Site(
            workspace=workspace,
            tests=_tests(request, world, workspace),
            sandbox_for=sandbox.on,
            scratch=work / SCRATCH,
            test_limit_s=request.test_limit_s,
        )
        watch.say(f"tests: {site.tests.shown}; running them before any change")
        baseline = await run_baseline(site)
    _refuse_empty_baseline(baseline, site.tests)
    if baseline.timed_out:
        watch.say(
            f"the tests did not end in {baseline.seconds:.0f} s before any change: one hangs, "
            "which counts as failing, or --test-limit is too short"
        )
    return _Prepared(place=Place(work=work, site=site, sandbox=sandbox), baseline=baseline)


def _open(request: FixRequest, world: World, work: Path) -> Workspace:
    workspace = open_workspace(
        request.repository,
        home=work / WORKSPACE,
        include_dirty=request.include_dirty,
        git=find_git(world.environ.get("PATH", "")),
        ignore_file=ignore_file_of(world),
    )
    make_store(work / CHECKPOINTS, workspace)
    return workspace


def _beginning(request: FixRequest, prepared: _Prepared) -> Beginning:
    site = prepared.place.site
    return Beginning(
        issue=request.issue,
        model=request.model,
        out=None if request.out is None else str(request.out),
        tests=site.tests,
        test_limit_s=site.test_limit_s,
        baseline=prepared.baseline,
    )


def _opening(request: FixRequest, sitting: Sitting, tools: tuple[ToolSpec, ...]) -> RunStarted:
    site = sitting.place.site
    settings = {
        "repository": str(site.workspace.origin),
        "base": site.workspace.base,
        "model": sitting.chain.name,
        "sandbox": sitting.place.sandbox.banner,
        "tests": site.tests.shown,
        "issue": request.issue.source,
    }
    return RunStarted(
        at_s=0.0,
        run_id=sitting.journal.folder.name,
        history=opening_messages(
            request.issue, command=site.tests.shown, baseline=sitting.beginning.baseline
        ),
        tools=tools,
        limits=request.limits,
        verifies=True,
        settings=tuple(Setting(name=name, value=value) for name, value in settings.items()),
    )


def _tests(request: FixRequest, world: World, workspace: Workspace) -> TestCommand:
    if request.test is not None:
        return given_tests(request.test, origin=workspace.origin, environ=world.environ)
    return detect_tests(workspace.root, origin=workspace.origin, environ=world.environ)


def _refuse_empty_baseline(baseline: TestReport, tests: TestCommand) -> None:
    """Where no test can be run, nothing could ever be proved."""
    if not baseline.outcomes:
        lines = [line.strip() for line in baseline.output.splitlines() if line.strip()]
        errors = [line for line in lines if "error:" in line.lower()]
        told = (errors or lines[-1:] or ["no output"])[0]
        raise UsageError(f"the tests ({tests.shown}) ran no test: {told}")


def refuse_bad_out(out: Path | None) -> None:
    """Raise UsageError where `out` is something else than a folder."""
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out {str(out)!r} is not a folder")
