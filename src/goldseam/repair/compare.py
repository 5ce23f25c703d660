"""Compare test outcomes before and after a patch, and say what they prove. Pure.

A patch is proved when at least one test that failed without it passes with it, none that passed
without it fails or is gone, and no test that says so changes its mind when it is run again.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

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


def without_flaky(
    found: Comparison,
    *,
    before: TestReport,
    before_again: TestReport,
    after: TestReport,
    after_again: TestReport,
) -> Comparison:
    """Return `found` less the tests that gave another answer when asked again on the same tree."""
    flaky = {
        name
        for name in found.in_doubt
        if _differs(name, before.outcomes, before_again.outcomes)
        or _differs(name, after.outcomes, after_again.outcomes)
    }
    return Comparison(
        fixed=_sorted(set(found.fixed) - flaky),
        broken=_sorted(set(found.broken) - flaky),
        still_failing=found.still_failing,
        flaky=_sorted(flaky),
        finished=found.finished,
    )


def _differs(name: str, once: Mapping[str, TestOutcome], again: Mapping[str, TestOutcome]) -> bool:
    return (once.get(name) == "passed") != (again.get(name) == "passed")


def _fails(outcome: TestOutcome | None) -> bool:
    return outcome in {"failed", "error"}


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
