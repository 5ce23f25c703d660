"""A small workspace with its doors: real files, a sandbox that plays back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from goldseam.kernel.conversation import ToolCall, arguments_of
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.context import ToolContext
from goldseam.tools.policy import default_rules
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.clone import Workspace
from goldseam.workspace.files import Files
from goldseam.workspace.process import Output, ProcessResult
from goldseam.workspace.resolver import Root
from goldseam.workspace.sandbox.port import Command, Level


class PlayedSandbox:
    """Fits `Sandbox`: keeps the commands, answers each with the next of `results`."""

    def __init__(self, *, level: Level = "A") -> None:
        self.level: Level = level
        self.banner = "sandbox: played"
        self.commands: list[Command] = []
        self.results: list[ProcessResult] = []

    async def run(self, command: Command) -> ProcessResult:
        self.commands.append(command)
        result = self.results.pop(0) if self.results else ended(b"")
        if command.listener is not None:
            command.listener(result.output.head)
        return result

    def path_inside(self) -> str:
        return "/home/ada/app"

    def on(self, _tree: Path) -> Self:
        return self


def ended(output: bytes, *, exit_code: int | None = 0, timed_out: bool = False) -> ProcessResult:
    return ProcessResult(
        exit_code=exit_code, timed_out=timed_out, output=Output.of(output), seconds=0.1
    )


@pytest.fixture
def sandbox() -> PlayedSandbox:
    return PlayedSandbox()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "home" / "tree"
    (made / "src").mkdir(parents=True)
    (made / "src" / "app.py").write_bytes(b"def total(a, b):\n    return a - b\n")
    return made


@pytest.fixture
def context(tree: Path, sandbox: PlayedSandbox) -> Iterator[ToolContext]:
    with Root(tree) as root:
        yield ToolContext(
            workspace=Workspace(root=tree, origin=Path("/home/ada/app"), base="", kind="folder"),
            files=Files(root, origin=Path("/home/ada/app")),
            sandbox=sandbox,
            sandbox_for=sandbox.on,
            tests=None,
            environ={"PATH": "/nowhere"},
        )


@pytest.fixture
def toolbox(context: ToolContext) -> Toolbox:
    policy = Policy(defaults=default_rules(walls_hold=True), somebody_is_there=False)
    return Toolbox(builtin_tools(), context=context, policy=policy)


@pytest.fixture
def call() -> Callable[..., ToolCall]:
    def make(tool: str, **arguments: Any) -> ToolCall:
        return ToolCall(call_id="1", tool_name=tool, arguments=arguments_of(arguments))

    return make
