"""Jobs run on while others do, and end with the run, whatever way it ends."""

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from sandbox_places import Place, make_place, until, why_no_walls

from goldseam.workspace.downloads import Downloads
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.jobs import MAX_RUNNING, TAIL_BYTES, Jobs, JobView, News, open_jobs
from goldseam.workspace.resolver import Root
from goldseam.workspace.sandbox.plain import PlainSandbox
from goldseam.workspace.sandbox.port import Command


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def downloads(tree: Path) -> Iterator[Downloads]:
    with Root(tree) as root:
        yield Downloads(root)


@pytest.fixture
def sandbox(tree: Path) -> PlainSandbox:
    return PlainSandbox(tree=tree, environment={"PATH": "/usr/bin:/bin"}, why="a test")


def start(jobs: Jobs, sandbox: PlainSandbox, downloads: Downloads, script: str) -> JobView:
    command = Command(argv=("sh", "-c", script), limit_s=0.1)
    return jobs.start(sandbox, command, shown=script, downloads=downloads)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.anyio
async def test_a_job_ends_by_itself_and_its_output_stays(
    sandbox: PlainSandbox, downloads: Downloads, tree: Path
) -> None:
    async with open_jobs() as jobs:
        started = start(jobs, sandbox, downloads, "echo one; sleep 0.3; echo two; exit 3")
        assert (started.name, started.state, started.shown[:8]) == ("job-1", "running", "echo one")
        early = await jobs.wait("job-1", limit_s=0.0)
        assert early.state == "running"
        # It has no limit but the run's own end.
        ended = await jobs.wait("job-1", limit_s=20)
        assert (ended.state, ended.exit_code, ended.size) == ("ended", 3, 8)
        assert (tree / str(ended.path)).read_bytes() == b"one\ntwo\n"
        assert jobs.news("job-1") == News(output=b"one\ntwo\n", left_out=0)
        assert jobs.news("job-1") == News(output=b"", left_out=0)
        assert jobs.all() == [ended]


@pytest.mark.anyio
async def test_a_job_is_stopped_with_all_that_it_started(
    sandbox: PlainSandbox, downloads: Downloads, tree: Path
) -> None:
    async with open_jobs() as jobs:
        start(jobs, sandbox, downloads, "sleep 60 & echo $! >pid; wait")
        await until(lambda: (tree / "pid").is_file() and (tree / "pid").read_text() != "")
        stopped = await jobs.stop("job-1")
        assert (stopped.state, stopped.exit_code) == ("stopped", None)
        pid = int((tree / "pid").read_text())
        await until(lambda: not is_alive(pid))
        assert await jobs.stop("job-1") == stopped


@pytest.mark.anyio
@pytest.mark.parametrize("failing", [False, True])
async def test_all_jobs_end_with_the_run_and_its_own_error_stays_what_it_is(
    sandbox: PlainSandbox, downloads: Downloads, tree: Path, failing: bool
) -> None:
    async def run() -> None:
        async with open_jobs() as jobs:
            start(jobs, sandbox, downloads, "echo $$ >pid; exec sleep 60")
            await until(lambda: (tree / "pid").is_file() and (tree / "pid").read_text() != "")
            if failing:
                raise KeyError("mine")

    if failing:
        with pytest.raises(KeyError, match="mine"):
            await run()
    else:
        await run()
    pid = int((tree / "pid").read_text())
    await until(lambda: not is_alive(pid))


@pytest.mark.anyio
async def test_a_cancelled_run_ends_its_jobs_too(
    sandbox: PlainSandbox, downloads: Downloads, tree: Path
) -> None:
    with anyio.move_on_after(0.5) as scope:
        async with open_jobs() as jobs:
            start(jobs, sandbox, downloads, "echo $$ >pid; exec sleep 60")
            await anyio.sleep(60)
    assert scope.cancelled_caught
    pid = int((tree / "pid").read_text())
    await until(lambda: not is_alive(pid))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    if why_no_walls() is not None:
        pytest.skip(f"no walls on this machine: {why_no_walls()}")
    return make_place(tmp_path)


@pytest.mark.anyio
async def test_jobs_run_behind_walls_as_well(place: Place) -> None:
    with Root(place.tree) as root:
        async with open_jobs() as jobs:
            command = Command(argv=("sh", "-c", "pwd; echo $$ >began; sleep 60"), limit_s=1)
            jobs.start(place.walled(), command, shown="x", downloads=Downloads(root))
            await until((place.tree / "began").is_file)
            stopped = await jobs.stop("job-1")
            assert stopped.state == "stopped"
            assert jobs.news("job-1").output == f"{place.workspace.origin}\n".encode()


@pytest.mark.anyio
async def test_what_cannot_be_started_says_why(sandbox: PlainSandbox, downloads: Downloads) -> None:
    async with open_jobs() as jobs:
        command = Command(argv=("no-such-program",), limit_s=1)
        jobs.start(sandbox, command, shown="x", downloads=downloads)
        view = await jobs.wait("job-1", limit_s=20)
        assert (view.state, view.trouble) == ("ended", "no such program: no-such-program")


@pytest.mark.anyio
async def test_a_job_that_is_not_there_is_answered_with_those_that_are(
    sandbox: PlainSandbox, downloads: Downloads
) -> None:
    async with open_jobs() as jobs:
        with pytest.raises(WorkspaceError, match='no job "x"; jobs: none was started'):
            jobs.view("x")
        start(jobs, sandbox, downloads, "true")
        with pytest.raises(WorkspaceError, match='no job "x"; jobs: job-1'):
            await jobs.stop("x")


@pytest.mark.anyio
async def test_there_are_never_too_many(sandbox: PlainSandbox, downloads: Downloads) -> None:
    async with open_jobs() as jobs:
        for _ in range(MAX_RUNNING):
            start(jobs, sandbox, downloads, "sleep 60")
        with pytest.raises(WorkspaceError, match=r"8 jobs are running.*stop one of job-1, job-2"):
            start(jobs, sandbox, downloads, "true")


@pytest.mark.anyio
async def test_of_a_flood_the_end_is_held_and_the_whole_is_in_the_file(
    sandbox: PlainSandbox, downloads: Downloads, tree: Path
) -> None:
    async with open_jobs() as jobs:
        start(jobs, sandbox, downloads, "seq 1 200000")
        view = await jobs.wait("job-1", limit_s=20)
        news = jobs.news("job-1")
        assert news.output.endswith(b"\n200000\n")
        assert (len(news.output), news.left_out) == (TAIL_BYTES, view.size - TAIL_BYTES)
        assert (tree / str(view.path)).stat().st_size == view.size
