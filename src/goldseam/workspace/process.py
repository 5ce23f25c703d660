"""Start one program, look after it, and leave nothing of it behind.

The only place that starts programs. It knows nothing of repositories, tests or walls: who calls
hands in the whole environment. The program leads a process group of its own; when it has ended,
when its time is up or when the caller is cancelled, the whole group is killed, the leader reaped.
"""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import anyio
from msgspec import Struct, field

from goldseam.workspace.errors import WorkspaceError

Listener: TypeAlias = Callable[[bytes], None]

KEEP_BYTES = 1_000_000
GRACE_S = 0.25
"""How long the pipe may stay open once the leader has ended, for what is still in it."""

_CHUNK = 1 << 18
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x9b[0-?]*[ -/]*[@-~]"  # the same in one character
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BINARY_SHARE = 0.3


class Output(Struct, frozen=True, kw_only=True):
    """What a program wrote, stdout and stderr as they came: all of it, or its two ends."""

    head: bytes = b""
    tail: bytes = b""
    total: int = 0
    """How many bytes were written; more than `head` and `tail` hold where the middle was let go."""

    @classmethod
    def of(cls, content: bytes) -> "Output":
        """Return the output that is exactly `content`."""
        return cls(head=content, total=len(content))

    def cut(self, keep_bytes: int) -> "Output":
        """Return the output with at most `keep_bytes` kept: two fifths head, the rest tail."""
        if len(self.head) + len(self.tail) <= keep_bytes:
            return self
        whole = len(self.head) + len(self.tail) == self.total
        head = self.head + self.tail if whole else self.head
        tail = self.head + self.tail if whole else self.tail
        head_room, tail_room = _rooms(keep_bytes)
        return Output(
            head=head[:head_room], tail=tail[max(0, len(tail) - tail_room) :], total=self.total
        )

    def text(self) -> str:
        """Return it as text for a reader: no escape codes, and a line that says what is missing."""
        if len(self.head) + len(self.tail) == self.total:
            return _readable(self.head + self.tail, self.total)
        head = self.head[: self.head.rfind(b"\n") + 1] or self.head
        tail = self.tail[self.tail.find(b"\n") + 1 :] or self.tail
        missing = self.total - len(head) - len(tail)
        head_text, tail_text = _readable(head, self.total), _readable(tail, self.total)
        line_end = "" if head_text.endswith("\n") or not head_text else "\n"
        marker = f"[... {missing:,} of {self.total:,} bytes left out here ...]"
        return f"{head_text}{line_end}{marker}\n{tail_text}"


class ProcessResult(Struct, frozen=True, kw_only=True):
    """How a program ended."""

    exit_code: int | None
    """`None` where its time was up; -N where signal N ended it."""
    timed_out: bool
    output: Output
    seconds: float


class Program(Struct, frozen=True, kw_only=True):
    """A program to start: an argument list and all that it is given."""

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)
    """The whole environment: nothing of ours is inherited."""
    stdin: bytes = b""
    fds: tuple[int, ...] = ()
    """Open descriptors it inherits under the same numbers."""
    listener: Listener | None = None
    """Told each piece of output as it comes; must not raise or wait."""


async def run_process(
    argv: tuple[str, ...],
    *,
    cwd: Path,
    env: dict[str, str],
    limit_s: float,
    keep_bytes: int = KEEP_BYTES,
    stdin: bytes = b"",
) -> ProcessResult:
    """Run `argv` as `run_program` does."""
    program = Program(argv=argv, cwd=cwd, env=env, stdin=stdin)
    return await run_program(program, limit_s=limit_s, keep_bytes=keep_bytes)


async def run_program(
    program: Program, *, limit_s: float, keep_bytes: int = KEEP_BYTES
) -> ProcessResult:
    """Run `program` to its end, at most `limit_s` seconds; its group is gone when this returns.

    It returns when the program itself has ended: something left in the background that still holds
    the pipe gets `GRACE_S` more, then is killed with the rest of the group.

    Raises:
        WorkspaceError: it could not be started.
    """
    begun = anyio.current_time()
    running = _Running(program, keep_bytes)
    try:
        timed_out = await running.attend(limit_s)
    finally:
        # Also when cancelled: the cancel goes on only once nothing of the group is left.
        with anyio.CancelScope(shield=True):
            await running.end()
    return ProcessResult(
        exit_code=None if timed_out else running.popen.returncode,
        timed_out=timed_out,
        output=running.capture.output(),
        seconds=anyio.current_time() - begun,
    )


class _Running:
    """A started program with our ends of its pipes."""

    def __init__(self, program: Program, keep_bytes: int) -> None:
        self.popen = _start(program)
        self.capture = _Capture(keep_bytes)
        self._stdin, self._listener = program.stdin, program.listener
        self._drained = anyio.Event()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)

    async def attend(self, limit_s: float) -> bool:
        """Feed and drain until the leader has ended; return whether its time was up instead."""
        async with anyio.create_task_group() as pipes:
            pipes.start_soon(self._feed)
            pipes.start_soon(self._drain)
            with anyio.move_on_after(limit_s) as limit:
                await _ended(self.popen.pid)
            if not limit.cancelled_caught:
                with anyio.move_on_after(GRACE_S):
                    await self._drained.wait()
            pipes.cancel_scope.cancel()
        return limit.cancelled_caught

    async def end(self) -> None:
        """Kill the group, take what is left in the pipe, reap the leader, close our ends."""
        # The leader is not reaped yet, so that its number cannot have passed to another group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        await _ended(self.popen.pid)
        self.popen.wait()
        with anyio.move_on_after(GRACE_S):
            await self._drain()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe is not None:
                pipe.close()

    async def _feed(self) -> None:
        pipe = self.popen.stdin
        if pipe is None:
            return
        rest = memoryview(self._stdin)
        # A program that does not read what it is given is no failure of ours.
        with contextlib.suppress(BrokenPipeError):
            while rest:
                await anyio.wait_writable(pipe.fileno())
                rest = rest[os.write(pipe.fileno(), rest) :]
        pipe.close()

    async def _drain(self) -> None:
        pipe = self.popen.stdout
        while pipe is not None and not self._drained.is_set():
            await anyio.wait_readable(pipe.fileno())
            chunk = os.read(pipe.fileno(), _CHUNK)
            self.capture.add(chunk)
            if self._listener is not None:
                self._listener(chunk)
            if not chunk:
                self._drained.set()


class _Capture:
    """Both ends of a stream, in bounded memory."""

    def __init__(self, keep_bytes: int) -> None:
        self._head_room, self._tail_room = _rooms(keep_bytes)
        self._head, self._tail, self._total = bytearray(), bytearray(), 0

    def add(self, chunk: bytes) -> None:
        self._total += len(chunk)
        room = self._head_room - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: len(self._tail) - self._tail_room]

    def output(self) -> Output:
        surplus = max(0, len(self._tail) - self._tail_room)
        return Output(head=bytes(self._head), tail=bytes(self._tail[surplus:]), total=self._total)


def _rooms(keep_bytes: int) -> tuple[int, int]:
    """Split what may be kept: the end of an output says more than its beginning."""
    head = keep_bytes * 2 // 5
    return head, keep_bytes - head


def _start(program: Program) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            program.argv,
            bufsize=0,
            cwd=program.cwd,
            env=program.env,
            stdin=subprocess.PIPE if program.stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=program.fds,
        )
    except FileNotFoundError as error:
        if not program.cwd.is_dir():
            raise WorkspaceError("the folder to run in does not exist") from error
        raise WorkspaceError(f"no such program: {program.argv[0]}") from error
    except (OSError, ValueError, UnicodeEncodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise WorkspaceError(f"{program.argv[0]} could not be started: {why}") from error


async def _ended(pid: int) -> None:
    """Wait until the child `pid` has ended, without reaping it."""
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # No such thing on this system: a thread waits instead.
        await anyio.to_thread.run_sync(_wait_for, pid, abandon_on_cancel=True)
        return
    try:
        await anyio.wait_readable(handle)
    finally:
        os.close(handle)


def _wait_for(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def printable(content: bytes) -> str:
    """Return `content` as text for a reader: no escape codes, and "\ufffd" for what is no text."""
    text = _ESCAPES.sub("", content.decode(errors="replace"))
    return _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def is_binary(content: bytes) -> bool:
    """Return whether `content` is no text, or little of it is."""
    text = printable(content)
    return text.count("\ufffd") > _BINARY_SHARE * len(text)


def _readable(content: bytes, total: int) -> str:
    text = printable(content)
    if text.count("\ufffd") > _BINARY_SHARE * len(text):
        return f"[binary output, {total:,} bytes]\n"
    return text
