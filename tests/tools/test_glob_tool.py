"""Files are found by their paths, and ignored ones only where they are named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from goldseam.kernel.conversation import ToolCall
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.context import ToolContext
from goldseam.tools.policy import default_rules
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.clone import open_workspace
from goldseam.workspace.files import Files
from goldseam.workspace.resolver import Root


@pytest.fixture
def find(context: ToolContext, tree: Path, tmp_path: Path, call: Callable[..., ToolCall]) -> Any:
    (tree / "src" / "deep").mkdir()
    for path in ("src/b.py", "src/deep/c.py", "src/deep/c.txt", "src/gone.py", "x.log"):
        (tree / path).touch()
    (tree / ".gitignore").write_text("*.log\n")
    workspace = open_workspace(tree, home=tmp_path / "run")
    (workspace.root / "x.log").touch()
    (workspace.root / "src/gone.py").unlink()
    (workspace.root / "link.py").symlink_to("src/b.py")

    async def run(**arguments: Any) -> tuple[str, str]:
        with Root(workspace.root) as root:
            toolbox = Toolbox(
                builtin_tools(),
                context=replace(context, workspace=workspace, files=Files(root)),
                policy=Policy(defaults=default_rules(walls_hold=True), somebody_is_there=False),
            )
            executed = await toolbox.execute(call("glob", **arguments))
            return executed.result.kind, executed.result.content

    return run


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"pattern": "*.py"}, "3 files:\nsrc/app.py\nsrc/b.py\nsrc/deep/c.py"),
        ({"pattern": "src/*.py"}, "2 files:\nsrc/app.py\nsrc/b.py"),
        ({"pattern": "**/c.*", "path": "src"}, "2 files:\nsrc/deep/c.py\nsrc/deep/c.txt"),
        ({"pattern": "b.{py,js}"}, "1 file:\nsrc/b.py"),
        (
            {"pattern": "*.py", "max_files": 1},
            (
                "3 files, the first 1 are shown; give a narrower pattern or a larger max_files:\n"
                "src/app.py"
            ),
        ),
        (
            {"pattern": "*.log"},
            "no file fits (files that git ignores are found only if `path` names them)",
        ),
        ({"pattern": "*.log", "path": "x.log"}, "1 file:\nx.log"),
    ],
)
async def test_files_are_found_by_their_paths(
    find: Any, arguments: dict[str, Any], text: str
) -> None:
    assert await find(**arguments) == ("done", text)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"pattern": "{a"}, "has a brace without its partner"),
        ({"pattern": "*a" * 20}, "has more than 8 stars"),
        ({"pattern": "*", "path": "nowhere"}, '"nowhere" does not exist'),
        ({"pattern": "*", "path": "link.py"}, "name what it stands for"),
        ({"pattern": "*", "path": "../.."}, "leads out of the workspace"),
    ],
)
async def test_what_cannot_be_looked_for_is_told(
    find: Any, arguments: dict[str, Any], why: str
) -> None:
    kind, text = await find(**arguments)
    assert (kind, why in text) == ("failed", True), text
