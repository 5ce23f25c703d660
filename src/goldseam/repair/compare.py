"""Compare test outcomes before and after a patch, and say what they prove. Pure.

A patch is proved when at least one test that failed without it passes with it, none that passed
without it fails or is gone, and no test that says so changes its mind when it is run again.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from goldseam.workspace.testing.report import TestOutcome, TestReport


class Comparison(Struct, frozen=True, kw_only=True):
    """What changed, by test name, each list sorted."""

    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """Passed before and fails now or is gone; or is new and fails."""
    still_failing: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    """Gave two answers on one tree: they count neither way."""
    finished: bool = True
    """Whether the run with the patch came to its end."""
    rests_on_new_tests: bool = False
    """Whether all that is fixed are tests that the patch itself brings or changes."""

    @property
    def proven(self) -> bool:
        """Whether the patch is proved."""
        return self.finished and bool(self.fixed) and not self.broken

    @property
    def in_doubt(self) -> tuple[str, ...]:
        """The tests whose two answers should be asked for again."""
        return tuple(sorted({*self.fixed, *self.broken}))


def compare(before: TestReport, after: TestReport) -> Comparison:
    """Compare two runs of all the tests."""
    old = before.outcomes
    now = {name: _outcome_now(name, after.outcomes) for name in old} | after.outcomes
    failing = [name for name in old if _fails(old[name])]
    new_and_failing = [name for name in now if name not in old and _fails(now[name])]
    passed_once = [name for name in old if old[name] == "passed"]
    return Comparison(
        fixed=_sorted(name for name in failing if now[name] == "passed"),
        broken=_sorted(
            [name for name in passed_once if now[name] is None or _fails(now[name])]
            + new_and_failing
        ),
        still_failing=_sorted(name for name in failing if _fails(now[name])),
        finished=bool(after.outcomes) and after.trouble in {None, before.trouble},
    )


def _outcome_now(name: str, outcomes: Mapping[str, TestOutcome]) -> TestOutcome | None:
    """A file that could not be loaded before is one name then and many now: all must pass."""
    if name in outcomes:
        return outcomes[name]
    parts = [
        outcome
        for other, outcome in outcomes.items()
        if other.startswith((f"{name}::", f"{name}."))
    ]
    if not parts:
        return None
    return "passed" if all(outcome == "passed" for outcome in parts) else "failed"


class Answers(Struct, frozen=True, kw_only=True):
    """What a run and a second run of the tests in doubt said, on fresh trees of one kind."""

    once: TestReport
    again: TestReport

    def is_steady(self, name: str) -> bool:
        """Whether `name` passed both times, or neither."""
        first, second = (report.outcomes.get(name) for report in (self.once, self.again))
        return (first == "passed") == (second == "passed")


def without_flaky(found: Comparison, *, before: Answers, after: Answers) -> Comparison:
    """Return `found` less the tests that changed their mind on one tree.

    A test that was steady and is not any more has been broken: that is no flakiness of its own.
    """
    fixed = [name for name in found.fixed if before.is_steady(name) and after.is_steady(name)]
    broken = [name for name in found.broken if before.is_steady(name)]
    return replace(
        found,
        fixed=_sorted(fixed),
        broken=_sorted(broken),
        flaky=_sorted(set(found.in_doubt) - {*fixed, *broken}),
    )


def joined(
    baseline: TestReport, *, as_they_were: Comparison, as_patched: Comparison, after: TestReport
) -> Comparison:
    """Join what the old tests say of the new source with what the patch's own tests say.

    A test that failed at the base is only fixed where it passes as it was; what the patch brings or
    sharpens must fail without the mending and pass with it; and nothing that passed may be gone.
    """
    brought = [name for name in as_patched.fixed if not _fails(baseline.outcomes.get(name))]
    gone = [name for name in baseline.passing if _outcome_now(name, after.outcomes) is None]
    return Comparison(
        fixed=_sorted([*as_they_were.fixed, *brought]),
        broken=_sorted([*as_they_were.broken, *as_patched.broken, *gone]),
        still_failing=_sorted(
            name for name in baseline.failing if _fails(_outcome_now(name, after.outcomes))
        ),
        flaky=_sorted([*as_they_were.flaky, *as_patched.flaky]),
        finished=as_they_were.finished and as_patched.finished,
        rests_on_new_tests=not as_they_were.fixed,
    )


def _fails(outcome: TestOutcome | None) -> bool:
    return outcome in {"failed", "error"}


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
