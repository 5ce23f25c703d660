"""Read what tools answered. Pure and forgiving: what has another form reads as nothing found."""

import re
from typing import Literal, TypeAlias

from msgspec import Struct

Verdict: TypeAlias = Literal["PASS", "FAIL", "TIMEOUT", "ERROR", "NOT TRIED"]

_COUNTS = re.compile(r"TESTS: (\d+) passed, (\d+) failed, (\d+) errors?, (\d+) skipped")
_HEADER = re.compile(r"(.+): lines (\d+)-(\d+) of (\d+)")
_LINE = re.compile(r" *(\d+)\| ?(.*)")
_PLACE_LINE = re.compile(r"(?P<path>[^\s:\"'<>|]+\.py):(?P<line>\d+)\b")
_NATIVE_FRAME = re.compile(r'File "(?P<path>[^"\n]+\.py)", line (?P<line>\d+)')
_VERDICT = re.compile(r"#(\d+) (PASS|FAIL|TIMEOUT|ERROR|NOT TRIED)\b(.*)")
_FAILED = re.compile(r"\((\d+) passed, (\d+) failed")
_FOUND_LINE = re.compile(r" *(\d+)[:|] ")
_CUT = "… ["
_NUMBER_LIMIT = 9
"""Digits of a number that is believed."""


class TestsSeen(Struct, frozen=True, kw_only=True):
    """What a test run said."""

    passed: int
    bad: int
    """How many failed or broke off."""
    timed_out: bool
    failing: tuple[str, ...]
    output: str


class Frame(Struct, frozen=True, kw_only=True):
    """A place that a traceback or a search names."""

    path: str
    line: int


class Page(Struct, frozen=True, kw_only=True):
    """Lines of a file, the first numbered `first`, of `total`; `whole` unless a line was cut."""

    path: str
    first: int
    lines: tuple[str, ...]
    total: int
    whole: bool

    @property
    def last(self) -> int:
        """The number of the last line shown."""
        return self.first + len(self.lines) - 1


class Trial(Struct, frozen=True, kw_only=True):
    """What became of one alternative."""

    verdict: Verdict
    passed: int = 0
    failed: int = 0


def read_tests(text: str) -> TestsSeen | None:
    """Return what `run_tests` said, `None` where it is not such an answer."""
    head, _, output = text.partition("\nOUTPUT:\n")
    if not head.startswith("TESTS:"):
        return None
    _, _, names = head.partition("\nFAILING:\n")
    failing = [line.strip() for line in names.splitlines() if not line.startswith("(and ")]
    counts = _COUNTS.match(head)
    passed, bad = 0, len(failing)
    if counts:
        passed, bad = _number(counts[1]), _number(counts[2]) + _number(counts[3])
    timed_out = head.startswith("TESTS: timed out")
    if not counts and not timed_out:
        return None
    return TestsSeen(
        passed=passed,
        bad=bad,
        timed_out=timed_out,
        failing=tuple(filter(None, failing)),
        output=output,
    )


def read_frames(output: str) -> tuple[Frame, ...]:
    """Return the places in Python files that tracebacks name, in their order, each once."""
    found: dict[tuple[str, int], None] = {}
    for line in output.splitlines():
        match = _NATIVE_FRAME.search(line) or _PLACE_LINE.match(line)
        if match and _is_own(match["path"]):
            found[match["path"].removeprefix("./"), _number(match["line"])] = None
    return tuple(Frame(path=path, line=line) for path, line in found)


def read_found(text: str) -> tuple[Frame, ...]:
    """Return the places that `search` names: a path, then its lines below it."""
    found: list[Frame] = []
    path = ""
    for line in text.splitlines():
        below = _FOUND_LINE.match(line)
        if below and path:
            found.append(Frame(path=path, line=_number(below[1])))
        elif line.endswith(".py") and not line.startswith(" "):
            path = line
    return tuple(frame for frame in found if _is_own(frame.path))


def read_page(text: str) -> Page | None:
    """Return the lines that `read_file` showed, `None` where it showed none."""
    first_line, _, rest = text.partition("\n")
    header = _HEADER.fullmatch(first_line)
    if not header:
        return None
    first, total = _number(header[2]), _number(header[4])
    lines: list[str] = []
    for line in rest.split("\n"):
        match = _LINE.fullmatch(line)
        if not match or _number(match[1]) != first + len(lines):
            break
        lines.append(match[2])
    whole = not any(_CUT in line for line in lines)
    return Page(path=header[1], first=first, lines=tuple(lines), total=total, whole=whole)


def read_trials(text: str, count: int) -> tuple[Trial, ...]:
    """Return the verdicts on `count` alternatives; one that is not named was not tried."""
    found: dict[int, Trial] = {}
    for line in text.splitlines():
        match = _VERDICT.match(line)
        if match:
            counts = _FAILED.search(match[3])
            passed, failed = (_number(counts[1]), _number(counts[2])) if counts else (0, 0)
            verdict = _verdict(match[2])
            found[_number(match[1])] = Trial(verdict=verdict, passed=passed, failed=failed)
    not_tried = Trial(verdict="NOT TRIED")
    return tuple(found.get(number, not_tried) for number in range(1, count + 1))


def _verdict(word: str) -> Verdict:
    match word:
        case "PASS" | "FAIL" | "TIMEOUT" | "ERROR":
            return word
        case _:
            return "NOT TRIED"


def _is_own(path: str) -> bool:
    return not path.startswith(("/", "<")) and "site-packages" not in path and ".." not in path


def _number(digits: str) -> int:
    return int(digits[:_NUMBER_LIMIT])
