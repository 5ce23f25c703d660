"""Run the project's tests in a sandbox and tell what became of each.

Whatever the tests do, end the process, hang, flood, print bytes: there is a report. The reporters
in `guest/` run beside the tests and write outcomes to a file of ours.
"""

import json
import os
import re
import shlex
import tempfile
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from goldseam.workspace.process import ProcessResult
from goldseam.workspace.sandbox.environment import interpreter_folders
from goldseam.workspace.sandbox.port import Command, Sandbox
from goldseam.workspace.testing.detect import TestCommand
from goldseam.workspace.testing.report import TestOutcome, TestReport, missing_names, read_lines

GUEST = Path(__file__).parent.parent / "guest"
"""The scripts that run in the user's Python."""

_MAX_REPORT_BYTES = 1 << 26
_UNITTEST = re.compile(r"(-m\s+)unittest(?!\S)")
_REPORTER = "goldseam_unittest_report"


async def run_tests(
    sandbox: Sandbox, command: TestCommand, *, names: tuple[str, ...] = (), limit_s: float
) -> TestReport:
    """Run the tests, or those of `names` and what is in them, for at most `limit_s` seconds.

    Where the command's runner is unknown and tells no outcomes, the command itself is the one test.

    Raises:
        WorkspaceError: the command could not be started.
    """
    with tempfile.TemporaryDirectory(prefix="goldseam-tests-", ignore_cleanup_errors=True) as made:
        spot = _Spot(folder=Path(made), names=names)
        spot.lay_out()
        # Held open from before the tests run: nothing they do can put another file in its place.
        fd = os.open(spot.report, os.O_RDONLY | os.O_CLOEXEC)
        try:
            asked = Command(argv=_reporting(command), limit_s=limit_s)
            result = await sandbox.run(spot.reported(asked, command, tree=sandbox.path_inside()))
            content = os.pread(fd, _MAX_REPORT_BYTES, 0)
        finally:
            os.close(fd)
    return _report(command, result, content=content, names=names)


class _Spot(Struct, frozen=True, kw_only=True):
    """A folder for one run, writable inside the sandbox: the report, the names, pytest's cache."""

    folder: Path
    names: tuple[str, ...]

    @property
    def report(self) -> Path:
        return self.folder / "report"

    def lay_out(self) -> None:
        self.report.touch()
        (self.folder / "names").write_text(json.dumps(self.names), encoding="ascii")

    def reported(self, asked: Command, command: TestCommand, *, tree: str) -> Command:
        """Return `asked` with what makes the runner in it report; any number of names is passed."""
        env = {
            "PYTHONPATH": str(GUEST),
            "GOLDSEAM_REPORT": str(self.report),
            "GOLDSEAM_TREE": tree,
        }
        if self.names:
            env["GOLDSEAM_NAMES"] = str(self.folder / "names")
        if command.framework != "unittest":
            env["PYTEST_ADDOPTS"] = shlex.join(self._pytest_options(tree))
        return replace(
            asked,
            env=env,
            readable=(str(GUEST), *interpreter_folders(command.python)),
            writable=(str(self.folder),),
        )

    def _pytest_options(self, tree: str) -> list[str]:
        """Return what makes pytest report, name tests from the top, litter nowhere, and go on."""
        # It would put a variable's value in the place of its name, and there is no way to quote it.
        top = "." if "$" in tree else tree
        cache = f"cache_dir={self.folder / 'cache'}"
        return [
            *("-p", "goldseam_pytest_report", "-o", cache, f"--rootdir={top}"),
            "--continue-on-collection-errors",
        ]


def _reporting(command: TestCommand) -> tuple[str, ...]:
    """Return the command with unittest's place taken by our reporter, which stands for it."""
    if command.framework != "unittest":
        return command.argv
    before = ("", *command.argv)
    return tuple(
        # A word of its own, or within a line for a shell.
        _REPORTER if (last, word) == ("-m", "unittest") else _UNITTEST.sub(rf"\1{_REPORTER}", word)
        for last, word in zip(before, command.argv, strict=False)
    )


def _report(
    command: TestCommand, result: ProcessResult, *, content: bytes, names: tuple[str, ...]
) -> TestReport:
    outcomes, foreign = read_lines(content)
    if command.framework == "other" and not outcomes:
        outcomes = {command.shown: _whole(result)}
    return TestReport(
        outcomes=outcomes,
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        output=result.output.text(),
        seconds=result.seconds,
        foreign=foreign,
        missing=missing_names(names, outcomes),
    )


def _whole(result: ProcessResult) -> TestOutcome:
    if result.exit_code == 0:
        return "passed"
    return "error" if result.timed_out or (result.exit_code or 0) < 0 else "failed"
