"""The main job put together: an issue and a repository in, a result out, everything on record.

Three parts, read top-down: prepare (which leaves nothing behind where it fails), run, conclude.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from goldseam.app.broken import BrokenRun, RunBrokenError, what_is_left
from goldseam.app.clock import RunClock
from goldseam.app.models import ChosenModel, choose_model
from goldseam.app.tasks import AnyioTasks
from goldseam.app.work import run_record, work_folder
from goldseam.app.world import World, home_of, ignore_file_of
from goldseam.journal.runs import new_run_id
from goldseam.journal.store import FileJournal, Writing
from goldseam.kernel.budget import Limits
from goldseam.kernel.errors import RefusedError, UsageError
from goldseam.kernel.events import RunStarted, Setting
from goldseam.kernel.loop import run
from goldseam.kernel.ports import Approver, Listener, Ports, Tap
from goldseam.models.catalog import Catalog
from goldseam.repair.conclude import Finished, conclude
from goldseam.repair.prepare import opening_messages
from goldseam.repair.prove import run_baseline
from goldseam.repair.result import ExitCode, Result, plain_result
from goldseam.repair.site import Site
from goldseam.repair.task import Issue
from goldseam.repair.verify import PatchVerifier
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.context import ToolContext
from goldseam.tools.policy import Rule, default_rules
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.clone import Workspace, open_workspace
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.files import Files
from goldseam.workspace.git import find_git
from goldseam.workspace.resolver import Root
from goldseam.workspace.sandbox.open import open_sandbox
from goldseam.workspace.sandbox.port import Sandbox
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
    hosts: Catalog


class Watch(Struct, frozen=True, kw_only=True):
    """Who looks on, who is asked, and who may stop the run."""

    say: Callable[[str], None]
    """Takes one line for the person: banners and warnings."""
    tap: Tap
    listener: Listener
    approver: Approver
    tasks: AnyioTasks


class _Place(Struct, frozen=True, kw_only=True):
    """Where the run takes place, and how the tests stand there."""

    site: Site
    sandbox: Sandbox
    baseline: TestReport


class _Sitting(Struct, frozen=True, kw_only=True):
    """One run: what was asked, who does it, where, and on which record."""

    request: FixRequest
    model: ChosenModel
    place: _Place
    journal: FileJournal


async def fix(request: FixRequest, world: World, watch: Watch) -> Result:
    """Mend the issue and return the result, whose files are written.

    Raises:
        UsageError: it cannot be done as asked; nothing is left behind.
        RefusedError: a sandbox is required and there is none; nothing is left behind.
        RunBrokenError: a defect of ours, or a lost record, broke it off; the files are written.
    """
    chosen = choose_model(
        request.model, folder=world.folder, environ=world.environ, catalog=request.hosts
    )
    async with aclosing(chosen) as model:
        _refuse_bad_out(request.out)
        watch.say(f"model: {model.name}")
        if model.banner:
            watch.say(model.banner)
        home = home_of(world.environ)
        run_id = new_run_id(world.now(), world.dice)
        with work_folder(home, run_id) as work:
            place = await _prepare_unless_stopped(request, world, watch, work=work)
            if isinstance(place, Result):
                return place
            watch.say(f"run: {run_id}")
            keys = tuple(secret.value for secret in model.secrets)
            writing = Writing(wall=world.now, secrets=keys)
            with run_record(home, run_id, writing) as journal:
                sitting = _Sitting(request=request, model=model, place=place, journal=journal)
                return await _run(sitting, world, watch)


async def _prepare_unless_stopped(
    request: FixRequest, world: World, watch: Watch, *, work: Path
) -> _Place | Result:
    places: list[_Place] = []

    async def prepare() -> None:
        places.append(await _prepare(request, world, watch, work=work))

    cut = await watch.tasks.guard(prepare, limit_s=math.inf)
    if cut is None:
        return places[0]
    return plain_result(ExitCode.STOPPED, f"stopped by {cut.why} before the run began")


async def _prepare(request: FixRequest, world: World, watch: Watch, *, work: Path) -> _Place:
    with _person_can_mend():
        workspace = await to_thread.run_sync(
            lambda: open_workspace(
                request.repository,
                home=work / "workspace",
                include_dirty=request.include_dirty,
                git=find_git(world.environ.get("PATH", "")),
                ignore_file=ignore_file_of(world),
            )
        )
        hidden = (home_of(world.environ),)
        sandbox = await open_sandbox(
            workspace.root, workspace, environ=world.environ, hidden=hidden
        )
        watch.say(sandbox.banner)
        if request.require_sandbox and sandbox.level != "A":
            raise RefusedError(f"a sandbox is required and there is none: {sandbox.banner}")
        site = Site(
            workspace=workspace,
            tests=_tests(request, world, workspace),
            sandbox_for=sandbox.on,
            scratch=work / "scratch",
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
    return _Place(site=site, sandbox=sandbox, baseline=baseline)


async def _run(sitting: _Sitting, world: World, watch: Watch) -> Result:
    try:
        return await _mend(sitting, world, watch)
    except Exception as error:
        broken = BrokenRun(
            site=sitting.place.site,
            issue_title=sitting.request.issue.title,
            model=sitting.model.name,
            sandbox=sitting.place.sandbox.banner,
            folder=sitting.journal.folder,
            out=sitting.request.out,
        )
        result = await to_thread.run_sync(what_is_left, broken, error)
        raise RunBrokenError(result) from error


async def _mend(sitting: _Sitting, world: World, watch: Watch) -> Result:
    place, site = sitting.place, sitting.place.site
    verifier = PatchVerifier(site, place.baseline)
    with Root(site.workspace.root) as root:
        toolbox = _toolbox(sitting, world, Files(root, origin=site.workspace.origin))
        ports = Ports(
            model=sitting.model.adapter,
            toolbox=toolbox,
            approver=watch.approver,
            verifier=verifier,
            journal=sitting.journal,
            clock=RunClock(),
            tasks=watch.tasks,
            listener=watch.listener,
            taps=(watch.tap,),
        )
        state = await run(_opening(sitting, toolbox), ports)
        finished = Finished(
            state=state,
            site=site,
            verifier=verifier,
            baseline=place.baseline,
            issue_title=sitting.request.issue.title,
            model=sitting.model.name,
            sandbox=place.sandbox.banner,
            folder=sitting.journal.folder,
            out=sitting.request.out,
        )
        return await conclude(finished)


def _toolbox(sitting: _Sitting, world: World, files: Files) -> Toolbox:
    place, site = sitting.place, sitting.place.site
    context = ToolContext(
        workspace=site.workspace,
        files=files,
        sandbox=place.sandbox,
        sandbox_for=place.sandbox.on,
        tests=site.tests,
        environ=world.environ,
    )
    policy = Policy(
        rules=sitting.request.rules,
        defaults=default_rules(walls_hold=place.sandbox.level == "A"),
        somebody_is_there=world.is_attended,
    )
    return Toolbox(builtin_tools(), context=context, policy=policy)


def _opening(sitting: _Sitting, toolbox: Toolbox) -> RunStarted:
    site, request = sitting.place.site, sitting.request
    settings = {
        "repository": str(site.workspace.origin),
        "base": site.workspace.base,
        "model": sitting.model.name,
        "sandbox": sitting.place.sandbox.banner,
        "tests": site.tests.shown,
        "issue": request.issue.source,
    }
    return RunStarted(
        at_s=0.0,
        run_id=sitting.journal.folder.name,
        history=opening_messages(
            request.issue, command=site.tests.shown, baseline=sitting.place.baseline
        ),
        tools=toolbox.specs,
        limits=_limits(request.limits, sitting.model),
        verifies=True,
        settings=tuple(Setting(name=name, value=value) for name, value in settings.items()),
    )


def _limits(limits: Limits, model: ChosenModel) -> Limits:
    """Return `limits` with what the model holds, where that is known."""
    return replace(limits, context_tokens=model.context_tokens or limits.context_tokens)


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


def _refuse_bad_out(out: Path | None) -> None:
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out {str(out)!r} is not a folder")


@contextmanager
def _person_can_mend() -> Iterator[None]:
    """Before the run begins, what is wrong with the workspace is the person's to mend."""
    try:
        yield
    except WorkspaceError as error:
        raise UsageError(str(error)) from error
