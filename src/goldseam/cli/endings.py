"""What a person is told when a command ends by an error: one line, one exit code, on every path."""

import json
from typing import TextIO

import click
from msgspec import Struct

from goldseam.cli.interrupts import Interrupted
from goldseam.journal.visible import visible
from goldseam.kernel.errors import GoldseamError, JournalError, RefusedError, UsageError
from goldseam.repair.outputs import result_json
from goldseam.repair.result import ExitCode, Result, plain_result


class Ending(Struct, frozen=True, kw_only=True):
    """The end of a command."""

    code: ExitCode
    message: str

    @property
    def is_defect(self) -> bool:
        """Whether the fault is ours."""
        return self.code is ExitCode.DEFECT

    def tell(self, *, as_json: bool, out: TextIO, err: TextIO) -> int:
        """Write the line, as a result where `--json` was asked for, and return the exit code."""
        if as_json:
            out.write(result_line(plain_result(self.code, self.message)))
            out.flush()
        err.write(f"goldseam: {visible(self.message)}\n")
        return int(self.code)


def result_line(result: Result) -> str:
    """Return the result as one line of JSON that any encoding can write."""
    return json.dumps(json.loads(result_json(result)), separators=(",", ":")) + "\n"


def ending_of(error: BaseException) -> Ending:
    """Return how a command ends that raised `error`."""
    for kind, code, message in _ENDINGS:
        if isinstance(error, kind):
            text = error.format_message() if isinstance(error, click.ClickException) else str(error)
            return Ending(code=code, message=message.format(_one_line(text).rstrip(".")))
    what = f"{type(error).__name__}: {_one_line(str(error))}"
    message = f"a defect of Goldseam, please report it: {what}"
    return Ending(code=ExitCode.DEFECT, message=message)


_ENDINGS: tuple[tuple[type[BaseException], ExitCode, str], ...] = (
    (UsageError, ExitCode.USAGE, "{}"),
    (RefusedError, ExitCode.REFUSED, "{}"),
    (JournalError, ExitCode.STOPPED, "the record cannot be kept: {}"),
    (GoldseamError, ExitCode.MODEL_FAILED, "{}"),
    (click.UsageError, ExitCode.USAGE, "{}; see --help"),
    (click.ClickException, ExitCode.USAGE, "{}"),
    (Interrupted, ExitCode.STOPPED, "stopped by {} before a run began"),
    (KeyboardInterrupt, ExitCode.STOPPED, "stopped"),
    (click.Abort, ExitCode.STOPPED, "stopped"),
)


def _one_line(text: str) -> str:
    return " ".join(text.split())
