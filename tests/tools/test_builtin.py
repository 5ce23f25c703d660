import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from goldseam.kernel.conversation import ToolCall
from goldseam.tools.builtin import builtin_tools, run_tests, search
from goldseam.tools.context import ToolContext
from goldseam.tools.large import Kept
from goldseam.tools.policy import default_rules
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.clone import open_workspace
from goldseam.workspace.files import Files
from goldseam.workspace.process import Output, ProcessResult
from goldseam.workspace.resolver import Root
from goldseam.workspace.sandbox.plain import PlainSandbox
from goldseam.workspace.sandbox.port import Command
from goldseam.workspace.search import Found, Query
from goldseam.workspace.testing.detect import TestCommand
from goldseam.workspace.testing.report import TestReport

Make = Callable[..., ToolCall]


@pytest.fixture
def observe(toolbox: Toolbox, call: Make) -> Any:
    async def run(tool: str, **arguments: Any) -> tuple[str, str]:
        executed = await toolbox.execute(call(tool, **arguments))
        return executed.result.kind, executed.result.content

    return run


# read_file


@pytest.mark.anyio
async def test_lines_are_numbered_and_counted(observe: Any) -> None:
    # A5.4
    assert await observe("read_file", path="src/app.py") == (
        "done",
        "src/app.py: lines 1-2 of 2\n     1| def total(a, b):\n     2|     return a - b",
    )


@pytest.mark.anyio
async def test_a_range_has_both_its_ends(observe: Any, tree: Path) -> None:
    (tree / "n").write_text("".join(f"{n}\n" for n in range(1, 11)))
    assert await observe("read_file", path="n", start_line=3, end_line=4) == (
        "done",
        (
            "n: lines 3-4 of 10\n     3| 3\n     4| 4\n"
            "[lines 5-10 are not shown; go on with start_line 5]"
        ),
    )


@pytest.mark.anyio
async def test_a_long_file_is_shown_in_pieces_that_join(observe: Any, tree: Path) -> None:
    # A4.6, K7
    (tree / "n").write_text("".join(f"{n}\n" for n in range(1, 1001)))
    _, first = await observe("read_file", path="n")
    assert first.startswith("n: lines 1-400 of 1000\n     1| 1\n")
    assert first.endswith("   400| 400\n[lines 401-1000 are not shown; go on with start_line 401]")
    _, second = await observe("read_file", path="n", start_line=401, end_line=1000)
    assert second.startswith("n: lines 401-1000 of 1000\n   401| 401\n")
    assert second.endswith("  1000| 1000")


@pytest.mark.anyio
async def test_wide_lines_are_cut_and_many_of_them_end_the_piece(observe: Any, tree: Path) -> None:
    (tree / "n").write_text(f"{'x' * 3_000}\n" * 100)
    kind, shown = await observe("read_file", path="n")
    assert kind == "done"
    assert "x… [2000 of 3000 characters; start_line 21, end_line 21 shows more]" in shown
    assert shown.startswith("n: lines 1-21 of 100\n")
    assert shown.endswith("[lines 22-100 are not shown; go on with start_line 22]")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"start_line": 3},
            (
                "start_line 3 is beyond the end: src/app.py has 2 lines. "
                "Next: give a start_line from 1 to 2."
            ),
        ),
        (
            {"start_line": 2, "end_line": 1},
            (
                "end_line 1 is before start_line 2. "
                "Next: give an end_line of at least 2, or leave it out."
            ),
        ),
    ],
)
async def test_a_range_that_is_not_there_is_explained(
    observe: Any, arguments: dict[str, int], text: str
) -> None:
    # A5.4, K6
    assert await observe("read_file", path="src/app.py", **arguments) == (
        "failed",
        f"read_file: {text}",
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "f: empty, 0 lines"),
        (b"a\0b", "f: binary, 3 bytes"),
        (b"a\r\nb", "f: lines 1-2 of 2\n     1| a\n     2| b"),
        (
            b"a\xff\n",
            (
                "f: lines 1-1 of 1\n     1| a\ufffd\n"
                "[bytes that are not UTF-8 show as \ufffd; edits of other text leave them alone]"
            ),
        ),
        (
            "a\n".encode("utf-16"),
            "f: lines 1-1 of 1\n     1| a\n[the file is utf-16; edit_file cannot change it]",
        ),
    ],
)
async def test_a_file_of_any_bytes_is_told_of(
    observe: Any, tree: Path, content: bytes, text: str
) -> None:
    # agents 27
    (tree / "f").write_bytes(content)
    assert await observe("read_file", path="f") == ("done", text)


@pytest.mark.anyio
async def test_a_file_too_long_to_hold_says_so(observe: Any, tree: Path) -> None:
    (tree / "f").write_bytes(b"x\n" * (5 << 20))
    (tree / "b").write_bytes(b"\0" * (9 << 20))
    _, text = await observe("read_file", path="f", end_line=1)
    assert text.splitlines()[-1].startswith("[the file is longer than can be read at once")
    assert await observe("read_file", path="b") == ("done", "b: binary, at least 8388608 bytes")
    kind, text = await observe("edit_file", path="f", old_text="x", new_text="y")
    assert (kind, text.partition(". ")[0]) == (
        "failed",
        "edit_file: f is too large to be edited here",
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "src/ap.py",
            (
                '"src/ap.py" does not exist. Next: did you mean "src/app.py"? '
                "If not, use list_dir or search."
            ),
        ),
        ("scr", '"scr" does not exist. Next: did you mean "src"? If not, use list_dir or search.'),
        ("lib/a/x", '"lib/a/x" does not exist. Next: find its path with list_dir, glob or search.'),
    ],
)
async def test_a_path_that_is_not_there_is_answered_with_the_likest(
    observe: Any, path: str, text: str
) -> None:
    for tool in ("read_file", "list_dir"):
        assert await observe(tool, path=path) == ("failed", f"{tool}: {text}")


@pytest.mark.anyio
async def test_a_path_that_leads_out_is_refused(observe: Any) -> None:
    # A5.6
    for path in ("/etc/passwd", "../x", ".git/config"):
        kind, text = await observe("read_file", path=path)
        assert kind == "failed"
        assert "/etc" not in text.replace('"/etc/passwd"', "")


# list_dir


@pytest.mark.anyio
async def test_a_folder_is_listed_folders_first(observe: Any, tree: Path) -> None:
    (tree / "a.txt").write_text("abc")
    (tree / "link").symlink_to("a.txt")
    (tree / "new").mkdir()
    assert await observe("list_dir") == (
        "done",
        ".: 4 entries\nnew/\nsrc/\na.txt (3 bytes)\nlink (link)",
    )
    assert await observe("list_dir", path="new") == ("done", "new: empty folder")
    assert await observe("list_dir", path="src") == ("done", "src: 1 entry\napp.py (34 bytes)")


# edit_file


@pytest.mark.anyio
async def test_an_edit_shows_the_lines_as_they_are_now(observe: Any, tree: Path) -> None:
    # agents 21
    (tree / "n").write_text("".join(f"{n}\n" for n in range(1, 11)))
    assert await observe("edit_file", path="n", old_text="5\n6\n", new_text="five\n") == (
        "done",
        (
            "n: edited; lines 2-8 of 9 now read\n     2| 2\n     3| 3\n     4| 4\n"
            "     5| five\n     6| 7\n     7| 8\n     8| 9"
        ),
    )


@pytest.mark.anyio
async def test_a_large_edit_shows_both_its_ends(observe: Any, tree: Path) -> None:
    (tree / "n").write_text("x\n")
    _, text = await observe("edit_file", path="n", old_text="x", new_text="y\n" * 100)
    assert "[41 lines are not shown; read_file shows them]" in text
    assert len(text.splitlines()) == 62


@pytest.mark.anyio
async def test_an_edit_may_leave_nothing(observe: Any, tree: Path) -> None:
    (tree / "n").write_text("x")
    assert await observe("edit_file", path="n", old_text="x", new_text="") == (
        "done",
        "n: edited; the file is empty now",
    )


@pytest.mark.anyio
async def test_an_ambiguous_edit_changes_nothing_and_names_all_places(
    observe: Any, tree: Path
) -> None:
    # K4, agents 23
    (tree / "n").write_text("x\ny\nx\n")
    kind, text = await observe("edit_file", path="n", old_text="x", new_text="z")
    assert kind == "failed"
    assert text.startswith("edit_file: n is unchanged: old_text stands 2 times, at lines 1, 3")
    assert text.endswith("There now:\n     1| x\n     3| x")
    assert (tree / "n").read_text() == "x\ny\nx\n"


@pytest.mark.anyio
async def test_lines_quoted_in_a_failure_are_exact(observe: Any, tree: Path) -> None:
    (tree / "n").write_text("HOME = '/home/ada/app/x'\n")
    _, text = await observe("edit_file", path="n", old_text="HOME = ''", new_text="")
    assert text.endswith("There now:\n     1| HOME = '/home/ada/app/x'")


@pytest.mark.anyio
async def test_an_edit_that_changes_nothing_is_refused(observe: Any) -> None:
    kind, text = await observe("edit_file", path="src/app.py", old_text="a", new_text="a")
    assert kind == "failed"
    assert text.endswith("nothing would change.")


@pytest.mark.anyio
async def test_an_empty_old_text_never_reaches_the_file(toolbox: Toolbox, call: Make) -> None:
    # K4
    made = call("edit_file", path="src/app.py", old_text="", new_text="x")
    executed = await toolbox.execute(made)
    assert "`old_text` is out of range: must be a string that is not empty" in (
        executed.result.content
    )


@pytest.mark.anyio
async def test_line_ends_and_odd_bytes_outside_an_edit_stay(observe: Any, tree: Path) -> None:
    # agents 18
    (tree / "n").write_bytes(b"\xef\xbb\xbfa\r\nb\xff\r\nc")
    kind, _ = await observe("edit_file", path="n", old_text="a\n", new_text="x\ny\n")
    assert kind == "done"
    assert (tree / "n").read_bytes() == b"\xef\xbb\xbfx\r\ny\r\nb\xff\r\nc"


# write_file


@pytest.mark.anyio
async def test_a_written_file_is_said_to_be_new_or_not(observe: Any, tree: Path) -> None:
    # A5.5
    new, old = {"path": "a/b.txt", "content": "é\nb"}, {"path": "a/b.txt", "content": ""}
    assert await observe("write_file", **new) == ("done", "a/b.txt: created, 2 lines, 4 bytes")
    assert (tree / "a/b.txt").read_text() == "é\nb"
    assert await observe("write_file", **old) == ("done", "a/b.txt: replaced, 0 lines, 0 bytes")


# run_command


def ended(output: bytes, *, exit_code: int | None = 0, timed_out: bool = False) -> ProcessResult:
    return ProcessResult(
        exit_code=exit_code, timed_out=timed_out, output=Output.of(output), seconds=0.1
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("result", "observation"),
    [
        (ended(b""), ("done", "exit 0, no output")),
        (ended(b"hi\n"), ("done", "exit 0\nhi")),
        (ended(b"\x1b[31mno\x1b[0m\n", exit_code=3), ("done", "exit 3\nno")),
        (ended(b"in /home/ada/app/src/x.py\n"), ("done", "exit 0\nin src/x.py")),
        (ended(b"", exit_code=-9), ("done", "exit -9 (ended by SIGKILL), no output")),
        (
            ended(bytes(range(256)) * 4),
            (
                "done",
                (
                    "exit 0\n[binary output (application/octet-stream), 1,024 bytes, whole in "
                    "download/run_command-1.bin]"
                ),
            ),
        ),
        (
            ended(b"Password: ", exit_code=None, timed_out=True),
            (
                "failed",
                (
                    "run_command: stopped at the limit of 9 s (limit_s); what it had changed "
                    "stays. Next: raise limit_s (600 at most), give background: true, or do less "
                    "in one command. If it waited for an answer, give its flag for running "
                    "without questions. It had printed:\nPassword:"
                ),
            ),
        ),
    ],
)
async def test_a_command_tells_its_exit_and_its_output(
    observe: Any, sandbox: Any, result: ProcessResult, observation: tuple[str, str]
) -> None:
    # A4.3, agents 26, 27
    sandbox.results.append(result)
    assert await observe("run_command", command="x", limit_s=9) == observation


@pytest.mark.anyio
async def test_a_command_runs_in_the_shell_with_nobody_to_ask(observe: Any, sandbox: Any) -> None:
    await observe("run_command", command="git commit", cwd="src")
    (command,) = sandbox.commands
    assert (command.argv, command.cwd, command.limit_s, command.stdin) == (
        ("sh", "-c", "git commit"),
        "src",
        120.0,
        b"",
    )
    assert command.env["GIT_TERMINAL_PROMPT"] == "0"
    assert command.env["PAGER"] == "cat"
    assert isinstance(command, Command)


# search


@pytest.fixture
def searched(context: ToolContext, tree: Path, tmp_path: Path, call: Make) -> Any:
    (tree / "src" / "b.py").write_text("one\ntotal = 1\nthree\nfour\ntotal = 2\nsix\n")
    (tmp_path / "run").mkdir()
    workspace = open_workspace(tree, home=tmp_path / "run")

    async def run(**arguments: Any) -> tuple[str, str]:
        with Root(workspace.root) as root:
            toolbox = Toolbox(
                builtin_tools(),
                context=replace(context, workspace=workspace, files=Files(root)),
                policy=Policy(defaults=default_rules(walls_hold=True), somebody_is_there=False),
            )
            executed = await toolbox.execute(call("search", **arguments))
            return executed.result.kind, executed.result.content

    return run


@pytest.mark.anyio
async def test_matches_are_shown_by_file_with_what_is_around(searched: Any) -> None:
    assert await searched(pattern="total", context=1) == (
        "done",
        (
            "3 matches:\n"
            "src/app.py\n     1: def total(a, b):\n     2|     return a - b\n"
            "src/b.py\n     1| one\n     2: total = 1\n     3| three\n"
            "     4| four\n     5: total = 2\n     6| six"
        ),
    )
    assert await searched(pattern="total", glob="b.py") == (
        "done",
        "2 matches:\nsrc/b.py\n     2: total = 1\n     --\n     5: total = 2",
    )


@pytest.mark.anyio
async def test_a_search_says_what_is_left_out_and_what_is_wrong(searched: Any) -> None:
    _, text = await searched(pattern="total", max_matches=1)
    assert text.splitlines()[0] == (
        "the first 1 matches, there are more. "
        "Next: give a narrower pattern, a path or a glob, or a larger max_matches."
    )
    _, text = await searched(pattern="zzz", glob="*.py")
    assert text == (
        "no match in 2 files that fit *.py "
        "(files that git ignores are searched only if `path` names them)"
    )
    kind, text = await searched(pattern="(")
    assert kind == "failed"
    assert text.startswith("search: the pattern is no regular expression")


def test_a_search_whose_time_is_up_says_what_to_do() -> None:
    found = Found(matches=3, out_of_time=True)
    assert search.summary(found, Query(pattern="x", limit_s=5.0)) == (
        "3 matches in the first 5 s, then the time was up. "
        "Next: give a simpler pattern, a path or a glob."
    )


# run_tests


def report(**facts: Any) -> TestReport:
    usual: dict[str, Any] = {"exit_code": 1, "timed_out": False, "output": "", "seconds": 1.0}
    return TestReport(**{"outcomes": {}, **usual, **facts})


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (
            report(
                outcomes={"t.py::a": "passed", "t.py::b": "failed", "t.py::c": "error"},
                output="in /home/ada/app/t.py\n",
            ),
            (
                "TESTS: 1 passed, 1 failed, 1 errors, 0 skipped (exit 1)\n"
                "FAILING:\nt.py::b\nt.py::c\nOUTPUT:\nin t.py"
            ),
        ),
        (
            report(
                outcomes={"a": "passed", "b": "skipped"}, exit_code=0, foreign=("app (/x/app)",)
            ),
            (
                "TESTS: 1 passed, 0 failed, 0 errors, 1 skipped (exit 0)\n"
                "NOTE: tested from another place than this workspace: app\nOUTPUT:\n(none)"
            ),
        ),
        (
            report(outcomes={"a": "failed"}, exit_code=None, timed_out=True, output="..."),
            (
                "TESTS: timed out after 9 s\n"
                "NOTE: give fewer `names`, or a larger limit_s (600 at most)\n"
                "FAILING:\na\nOUTPUT:\n..."
            ),
        ),
        (
            report(exit_code=4, missing=("t.py::z",)),
            (
                "TESTS: 0 passed, 0 failed, 0 errors, 0 skipped (exit 4)\n"
                "NOTE: pytest did not understand its command line or settings\n"
                "NOT FOUND (run without `names` to see which there are):\nt.py::z\nOUTPUT:\n(none)"
            ),
        ),
    ],
)
def test_a_report_of_the_tests_begins_with_its_counts(report: TestReport, text: str) -> None:
    told = run_tests.told(report, limit_s=9, roots=("/home/ada/app",))
    assert (told.text, told.full_text) == (text, text)


def test_a_long_report_is_cut_and_kept_whole() -> None:
    outcomes = {f"t{number}": "failed" for number in range(300)}
    told = run_tests.told(report(outcomes=outcomes, output="x\n" * 50_000), limit_s=9, roots=())
    assert "t199\n(and 100 more)\nOUTPUT:\n" in told.text
    assert "To see more: give `names` of fewer tests" in told.text
    assert (told.full_text or "").count("x\n") == 49_999


def test_a_long_report_is_whole_in_a_file_whose_lines_are_counted() -> None:
    # A4.4
    output = "".join(f"{number}\n" for number in range(9_000))

    def keep(content: bytes) -> Kept:
        assert content.decode() == output
        return Kept(path="download/run_tests-1.txt", size=len(content), lines=9_000)

    told = run_tests.told(report(output=output), limit_s=9, roots=(), keep_whole=keep)
    head, _, shown = told.text.partition("OUTPUT:\n")
    assert head.startswith("TESTS: 0 passed")
    lines = shown.split("\n")
    assert lines[0] == "[text/plain, 43,890 bytes, 9,000 lines: whole in download/run_tests-1.txt]"
    (at,) = [index for index, line in enumerate(lines) if line.startswith("[… ")]
    assert f"with start_line {int(lines[at - 1]) + 2}, or search" in lines[at]
    assert lines[-1] == "8999"


@pytest.mark.anyio
async def test_without_a_known_test_command_the_way_on_is_told(observe: Any) -> None:
    assert await observe("run_tests") == (
        "failed",
        (
            "run_tests: how this repository's tests are run is not known. "
            "Next: look for its instructions and run them with run_command."
        ),
    )


@pytest.mark.anyio
async def test_tests_and_commands_run_for_real(
    context: ToolContext, tree: Path, call: Make
) -> None:
    (tree / "test_app.py").write_text(
        "import unittest\nfrom src.app import total\n\n\nclass T(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total(2, 1), 3)\n"
    )
    argv = (sys.executable, "-m", "unittest")
    real = replace(
        context,
        sandbox=PlainSandbox(tree=tree, environment={"PATH": "/usr/bin:/bin"}, why="a test"),
        tests=TestCommand(argv=argv, framework="unittest", python=sys.executable),
    )
    toolbox = Toolbox(
        builtin_tools(), context=real, policy=Policy(defaults=(), somebody_is_there=False)
    )
    tested = await toolbox.execute(call("run_tests"))
    assert tested.result.content.startswith(
        "TESTS: 0 passed, 1 failed, 0 errors, 0 skipped (exit 1)\n"
        "FAILING:\ntest_app.T.test_total\nOUTPUT:\n"
    )
    assert str(tree) not in tested.result.content
    ran = await toolbox.execute(call("run_command", command="pwd; echo $PAGER; exit 3", cwd="src"))
    assert (ran.result.kind, ran.result.content) == ("done", "exit 3\nsrc\ncat")
