"""How a project's tests are found, and how a person's own command is read."""

import os
import shlex
import venv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.testing.detect import (
    Framework,
    TestCommand,
    detect_tests,
    find_python,
    given_tests,
    has_module,
)

CASE = "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"
FUNCTION = "def test(): pass\n"
NOWHERE = {"PATH": "/usr/bin:/bin"}


class Project:
    """A tree, and the repository that it is a clone of, with a Python that has or lacks pytest."""

    def __init__(self, top: Path, *, has_pytest: bool) -> None:
        self.tree, self.origin = top / "tree", top / "origin"
        self.tree.mkdir()
        packages = self.origin / ".venv" / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True)
        (self.origin / ".venv" / "bin").mkdir()
        (self.origin / ".venv" / "pyvenv.cfg").touch()
        self.python = self.origin / ".venv" / "bin" / "python"
        self.python.touch(mode=0o755)
        if has_pytest:
            (packages / "pytest").mkdir()

    def detect(self) -> tuple[Framework, tuple[str, ...]]:
        command = detect_tests(self.tree, origin=self.origin, environ=NOWHERE)
        assert command.python == command.argv[0] == str(self.python)
        return command.framework, command.argv[1:]


def put(tree: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content, encoding="utf-8")


@pytest.mark.parametrize(
    "files",
    [
        {"test_a.py": FUNCTION},
        {"a_test.py": CASE},
        {"package/tests/test_a.py": CASE},
        {"pytest.ini": "[pytest]\n", "checks/check_a.py": FUNCTION},
        {"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['checks']\n"},
        {"setup.cfg": "[tool:pytest]\n"},
        {"tox.ini": "[pytest]\n"},
    ],
)
def test_pytest_runs_what_looks_like_tests_or_is_set_up_for_it(
    tmp_path: Path, files: dict[str, str]
) -> None:
    project = Project(tmp_path, has_pytest=True)
    put(project.tree, files)
    assert project.detect() == ("pytest", ("-m", "pytest"))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"test_a.py": CASE}, ""),
        ({"tests/test_a.py": CASE}, "-s tests"),
        ({"tests/test_a.py": CASE, "tests/__init__.py": ""}, "-s tests -t ."),
        (
            {"p/tests/test_a.py": CASE, "p/tests/__init__.py": "", "p/__init__.py": ""},
            "-s p/tests -t .",
        ),
        ({"src/p/test_a.py": CASE, "src/p/__init__.py": ""}, "-s src/p -t src"),
        ({"one/test_a.py": CASE, "two/test_b.py": CASE}, ""),
        ({"tests/a_test.py": CASE, "tests/test_b.py": CASE}, "-s tests -p '*test*.py'"),
        ({"test_a.py": CASE, ".venv/test_x.py": FUNCTION, "node_modules/test_y.py": FUNCTION}, ""),
        ({"test_a.py": CASE, "pyproject.toml": "[broken", "setup.cfg": "broken"}, ""),
    ],
)
def test_unittest_starts_where_the_cases_are_and_names_modules_from_their_top(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    project = Project(tmp_path, has_pytest=False)
    put(project.tree, files)
    assert project.detect() == ("unittest", ("-m", "unittest", "discover", *shlex.split(words)))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"code.py": "x = 1\n"}, "no tests were found"),
        ({"test_a.py": "x = 1\n"}, "no tests were found"),
        ({"test_a.py": FUNCTION}, "install it in the project's environment"),
        ({"test_a.py": CASE, "pytest.ini": "[pytest]\n"}, "the tests need pytest"),
    ],
)
def test_what_cannot_be_run_says_what_to_do(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    project = Project(tmp_path, has_pytest=False)
    put(project.tree, files)
    with pytest.raises(WorkspaceError, match=said) as caught:
        project.detect()
    assert "--test" in caught.value.message
    assert str(tmp_path) not in caught.value.message


def test_links_and_pipes_among_the_test_files_are_passed_over(tmp_path: Path) -> None:
    project = Project(tmp_path, has_pytest=False)
    (tmp_path / "outside.py").write_text(FUNCTION, encoding="utf-8")
    (project.tree / "test_link.py").symlink_to(tmp_path / "outside.py")
    os.mkfifo(project.tree / "test_pipe.py")
    with pytest.raises(WorkspaceError, match="no tests were found"):
        project.detect()


def test_the_projects_own_python_comes_first_then_the_active_then_any(tmp_path: Path) -> None:
    origin, active, system = tmp_path / "origin", tmp_path / "active", tmp_path / "system"
    environ = {"VIRTUAL_ENV": str(active), "PATH": f"relative:{system}"}
    origin.mkdir()
    with pytest.raises(WorkspaceError, match="no Python was found"):
        find_python(origin, environ)
    found = []
    for python in (system / "python3", active / "bin/python", origin / "venv/bin/python"):
        python.parent.mkdir(parents=True)
        python.touch(mode=0o755)
        found.append(find_python(origin, environ) == str(python))
    (origin / ".venv" / "bin").mkdir(parents=True)
    (origin / ".venv" / "bin" / "python").symlink_to("/gone/python")  # its base was taken away
    assert found == [True, True, True]
    assert find_python(origin, environ) == str(origin / "venv/bin/python")


def test_a_python_outside_is_asked_and_one_in_the_repository_is_never_started(
    tmp_path: Path,
) -> None:
    def make(name: str) -> str:
        python = tmp_path / name / "python"
        python.parent.mkdir()
        started = f"#!/bin/sh\necho > {tmp_path}/{name}.started\nexit 0\n"
        python.write_text(started, encoding="ascii")
        python.chmod(0o755)
        return str(python)

    answers = [
        has_module(make(name), "pytest", origin=tmp_path / "repo", environ=NOWHERE)
        for name in ("system", "repo")
    ]
    venv_on_system = tmp_path / "venv" / "bin" / "python"
    venv_on_system.parent.mkdir(parents=True)
    (tmp_path / "system" / "python3").symlink_to("python")
    settings = f"home = {tmp_path}/system\ninclude-system-site-packages = true\n"
    (tmp_path / "venv" / "pyvenv.cfg").write_text(settings, encoding="utf-8")
    answers.append(
        has_module(str(venv_on_system), "pytest", origin=tmp_path / "repo", environ=NOWHERE)
    )
    assert answers == [True, False, True]
    assert [path.name for path in tmp_path.glob("*.started")] == ["system.started"]


def test_a_real_virtual_environment_has_what_is_in_it(tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", symlinks=True)
    python = find_python(tmp_path, NOWHERE)
    assert python == str(tmp_path / ".venv" / "bin" / "python")
    assert not has_module(python, "pytest", origin=tmp_path, environ=NOWHERE)
    (next((tmp_path / ".venv").glob("lib/*/site-packages")) / "pytest.py").touch()
    assert has_module(python, "pytest", origin=tmp_path, environ=NOWHERE)


@pytest.mark.parametrize(
    ("line", "framework", "words"),
    [
        ("pytest -q", "pytest", ("pytest", "-q")),
        ("python -m pytest tests", "pytest", ("python", "-m", "pytest", "tests")),
        ("uv run pytest", "pytest", ("uv", "run", "pytest")),
        ("py.test -k 'a or (b)'", "pytest", ("py.test", "-k", "a or (b)")),
        (".venv/bin/pytest", "pytest", (".venv/bin/pytest",)),
        ("python -m unittest -v", "unittest", ("python", "-m", "unittest", "-v")),
        ("make test", "other", ("make", "test")),
        ("echo pytesting", "other", ("echo", "pytesting")),
        ("cd sub && pytest", "pytest", ("sh", "-c", "cd sub && pytest")),
        ("A=1 python -m unittest", "unittest", ("sh", "-c", "A=1 python -m unittest")),
        ("pytest tests/*.py", "pytest", ("sh", "-c", "pytest tests/*.py")),
        ('run "$HOME"', "other", ("sh", "-c", 'run "$HOME"')),
        ("sh -c 'cd sub; pytest'", "pytest", ("sh", "-c", "cd sub; pytest")),
    ],
)
def test_a_given_command_runs_as_typed(
    tmp_path: Path, line: str, framework: str, words: tuple[str, ...]
) -> None:
    command = given_tests(line, origin=tmp_path, environ={"PATH": os.environ["PATH"]})
    assert (command.framework, command.argv) == (framework, words)


@pytest.mark.parametrize("line", ["", "  ", "pytest 'open"])
def test_a_command_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(WorkspaceError, match="the test command"):
        given_tests(line, origin=tmp_path, environ=NOWHERE)


def test_a_command_that_names_its_python_has_it(tmp_path: Path) -> None:
    command = given_tests("/opt/py/bin/python3.12 -m pytest", origin=tmp_path, environ=NOWHERE)
    assert command.python == "/opt/py/bin/python3.12"


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5))
def test_a_shown_command_reads_as_the_same_words(words: list[str]) -> None:
    command = TestCommand(argv=("run", *words), framework="other", python="python")
    assert tuple(shlex.split(command.shown)) == command.argv
