"""Run trials in warm forked processes: send the plan to the guests, read what they found.

Knows the guest's plan and its lines, nothing of how a trial is run: `guest/goldseam_try_edits.py`.
"""

import base64
import json
import os
import stat
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct

from goldseam.workspace.sandbox.environment import interpreter_folders
from goldseam.workspace.sandbox.port import Command, Sandbox
from goldseam.workspace.testing.copies import copy_tree, scratch_beside
from goldseam.workspace.testing.detect import TestCommand
from goldseam.workspace.testing.run import GUEST
from goldseam.workspace.testing.trials import (
    TOTAL_S,
    Alternative,
    AlternativeVerdict,
    Bench,
    Question,
)

WORKERS = 2
_BASELINE = -1
_MAX_RESULT_BYTES = 1 << 24


class InProcess(Struct, frozen=True, kw_only=True):
    """How a test command is run inside a Python of ours."""

    interpreter: tuple[str, ...]
    """Options of the interpreter itself."""
    arguments: tuple[str, ...]
    from_tree: bool
    """Whether the tree is first on the import path, as `python -m` has it."""


class WarmTrials(Struct, frozen=True, kw_only=True):
    """The verdicts that the guests came to, and why they could not go on where they could not."""

    verdicts: dict[int, AlternativeVerdict]
    trouble: str = ""


def in_process(command: TestCommand) -> InProcess | None:
    """Return how `command` runs in process; `None` where it is not plain pytest or unittest."""
    if command.framework == "other" or not hasattr(os, "fork"):
        return None
    return _split(command)


def _split(command: TestCommand) -> InProcess | None:
    argv = command.argv
    program = PurePath(argv[0]).name
    if command.framework == "pytest" and program in {"pytest", "py.test"}:
        return InProcess(interpreter=(), arguments=argv[1:], from_tree=False)
    if not program.startswith(("python", "pypy")) or "-m" not in argv:
        return None
    at = argv.index("-m")
    options, module, rest = argv[1:at], argv[at + 1 : at + 2], argv[at + 2 :]
    if module != (command.framework,) or not all(word.startswith("-") for word in options):
        return None
    return InProcess(interpreter=options, arguments=rest, from_tree=True)


async def try_warm(
    bench: Bench, alternatives: Sequence[Alternative], question: Question, *, run: InProcess
) -> WarmTrials:
    """Try `alternatives`, side by side where walls keep the workers apart.

    Raises:
        WorkspaceError: the tree could not be copied.
    """
    troubles: list[str] = []
    lines: list[_Line] = []
    with scratch_beside(bench.tree) as scratch:
        exchange = scratch / "exchange"
        exchange.mkdir()
        sandboxes = await _sandboxes(bench, scratch, wanted=min(WORKERS, len(alternatives)))
        plan = _plan(bench, alternatives, question, run=run) | {"workers": len(sandboxes)}
        (exchange / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        (exchange / "names").write_text(json.dumps(question.names), encoding="ascii")

        async def work(worker: int) -> None:
            command = _command(bench, exchange, run=run, worker=worker)
            result = await sandboxes[worker].run(command)
            lines.extend(_read_lines(exchange / f"results-{worker}.jsonl"))
            if result.timed_out or result.exit_code != 0:
                troubles.append(_last_words(result.output.tail))

        async with anyio.create_task_group() as workers:
            for worker in range(len(sandboxes)):
                workers.start_soon(work, worker)
    if lines and not any(line.ran for line in lines):
        return WarmTrials(verdicts={}, trouble="the tests do not run inside a process of ours")
    verdicts = {line.index: _verdict(line) for line in lines if line.index != _BASELINE}
    return WarmTrials(verdicts=verdicts, trouble=troubles[0] if troubles else "")


async def _sandboxes(bench: Bench, scratch: Path, *, wanted: int) -> list[Sandbox]:
    sandboxes: list[Sandbox] = []
    while len(sandboxes) < wanted:
        copy = scratch / f"tree-{len(sandboxes)}"
        make = partial(copy_tree, bench.tree, copy, left_out=bench.left_out)
        await anyio.to_thread.run_sync(make)
        sandboxes.append(bench.sandbox_for(copy))
        if sandboxes[0].level != "A":  # without walls, tests of two trials could meet outside
            break
    return sandboxes


def _plan(
    bench: Bench, alternatives: Sequence[Alternative], question: Question, *, run: InProcess
) -> dict[str, object]:
    return {
        "framework": bench.tests.framework,
        "arguments": run.arguments,
        "from_tree": run.from_tree,
        "names": question.names,
        "alternatives": [_as_text(files) for files in alternatives],
        "limit_s": question.limit_s,
        "total_s": TOTAL_S,
        "stop_at_first": question.stop_at_first,
        "pristine": str(bench.tree),
        "skip": bench.left_out,
    }


def _as_text(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


def _command(bench: Bench, exchange: Path, *, run: InProcess, worker: int) -> Command:
    script = str(GUEST / "goldseam_try_edits.py")
    return Command(
        argv=(bench.tests.python, *run.interpreter, script, str(exchange), str(worker)),
        limit_s=TOTAL_S + 120,
        readable=(str(GUEST), str(bench.tree), *interpreter_folders(bench.tests.python)),
        writable=(str(exchange),),
        env={"PYTHONDONTWRITEBYTECODE": "1"},
    )


class _Line(Struct, frozen=True, kw_only=True):
    """One line of a guest's results."""

    index: int
    passes: bool
    how: str
    exit: int | None = None
    crash: str | None = None
    passed: int
    failed: tuple[str, ...]
    failures: int

    @property
    def ran(self) -> bool:
        """Whether any test got as far as an outcome."""
        return bool(self.passed or self.failures) or self.how == "timeout"


def _read_lines(file: Path) -> list[_Line]:
    """Return the whole lines that a guest wrote; what else may stand there is passed over.

    Tests can write there too: a link is not followed, and nothing in the file is an error of ours.
    """
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        is_file = stat.S_ISREG(os.fstat(fd).st_mode)
        content = os.pread(fd, _MAX_RESULT_BYTES, 0) if is_file else b""
    finally:
        os.close(fd)
    lines = map(_read_line, content.split(b"\n")[:-1])
    return [line for line in lines if line is not None]


def _read_line(line: bytes) -> _Line | None:
    try:
        return msgspec.json.decode(line, type=_Line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _last_words(output: bytes) -> str:
    said = output.decode("utf-8", "replace").strip().splitlines() or ["without a word"]
    return f"the process that runs trials ended ({said[-1][:200]})"


def _verdict(line: _Line) -> AlternativeVerdict:
    if line.passes:
        return AlternativeVerdict(verdict="PASS", passed=line.passed)
    if line.how == "timeout":
        return AlternativeVerdict(verdict="TIMEOUT", passed=line.passed)
    if line.how != "ended" or line.crash:
        return AlternativeVerdict(verdict="ERROR", reason=line.crash or line.how)
    if line.exit is None:
        return AlternativeVerdict(verdict="ERROR", reason="the test process ended before its tests")
    if not line.failures:
        reason = f"exit code {line.exit}, and not every test that ran before passed"
        return AlternativeVerdict(verdict="ERROR", reason=reason)
    return AlternativeVerdict(
        verdict="FAIL",
        passed=line.passed,
        failures=line.failures,
        failed=line.failed,
    )
