"""A person at a terminal with a small broken repository: real git, real processes, real tests."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from msgspec import Struct

MODULE = """\
def total(prices):
    result = 0
    for price in prices[1:]:
        result += price
    return result


def is_large(prices):
    return total(prices) > 100
"""
TESTS = """\
from shop import is_large, total


def test_total_counts_every_price():
    assert total([1, 2, 3]) == 6


def test_small():
    assert not is_large([1])
"""
FIXED = {"path": "shop.py", "old_text": "prices[1:]", "new_text": "prices"}


class Ended(Struct, frozen=True, kw_only=True):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """The last line of `--json`."""
        result: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return result


class Desk(Struct, frozen=True, kw_only=True):
    """A folder with a repository, a home for state, and nothing else."""

    folder: Path

    @property
    def repository(self) -> Path:
        return self.folder / "shop"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def write(self, files: dict[str, str]) -> None:
        for name, content in files.items():
            (self.repository / name).parent.mkdir(parents=True, exist_ok=True)
            (self.repository / name).write_text(content, encoding="utf-8")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e@example.invalid", *words],
            cwd=self.repository,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def commit(self) -> None:
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "begin")

    def environ(self, **more: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in {"PATH", "HOME", "LANG", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"}
        }
        folder = str(Path(sys.executable).parent)
        kept["PATH"] = f"{folder}{os.pathsep}{kept['PATH']}"
        return {
            **kept,
            "GOLDSEAM_HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.folder),
            **more,
        }

    def start(
        self, *words: str, prefix: tuple[str, ...] = (), **environ: str
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*prefix, sys.executable, "-m", "goldseam", *words],
            cwd=self.folder,
            env=self.environ(**environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def goldseam(
        self, *words: str, stdin: str = "", prefix: tuple[str, ...] = (), **environ: str
    ) -> Ended:
        process = self.start(*words, prefix=prefix, **environ)
        out, err = process.communicate(stdin, timeout=120)
        return Ended(code=process.returncode, out=out, err=err)

    def script(self, *replies: dict[str, Any]) -> str:
        (self.folder / "script.json").write_text(json.dumps({"replies": list(replies)}))
        return "scripted:script.json"


def calls(*pairs: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"type": "calls", "calls": [{"tool": tool, "arguments": given} for tool, given in pairs]}


def answer(text: str) -> dict[str, Any]:
    return {"type": "answer", "text": text}
