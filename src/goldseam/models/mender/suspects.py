"""Rank the functions and lines that may be to blame. Pure; sees files, tests, tracebacks and words.

What speaks against a function: a failing test reaches it and passing ones do not, a traceback goes
through it, the issue names it, it is few calls away from the test.
"""

import math
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from goldseam.models.mender.program import (
    MODULE_CODE,
    FileSeen,
    FunctionSeen,
    functions_in,
    is_test_file,
    mentioned,
    reached_from,
)
from goldseam.models.mender.reading import Frame

DEPTH = 6
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]{2,}")


class Evidence(Struct, frozen=True, kw_only=True):
    """All that is known of the failure."""

    issue: str
    failing: tuple[str, ...]
    frames: tuple[Frame, ...]


class Suspect(Struct, frozen=True, kw_only=True):
    """A function with its blame (0 to 1 and a little above), and lines that are blamed more."""

    function: FunctionSeen
    blame: float
    hot_lines: Mapping[int, float]


def rank(files: Sequence[FileSeen], evidence: Evidence) -> tuple[Suspect, ...]:
    """Return the functions of the program, the most suspicious first."""
    program = [file for file in files if not is_test_file(file.path)]
    tests = [file for file in files if is_test_file(file.path)]
    functions = [function for file in program for function in file.functions]
    by_name = _by_name(program, functions)
    reach = _reach(tests, by_name, evidence)
    words = {word.lower() for word in _WORD.findall(evidence.issue)}
    suspects = [_suspect(function, reach, evidence, words=words) for function in functions]
    return tuple(
        sorted(suspects, key=lambda it: (-it.blame, it.function.path, it.function.first_line))
    )


class _Reach(Struct, frozen=True, kw_only=True):
    """How tests come to functions: at what distance, and by how many failing and passing ones."""

    distance: dict[FunctionSeen, int]
    failing: dict[FunctionSeen, int]
    passing: dict[FunctionSeen, int]
    tests: int


def _by_name(
    program: Sequence[FileSeen], functions: Sequence[FunctionSeen]
) -> dict[str, tuple[FunctionSeen, ...]]:
    """Return functions by the names that may call them; a class calls its special methods."""
    found: dict[str, list[FunctionSeen]] = {}
    for function in functions:
        if function.name != MODULE_CODE:
            found.setdefault(function.name, []).append(function)
    for file in program:
        at = {function.first_line: function for function in file.functions if function.name}
        for node, owner in functions_in(file.tree):
            if owner and node.name.startswith("__") and node.lineno in at:
                found.setdefault(owner, []).append(at[node.lineno])
    return {name: tuple(those) for name, those in found.items()}


def _reach(
    tests: Sequence[FileSeen], by_name: Mapping[str, tuple[FunctionSeen, ...]], evidence: Evidence
) -> _Reach:
    reach = _Reach(distance={}, failing={}, passing={}, tests=0)
    count = 0
    failing = {_bare(name) for name in evidence.failing}
    for file in tests:
        around = {node.name: mentioned(node) for node, _ in functions_in(file.tree)}
        for name, names in around.items():
            if not name.startswith("test"):
                continue
            start = names.union(*(around[helper] for helper in names if helper in around))
            is_failing = name in failing
            count += is_failing
            for function, distance in reached_from(start, by_name, depth=DEPTH).items():
                tally = reach.failing if is_failing else reach.passing
                tally[function] = tally.get(function, 0) + 1
                if is_failing:
                    nearest = min(distance, reach.distance.get(function, distance))
                    reach.distance[function] = nearest
    return _Reach(
        distance=reach.distance, failing=reach.failing, passing=reach.passing, tests=count
    )


def _suspect(
    function: FunctionSeen, reach: _Reach, evidence: Evidence, *, words: set[str]
) -> Suspect:
    failing, passing = reach.failing.get(function, 0), reach.passing.get(function, 0)
    blame = 0.15
    if failing:
        spectrum = failing / math.sqrt(max(reach.tests, 1) * (failing + passing))
        blame = (0.4 + 0.4 * spectrum) * 0.93 ** reach.distance[function]
    lines = [
        frame.line
        for frame in evidence.frames
        if frame.path == function.path
        and function.first_line <= frame.line <= function.last_line
        and function.name != MODULE_CODE
    ]
    if lines:
        blame = max(blame, 0.55) * 1.15
    if function.name.lower() in words:
        blame *= 1.15
    elif words & set(function.name.lower().split("_")):
        blame *= 1.05
    if function.name == MODULE_CODE:
        blame = 0.3 if any(word in words for word in map(str.lower, function.calls)) else 0.2
    hot = dict.fromkeys(lines, 1.25)
    if lines:  # the last one named is where it broke
        hot[lines[-1]] = 1.4
    return Suspect(function=function, blame=blame, hot_lines=hot)


def _bare(name: str) -> str:
    """Return the function's name of a test's name: no path, no class, no parameters."""
    bare = name.partition("[")[0]
    return bare.rpartition("::")[2].rpartition(".")[2]
