"""Run the tests in this very process, reported as they are when a process of their own runs them.

Guest code (Python 3.8 or later; pytest where the tests need it). Knows nothing of edits or forks.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import sysconfig
from pathlib import Path

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any

_QUICK = ("-p", "goldseam_pytest_report", "--tb=native")
"""A long traceback takes longer than a short test, and nobody reads it here."""
_WORSE = {"started": 0, "skipped": 1, "passed": 2, "failed": 3, "error": 4}


def load_runner(framework: str, empty: Path) -> None:
    """Load the test runner with all its plugins; `empty` is a folder to be made.

    Plugins are loaded by a whole session over no tests: pytest then rewrites their assertions as it
    always does, and a later session in a child finds them loaded.
    """
    if framework != "pytest":
        importlib.import_module("goldseam_unittest_report")
        return
    runner = importlib.import_module("pytest")
    empty.mkdir()
    here, terminal = Path.cwd(), [os.dup(standard) for standard in range(3)]
    os.chdir(empty)
    be_quiet()
    try:
        runner.main([*_QUICK, "-c", os.devnull, "--rootdir", str(empty), str(empty)])
    finally:
        for standard, original in enumerate(terminal):
            os.dup2(original, standard)
            os.close(original)
        os.chdir(here)


def be_quiet() -> None:
    """Let whatever this process writes for a person go nowhere, and nobody answer it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    os.close(nowhere)


def run_tests(plan: dict[str, Any], report: Path) -> int:
    """Run the tests that `plan` chooses, write outcomes to `report`, return the exit code."""
    os.environ["GOLDSEAM_REPORT"] = str(report)
    os.environ["GOLDSEAM_TREE"] = plan["root"]
    if plan["names"]:
        os.environ["GOLDSEAM_NAMES"] = plan["names_file"]
    if plan["framework"] == "pytest":
        place = (f"--rootdir={plan['root']}", "-o", f"cache_dir={report.parent / 'cache'}")
        return int(importlib.import_module("pytest").main([*_QUICK, *place, *plan["arguments"]]))
    sys.argv[:] = ["python -m unittest", *plan["arguments"]]
    try:
        importlib.import_module("goldseam_unittest_report").main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def read_outcomes(report: Path) -> dict[str, str]:
    """Return the worst word on each test; one that was started and no more said of is an error."""
    worst: dict[str, str] = {}
    for line in report.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue  # half a line of one that was killed, or what a test wrote
        if isinstance(record, dict) and record.get("outcome") in _WORSE:
            name, outcome = str(record.get("name")), record["outcome"]
            worst[name] = max(worst.get(name, outcome), outcome, key=_WORSE.__getitem__)
    return {name: "error" if word == "started" else word for name, word in worst.items()}


def loaded_modules(root: str) -> dict[str, list[str]]:
    """Return what this process has loaded: standard modules by name, the tree's own by file."""
    paths = sysconfig.get_paths()
    standard, packages = paths["stdlib"] + os.sep, (paths["purelib"], paths["platlib"])
    names, files = [], []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        if file.startswith(standard) and not file.startswith(packages):
            names.append(name)
        elif file.startswith(root + os.sep) and file.endswith(".py"):
            files.append(file)
    return {"standard": sorted(names), "own": sorted(files)}
