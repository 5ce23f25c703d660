"""Find out how a project's tests are run: with which Python, by which runner, from where.

Looks at files alone. Nothing of the repository is executed here: what stands in it is not trusted
before there are walls. Only a Python from outside of it is asked what it has installed.
"""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.environment import search_path

Framework: TypeAlias = Literal["pytest", "unittest", "other"]

_VIRTUAL = (".venv", "venv", "env")
_PASSED_OVER = frozenset({
    "node_modules",
    "build",
    "dist",
    "site-packages",
    "__pycache__",
    *_VIRTUAL,
})
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py")
_MAX_FOLDERS = 20_000
_MAX_READ = 300
_MAX_BYTES = 1 << 18
_ASK_LIMIT_S = 20.0

# What the words of a plain list of arguments cannot say, and a shell can.
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\$`]|\\.)*\"")
_FOR_A_SHELL = re.compile(r"[|&;<>()$`*?~\n]|^\s*\w+=")
_UNITTEST = re.compile(r"(?:^|\s)-m\s+unittest(?:\s|$)")

_IS_UNITTEST = re.compile(
    r"^\s*(?:import unittest|from unittest\b|from django\.test)", re.MULTILINE
)
_IS_PYTEST = re.compile(r"^(?:import pytest|from pytest\b|(?:async )?def test)", re.MULTILINE)
_NO_TESTS = "no tests were found (files test_*.py or *_test.py); give their command with --test"


class TestCommand(Struct, frozen=True, kw_only=True):
    """The command that runs all of the project's tests, from the top of the tree."""

    __test__ = False

    argv: tuple[str, ...]
    framework: Framework
    python: str
    """The project's interpreter, as an absolute path or a name to look for."""

    @property
    def shown(self) -> str:
        """The command as a person would type it."""
        return self.argv[2] if self.argv[:2] == ("sh", "-c") else shlex.join(self.argv)


def given_tests(line: str, *, origin: Path, environ: Mapping[str, str]) -> TestCommand:
    """Return the command that the person gave, as one would type it; `sh` runs it where it must.

    Raises:
        WorkspaceError: it is empty, or a quote in it is never closed.
    """
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise WorkspaceError(f"the test command cannot be read: {error}") from error
    if not words:
        raise WorkspaceError("the test command is empty")
    argv = ("sh", "-c", line) if _FOR_A_SHELL.search(_QUOTED.sub("", line)) else words
    python = words[0] if re.fullmatch(r"/.*/python[\d.]*", words[0]) else None
    return TestCommand(
        argv=argv, framework=_framework(words), python=python or find_python(origin, environ)
    )


def detect_tests(tree: Path, *, origin: Path, environ: Mapping[str, str]) -> TestCommand:
    """Return the command that runs the tests found in `tree`, by the Python of its `origin`.

    Raises:
        WorkspaceError: there are none, or pytest is needed and is not installed.
    """
    python = find_python(origin, environ)
    files = _test_files(tree)
    texts = [_read(file) for file in files[:_MAX_READ]]
    configured = _configures_pytest(tree)
    if not files and not configured:
        raise WorkspaceError(_NO_TESTS)
    if has_module(python, "pytest", origin=origin, environ=environ):
        return TestCommand(argv=(python, "-m", "pytest"), framework="pytest", python=python)
    if configured or any(_IS_PYTEST.search(text) for text in texts):
        raise WorkspaceError(
            "the tests need pytest, which the project's Python does not have: install it in the "
            "project's environment (.venv), or give the command with --test"
        )
    cases = [file for file, text in zip(files, texts, strict=False) if _IS_UNITTEST.search(text)]
    if not cases:
        raise WorkspaceError(_NO_TESTS)
    argv = (python, "-m", "unittest", "discover", *_discovery(tree, cases))
    return TestCommand(argv=argv, framework="unittest", python=python)


def find_python(origin: Path, environ: Mapping[str, str]) -> str:
    """Return the project's interpreter: of its own environment, else the active or first found one.

    Raises:
        WorkspaceError: there is none at all.
    """
    active = environ.get("VIRTUAL_ENV")
    places = [origin / folder for folder in _VIRTUAL] + ([Path(active)] if active else [])
    for place in places:
        python = place / "bin" / "python"
        if python.is_file() and os.access(python, os.X_OK):
            return str(python)
    path = os.pathsep.join(search_path(environ))
    found = shutil.which("python3", path=path) or shutil.which("python", path=path)
    if found is None:
        raise WorkspaceError("no Python was found: make a virtual environment (.venv)")
    return found


def has_module(python: str, name: str, *, origin: Path, environ: Mapping[str, str]) -> bool:
    """Return whether `python` can import the top-level module `name`.

    A virtual environment's folders are looked at, for one in the repository may be anybody's work.
    """
    place = Path(python).parent.parent
    if not (place / "pyvenv.cfg").is_file():
        return _says_it_has(python, name, origin=origin, environ=environ)
    for folder in place.glob("lib*/python*/site-packages"):
        if (folder / name).is_dir() or (folder / f"{name}.py").is_file():
            return True
    settings = dict(re.findall(r"(?m)^([\w-]+)\s*=\s*(.*?)\s*$", _read(place / "pyvenv.cfg")))
    if settings.get("include-system-site-packages", "").lower() != "true":
        return False
    base = str(Path(settings.get("home", "/")) / "python3")
    return _says_it_has(base, name, origin=origin, environ=environ)


def _says_it_has(python: str, name: str, *, origin: Path, environ: Mapping[str, str]) -> bool:
    """Ask `python`, unless it stands in the repository."""
    if any(Path(path).is_relative_to(origin) for path in (python, os.path.realpath(python))):
        return False
    question = f"import importlib.util as u; raise SystemExit(u.find_spec({name!r}) is None)"
    kept = {key: environ[key] for key in ("PATH", "HOME", "LD_LIBRARY_PATH") if key in environ}
    try:
        answer = subprocess.run(
            (python, "-c", question),
            cwd="/",
            env=kept,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_ASK_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def _framework(words: tuple[str, ...]) -> Framework:
    inner = " ".join(words)
    if any(PurePath(word).name in {"pytest", "py.test"} for word in inner.split()):
        return "pytest"
    return "unittest" if _UNITTEST.search(inner) else "other"


def _test_files(tree: Path) -> list[Path]:
    files: list[Path] = []
    for folder, names in _walk(tree):
        files += [folder / name for name in sorted(names) if _TEST_FILE.fullmatch(name)]
    return files


def _walk(tree: Path) -> Iterator[tuple[Path, list[str]]]:
    for seen, (folder, inner, names) in enumerate(os.walk(tree)):
        if seen == _MAX_FOLDERS:
            return
        inner[:] = sorted(
            name
            for name in inner
            if not name.startswith(".")
            and name not in _PASSED_OVER
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        yield Path(folder), names


def _read(file: Path) -> str:
    """Return the beginning of a file that is one; a link may lead anywhere, so none is followed."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(fd, "rb") as opened:
        return opened.read(_MAX_BYTES).decode(errors="replace")


def _configures_pytest(tree: Path) -> bool:
    if any((tree / name).is_file() for name in ("pytest.ini", ".pytest.ini", "conftest.py")):
        return True
    try:
        tool = tomllib.loads(_read(tree / "pyproject.toml")).get("tool", {})
    except tomllib.TOMLDecodeError:
        tool = {}
    if isinstance(tool, dict) and "pytest" in tool:
        return True
    return _has_section(tree / "tox.ini", "pytest") or _has_section(
        tree / "setup.cfg", "tool:pytest"
    )


def _has_section(file: Path, section: str) -> bool:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(_read(file))
    except configparser.Error:
        return False
    return parser.has_section(section)


def _discovery(tree: Path, cases: list[Path]) -> tuple[str, ...]:
    """Return where unittest starts and what is its top: the one folder that holds all the cases."""
    common = Path(os.path.commonpath([file.parent for file in cases]))
    start = common.relative_to(tree)
    top = start
    # Modules of a package are known by their full names, from above the outermost package.
    while top != Path() and (tree / top / "__init__.py").is_file():
        top = top.parent
    where = ("-s", str(start)) if start != Path() else ()
    above = ("-t", str(top)) if top != start else ()
    pattern = () if all(file.name.startswith("test") for file in cases) else ("-p", "*test*.py")
    return (*where, *above, *pattern)
