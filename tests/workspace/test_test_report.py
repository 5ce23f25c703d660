"""What the reporters' lines say, and what a report makes of them."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldseam.workspace.testing.report import (
    TestOutcome,
    TestReport,
    missing_names,
    read_lines,
)

WORDS = st.sampled_from(["started", "passed", "failed", "error", "skipped"])
GOOD = TestReport(outcomes={"a": "passed"}, exit_code=0, timed_out=False, output="", seconds=1.0)


def written(pairs: Sequence[tuple[str, str]]) -> bytes:
    lines = (json.dumps({"name": name, "outcome": outcome}) for name, outcome in pairs)
    return "".join(line + "\n" for line in lines).encode()


@given(st.lists(st.tuples(st.sampled_from("abc"), WORDS)), st.binary(max_size=20))
def test_the_worst_word_on_a_test_counts_whatever_else_is_in_the_file(
    pairs: list[tuple[str, str]], torn: bytes
) -> None:
    outcomes, foreign = read_lines(b"\xff\n[]\nnull\n" + written(pairs) + torn.replace(b"\n", b""))
    order: list[TestOutcome] = ["skipped", "passed", "failed", "error"]
    for name in {name for name, _ in pairs}:
        words = {word for other, word in pairs if other == name}
        worst = max((word for word in order if word in words), key=order.index, default="error")
        assert outcomes[name] == worst
    assert (set(outcomes), foreign) == ({name for name, _ in pairs}, ())


def test_foreign_modules_are_told_once_with_their_place() -> None:
    line = json.dumps({"foreign": "pkg", "file": "/site/pkg/__init__.py"}).encode() + b"\n"
    assert read_lines(line + line) == ({}, ("pkg (/site/pkg/__init__.py)",))


def test_a_name_is_missing_where_neither_it_nor_anything_within_it_ran() -> None:
    outcomes = ["t/test_a.py::C::test[1]", "pkg.test_b.Case.test"]
    there = ("t", "t/test_a.py", "t/test_a.py::C::test", "pkg.test_b", outcomes[1])
    absent = ("t/test_a.py::C::tes", "t/test_a.py::D", "pkg.test", "x")
    assert missing_names((*there, *absent), outcomes) == absent


@pytest.mark.parametrize(
    ("report", "trouble"),
    [
        (GOOD, None),
        (replace(GOOD, outcomes={"a": "failed"}, exit_code=1), None),
        (replace(GOOD, exit_code=None, timed_out=True, seconds=9.6), "the time of 10 s was up"),
        (replace(GOOD, exit_code=1), "the run failed, though no test did"),
        (replace(GOOD, exit_code=-11), "the test process was ended by signal 11"),
        (replace(GOOD, outcomes={}, exit_code=3), "pytest ended with an internal error"),
        (replace(GOOD, outcomes={}, exit_code=5), "no tests were found"),
        (
            replace(GOOD, outcomes={}, exit_code=1),
            "the run ended with exit code 1 and no outcome was told",
        ),
        (replace(GOOD, exit_code=9), "the run ended with exit code 9"),
    ],
)
def test_trouble_is_what_failing_tests_do_not_explain(
    report: TestReport, trouble: str | None
) -> None:
    assert report.trouble == trouble
    assert report.all_passed is (report == GOOD)


def test_outcomes_are_listed_as_they_ran() -> None:
    report = replace(
        GOOD, outcomes={"c": "error", "b": "passed", "a": "failed", "d": "skipped"}, exit_code=1
    )
    assert (report.failing, report.passing, report.named("skipped")) == (("c", "a"), ("b",), ("d",))
