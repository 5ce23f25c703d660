"""Change one thing at a time in the writers and in what they share, and see whether a test notices.

`make mutation`, or with words only the modules whose path holds one of them, works in a copy of the
tree and names each change that no test noticed. Those that are known and argued stand in
survivors.md; the end is a failure where there is one that does not. It takes hours, not seconds.
"""

import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest
from mutation.changes import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
MODELS = Path("src/goldseam/models")
KNOWN = Path(__file__).with_name("survivors.md")
WRITERS = (
    "write.py",
    "messages.py",
    "blocks.py",
    "parts.py",
    "items.py",
    "forms.py",
    "said.py",
    "thread.py",
)
NEAR = ("_write", "_messages", "_laws")
"""The tests of a dialect that should notice, by the ends of their names, the quickest first."""
SHARED = ("fitting", "fitting_edges", "turns", "dialect_writers")
HEAVY = ("openai.types.chat", "openai.types.responses", "anthropic.types", "google.genai.types")
"""Loaded once, before each trial forks off; nothing of ours is."""
MEMORY = 4 << 30


def tests_for(module: Path) -> list[str]:
    """Return the tests that should notice, the nearest first."""
    room = module.relative_to(MODELS).parent.name
    if room:
        found = sorted((ROOT / "tests" / "models" / room).glob("test_*.py"), key=_distance)
    else:
        found = [ROOT / "tests" / "models" / f"test_{name}.py" for name in SHARED]
        found += [p for p in sorted(ROOT.glob("tests/models/*/test_*.py")) if _distance(p) == 0]
    return [str(path.relative_to(ROOT)) for path in found]


def _distance(path: Path) -> int:
    near = (at for at, mark in enumerate(NEAR) if path.stem.endswith(mark))
    return next(near, len(NEAR))


def survivors_of(module: Path, mutants: list[Mutant]) -> Iterator[Mutant]:
    """Yield each of `mutants` that no test notices, trying them in a copy of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        unwanted = shutil.ignore_patterns("__pycache__", ".hypothesis")
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=unwanted)
        shutil.copy(ROOT / "pyproject.toml", copy)
        limit_s = _longest(copy, module)
        for mutant in mutants:
            (copy / module).write_text(mutant.source, encoding="utf-8")
            if _passes(copy, module, limit_s):
                yield mutant


def _longest(copy: Path, module: Path) -> float:
    """Return how long a trial may take: some times as long as without any change."""
    begun = time.monotonic()
    if not _passes(copy, module, 600):
        raise SystemExit(f"the tests of {module} fail without any change")
    return 3 * (time.monotonic() - begun) + 5


def _passes(copy: Path, module: Path, limit_s: float) -> bool:
    child = os.fork()
    if child == 0:
        _try(copy, tests_for(module))
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _try(copy: Path, tests: list[str]) -> NoReturn:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.chdir(copy)
    sys.path.insert(0, str(copy / "src"))
    sys.dont_write_bytecode = True
    quick = hypothesis.settings(
        deadline=None,
        derandomize=True,
        max_examples=40,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    hypothesis.settings.register_profile("mutation", quick)
    words = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
    # What is loaded already cannot be rewritten, and need not be.
    words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = 1
    try:
        code = int(pytest.main([*words, *tests]))
    finally:
        os._exit(code)


def main() -> None:
    """Try every change; print and count those that nobody noticed and nobody argued."""
    for name in HEAVY:
        importlib.import_module(name)
    known = KNOWN.read_text(encoding="utf-8")
    tried = alive = strangers = 0
    for module in _modules(sys.argv[1:]):
        mutants = list(mutants_of((ROOT / module).read_text(encoding="utf-8")))
        tried += len(mutants)
        for mutant in survivors_of(module, mutants):
            alive += 1
            if f"{module.relative_to(MODELS)}: {mutant.change}" not in known:
                strangers += 1
                told = f"{module}:{mutant.line}\n- {module.relative_to(MODELS)}: {mutant.change}"
                print(told, flush=True)
    print(f"{tried} changes, {alive} not noticed, {strangers} of them not argued")
    sys.exit(1 if strangers else 0)


def _modules(words: list[str]) -> list[Path]:
    writers = [path for name in WRITERS for path in sorted((ROOT / MODELS).glob(f"*/{name}"))]
    every = [MODELS / "fitting.py", *(path.relative_to(ROOT) for path in writers)]
    return [one for one in every if not words or any(word in str(one) for word in words)]


if __name__ == "__main__":
    main()
