"""What two runs of the tests prove."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.repair.compare import Answers, Comparison, compare, joined, without_flaky
from goldseam.workspace.testing.report import TestOutcome, TestReport

OUTCOMES = st.sampled_from(["passed", "failed", "error", "skipped"])
NAMES = st.sampled_from([f"tests/test_{file}.py::test_{name}" for file in "ab" for name in "xyz"])
REPORTS = st.dictionaries(NAMES, OUTCOMES)


def report(outcomes: dict[str, TestOutcome], *, timed_out: bool = False) -> TestReport:
    return TestReport(outcomes=outcomes, exit_code=0, timed_out=timed_out, output="", seconds=0.1)


def test_a_test_that_failed_and_passes_is_fixed_and_proves_the_patch() -> None:
    found = compare(report({"t": "failed", "u": "passed"}), report({"t": "passed", "u": "passed"}))
    assert found == Comparison(fixed=("t",))
    assert found.proven


@pytest.mark.parametrize("now", [{"u": "failed"}, {"u": "error"}, {}])
def test_a_test_that_passed_and_fails_or_is_gone_is_broken(now: dict[str, TestOutcome]) -> None:
    found = compare(report({"t": "failed", "u": "passed"}), report({"t": "passed", **now}))
    assert found == Comparison(fixed=("t",), broken=("u",))
    assert not found.proven


def test_a_new_test_that_fails_is_broken_and_one_that_passes_proves_nothing() -> None:
    before = report({"t": "passed"})
    assert compare(before, report({"t": "passed", "new": "failed"})).broken == ("new",)
    assert not compare(before, report({"t": "passed", "new": "passed"})).proven


def test_a_file_that_could_not_be_loaded_is_fixed_when_all_its_tests_pass() -> None:
    before = report({"tests/test_a.py": "error"})
    passing = report({"tests/test_a.py::x": "passed", "tests/test_a.py::y": "passed"})
    mixed = report({"tests/test_a.py::x": "passed", "tests/test_a.py::y": "failed"})
    assert compare(before, passing).fixed == ("tests/test_a.py",)
    assert compare(before, mixed).still_failing == ("tests/test_a.py",)


def test_a_failing_test_that_is_deleted_is_not_fixed() -> None:
    assert not compare(report({"t": "failed"}), report({"u": "passed"})).proven


def test_a_failing_test_that_is_skipped_now_is_not_fixed() -> None:
    assert not compare(report({"t": "failed"}), report({"t": "skipped"})).proven


@pytest.mark.parametrize("after", [report({}), report({"t": "passed"}, timed_out=True)])
def test_a_run_that_did_not_finish_proves_nothing(after: TestReport) -> None:
    found = compare(report({"t": "failed"}), after)
    assert not found.finished
    assert not found.proven


def test_a_test_that_was_unsteady_before_counts_neither_way() -> None:
    before, after = report({"t": "failed", "u": "passed"}), report({"t": "passed", "u": "failed"})
    found = without_flaky(
        compare(before, after),
        before=Answers(once=before, again=report({"t": "passed", "u": "failed"})),
        after=Answers(once=after, again=after),
    )
    assert found == Comparison(flaky=("t", "u"))


def test_a_steady_test_that_a_patch_makes_unsteady_is_broken() -> None:
    before, after = report({"t": "failed", "u": "passed"}), report({"t": "passed", "u": "failed"})
    found = without_flaky(
        compare(before, after),
        before=Answers(once=before, again=before),
        after=Answers(once=after, again=report({"t": "passed", "u": "passed"})),
    )
    assert found == Comparison(fixed=("t",), broken=("u",))


def test_a_test_that_passes_with_the_patch_only_sometimes_is_not_fixed() -> None:
    before, after = report({"t": "failed"}), report({"t": "passed"})
    found = without_flaky(
        compare(before, after),
        before=Answers(once=before, again=before),
        after=Answers(once=after, again=report({"t": "failed"})),
    )
    assert found == Comparison(flaky=("t",))


BASE = report({"t": "failed", "u": "passed"})


def test_a_test_that_only_passes_as_the_patch_rewrites_it_is_not_fixed() -> None:
    after = report({"t": "passed", "u": "passed"})
    found = joined(
        BASE,
        as_they_were=compare(BASE, BASE),
        as_patched=compare(BASE, after),
        after=after,
    )
    assert not found.proven


def test_what_the_old_tests_say_is_broken_is_broken_though_the_new_ones_pass() -> None:
    after = report({"t": "passed", "u": "passed"})
    old = report({"t": "passed", "u": "failed"})
    found = joined(
        BASE, as_they_were=compare(BASE, old), as_patched=compare(after, after), after=after
    )
    assert found.broken == ("u",)


def test_a_test_that_passed_and_is_deleted_is_broken() -> None:
    after = report({"t": "passed"})
    found = joined(
        BASE,
        as_they_were=compare(BASE, report({"t": "passed", "u": "passed"})),
        as_patched=compare(report({"t": "failed"}), after),
        after=after,
    )
    assert found.broken == ("u",)


def test_a_new_test_that_fails_without_the_mending_is_a_proof_and_said_to_be_new() -> None:
    base = report({"u": "passed"})
    after = report({"u": "passed", "new": "passed"})
    found = joined(
        base,
        as_they_were=compare(base, base),
        as_patched=compare(report({"u": "passed", "new": "failed"}), after),
        after=after,
    )
    assert found == Comparison(fixed=("new",), rests_on_new_tests=True)


@given(before=REPORTS, after=REPORTS)
def test_no_test_is_counted_twice_and_the_same_run_proves_nothing(
    before: dict[str, TestOutcome], after: dict[str, TestOutcome]
) -> None:
    found = compare(report(before), report(after))
    listed = [*found.fixed, *found.broken, *found.still_failing]
    assert len(listed) == len(set(listed))
    assert not compare(report(after), report(after)).proven
    assert set(found.fixed) <= {name for name, outcome in after.items() if outcome == "passed"}


@given(before=REPORTS, after=REPORTS)
def test_steady_answers_change_nothing(
    before: dict[str, TestOutcome], after: dict[str, TestOutcome]
) -> None:
    once = compare(report(before), report(after))
    again = without_flaky(
        once,
        before=Answers(once=report(before), again=report(before)),
        after=Answers(once=report(after), again=report(after)),
    )
    assert again == once
