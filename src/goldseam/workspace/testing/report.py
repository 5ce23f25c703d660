"""What a run of the tests showed. Pure: reads the reporters' lines, never a file or a process."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

TestOutcome: TypeAlias = Literal["passed", "failed", "error", "skipped"]

# The worst word on a test counts. One that was started and no more said of ended the process, or
# was still running when the time was up.
_BADNESS = {"started": 0, "skipped": 1, "passed": 2, "failed": 3, "error": 4}

_USUAL_EXITS = (0, 1)
_PYTEST_EXITS = {
    2: "the run was interrupted, by errors at collection or by the tests themselves",
    3: "pytest ended with an internal error",
    4: "pytest did not understand its command line or settings",
    5: "no tests were found",
}


class TestReport(Struct, frozen=True, kw_only=True):
    """The outcomes by name, and how the run itself ended."""

    __test__ = False

    outcomes: dict[str, TestOutcome]
    exit_code: int | None
    timed_out: bool
    output: str
    """What the runner printed, as text; its middle may be left out, and then it says so."""
    seconds: float
    foreign: tuple[str, ...] = ()
    """Top-level modules of the tree that were imported from another place, with that place."""
    missing: tuple[str, ...] = ()
    """Names that were asked for and of which nothing was run."""

    @property
    def failing(self) -> tuple[str, ...]:
        """Tests that failed, or could not run."""
        return self.named("failed", "error")

    @property
    def passing(self) -> tuple[str, ...]:
        """Tests that passed."""
        return self.named("passed")

    @property
    def all_passed(self) -> bool:
        """Whether something ran, nothing failed, and the runner says so too."""
        return self.exit_code == 0 and bool(self.passing) and not self.failing

    @property
    def trouble(self) -> str | None:
        """What went wrong with the run as a whole, where tests that fail do not explain its end."""
        if self.timed_out:
            return f"the time of {self.seconds:.0f} s was up"
        if self.exit_code is None or (self.exit_code in _USUAL_EXITS and self.outcomes):
            unexplained = self.exit_code == 1 and not self.failing
            return "the run failed, though no test did" if unexplained else None
        if self.exit_code < 0:
            return f"the test process was ended by signal {-self.exit_code}"
        unknown = f"the run ended with exit code {self.exit_code}"
        told = f"{unknown} and no outcome was told" if not self.outcomes else unknown
        return _PYTEST_EXITS.get(self.exit_code, told)

    def named(self, *outcomes: TestOutcome) -> tuple[str, ...]:
        """Return the names with one of `outcomes`, in the order that they ran in."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome in outcomes)


class _Line(Struct, frozen=True):
    name: str = ""
    outcome: Literal["started", "passed", "failed", "error", "skipped", ""] = ""
    foreign: str = ""
    file: str = ""


def read_lines(content: bytes) -> tuple[dict[str, TestOutcome], tuple[str, ...]]:
    """Return outcomes by name and foreign modules from what the reporters wrote.

    Half a line at the end of a file whose writer was killed, and what is no line of ours, is passed
    over.
    """
    worst: dict[str, str] = {}
    foreign: dict[str, None] = {}
    for line in _lines(content):
        if line.foreign:
            foreign[f"{line.foreign} ({line.file})"] = None
        elif line.outcome:
            known = worst.get(line.name, line.outcome)
            worst[line.name] = max(known, line.outcome, key=_BADNESS.__getitem__)
    return {name: _outcome(word) for name, word in worst.items()}, tuple(foreign)


def missing_names(names: Iterable[str], outcomes: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` of which `outcomes` has neither the test nor anything within it."""
    there = set(outcomes)
    for outcome in tuple(there):
        there |= {outcome[:at] for at in range(1, len(outcome)) if outcome[at] in "[:./"}
    return tuple(name for name in names if name not in there)


def _lines(content: bytes) -> Iterable[_Line]:
    decoder = msgspec.json.Decoder(_Line)
    for line in content.split(b"\n"):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError:
            continue


def _outcome(word: str) -> TestOutcome:
    match word:
        case "passed" | "failed" | "skipped":
            return word
        case _:
            return "error"
