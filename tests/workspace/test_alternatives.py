"""Alternatives are tried in copies, in warm forks where that can be, and nothing of them stays."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.bubblewrap import BubblewrapSandbox
from goldseam.workspace.sandbox.plain import PlainSandbox
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.alternatives import try_alternatives
from goldseam.workspace.testing.copies import copy_tree
from goldseam.workspace.testing.detect import TestCommand
from goldseam.workspace.testing.trials import AlternativeVerdict, Bench, Question, Trials

ADD = b"def add(a, b):\n    return a - b\n"
GOOD = ADD.replace(b"-", b"+")
TESTS = b"""
import subprocess, sys, unittest
from pathlib import Path
from program import add

class AddTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_nothing(self):
        self.assertEqual(add(0, 0), 0)

    def test_the_rest_of_the_tree_is_whole(self):
        self.assertEqual(Path("words.txt").read_text(), "gold\\n")
        self.assertFalse(Path("litter").exists())
"""
UNITTEST = TestCommand(
    argv=(sys.executable, "-m", "unittest", "discover"), framework="unittest", python=sys.executable
)
PYTEST = TestCommand(
    argv=(sys.executable, "-m", "pytest", "-q"), framework="pytest", python=sys.executable
)
OTHER = TestCommand(
    argv=("sh", "-c", f"{sys.executable} -m unittest discover"),
    framework="other",
    python=sys.executable,
)
PASSED = AlternativeVerdict(verdict="PASS", passed=3)
FAILED = AlternativeVerdict(
    verdict="FAIL", passed=2, failures=1, failed=("test_program.AddTest.test_add",)
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "home" / "tree"
    tree.mkdir(parents=True)
    (tree / "program.py").write_bytes(ADD)
    (tree / "test_program.py").write_bytes(TESTS)
    (tree / "words.txt").write_bytes(b"gold\n")
    (tree / "folder").mkdir()
    (tree / "folder" / "link").symlink_to("../words.txt")
    return tree


def plain(tree: Path) -> Sandbox:
    return PlainSandbox(tree=tree, environment={"PATH": os.environ["PATH"]}, why="")


async def tried(
    tree: Path, *contents: bytes, tests: TestCommand = UNITTEST, question: Question | None = None
) -> Trials:
    return await tried_in(plain, tree, *contents, tests=tests, question=question)


async def tried_in(
    sandbox_for: Callable[[Path], Sandbox],
    tree: Path,
    *contents: bytes,
    tests: TestCommand = UNITTEST,
    question: Question | None = None,
) -> Trials:
    before = state_of(tree)
    bench = Bench(tree=tree, tests=tests, sandbox_for=sandbox_for)
    alternatives = [{"program.py": content} for content in contents]
    trials = await try_alternatives(bench, alternatives, question or Question())
    assert state_of(tree) == before
    assert [path.name for path in tree.parent.iterdir()] == ["tree"]
    return trials


def state_of(tree: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(tree)): (path.lstat().st_mtime_ns, path.read_bytes())
        for path in tree.rglob("*")
        if path.is_file()
    }


async def test_each_alternative_gets_its_verdict_in_order(tree: Path) -> None:
    trials = await tried(tree, GOOD, ADD + b"#", GOOD + b"#", b"def (", ADD)
    unread = AlternativeVerdict(verdict="FAIL", failures=1, failed=("test_program",))
    assert trials == Trials(verdicts=(PASSED, FAILED, PASSED, unread, FAILED))


async def test_only_the_named_tests_run(tree: Path) -> None:
    question = Question(names=("test_program.AddTest.test_nothing",))
    trials = await tried(tree, ADD, GOOD, question=question)
    assert trials.verdicts == (AlternativeVerdict(verdict="PASS", passed=1),) * 2


DEEDS = (
    (b"import os; os._exit(0)", "ERROR"),
    (b"import os; os.kill(os.getpid(), 9)", "ERROR"),
    (b"while True: pass", "TIMEOUT"),
    (b"hoard = bytearray(3 << 30)", "FAIL"),
    (b"import sys\nprint('x' * 9000000); sys.stderr.write('x' * 9000000)", "PASS"),
    (b"import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()", "PASS"),
    (b"import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)", "PASS"),
    (b"import os; os.closerange(3, 256)", "ERROR"),
    (b"open('words.txt', 'w').write('lead\\n')", "FAIL"),
    (b"import shutil; shutil.rmtree('folder'); open('folder', 'w').close()", "PASS"),
    (b"import os; os.remove('words.txt'); os.mkdir('litter')", "FAIL"),
    (b"import os; os.chmod('words.txt', 0); os.symlink('/', 'litter')", "FAIL"),
)


async def test_whatever_a_trial_does_the_next_one_has_a_clean_tree(tree: Path) -> None:
    contents = [content for deed, _ in DEEDS for content in (deed + b"\n" + GOOD, GOOD)]
    trials = await tried(tree, *contents, question=Question(limit_s=2))
    assert trials.note == ""
    assert trials.verdicts[1::2] == (PASSED,) * len(DEEDS)
    words = [verdict.verdict for verdict in trials.verdicts[::2]]
    assert words == [word for _, word in DEEDS]


async def test_edits_of_one_size_in_one_second_are_never_mistaken_for_another(tree: Path) -> None:
    (tree / "test_program.py").write_bytes(
        b"import subprocess, sys, unittest\nimport program\n"
        b"class SeenTest(unittest.TestCase):\n"
        b"    def test_all_see_the_same(self):\n"
        b"        seen = subprocess.check_output([sys.executable, '-c', 'import program; "
        b"print(program.N)'], env={})\n"
        b"        self.assertEqual((program.N, int(seen)), (7, 7))\n"
    )
    contents = [b"N = %d\n" % (number % 10) for number in range(12)]
    trials = await tried(tree, *contents)
    words = [verdict.verdict == "PASS" for verdict in trials.verdicts]
    assert words == [number % 10 == 7 for number in range(12)]


async def test_a_trial_that_kills_the_runner_leads_to_plain_test_runs(tree: Path) -> None:
    killer = (
        b"import os\nparent = os.getppid()\n"
        b"if b'goldseam_try_edits' in open(f'/proc/{parent}/cmdline', 'rb').read():\n"
        b"    os.kill(parent, 9)\n"
    )
    trials = await tried(tree, GOOD, killer + GOOD, GOOD, question=Question(limit_s=10))
    assert trials.verdicts[0] == PASSED
    assert trials.verdicts[2] == PASSED
    assert trials.note.startswith("a test start for each alternative: the process that runs")


async def test_a_command_that_nobody_knows_is_started_each_time(tree: Path) -> None:
    trials = await tried(tree, GOOD, ADD, tests=OTHER)
    assert [verdict.verdict for verdict in trials.verdicts] == ["PASS", "FAIL"]
    assert trials.note.endswith("the test command is not plain pytest or unittest")


async def test_the_first_that_passes_is_enough_where_that_was_asked(tree: Path) -> None:
    trials = await tried(tree, ADD, GOOD, GOOD, question=Question(stop_at_first=True))
    not_tried = AlternativeVerdict(verdict="NOT TRIED", reason="another passed before")
    assert trials.verdicts == (FAILED, PASSED, not_tried)


async def test_a_test_that_disappears_is_no_pass(tree: Path) -> None:
    bench = Bench(tree=tree, tests=UNITTEST, sandbox_for=plain)
    fewer = {"program.py": GOOD, "test_program.py": TESTS.replace(b"test_nothing", b"nothing")}
    trials = await try_alternatives(bench, [fewer], Question())
    assert [verdict.verdict for verdict in trials.verdicts] == ["ERROR"]


async def test_pytest_runs_warm_with_its_plugins_and_names(tree: Path) -> None:
    (tree / "test_program.py").write_text(
        "import pytest\nfrom program import add\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_twice(n, tmp_path):\n    assert add(n, n) == 2 * n\n"
        "def test_other():\n    assert False\n"
    )
    names = ("test_program.py::test_twice[1]", "test_program.py::test_twice[2]")
    trials = await tried(tree, ADD, GOOD, tests=PYTEST, question=Question(names=names))
    failed = AlternativeVerdict(verdict="FAIL", failures=2, failed=names)
    assert trials == Trials(verdicts=(failed, AlternativeVerdict(verdict="PASS", passed=2)))


@pytest.mark.skipif(not Path("/usr/bin/bwrap").exists(), reason="bubblewrap is not here")
async def test_inside_walls_the_copy_stands_at_the_repositorys_own_path(
    tree: Path, tmp_path: Path
) -> None:
    origin = tmp_path / "repository"
    origin.mkdir()

    def walled(place: Path) -> Sandbox:
        return BubblewrapSandbox(
            executable="/usr/bin/bwrap",
            tree=place,
            origin=origin,
            environment={"PATH": os.environ["PATH"]},
            home=tmp_path,
            hidden=(tree.parent,),
        )

    where = f"import os; assert os.getcwd() == {str(origin)!r}\n".encode()
    trials = await tried_in(walled, tree, where + GOOD, where + ADD, where + GOOD)
    assert trials == Trials(verdicts=(PASSED, FAILED, PASSED))
    assert list(origin.iterdir()) == []


def test_a_copy_keeps_links_and_leaves_byte_code_behind(tree: Path, tmp_path: Path) -> None:
    (tree / "__pycache__").mkdir()
    (tree / ".venv").mkdir()
    os.mkfifo(tree / "pipe")
    copy_tree(tree, tmp_path / "copy", left_out=(".venv",))
    names = sorted(
        str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")
    )
    assert names == ["folder", "folder/link", "program.py", "test_program.py", "words.txt"]
    assert (tmp_path / "copy/folder/link").is_symlink()


@pytest.mark.parametrize("limit", [{"max_bytes": 10}, {"max_files": 2}])
def test_a_tree_that_is_too_large_is_refused_in_words(
    tree: Path, tmp_path: Path, limit: dict[str, int]
) -> None:
    with pytest.raises(WorkspaceError, match="too large to be copied"):
        copy_tree(tree, tmp_path / "copy", left_out=(), **limit)


LIES = (
    "Path(exchange, results).write_bytes(b'\\xff{]\\n[' + b'[' * 100000 + b'\\n{}\\n')",
    "Path(exchange, results).unlink(missing_ok=True); Path(exchange, results).symlink_to('/etc')",
    "Path(exchange, results).unlink(missing_ok=True); Path(exchange, results).mkdir()",
)


@pytest.mark.parametrize("lie", LIES)
async def test_what_tests_write_into_the_results_is_no_error_of_ours(tree: Path, lie: str) -> None:
    source = f"""
import glob, os
from pathlib import Path
results = "results-0.jsonl"
for exchange in glob.glob({str(tree.parent)!r} + "/.trials-*/exchange"):
    {lie}
"""
    (tree / "test_zeal.py").write_text(source)
    trials = await tried(tree, GOOD)
    assert [verdict.verdict for verdict in trials.verdicts] == ["PASS"]
