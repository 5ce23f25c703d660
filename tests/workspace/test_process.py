"""Programs are started, drained, limited and ended, with nothing left behind."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_places import until

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.process import (
    KEEP_BYTES,
    Output,
    ProcessResult,
    _Capture,
    run_process,
)

ENV = {"PATH": "/usr/bin:/bin"}


async def sh(script: str, *, limit_s: float = 20.0, stdin: bytes = b"") -> ProcessResult:
    return await run_process(
        ("sh", "-c", script), cwd=Path("/"), env=ENV, limit_s=limit_s, stdin=stdin
    )


def is_alive(pid: int) -> bool:
    """Neither gone nor a zombie that whoever adopted it has not looked at yet."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in {"Z", "X"}


def has_entry(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@given(st.lists(st.binary(max_size=40)), st.integers(2, 50))
def test_however_it_comes_both_ends_and_the_true_count_are_kept(
    chunks: Sequence[bytes], keep: int
) -> None:
    capture = _Capture(keep)
    for chunk in chunks:
        capture.add(chunk)
    whole = b"".join(chunks)
    assert capture.output().head + capture.output().tail == (
        Output.of(whole).cut(keep).head + Output.of(whole).cut(keep).tail
    )
    assert capture.output().total == len(whole)


@given(st.binary(max_size=300), st.integers(2, 100), st.integers(2, 100))
def test_a_cut_keeps_a_beginning_and_an_end_and_can_be_cut_again(
    content: bytes, first: int, second: int
) -> None:
    cut = Output.of(content).cut(first).cut(second)
    assert content.startswith(cut.head)
    assert content.endswith(cut.tail)
    assert len(cut.head) + len(cut.tail) == min(first, second, len(content))
    assert cut.total == len(content)


@given(st.binary(max_size=300), st.integers(2, 100))
def test_text_is_always_fit_to_print(content: bytes, keep: int) -> None:
    text = Output.of(content).cut(keep).text()
    assert all(
        character.isprintable() or character in "\n\t\xa0" or ord(character) > 0x9F
        for character in text
    )


def test_a_text_without_its_middle_says_how_much_is_missing_and_keeps_whole_lines() -> None:
    lines = b"".join(b"line %03d\n" % number for number in range(100))
    assert Output.of(lines).cut(60).text() == (
        "line 000\nline 001\n[... 855 of 900 bytes left out here ...]\n"
        "line 097\nline 098\nline 099\n"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        (b"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07\n", "red link\n"),
        (b"10 %\r100 %\r\nbell\x07\n", "10 %\n100 %\nbell\ufffd\n"),
        ("Größe 変\n".encode(), "Größe 変\n"),
        (b"caf\xe9 au lait\n", "caf\ufffd au lait\n"),  # agents 27
        (bytes(range(256)) * 40, "[binary output, 10,240 bytes]\n"),  # agents 27
    ],
)
def test_bytes_become_text_for_a_reader(content: bytes, text: str) -> None:
    assert Output.of(content).text() == text


@pytest.mark.anyio
async def test_output_of_both_streams_and_the_exit_code_come_back() -> None:
    result = await sh("echo out; echo err >&2; exit 7")
    assert (result.exit_code, result.timed_out) == (7, False)
    assert result.output == Output(head=b"out\nerr\n", total=8)


@pytest.mark.anyio
async def test_a_program_ended_by_a_signal_has_that_signal_below_zero() -> None:
    assert (await sh("kill -11 $$")).exit_code == -11


@pytest.mark.anyio
async def test_nobody_answers_a_program_that_asks() -> None:  # agents 26
    result = await sh('read answer; echo "$? [$answer]"; test -t 0 || echo no terminal')
    assert result.output.text() == "1 []\nno terminal\n"
    assert (await sh("exec 3</dev/tty")).exit_code != 0


@pytest.mark.anyio
async def test_what_is_given_on_stdin_passes_through_however_much_it_is() -> None:
    given_bytes = bytes(range(256)) * 4000
    result = await run_process(
        ("cat",), cwd=Path("/"), env=ENV, limit_s=20, stdin=given_bytes, keep_bytes=2_000_000
    )
    assert result.output.head + result.output.tail == given_bytes


@pytest.mark.anyio
async def test_a_program_that_does_not_read_what_it_is_given_is_no_failure() -> None:
    assert (await sh("exit 0", stdin=b"x" * 1_000_000)).exit_code == 0


@pytest.mark.anyio
async def test_nothing_of_our_environment_is_inherited() -> None:
    result = await run_process(("/usr/bin/env",), cwd=Path("/"), env={"ONLY": "this"}, limit_s=20)
    assert result.output.text() == "ONLY=this\n"


@pytest.mark.anyio
async def test_a_flood_is_drained_counted_and_not_kept() -> None:
    result = await sh("head -c 100000000 /dev/zero | tr '\\0' y")
    assert result.output.total == 100_000_000
    assert len(result.output.head) + len(result.output.tail) == KEEP_BYTES


@pytest.mark.anyio
async def test_a_background_child_that_holds_the_pipe_is_not_waited_for() -> None:  # agents 25
    with anyio.fail_after(15):
        result = await sh("sleep 60 & echo $!")
    assert result.exit_code == 0
    background = int(result.output.text())
    await until(lambda: not is_alive(background))


@pytest.mark.anyio
async def test_when_its_time_is_up_the_whole_group_dies() -> None:
    with anyio.fail_after(15):
        result = await sh("sleep 60 & echo $!; echo $$; sleep 60", limit_s=0.3)
    assert (result.exit_code, result.timed_out) == (None, True)
    background, leader = map(int, result.output.text().split())
    await until(lambda: not is_alive(background))
    assert not has_entry(leader)


@pytest.mark.anyio
async def test_a_cancel_goes_on_only_once_the_whole_group_is_gone(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def run() -> None:
        script = (
            f"sleep 60 & echo $! > {pids}.new; echo $$ >> {pids}.new; mv {pids}.new {pids}; wait"
        )
        await sh(script)

    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await until(pids.exists)
            group.cancel_scope.cancel()
    background, leader = map(int, pids.read_text(encoding="ascii").split())
    await until(lambda: not is_alive(background))  # killed by now; the kernel may be at it still
    assert not has_entry(leader)  # reaped: no zombie of ours is left


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("argv", "cwd", "message"),
    [
        (("no-such-program",), "/", "no such program: no-such-program"),
        (("true",), "/nowhere", "the folder to run in does not exist"),
        (("/",), "/", "/ could not be started: Permission denied"),
        (("true", "a\0b"), "/", "true could not be started: embedded null byte"),
        (("true", "x" * 300_000), "/", "true could not be started: Argument list too long"),
    ],
)
async def test_what_cannot_be_started_says_why(
    argv: tuple[str, ...], cwd: str, message: str
) -> None:
    with pytest.raises(WorkspaceError) as caught:
        await run_process(argv, cwd=Path(cwd), env=ENV, limit_s=5)
    assert caught.value.message == message


@pytest.mark.anyio
async def test_no_descriptor_is_left_open() -> None:
    await sh("true")
    before = open_descriptors()
    for _ in range(3):
        await sh("cat", stdin=b"x")
    assert open_descriptors() == before


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
