"""The report says what a person must know before using a patch."""

from msgspec.structs import replace

from goldseam.kernel.request import TokenUsage
from goldseam.repair.report import report_of
from goldseam.repair.result import (
    CandidateSection,
    ExitCode,
    FileSection,
    OutcomeCounts,
    Result,
    SwitchSection,
    TestsSection,
    UsageSection,
    plain_result,
)

COUNTS = OutcomeCounts(passed=3, failed=1, errors=0, skipped=2, timed_out=False, seconds=1.25)
RESULT = Result(
    verdict="verified",
    exit_code=0,
    message="The patch is verified: the tests prove it.",
    run_id="r1",
    issue="Total is wrong",
    model="m",
    sandbox="s",
    answer="I fixed\nit.",
    files=(
        FileSection(path="a.py", status="modified", added=1, removed=1, is_existing_test=False),
        FileSection(
            path="tests/t.py", status="modified", added=2, removed=0, is_existing_test=True
        ),
    ),
    tests=TestsSection(command="pytest", before=COUNTS, after=COUNTS, fixed=("t::x",)),
    usage=UsageSection(
        model_calls=2,
        action_steps=3,
        tokens=TokenUsage(input=5, output=6),
        held_tokens=7,
        seconds=1.0,
        tool_seconds=0.5,
        failed_tool_calls=1,
    ),
    warnings=("look here",),
)


def test_the_report_names_tests_files_and_changed_tests() -> None:
    text = report_of(RESULT, "-a\n+b\n```\n")
    assert text.startswith("# verified: Total is wrong\n")
    for part in (
        "| without the patch | 3 | 1 | 0 | 2 | 1.2 s |",
        "Fail without the patch, pass with it:\n\n- `t::x`",
        "The patch changes existing tests: `tests/t.py`",
        "11 tokens (and 7 held as unknown)",
        "> I fixed\n> it.",
        "- look here",
        "````diff\n-a\n+b\n```\n````",
    ):
        assert part in text


def test_the_report_says_what_each_model_took_and_why_it_changed() -> None:  # issue 4
    one = CandidateSection(
        name="a:m",
        calls=3,
        failures=1,
        useless=0,
        fresh_tokens=60,
        cached_tokens=40,
        output_tokens=7,
        cache_share=0.4,
        unknown_calls=1,
        dollars=0.0125,
        waited_seconds=2.0,
    )
    other = replace(one, name="b:m", cache_share=None, dollars=None)
    switch = SwitchSection(before="a:m", after="b:m", why="a:m is busy", losses=("x: lost",))
    text = report_of(replace(RESULT, models=(one, other), switches=(switch,)), "")
    assert "| a:m | 3 | 1 | 0 | 100 | 40% | 7 | 0.0125 | 2.0 s |" in text
    assert "| b:m | 3 | 1 | 0 | 100 |  | 7 | unknown | 2.0 s |" in text
    assert "From a:m to b:m: a:m is busy\n- x: lost" in text


def test_a_result_that_never_began_is_a_report_all_the_same() -> None:
    text = report_of(plain_result(ExitCode.USAGE, "the issue is empty"), "")
    assert text.startswith("# usage\n\nthe issue is empty\n")


def test_unknown_tokens_are_called_unknown_and_long_lists_are_cut_aloud() -> None:
    names = tuple(f"t{number}" for number in range(60))
    tests = TestsSection(command="c", before=COUNTS, broken=names)
    usage = UsageSection(
        model_calls=1,
        action_steps=0,
        tokens=TokenUsage(),
        held_tokens=0,
        seconds=0.0,
        tool_seconds=0.0,
        failed_tool_calls=0,
    )
    text = report_of(
        Result(verdict="budget", exit_code=5, message="m", tests=tests, usage=usage), ""
    )
    assert "unknown tokens" in text
    assert "- … and 10 more" in text


def test_nothing_a_stranger_wrote_acts_on_a_terminal() -> None:  # security 46
    odd = "\x1b[2J\u202e\r"
    file = FileSection(path=f"a\n{odd}", status="added", added=1, removed=0, is_existing_test=True)
    tests = TestsSection(command="pytest", before=COUNTS, fixed=(f"t::[{odd}\n]",))
    result = replace(RESULT, issue=f"t{odd}", answer=odd, files=(file,), tests=tests)
    text = report_of(result, f"+\ta{odd}b\n")
    assert text.replace("\n", "").replace("\t", "").isprintable()
    assert "+\ta\\u{1b}[2J\\u{202e}\\u{d}b\n" in text
    assert "`t::[\\u{1b}[2J\\u{202e}\\u{d}\\u{a}]`" in text
