"""Commands that run on while others do: started, looked at, stopped, and all gone when a run ends.

Each job's output goes to a file of the workspace as it comes; its end is held in memory as well.
"""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Literal

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct
from msgspec.structs import replace

from goldseam.workspace.downloads import Downloads, Spool
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.port import Command, Sandbox

MAX_RUNNING = 8
TAIL_BYTES = 30_000
"""Of output that is new, what is held in memory for whoever reads it."""


class JobView(Struct, frozen=True, kw_only=True):
    """How a job stands: `exit_code` where it ended by itself, `trouble` where it never ran."""

    name: str
    shown: str
    state: Literal["running", "ended", "stopped"]
    seconds: float
    size: int
    path: str | None
    exit_code: int | None = None
    trouble: str | None = None


class News(Struct, frozen=True, kw_only=True):
    """Output that nobody has read yet: its end, and how many bytes in front of it are not here."""

    output: bytes
    left_out: int


class _Job:
    def __init__(self, name: str, shown: str, downloads: Downloads) -> None:
        self.name, self.shown = name, shown
        self.scope, self.ended = anyio.CancelScope(), anyio.Event()
        self.spool = Spool(downloads, name)
        self.spool.save(".txt")
        self.begun, self.seconds = anyio.current_time(), 0.0
        self.exit_code: int | None = None
        self.trouble: str | None = None
        self._tail, self._read_to = bytearray(), 0

    def hear(self, piece: bytes) -> None:
        self.spool.add(piece)
        self._tail += piece
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[: len(self._tail) - TAIL_BYTES]

    async def run(self, sandbox: Sandbox, command: Command) -> None:
        try:
            with self.scope:
                result = await sandbox.run(replace(command, limit_s=math.inf, listener=self.hear))
                self.exit_code = result.exit_code
        except WorkspaceError as error:
            self.trouble = error.message
        finally:
            self.seconds = anyio.current_time() - self.begun
            self.spool.close()
            self.ended.set()

    def view(self) -> JobView:
        is_over = self.ended.is_set()
        was_stopped = is_over and self.exit_code is None and self.trouble is None
        return JobView(
            name=self.name,
            shown=self.shown,
            state="stopped" if was_stopped else "ended" if is_over else "running",
            seconds=self.seconds if is_over else anyio.current_time() - self.begun,
            size=self.spool.size,
            path=self.spool.path,
            exit_code=self.exit_code,
            trouble=self.trouble,
        )

    def news(self) -> News:
        fresh = self.spool.size - self._read_to
        self._read_to = self.spool.size
        output = bytes(self._tail[max(0, len(self._tail) - min(fresh, TAIL_BYTES)) :])
        return News(output=output, left_out=fresh - len(output))


class Jobs:
    """The jobs of one run; made by `open_jobs`."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._jobs: dict[str, _Job] = {}

    def start(
        self, sandbox: Sandbox, command: Command, *, shown: str, downloads: Downloads
    ) -> JobView:
        """Start `command`, which runs until it ends, is stopped, or the run is over.

        Raises:
            WorkspaceError: `MAX_RUNNING` are running.
        """
        running = [view.name for view in self.all() if view.state == "running"]
        if len(running) >= MAX_RUNNING:
            raise WorkspaceError(
                f"{len(running)} jobs are running, which is the most there may be; stop one of "
                f"{', '.join(running)}"
            )
        job = _Job(f"job-{len(self._jobs) + 1}", shown, downloads)
        self._jobs[job.name] = job
        self._tasks.start_soon(job.run, sandbox, command)
        return job.view()

    def all(self) -> Sequence[JobView]:
        """Return all jobs that were started, in their order."""
        return [job.view() for job in self._jobs.values()]

    def view(self, name: str) -> JobView:
        """Return how the job stands.

        Raises:
            WorkspaceError: there is none of that name; says which there are.
        """
        return self._named(name).view()

    def news(self, name: str) -> News:
        """Return the job's output since this was last asked. Raises as `view`."""
        return self._named(name).news()

    async def wait(self, name: str, *, limit_s: float) -> JobView:
        """Return how the job stands at its end, or after `limit_s`. Raises as `view`."""
        job = self._named(name)
        with anyio.move_on_after(limit_s):
            await job.ended.wait()
        return job.view()

    async def stop(self, name: str) -> JobView:
        """End the job and all that it started, and return once it is gone. Raises as `view`."""
        job = self._named(name)
        job.scope.cancel()
        await job.ended.wait()
        return job.view()

    def _named(self, name: str) -> _Job:
        job = self._jobs.get(name)
        if job is None:
            known = ", ".join(self._jobs) or "none was started"
            raise WorkspaceError(f'there is no job "{name}"; jobs: {known}')
        return job


@asynccontextmanager
async def open_jobs() -> AsyncIterator[Jobs]:
    """Give the jobs of a run; when it is over, so are they, with all that they started."""
    held: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        try:
            yield Jobs(tasks)
        except Exception as error:  # noqa: BLE001 - raised again below, as it was and in no group
            held.append(error)
        finally:
            tasks.cancel_scope.cancel()
    if held:
        raise held[0]
