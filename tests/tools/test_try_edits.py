"""`try_edits`: each alternative is judged by itself, and only what can be applied is tried."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goldseam.kernel.conversation import ToolCall
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.builtin.try_edits import Edit, Proposal, TryEdits, told, try_edits
from goldseam.tools.context import ToolContext
from goldseam.tools.tool import ToolFailure
from goldseam.tools.toolbox import Toolbox
from goldseam.workspace.clone import Workspace
from goldseam.workspace.files import Files
from goldseam.workspace.resolver import Root
from goldseam.workspace.sandbox.plain import PlainSandbox
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.detect import TestCommand
from goldseam.workspace.testing.trials import AlternativeVerdict

PROGRAM = "def total(a, b):\r\n    c = a - b\r\n    c = a - b\r\n    return c\r\n"
TESTS = """
import unittest
from app import total

class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(1, 2), 3)

    def test_nothing(self):
        self.assertEqual(total(0, 0), 0)
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ToolContext]:
    tree = tmp_path / "home" / "tree"
    tree.mkdir(parents=True)
    (tree / "app.py").write_bytes(PROGRAM.encode())
    (tree / "test_app.py").write_text(TESTS)

    def sandbox_for(place: Path) -> Sandbox:
        return PlainSandbox(tree=place, environment={"PATH": os.environ["PATH"]}, why="")

    with Root(tree) as root:
        yield ToolContext(
            workspace=Workspace(root=tree, origin=tree, base="", kind="folder"),
            files=Files(root),
            sandbox=sandbox_for(tree),
            sandbox_for=sandbox_for,
            tests=TestCommand(
                argv=(sys.executable, "-m", "unittest", "discover"),
                framework="unittest",
                python=sys.executable,
            ),
            environ={},
        )


def proposal(
    *edits: tuple[str, str, int | None], label: str = "", path: str = "app.py"
) -> Proposal:
    made = (Edit(path=path, old_text=old, new_text=new, line=line) for old, new, line in edits)
    return Proposal(edits=tuple(made), label=label)


@pytest.mark.anyio
async def test_every_alternative_gets_its_line_and_the_file_stays(project: ToolContext) -> None:
    alternatives = (
        proposal(("c = a - b", "c = a + b", 3), label="add\nat last"),
        proposal(("c = a - b", "c = a + b", 2)),
        proposal(("c = a - b", "c = a + b", None), label="which one?"),
        proposal(("c = a - b", "c = a + b", 3), ("return c\n", "return c + 1\n", None)),
        proposal(("no such text", "", None)),
        proposal(("a", "b", None), path="nowhere.py"),
        proposal(("a", "b", None), path="../outside.py"),
    )
    output = await try_edits(TryEdits(alternatives=alternatives), project)
    first, *lines = output.text.splitlines()
    assert first == "TRIED: 7 alternatives, 1 pass"
    assert lines[:2] == [
        "#1 PASS (2 passed) add at last",
        "#2 FAIL (1 passed, 1 failed: test_app.TotalTest.test_total)",
    ]
    assert lines[2].startswith("#3 ERROR old_text stands 2 times, at lines 2, 3;")  # agents 23
    assert lines[2].endswith("which one?")
    assert lines[3].startswith("#4 FAIL (0 passed, 2 failed: ")
    assert [line[:10] for line in lines[4:]] == ["#5 ERROR o", '#6 ERROR "', '#7 ERROR "']
    assert (project.workspace.root / "app.py").read_bytes() == PROGRAM.encode()  # agents 18


@pytest.mark.anyio
async def test_edits_keep_the_line_ends_of_the_file(project: ToolContext) -> None:
    (project.workspace.root / "test_app.py").write_text(
        TESTS + "\n    def test_bytes(self):\n        self.assertEqual("
        "open('app.py', 'rb').read().count(b'\\r\\n'), 4)\n"
    )
    both = proposal(("c = a - b\n    c = a - b\n", "c = a\n    c += b\n", None))
    output = await try_edits(TryEdits(alternatives=(both,)), project)
    assert output.text == "TRIED: 1 alternatives, 1 pass\n#1 PASS (3 passed)"


@pytest.mark.anyio
async def test_without_a_test_command_it_says_what_to_do(context: ToolContext) -> None:
    with pytest.raises(ToolFailure, match="Next: edit with edit_file"):
        await try_edits(TryEdits(alternatives=(proposal(("a", "b", None)),)), context)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "arguments",
    [
        {"alternatives": []},
        {"alternatives": [{"edits": []}]},
        {"alternatives": [{"edits": [{"path": "a", "old_text": "", "new_text": ""}]}]},
        {"alternatives": [{"edits": [{"path": "a", "old_text": "x"}]}]},
        {"alternatives": [{"edits": [{"path": "a", "old_text": "x", "new_text": "y"}]}] * 201},
    ],
)
async def test_arguments_that_say_nothing_are_guided(
    toolbox: Toolbox, call: Callable[..., ToolCall], arguments: dict[str, object]
) -> None:
    executed = await toolbox.execute(call("try_edits", **arguments))
    assert executed.result.kind == "failed"
    assert executed.result.content.startswith("try_edits did not run")


def test_every_verdict_has_its_words() -> None:
    names = tuple(f"test_{n}" for n in range(5))
    verdicts = [
        AlternativeVerdict(verdict="PASS", passed=4),
        AlternativeVerdict(verdict="FAIL", passed=1, failures=9, failed=names),
        AlternativeVerdict(verdict="TIMEOUT", passed=1),
        AlternativeVerdict(verdict="ERROR", reason="killed by signal 11"),
        AlternativeVerdict(verdict="NOT TRIED", reason="another passed before"),
    ]
    proposals = [proposal(("a", "b", None), label=f"l{n}") for n in range(5)]
    assert told(proposals, verdicts, "slow").splitlines() == [
        "TRIED: 5 alternatives, 1 pass",
        "#1 PASS (4 passed) l0",
        "#2 FAIL (1 passed, 9 failed: test_0, test_1, test_2 and 6 more) l1",
        "#3 TIMEOUT l2",
        "#4 ERROR killed by signal 11 l3",
        "#5 NOT TRIED another passed before l4",
        "NOTE: slow",
    ]


def test_every_model_has_it() -> None:
    assert "try_edits" in [tool.name for tool in builtin_tools()]
