"""What a person is told when a command ends by an error: one line, one exit code, on every path."""

from typing import TextIO

import click
from msgspec import Struct

from goldseam.kernel.errors import GoldseamError, JournalError, RefusedError, UsageError
from goldseam.repair.outputs import result_json
from goldseam.repair.result import ExitCode, plain_result


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
            out.write(result_json(plain_result(self.code, self.message)).decode() + "\n")
            out.flush()
        err.write(f"goldseam: {self.message}\n")
        return int(self.code)


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
    (KeyboardInterrupt, ExitCode.STOPPED, "stopped before the run began"),
    (click.Abort, ExitCode.STOPPED, "stopped before the run began"),
)


def _one_line(text: str) -> str:
    return " ".join(text.split())
