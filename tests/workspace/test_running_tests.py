"""Real runs of tests, well-behaved and not: there is always a report."""

import sys
from pathlib import Path

import pytest
from sandbox_places import Place, make_place, why_no_walls

from goldseam.workspace.sandbox.bubblewrap import BubblewrapSandbox
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.detect import TestCommand, given_tests
from goldseam.workspace.testing.report import TestReport
from goldseam.workspace.testing.run import run_tests

UNITTEST = TestCommand(
    argv=(sys.executable, "-m", "unittest", "discover"),
    framework="unittest",
    python=sys.executable,
)
# The plugins installed here cost more time to load than the tests take.
QUIET = (
    "-p",
    "no:anyio",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:xdist",
    "-p",
    "no:xdist.looponfail",
)
PYTEST = TestCommand(
    argv=(sys.executable, "-m", "pytest", *QUIET), framework="pytest", python=sys.executable
)

CASES = """
import unittest
from unittest import TestCase, expectedFailure, skip
class Case(TestCase):
    def test_good(self): pass
    def test_bad(self): self.assertEqual(1, 2)
    def test_broken(self): raise OSError
    @skip("later")
    def test_skipped(self): pass
    @expectedFailure
    def test_known(self): self.fail()
    @expectedFailure
    def test_mended(self): pass
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number): self.assertNotEqual(number, 1)
class NoStart(TestCase):
    @classmethod
    def setUpClass(cls): raise OSError
    def test_never(self): pass
"""

FUNCTIONS = """
import pytest
def test_good(): pass
def test_bad(): assert 1 == 2
@pytest.fixture
def broken():
    raise OSError
def test_no_start(broken): pass
@pytest.fixture
def untidy():
    yield
    raise OSError
def test_no_end(untidy): pass
@pytest.mark.xfail
def test_known(): assert False
@pytest.mark.xfail(strict=True)
def test_mended(): pass
@pytest.mark.skip
def test_skipped(): pass
class TestMany:
    @pytest.mark.parametrize("number", [1, 2])
    def test_each(self, number): assert number == 1
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


@pytest.fixture
def walled(place: Place) -> BubblewrapSandbox:
    if why_no_walls() is not None:
        pytest.skip(f"no walls on this machine: {why_no_walls()}")
    return place.walled()


@pytest.fixture(params=["A", "D"])
def sandbox(request: pytest.FixtureRequest, place: Place) -> Sandbox:
    fitting: Sandbox = request.getfixturevalue("walled") if request.param == "A" else place.plain()
    return fitting


def put(tree: Path, **files: str) -> None:
    for name, content in files.items():
        (tree / f"{name}.py").write_text(content, encoding="utf-8")


def litter(place: Place) -> list[str]:
    known = {".git", ".venv", "sub", "real.txt"}
    return sorted(path.name for path in place.tree.iterdir() if path.name not in known)


@pytest.mark.anyio
async def test_each_outcome_of_unittest_is_told_by_dotted_name(
    sandbox: Sandbox, place: Place
) -> None:
    put(place.tree, test_cases=CASES, test_unread="import a_module_that_is_not_there\n")
    report = await run_tests(sandbox, UNITTEST, limit_s=60)
    assert report.outcomes == {
        "test_cases.Case.test_bad": "failed",
        "test_cases.Case.test_broken": "error",
        "test_cases.Case.test_good": "passed",
        "test_cases.Case.test_known": "skipped",
        "test_cases.Case.test_mended": "failed",
        "test_cases.Case.test_parts": "failed",
        "test_cases.Case.test_skipped": "skipped",
        "test_cases.NoStart": "error",
        "test_unread": "error",
    }
    assert (report.exit_code, report.trouble, report.foreign) == (1, None, ())
    assert "AssertionError: 1 != 2" in report.output
    assert litter(place) == ["test_cases.py", "test_unread.py"]


@pytest.mark.anyio
async def test_chosen_names_of_unittest_run_alone_however_many(place: Place) -> None:
    put(place.tree, test_cases=CASES)
    many = tuple(f"test_cases.Case.test_number_{number:06}" for number in range(100))
    names = ("test_cases.Case.test_good", *many)
    report = await run_tests(place.plain(), UNITTEST, names=names, limit_s=60)
    assert report.passing == ("test_cases.Case.test_good",)
    assert set(report.failing) == set(many)


@pytest.mark.anyio
async def test_unittest_reports_from_within_a_shells_line_too(place: Place) -> None:
    put(
        place.tree / "sub",
        test_one="import unittest\nclass T(unittest.TestCase):\n  def test(s): 0\n",
    )
    for line in ("cd sub && {} -m unittest -v", "sh -c 'cd sub; {} -m  unittest'"):
        shown = line.format(sys.executable)
        command = given_tests(shown, origin=place.workspace.origin, environ=place.environ)
        report = await run_tests(place.plain(), command, limit_s=60)
        assert report.outcomes == {"test_one.T.test": "passed"}


@pytest.mark.anyio
async def test_each_outcome_of_pytest_is_told_by_node_id(sandbox: Sandbox, place: Place) -> None:
    put(place.tree, test_some=FUNCTIONS, test_unread="import a_module_that_is_not_there\n")
    report = await run_tests(sandbox, PYTEST, limit_s=60)
    assert report.outcomes == {
        "test_unread.py": "error",
        "test_some.py::test_good": "passed",
        "test_some.py::test_bad": "failed",
        "test_some.py::test_no_start": "error",
        "test_some.py::test_no_end": "error",
        "test_some.py::test_known": "skipped",
        "test_some.py::test_mended": "failed",
        "test_some.py::test_skipped": "skipped",
        "test_some.py::TestMany::test_each[1]": "passed",
        "test_some.py::TestMany::test_each[2]": "failed",
    }
    assert report.exit_code == 1
    assert litter(place) == ["test_some.py", "test_unread.py"]


@pytest.mark.anyio
async def test_chosen_names_of_pytest_run_alone_whatever_else_the_command_names(
    place: Place,
) -> None:
    put(place.tree, test_some=FUNCTIONS, test_other="def test(): assert 0\n")
    line = f"cd sub && {sys.executable} -m pytest {' '.join(QUIET)} .."
    command = given_tests(line, origin=place.workspace.origin, environ=place.environ)
    absent = tuple(f"test_some.py::{'x' * 200}_{number}" for number in range(2000))  # > ARG_MAX
    names = ("test_some.py::test_bad", "test_some.py::TestMany", *absent)
    report = await run_tests(place.plain(), command, names=names, limit_s=60)
    assert report.outcomes == {
        "test_some.py::test_bad": "failed",
        "test_some.py::TestMany::test_each[1]": "passed",
        "test_some.py::TestMany::test_each[2]": "failed",
    }
    assert report.missing == absent


@pytest.mark.anyio
async def test_chosen_files_alone_are_read(place: Place) -> None:
    put(place.tree, test_some=FUNCTIONS, test_other="raise SystemExit('never read')\n")
    report = await run_tests(place.plain(), PYTEST, names=("test_some.py::test_good",), limit_s=60)
    assert (report.outcomes, report.all_passed) == ({"test_some.py::test_good": "passed"}, True)


@pytest.mark.anyio
async def test_workers_report_once_each_test_and_runs_within_tests_not_at_all(
    place: Place,
) -> None:
    inner = (
        "import subprocess, sys\n"
        "def test_inner():\n"
        f"    words = [sys.executable, '-m', 'pytest', *{QUIET!r}, 'sub/test_hidden.py']\n"
        "    assert subprocess.run(words).returncode == 1\n"
    )
    put(place.tree, test_some=FUNCTIONS, test_inner=inner)
    put(place.tree / "sub", test_hidden="def test(): assert 0\n")
    workers = ("-p", "no:anyio", "-p", "no:hypothesispytest", "-n1")
    command = TestCommand(
        argv=(sys.executable, "-m", "pytest", *workers), framework="pytest", python=sys.executable
    )
    names = ("test_some.py::test_good", "test_some.py::test_no_end", "test_inner.py")
    report = await run_tests(place.plain(), command, names=names, limit_s=60)
    assert report.outcomes == {
        "test_inner.py::test_inner": "passed",
        "test_some.py::test_good": "passed",
        "test_some.py::test_no_end": "error",
    }


HOSTILE = {
    "kills": "import os; os.kill(os.getpid(), 9)",
    "exits": "import os; os._exit(0)",
    "hangs": "import time; time.sleep(60)",
    "floods": "import os; [os.write(1, b'y' * 1_000_000) for _ in range(100)]",
    "bytes": "import os; os.write(1, bytes(range(256)) * 100)",
    "swaps": "import os; f = os.environ.get('GOLDSEAM_REPORT', 'none'); os.symlink('/etc', 'x')",
}


async def hostile(sandbox: Sandbox, place: Place, deed: str, *, limit_s: float = 60) -> TestReport:
    put(
        place.tree,
        test_it="import unittest\nclass T(unittest.TestCase):\n"
        f"    def test_a(self): pass\n    def test_b(self): {HOSTILE[deed]}\n",
    )
    return await run_tests(sandbox, UNITTEST, limit_s=limit_s)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("deed", "outcome", "exit_code", "trouble"),
    [
        ("kills", "error", -9, "the test process was ended by signal 9"),
        ("exits", "error", 0, None),
        ("floods", "passed", 0, None),
        ("bytes", "passed", 0, None),
        ("swaps", "passed", 0, None),
    ],
)
async def test_whatever_a_test_does_there_is_a_report(  # agents 27
    sandbox: Sandbox,
    place: Place,
    deed: str,
    outcome: str,
    exit_code: int | None,
    trouble: str | None,
) -> None:
    report = await hostile(sandbox, place, deed)
    assert report.outcomes == {"test_it.T.test_a": "passed", "test_it.T.test_b": outcome}
    assert (report.exit_code, report.trouble) == (exit_code, trouble)
    assert len(report.output) < 3_000_000


@pytest.mark.anyio
async def test_a_test_that_never_ends_is_the_one_that_is_named(place: Place) -> None:
    report = await hostile(place.plain(), place, "hangs", limit_s=4)
    assert report.outcomes == {"test_it.T.test_a": "passed", "test_it.T.test_b": "error"}
    assert (report.exit_code, report.trouble) == (None, "the time of 4 s was up")


@pytest.mark.anyio
async def test_an_unknown_runner_is_one_test_named_by_its_command(sandbox: Sandbox) -> None:
    reports = {}
    for script in ("exit 0", "exit 3", "kill -9 $$"):
        command = TestCommand(argv=("sh", "-c", script), framework="other", python="python3")
        reports[script] = (await run_tests(sandbox, command, limit_s=20)).outcomes
    assert reports == {
        "exit 0": {"exit 0": "passed"},
        "exit 3": {"exit 3": "failed"},
        "kill -9 $$": {"kill -9 $$": "error"},
    }
