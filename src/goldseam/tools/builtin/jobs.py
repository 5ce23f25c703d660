"""Tool `jobs`: what runs in the background, what it printed, and an end to it."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from goldseam.kernel.json_text import Json
from goldseam.tools.context import ToolContext
from goldseam.tools.folding import fold_stacks
from goldseam.tools.observation import without_roots
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.jobs import Jobs, JobView, News
from goldseam.workspace.process import printable

_SHOWN_COMMAND = 200


class JobsGiven(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `jobs`."""

    example: ClassVar[Json] = {"action": "read", "job": "job-1"}

    action: Annotated[
        Literal["list", "read", "stop"], Meta(description="read gives the output since last read.")
    ] = "list"
    job: Annotated[str, Meta(description="Its name, for read and stop.", examples=["job-1"])] = ""
    wait_s: Annotated[
        float,
        Meta(ge=0, le=120, description="For read: seconds to wait for its end.", examples=[30]),
    ] = 0.0

    def __post_init__(self) -> None:
        """Refuse to read or stop what is not named."""
        if self.action != "list" and not self.job:
            raise ValueError(f"job is missing; {self.action} needs the name of a job")


async def jobs(given: JobsGiven, context: ToolContext) -> Output:
    """Do what is asked with the run's jobs."""
    running = context.jobs
    if running is None:
        raise ToolFailure("nothing can run in the background here, so there are no jobs.")
    match given.action:
        case "list":
            return Output(text=_listed(running))
        case "read":
            view = await running.wait(given.job, limit_s=given.wait_s)
        case "stop":
            view = await running.stop(given.job)
    return Output(text=f"{told_job(view)}\n{_told_news(running.news(given.job), view, context)}")


def told_job(view: JobView) -> str:
    """Return one line: how a job stands, and where its output is."""
    match view.state:
        case "running":
            state = f"running for {view.seconds:.0f} s"
        case "ended" if view.trouble is not None:
            state = f"never ran: {view.trouble}"
        case "ended":
            state = f"ended after {view.seconds:.0f} s, exit {view.exit_code}"
        case "stopped":
            state = f"stopped after {view.seconds:.0f} s"
    where = f" in {view.path}" if view.path else ""
    return f"{view.name}: {state}; {view.size:,} bytes of output{where}"


def _listed(running: Jobs) -> str:
    views = running.all()
    if not views:
        return "no jobs: run_command starts one with background: true"
    lines = [f"{told_job(view)}: {view.shown[:_SHOWN_COMMAND]}" for view in views]
    return "\n".join((f"{len(views)} jobs:" if len(views) > 1 else "1 job:", *lines))


def _told_news(news: News, view: JobView, context: ToolContext) -> str:
    if not news.output:
        return "no new output"
    text = without_roots(printable(news.output), context.roots).rstrip()
    note = (
        f"[the last {len(news.output):,} of {len(news.output) + news.left_out:,} new bytes; "
        f"read_file {view.path} shows the rest]\n"
        if news.left_out
        else ""
    )
    return note + fold_stacks(text, lever=f"all are in {view.path}")


JOBS = Tool(
    name="jobs",
    arguments=JobsGiven,
    run=jobs,
    description=described_beside(__name__),
    path_arguments=frozenset(),
    lever="read_file reads a job's output in pieces",
)
