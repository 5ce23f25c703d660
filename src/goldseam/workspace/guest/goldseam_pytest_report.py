"""A pytest plugin that writes each test's outcome to a file, and runs the chosen tests alone.

Runs in the user's Python (3.8 and later) and pytest. With xdist the outcomes are written where they
are gathered, by the controller; the choice is made, and foreign code seen, by those that run tests.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldseam.workspace.guest import goldseam_report_file as reports
else:  # here it is found beside this file, and nothing else of ours
    reports = importlib.import_module(f"{__package__ or ''}.goldseam_report_file".lstrip("."))

_SEPARATORS = ("[", "::", "/")


def pytest_configure(config: pytest.Config) -> None:
    """Take part in this run, where a report was asked for."""
    report = reports.open_report()
    if report is None:
        return
    if report.names:
        _collect_less(config, report)
    config.pluginmanager.register(Chooser(report), "goldseam-chooser")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(report), "goldseam-reporter")


class Chooser:
    """Leaves the chosen tests alone in the run."""

    def __init__(self, report: reports.ReportFile) -> None:
        self.report = report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """All who report have begun; what the tests start from here on does not."""
        reports.forget_report()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Take out what was not chosen."""
        chosen = [item for item in items if self.report.wants(item.nodeid, _SEPARATORS)]
        others = [item for item in items if not self.report.wants(item.nodeid, _SEPARATORS)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = chosen

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Everything is imported by now."""
        self.report.foreign()


class Reporter:
    """Writes what became of each test."""

    def __init__(self, report: reports.ReportFile) -> None:
        self.report = report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read counts as a test that bears its name."""
        if report.failed:
            self.report.outcome(report.nodeid or ".", "error")
        elif report.skipped:
            self.report.outcome(report.nodeid or ".", "skipped")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test that ends the process, or never ends, is known by this."""
        self.report.outcome(nodeid, "started")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Each phase reports; a test that cannot be set up or torn down is an error."""
        if report.failed:
            self.report.outcome(report.nodeid, "failed" if report.when == "call" else "error")
        elif report.skipped:
            self.report.outcome(report.nodeid, "skipped")
        elif report.passed and report.when == "call":
            self.report.outcome(report.nodeid, "passed")


def _collect_less(config: pytest.Config, report: reports.ReportFile) -> None:
    """Read the chosen tests' files alone, where the command names no place of its own."""
    source = getattr(getattr(config, "args_source", None), "name", "")
    files = _files(report.tree, sorted(report.names))
    if source in {"INVOCATION_DIR", "TESTPATHS"} and files:
        config.args = files


def _files(tree: str, names: Sequence[str]) -> list[str]:
    places = dict.fromkeys(Path(tree) / name.split("::")[0] for name in names)
    return [str(place) for place in places if place.exists()]
