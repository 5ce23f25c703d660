"""What tools answered is read as they wrote it, and nothing else is taken for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.models.mender.reading import (
    Frame,
    Page,
    TestsSeen,
    Trial,
    read_found,
    read_frames,
    read_page,
    read_tests,
    read_trials,
)

LONG = """
    def test_total():
>       assert total(1, 2) == 3

tests/test_app.py:5:
_ _ _ _ _ _ _ _ _ _ _ _

    def total(a, b):
>       return inner(a)

src/app.py:9: in total
/usr/lib/python3/site-packages/x.py:3: in other
./src/app.py:12: TypeError
"""
NATIVE = """
  File "/usr/lib/python3.11/unittest/case.py", line 57, in run
  File "src/app.py", line 9, in total
    return inner(a)
"""


def test_a_test_run_is_read() -> None:
    text = (
        "TESTS: 5 passed, 2 failed, 1 errors, 0 skipped (exit 1)\n"
        "FAILING:\na.py::test[x y]\nb.C.test\n(and 1 more)\nOUTPUT:\nFAILING:\nno.py::test"
    )
    assert read_tests(text) == TestsSeen(
        passed=5,
        bad=3,
        timed_out=False,
        failing=("a.py::test[x y]", "b.C.test"),
        output="FAILING:\nno.py::test",
    )


def test_a_run_that_timed_out_still_names_what_hung() -> None:
    text = "TESTS: timed out after 9 s\nNext: fewer.\nFAILING:\na.py::test\nOUTPUT:\n(none)"
    seen = TestsSeen(passed=0, bad=1, timed_out=True, failing=("a.py::test",), output="(none)")
    assert read_tests(text) == seen


@pytest.mark.parametrize("text", ["", "TESTS:", "run_tests: unknown", "OUTPUT:\nTESTS: 1 passed"])
def test_other_texts_are_no_test_run(text: str) -> None:
    assert read_tests(text) is None


def test_tracebacks_of_pytest_and_of_python_are_read() -> None:
    assert read_frames(LONG) == (
        Frame(path="tests/test_app.py", line=5),
        Frame(path="src/app.py", line=9),
        Frame(path="src/app.py", line=12),
    )
    assert read_frames(NATIVE) == (Frame(path="src/app.py", line=9),)


def test_a_page_is_read_line_for_line() -> None:
    text = "a b.py: lines 3-5 of 9\n     3| x = 1\n     4| \n     5|     y | z\n[more]"
    page = Page(path="a b.py", first=3, lines=("x = 1", "", "    y | z"), total=9, whole=True)
    assert read_page(text) == page
    assert page.last == 5


def test_a_page_with_a_line_that_was_cut_is_not_whole() -> None:
    page = read_page("a.py: lines 1-1 of 1\n     1| x… [2000 of 9000 characters; more]")
    assert page is not None
    assert not page.whole


def test_what_comes_before_any_file_is_no_match() -> None:
    assert read_found("     4: def total(a):\n/etc/x.py\n     4: def total(a):\n     5\n") == ()


def test_other_texts_are_no_page() -> None:
    assert read_page("a.bin: binary, 12 bytes") is None


def test_lines_out_of_their_order_end_a_page() -> None:
    page = read_page("a.py: lines 1-3 of 3\n     1| x = 1\n     3| y = 1")
    assert page is not None
    assert page.lines == ("x = 1",)


def test_matches_are_read_with_the_file_above_them() -> None:
    text = (
        "3 matches:\nsrc/app.py\n     4: def total(a):\n     5|     x\n     --\n"
        "     9: def b():\nb.py\n     1: def b():"
    )
    assert read_found(text) == (
        Frame(path="src/app.py", line=4),
        Frame(path="src/app.py", line=5),
        Frame(path="src/app.py", line=9),
        Frame(path="b.py", line=1),
    )


def test_verdicts_are_read_and_what_is_missing_was_not_tried() -> None:
    text = (
        "TRIED: 5 alternatives, 1 pass\n#1 PASS (2 passed) label\n"
        "#2 FAIL (1 passed, 3 failed: a, b)\n"
        "#3 TIMEOUT\n#4 ERROR it broke\n#5 NOT TRIED another\n#7 PASS"
    )
    assert read_trials(text, 6) == (
        Trial(verdict="PASS"),
        Trial(verdict="FAIL", passed=1, failed=3),
        Trial(verdict="TIMEOUT"),
        Trial(verdict="ERROR"),
        Trial(verdict="NOT TRIED"),
        Trial(verdict="NOT TRIED"),
    )


@given(st.text() | st.text(alphabet='TESTS: 1|#PASFIL()\n,passedfi.py"'))
def test_nothing_that_is_read_raises(text: str) -> None:
    read_tests("TESTS: " + text)
    read_page("a.py: lines 1-2 of 3\n" + text)
    assert len(read_trials(text, 3)) == 3
    for frame in (*read_frames(text), *read_found(text)):
        assert not frame.path.startswith("/")
