"""Try many edits of one tree, each in a forked child of a process that has the test runner loaded.

Run by the user's Python (3.8 or later) inside the sandbox, in the tree: `goldseam_try_edits.py
EXCHANGE WORKER`. EXCHANGE holds `plan.json`; one line per trial is appended to its
`results-WORKER.jsonl`. Knows nothing of how edits are written: the plan holds whole new files.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import importlib
import json
import os
import py_compile
import sys
import time
from pathlib import Path

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any

    from goldseam.workspace.guest import goldseam_try_fork as forks
    from goldseam.workspace.guest import goldseam_try_tests as in_process
    from goldseam.workspace.guest import goldseam_try_tree as trees
else:  # here they are found beside this file, and nothing else of ours
    forks = importlib.import_module("goldseam_try_fork")
    in_process = importlib.import_module("goldseam_try_tests")
    trees = importlib.import_module("goldseam_try_tree")

BASELINE = -1
BASELINE_LIMIT_S = 60.0
LEAST_LIMIT_S = 2.0
NAMES_TOLD = 20


class Results:
    """The shared folder: this worker's lines, and which alternatives somebody found to pass."""

    def __init__(self, exchange: Path, worker: int) -> None:
        self._exchange = exchange
        self._file = exchange / f"results-{worker}.jsonl"
        self.report = exchange / f"report-{worker}"

    def tell(self, index: int, result: dict[str, Any], *, passes: bool) -> None:
        """Append one line."""
        failed = named(result, "failed", "error")
        told = {key: result.get(key) for key in ("how", "exit", "crash", "seconds")}
        told.update(index=index, passes=passes, passed=len(named(result, "passed")))
        told.update(failed=failed[:NAMES_TOLD], failures=len(failed))
        # A test may have put a pipe or a link in its place: neither may hold or lead us.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(self._file, flags, 0o600), "a", encoding="utf-8") as lines:
            lines.write(json.dumps(told) + "\n")
        if passes:
            (self._exchange / f"passed-{index}").touch()

    def somebody_passed_before(self, index: int) -> bool:
        """Whether an alternative of a lower number is known to pass."""
        passed = self._exchange.glob("passed-*")
        return any(int(path.name.partition("-")[2]) < index for path in passed)


def named(result: dict[str, Any], *outcomes: str) -> list[str]:
    """Return the names of the tests with one of `outcomes`."""
    return [name for name, outcome in result["outcomes"].items() if outcome in outcomes]


def main(exchange: Path, worker: int) -> None:
    """Run this worker's share of the plan."""
    plan = json.loads((exchange / "plan.json").read_text(encoding="utf-8"))
    plan.update(root=str(Path.cwd()), names_file=str(exchange / "names"))
    deadline = time.monotonic() + plan["total_s"]
    _settle(plan)
    in_process.load_runner(plan["framework"], exchange / f"empty-{worker}")
    gc.freeze()  # what is loaded now is never garbage: no child needs to look through it
    tree = trees.Tree(plan["root"], pristine=plan["pristine"], skip=plan["skip"])
    results = Results(exchange, worker)
    baseline = forks.run_trial(plan, results.report, plan["limit_s"] or BASELINE_LIMIT_S)
    results.tell(BASELINE, baseline, passes=False)
    tree.restore()
    _warm_up(baseline)
    tree.accept()
    limit_s = _trial_limit(plan, baseline)
    wanted = named(baseline, "passed", "failed", "error")
    for index in range(worker, len(plan["alternatives"]), plan["workers"]):
        left_s = deadline - time.monotonic()
        if left_s < limit_s or (plan["stop_at_first"] and results.somebody_passed_before(index)):
            break
        files = plan["alternatives"][index]
        tree.write({path: base64.b64decode(text) for path, text in files.items()})
        result = forks.run_trial(plan, results.report, limit_s)
        tree.restore()
        results.tell(index, result, passes=_passes(result, wanted))


def _settle(plan: dict[str, Any]) -> None:
    """Make this process like a fresh start of the test runner, but one that writes no byte code."""
    sys.dont_write_bytecode = True
    sys.pycache_prefix = None
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ.pop("PYTHONPYCACHEPREFIX", None)
    # Our own folder goes last: a test that spawns processes has this file imported there.
    sys.path[:] = [plan["root"]] * plan["from_tree"] + sys.path[1:] + sys.path[:1]
    forks.adopt_orphans()


def _warm_up(baseline: dict[str, Any]) -> None:
    """Load what every trial loads. Byte code is bound to its source by hash, never by time."""
    for name in baseline.get("standard", ()):
        with contextlib.suppress(Exception):  # what cannot be loaded early is loaded late
            importlib.import_module(name)
    by_hash = py_compile.PycInvalidationMode.CHECKED_HASH
    for file in baseline.get("own", ()):
        py_compile.compile(file, quiet=2, invalidation_mode=by_hash)
    gc.freeze()


def _trial_limit(plan: dict[str, Any], baseline: dict[str, Any]) -> float:
    """Return the seconds of one trial: as asked, or generous beside the baseline's own."""
    if plan["limit_s"] is not None:
        return float(plan["limit_s"])
    return min(BASELINE_LIMIT_S, max(LEAST_LIMIT_S, 1.0 + 5.0 * float(baseline["seconds"])))


def _passes(result: dict[str, Any], wanted: list[str]) -> bool:
    """Whether all is well: the runner says so, and each test of the unchanged tree passes."""
    passed = named(result, "passed")
    good = result["how"] == "ended" and result.get("exit") == 0 and bool(passed)
    return good and all(name in passed or _has_part(passed, name) for name in wanted)


def _has_part(passed: list[str], name: str) -> bool:
    """Whether something in `name` passed: a file that could not be read is no test itself."""
    return any(test.startswith((name + "::", name + ".")) for test in passed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
