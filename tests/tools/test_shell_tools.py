"""Commands and jobs as a model meets them, in a real shell."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from goldseam.kernel.conversation import ToolCall
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.context import ToolContext
from goldseam.tools.observation import LIMIT_BYTES
from goldseam.tools.policy import default_rules
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.jobs import open_jobs
from goldseam.workspace.process import Output, ProcessResult
from goldseam.workspace.sandbox.plain import PlainSandbox

Make = Callable[..., ToolCall]


def toolbox_of(context: ToolContext) -> Toolbox:
    policy = Policy(defaults=default_rules(walls_hold=True), somebody_is_there=False)
    return Toolbox(builtin_tools(), context=context, policy=policy)


@pytest.fixture
def real(context: ToolContext, tree: Path) -> ToolContext:
    sandbox = PlainSandbox(tree=tree, environment={"PATH": "/usr/bin:/bin"}, why="a test")
    return replace(context, sandbox=sandbox)


@pytest.fixture
def run(real: ToolContext, call: Make) -> Any:
    toolbox = toolbox_of(real)

    async def execute(command: str, **arguments: Any) -> tuple[str, str]:
        executed = await toolbox.execute(call("run_command", command=command, **arguments))
        return executed.result.kind, executed.result.content

    return execute


@pytest.mark.anyio
@pytest.mark.parametrize("left_behind", ["sleep 60 &", "setsid sleep 60 &", "(sleep 60 &) &"])
async def test_it_returns_when_the_command_itself_has_ended(run: Any, left_behind: str) -> None:
    # agents 25
    assert await run(f"{left_behind} echo done", limit_s=30) == ("done", "exit 0\ndone")


@pytest.mark.anyio
async def test_nothing_printed_is_said(run: Any) -> None:
    # agents 2
    assert await run("true") == ("done", "exit 0, no output")
    assert await run("exit 3") == ("done", "exit 3, no output")
    assert await run("kill -9 $$") == ("done", "exit -9 (ended by SIGKILL), no output")


@pytest.mark.anyio
async def test_nobody_is_asked_paged_or_painted_for(run: Any) -> None:
    # agents 26
    _, text = await run('echo "$PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $EDITOR $TERM $NO_COLOR"')
    assert text == "exit 0\ncat cat 0 true dumb 1"
    assert await run("read answer; echo got $answer") == ("done", "exit 0\ngot")
    _, text = await run("test -t 0 || test -t 1 || echo no terminal")
    assert text == "exit 0\nno terminal"


@pytest.mark.anyio
async def test_a_time_out_names_the_limit_and_the_argument(run: Any) -> None:
    kind, text = await run("echo begun; sleep 60", limit_s=1)
    assert kind == "failed"
    assert text.startswith("run_command: stopped at the limit of 1 s (limit_s);")
    assert text.endswith("It had printed:\nbegun")
    _, text = await run("sleep 60", limit_s=1)
    assert text.endswith("It had printed nothing.")


@pytest.mark.anyio
async def test_a_long_output_is_whole_in_a_file_and_read_on_from_there(
    run: Any, real: ToolContext, tree: Path, call: Make
) -> None:
    # A4.4, A4.6, K7, security part 6
    kind, text = await run("seq 1 300000")
    assert kind == "done"
    assert len(text.encode()) <= LIMIT_BYTES
    lines = text.split("\n")
    assert lines[:3] == [
        "exit 0",
        "[text/plain, 1,988,895 bytes, 300,000 lines: whole in download/run_command-1.txt]",
        "1",
    ]
    assert lines[-1] == "300000"
    assert (tree / "download/run_command-1.txt").read_bytes().count(b"\n") == 300_000
    (at,) = [index for index, line in enumerate(lines) if line.startswith("[… ")]
    last_shown = int(lines[at - 1])
    assert f"read_file download/run_command-1.txt with start_line {last_shown + 1}," in lines[at]
    read = await toolbox_of(real).execute(
        call("read_file", path="download/run_command-1.txt", start_line=last_shown + 1)
    )
    assert read.result.content.split("\n")[1].endswith(f"| {last_shown + 1}")


@pytest.mark.anyio
async def test_binary_output_is_kept_as_bytes(run: Any, tree: Path) -> None:
    # K7, agents 27
    (tree / "a").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    assert await run("cat a") == (
        "done",
        "exit 0\n[binary output (image/png), 264 bytes, whole in download/run_command-1.png]",
    )
    assert (tree / "download/run_command-1.png").read_bytes() == (tree / "a").read_bytes()


@pytest.mark.anyio
async def test_odd_bytes_are_shown_as_far_as_they_can_be(run: Any) -> None:
    # agents 27
    assert await run(r"printf 'caf\351 au lait'") == ("done", "exit 0\ncaf\ufffd au lait")


@pytest.mark.anyio
async def test_a_flood_costs_bounded_memory_and_is_counted(run: Any, tree: Path) -> None:
    # security part 6
    _, text = await run("head -c 90000000 /dev/zero | tr '\\0' 'y'")
    assert (
        "[text/plain, 90,000,000 bytes, 1 lines: its beginning in download/run_command-1.txt]"
        in text
    )
    assert (tree / "download/run_command-1.txt").stat().st_size == 64 * 1024 * 1024


@pytest.mark.anyio
async def test_a_long_stack_is_folded_and_whole_in_the_file(run: Any, tree: Path) -> None:
    # A4.3
    (tree / "deep.py").write_text(
        "def a(n):\n    return b(n)\ndef b(n):\n    return a(n - 1) if n else 1 / 0\na(40)\n"
    )
    _, text = await run("python3 deep.py 2>&1; true")
    assert "[… 63 of 83 frames left out; all are in download/run_command-1.txt …]" in text
    assert text.count('File "deep.py"') + text.count('File "./deep.py"') == 20
    assert text.endswith("ZeroDivisionError: division by zero")
    assert str(tree) not in text
    whole = (tree / "download/run_command-1.txt").read_text()
    assert whole.count("File ") == 83


@pytest.mark.anyio
async def test_where_the_file_cannot_be_kept_the_ends_are_shown(run: Any, tree: Path) -> None:
    (tree / "download").touch()
    (tree / ".goldseam-download").touch()
    _, text = await run("seq 1 30000")
    assert "To see more: print less, with grep, head, tail or sed -n. …]" in text


# Jobs ---------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_job_is_started_read_waited_for_and_stopped(real: ToolContext, call: Make) -> None:
    async with open_jobs() as jobs:
        toolbox = toolbox_of(replace(real, jobs=jobs))

        async def observe(tool: str, **arguments: Any) -> list[str]:
            executed = await toolbox.execute(call(tool, **arguments))
            return executed.result.content.split("\n")

        assert await observe("jobs") == ["no jobs: run_command starts one with background: true"]
        started = await observe(
            "run_command", command="echo up; sleep 1; echo over; sleep 60", background=True
        )
        assert started[0].startswith("job-1: running for ")
        assert started[0].endswith("; 3 bytes of output in download/job-1-1.txt")
        assert started[1] == (
            'Next: go on; the tool jobs reads it (job "job-1"), waits for it and stops it.'
        )
        assert (await observe("jobs", action="read", job="job-1"))[1:] == ["up"]
        assert (await observe("jobs", action="read", job="job-1", wait_s=2))[1:] == ["over"]
        assert (await observe("jobs", action="read", job="job-1"))[1:] == ["no new output"]
        listed = await observe("jobs")
        assert listed[0] == "1 job:"
        assert listed[1].endswith(": echo up; sleep 1; echo over; sleep 60")
        stopped = await observe("jobs", action="stop", job="job-1")
        assert stopped[0].startswith("job-1: stopped after ")


@pytest.mark.anyio
async def test_a_job_that_ends_at_once_says_so(real: ToolContext, call: Make) -> None:
    async with open_jobs() as jobs:
        toolbox = toolbox_of(replace(real, jobs=jobs))
        started = await toolbox.execute(call("run_command", command="exit 7", background=True))
        assert "job-1: ended after 0 s, exit 7; 0 bytes of output in" in started.result.content


@pytest.mark.anyio
async def test_of_a_job_s_flood_the_end_is_shown_and_the_way_to_the_rest(
    real: ToolContext, call: Make
) -> None:
    async with open_jobs() as jobs:
        toolbox = toolbox_of(replace(real, jobs=jobs))
        await toolbox.execute(call("run_command", command="seq 1 100000", background=True))
        read = await toolbox.execute(call("jobs", action="read", job="job-1", wait_s=20))
        lines = read.result.content.split("\n")
        assert lines[1] == (
            "[the last 30,000 of 588,895 new bytes; read_file download/job-1-1.txt shows the rest]"
        )
        assert lines[-1] == "100000"


@pytest.mark.anyio
async def test_without_a_place_for_jobs_the_way_on_is_told(toolbox: Toolbox, call: Make) -> None:
    started = await toolbox.execute(call("run_command", command="x", background=True))
    assert started.result.kind == "failed"
    assert started.result.content.endswith(
        "Next: run it without background, with a limit_s that is long enough."
    )
    listed = await toolbox.execute(call("jobs"))
    assert listed.result.content == (
        "jobs: nothing can run in the background here, so there are no jobs."
    )


@pytest.mark.anyio
async def test_a_job_that_cannot_be_named_is_told_which_there_are(
    real: ToolContext, call: Make
) -> None:
    async with open_jobs() as jobs:
        toolbox = toolbox_of(replace(real, jobs=jobs))
        read = await toolbox.execute(call("jobs", action="read", job="x"))
        assert read.result.content == 'jobs: there is no job "x"; jobs: none was started'
        unnamed = await toolbox.execute(call("jobs", action="stop"))
        assert "job is missing; stop needs the name of a job" in unnamed.result.content


@pytest.mark.anyio
async def test_the_signal_s_number_is_told_where_it_has_no_name(
    toolbox: Toolbox, sandbox: Any, call: Make
) -> None:
    sandbox.results.append(
        ProcessResult(exit_code=-99, timed_out=False, output=Output(), seconds=0.1)
    )
    ran = await toolbox.execute(call("run_command", command="x"))
    assert ran.result.content == "exit -99 (ended by signal 99), no output"
