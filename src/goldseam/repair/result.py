"""The result of a repair: one value, written as `result.json` and as the last line of `--json`.

Documented in docs/result.md. Fields are added, never changed; a change of meaning raises `version`.
"""

from enum import IntEnum
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.request import TokenUsage

RESULT_VERSION = 1

Verdict: TypeAlias = Literal[
    "verified",
    "defect",
    "usage",
    "unverified",
    "no_patch",
    "budget",
    "model_failed",
    "stopped",
    "refused",
]


class ExitCode(IntEnum):
    """What the process says with its exit code, one for each verdict."""

    VERIFIED = 0
    DEFECT = 1
    USAGE = 2
    UNVERIFIED = 3
    NO_PATCH = 4
    BUDGET = 5
    MODEL_FAILED = 6
    STOPPED = 7
    REFUSED = 8

    @property
    def verdict(self) -> Verdict:
        """The verdict in words."""
        return _WORDS[self]


_WORDS: dict[ExitCode, Verdict] = {
    ExitCode.VERIFIED: "verified",
    ExitCode.DEFECT: "defect",
    ExitCode.USAGE: "usage",
    ExitCode.UNVERIFIED: "unverified",
    ExitCode.NO_PATCH: "no_patch",
    ExitCode.BUDGET: "budget",
    ExitCode.MODEL_FAILED: "model_failed",
    ExitCode.STOPPED: "stopped",
    ExitCode.REFUSED: "refused",
}


class OutcomeCounts(Struct, frozen=True, kw_only=True):
    """One run of the tests in numbers."""

    passed: int
    failed: int
    errors: int
    skipped: int
    timed_out: bool
    seconds: float


class TestsSection(Struct, frozen=True, kw_only=True):
    """What the tests said without and with the patch."""

    command: str
    before: OutcomeCounts
    after: OutcomeCounts | None = None
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    still_failing: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()


class FileSection(Struct, frozen=True, kw_only=True):
    """One file that the patch changes."""

    path: str
    status: str
    added: int | None
    """Lines; null where the file is no text."""
    removed: int | None
    is_existing_test: bool


class UsageSection(Struct, frozen=True, kw_only=True):
    """What the run used."""

    model_calls: int
    action_steps: int
    tokens: TokenUsage
    held_tokens: int
    """Reserved by calls of which nobody knows the cost."""
    seconds: float
    tool_seconds: float
    failed_tool_calls: int


class CandidateSection(Struct, frozen=True, kw_only=True):
    """What one model of the run took."""

    name: str
    calls: int
    failures: int
    useless: int
    """Replies that broke the contract."""
    fresh_tokens: int
    cached_tokens: int
    output_tokens: int
    cache_share: float | None
    """The share of all input that came from the cache; null where there was no input."""
    unknown_calls: int
    """Calls of which nobody knows what they took."""
    dollars: float | None
    """What was reported, in money; null where no price is known."""
    waited_seconds: float


class SwitchSection(Struct, frozen=True, kw_only=True):
    """A change from one model to another, and what the change lost."""

    before: str
    after: str
    why: str
    losses: tuple[str, ...] = ()


class Result(Struct, frozen=True, kw_only=True, tag="result"):
    """How a repair ended. On every path there is one; what could not be had is empty or null."""

    version: int = RESULT_VERSION
    verdict: Verdict
    exit_code: int
    message: str
    """One line: what happened, and what to do next where something is to be done."""
    run_id: str | None = None
    issue: str = ""
    """The issue's title."""
    model: str = ""
    sandbox: str = ""
    answer: str = ""
    """The model's own account, or the summary of a run that a limit stopped."""
    patch: str | None = None
    """Path of `patch.diff`, where there is a patch."""
    report: str | None = None
    record: str | None = None
    """Path of the run's folder, which `goldseam show` reads."""
    files: tuple[FileSection, ...] = ()
    tests: TestsSection | None = None
    usage: UsageSection | None = None
    models: tuple[CandidateSection, ...] = ()
    """What each model took, in the order in which they were first asked."""
    switches: tuple[SwitchSection, ...] = ()
    warnings: tuple[str, ...] = ()


def plain_result(code: ExitCode, message: str) -> Result:
    """Return the result of a repair that never began."""
    return Result(verdict=code.verdict, exit_code=int(code), message=message)
