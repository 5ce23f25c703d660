"""`python -m goldseam_unittest_report …`: `python -m unittest …` that writes each test's outcome.

Runs in the user's Python (3.8 and later, standard library alone).
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import unittest
from pathlib import Path

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import TypeAlias

    from goldseam.workspace.guest import goldseam_report_file as reports

    _Error: TypeAlias = (
        tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]
    )
else:  # here it is found beside this file, and nothing else of ours
    reports = importlib.import_module(f"{__package__ or ''}.goldseam_report_file".lstrip("."))

# unittest stands these in for a module that cannot be imported, and for a class or module that
# cannot be set up.
_STAND_IN = re.compile(r"unittest\.loader\.(?:_FailedTest|ModuleSkipped)\.(?P<module>.+)")
_HOLDER = re.compile(r"\w+ \((?P<holder>.+)\)")


class Result(unittest.TextTestResult):
    """The usual result, which also writes to `report`."""

    report: reports.ReportFile

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's own name
        """A test that ends the process, or never ends, is known by this."""
        super().startTest(test)
        self._outcome(test, "started")

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's own name
        """It passed."""
        super().addSuccess(test)
        self._outcome(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: _Error) -> None:  # noqa: N802 - unittest's
        """An assertion did not hold."""
        super().addFailure(test, err)
        self._outcome(test, "failed")

    def addError(self, test: unittest.TestCase, err: _Error) -> None:  # noqa: N802 - unittest's
        """Something else was raised."""
        super().addError(test, err)
        self._outcome(test, "error")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802 - unittest's
        """It was left out."""
        super().addSkip(test, reason)
        self._outcome(test, "skipped")

    def addExpectedFailure(self, test: unittest.TestCase, err: _Error) -> None:  # noqa: N802
        """It failed, as its author says that it does."""
        super().addExpectedFailure(test, err)
        self._outcome(test, "skipped")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's
        """It passed, and its author says that it does not."""
        super().addUnexpectedSuccess(test)
        self._outcome(test, "failed")

    def addSubTest(  # noqa: N802 - unittest's own name
        self, test: unittest.TestCase, subtest: unittest.TestCase, err: _Error | None
    ) -> None:
        """A part failed: so did the test."""
        super().addSubTest(test, subtest, err)
        if err is not None and err[0] is not None:
            kind = "failed" if issubclass(err[0], test.failureException) else "error"
            self._outcome(test, kind)

    def _outcome(self, test: unittest.TestCase, outcome: str) -> None:
        self.report.outcome(dotted_name(test.id(), self.report.names), outcome)


def dotted_name(identity: str, chosen: Iterable[str]) -> str:
    """Return the dotted name for what unittest calls `identity`."""
    stand_in = _STAND_IN.fullmatch(identity)
    if stand_in is not None:
        module = stand_in.group("module")
        # Of a name that is not there, unittest tells the last part alone.
        return next((name for name in sorted(chosen) if name.endswith("." + module)), module)
    holder = _HOLDER.fullmatch(identity)
    return identity if holder is None else holder.group("holder")


def chosen_arguments(arguments: list[str], names: Iterable[str]) -> tuple[list[str], str]:
    """Return the arguments that run `names` instead, and the folder that they are imported from."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-s", "--start-directory", dest="start")
    parser.add_argument("-t", "--top-level-directory", dest="top")
    parser.add_argument("-p", "--pattern")
    parser.add_argument("-k", action="append")
    known, rest = parser.parse_known_args(arguments)
    words = [word for word in rest if not word.startswith("-") and word != "discover"]
    # `discover` takes start, pattern and top as bare words too.
    places = words if "discover" in rest else []
    start = known.start or (places[0] if places else ".")
    top = known.top or (places[2] if len(places) > 2 else start)  # noqa: PLR2004 - the third word
    flags = [word for word in rest if word.startswith("-")]
    return [*flags, *sorted(names)], str(Path(top).resolve())


def main() -> None:
    """Run, write, and end with unittest's own exit code."""
    arguments = sys.argv[1:]
    report = reports.open_report()
    if report is None:
        unittest.main(module=None, argv=["python -m unittest", *arguments])
        return
    reports.forget_report()
    if report.names:
        arguments, top = chosen_arguments(arguments, report.names)
        sys.path.insert(0, top)
    Result.report = report
    runner = type("Runner", (unittest.TextTestRunner,), {"resultclass": Result})
    try:
        unittest.main(module=None, argv=["python -m unittest", *arguments], testRunner=runner)
    finally:
        report.foreign()


if __name__ == "__main__":
    main()
