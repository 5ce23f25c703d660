"""What a person, or a program, sees of a run: taps that hear events and never answer back."""

import json
from pathlib import Path
from typing import Protocol, TextIO

import msgspec
from rich.console import Console
from rich.text import Text

from goldseam.cli.endings import result_line
from goldseam.journal.readable import Narrator
from goldseam.journal.visible import visible
from goldseam.kernel.events import (
    Allowed,
    ApprovalRequested,
    BudgetWarning,
    CallJudged,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelReplied,
    ReplyRejected,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
)
from goldseam.kernel.ports import Delta
from goldseam.repair.result import Result, TestsSection

_DONE_LINES = 2
_FAILED_LINES = 6


class Screen(Protocol):
    """One way of showing a run."""

    def say(self, line: str) -> None:
        """Show one line that is not an event."""
        ...

    def tap(self, event: Event) -> None:
        """Show an event."""
        ...

    def listen(self, delta: Delta) -> None:
        """Show a piece of a reply under way."""
        ...

    def show_result(self, result: Result, out: TextIO) -> None:
        """Show how it ended."""
        ...


class JsonScreen:
    """One JSON object a line: each event, and the result last."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def say(self, line: str) -> None:
        """Show one line that is not an event."""
        self._write({"type": "said", "text": line})

    def tap(self, event: Event) -> None:
        """Show an event."""
        self._write(msgspec.to_builtins(event))

    def listen(self, delta: Delta) -> None:
        """Deltas may be taken back, so a program is not shown them."""

    def show_result(self, result: Result, out: TextIO) -> None:
        """Show how it ended."""
        out.write(result_line(result))
        out.flush()

    def _write(self, value: object) -> None:
        self._out.write(json.dumps(value, separators=(",", ":")) + "\n")
        self._out.flush()


class TextScreen:
    """Lines for a person on standard error; standard output is kept for the patch alone."""

    def __init__(self, err: TextIO) -> None:
        self._console = Console(file=err, highlight=False, markup=False, soft_wrap=True)
        self._narrator = Narrator()

    def say(self, line: str) -> None:
        """Show one line that is not an event."""
        self._print(line, style="bold")

    def tap(self, event: Event) -> None:
        """Show an event."""
        for line in _at_a_glance(event, self._narrator.lines_of(event)):
            self._print(line, style=_style_of(event))

    def listen(self, delta: Delta) -> None:
        """Whole events are shown; a reply under way may still be discarded."""

    def show_result(self, result: Result, out: TextIO) -> None:
        """Show how it ended: the patch to `out`, the rest to the person."""
        if result.patch is not None:
            show_patch(Path(result.patch).read_bytes(), out)
        for warning in result.warnings:
            self._print(f"warning: {warning}", style="yellow")
        style = "bold green" if result.exit_code == 0 else "bold red"
        self._print(f"{result.verdict}: {result.message}", style=style)
        if result.tests is not None and result.tests.after is not None:
            self._print(_counts(result.tests))
        for path in (result.patch, result.report):
            if path is not None:
                self._print(f"  {path}")
        if result.run_id is not None:
            self._print(f"  goldseam show {result.run_id}")

    def _print(self, line: str, *, style: str = "") -> None:
        """Show a line, in which a stranger's words may stand."""
        self._console.print(Text(visible(line), style=style))


def show_patch(diff: bytes, out: TextIO) -> None:
    """Give the very bytes to a program or a file, and to a terminal what cannot act on it."""
    if out.isatty():
        lines = diff.decode("utf-8", "replace").removesuffix("\n").split("\n")
        out.writelines("\t".join(map(visible, line.split("\t"))) + "\n" for line in lines)
    else:
        out.flush()
        out.buffer.write(diff)
    out.flush()


def _counts(tests: TestsSection) -> str:
    before, after = tests.before, tests.after or tests.before
    return (
        f"  tests without the patch: {before.passed} passed, {before.failed + before.errors} failed"
        f"; with it: {after.passed} passed, {after.failed + after.errors} failed"
    )


def _at_a_glance(event: Event, lines: list[str]) -> list[str]:
    """Keep what a person follows as it happens; `goldseam show` tells the rest."""
    match event:
        case RunStarted() | ModelCallPrepared() | ToolStarted() | VerificationStarted():
            return []
        case CallJudged(verdict=Allowed()) | ApprovalRequested() | RunFinished():
            return []
        case ModelReplied():
            return [line.replace("calls ", "→ ", 1) for line in lines[1:]]
        case ToolFinished(result=result):
            return lines[: _FAILED_LINES if result.is_error else _DONE_LINES]
        case VerificationFinished(proof=proof):
            return lines[:1] if proof.proven else lines
        case _:
            return lines


def _style_of(event: Event) -> str:
    match event:
        case ModelCallFailed() | ReplyRejected() | BudgetWarning():
            return "yellow"
        case ToolFinished(result=result) if result.is_error:
            return "yellow"
        case _:
            return ""
