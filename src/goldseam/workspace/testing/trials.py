"""What a trial is: alternatives, the question asked of them, the verdicts. Values alone."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.detect import TestCommand

Alternative: TypeAlias = Mapping[str, bytes]
"""Whole new files by their path in the tree."""

TOTAL_S = 300.0
"""Seconds for all trials of one call; what is left then is not tried."""
NAMES_TOLD = 20


class AlternativeVerdict(Struct, frozen=True, kw_only=True):
    """What became of one alternative."""

    verdict: Literal["PASS", "FAIL", "TIMEOUT", "ERROR", "NOT TRIED"]
    passed: int = 0
    failures: int = 0
    failed: tuple[str, ...] = ()
    """The names of the first that failed."""
    reason: str = ""


class Trials(Struct, frozen=True, kw_only=True):
    """The verdicts, in the order of the alternatives, and how they were come by."""

    verdicts: tuple[AlternativeVerdict, ...]
    note: str = ""
    """Why trials were not run in warm processes, where they were not."""


class Bench(Struct, frozen=True, kw_only=True):
    """Where alternatives are tried: the tree, its test command, and sandboxes for copies of it."""

    tree: Path
    tests: TestCommand
    sandbox_for: Callable[[Path], Sandbox]
    """Gives a sandbox that shows another folder at the place of the tree."""
    left_out: tuple[str, ...] = (".git",)
    """Paths in the tree that are not copied: the sandbox brings them, or no test needs them."""


class Question(Struct, frozen=True, kw_only=True):
    """Which tests, how long, and whether the first that passes is enough."""

    names: tuple[str, ...] = ()
    """All tests where empty."""
    limit_s: float | None = None
    """Seconds of one trial; by what the unchanged tree needs where `None`."""
    stop_at_first: bool = False
