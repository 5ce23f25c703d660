import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace
from workspace.repositories import make_repository

from goldseam.kernel.conversation import ToolCall
from goldseam.tools.builtin.repo_map import LIMIT_S, repo_map_of
from goldseam.tools.context import ToolContext
from goldseam.tools.map.repository import Question, RepositoryMap
from goldseam.tools.policy import Rule
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.clone import open_workspace

ALLOWED = Policy(defaults=(Rule(decision="allow", tool="repo_map"),), somebody_is_there=False)


class WaitingMap(RepositoryMap):
    """A map that is never done by itself."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.stopped = threading.Event()

    def draw(self, question: Question, stop: threading.Event) -> str:
        self.asked.append(question)
        assert stop.wait(60)
        self.stopped.set()
        return ""


@pytest.fixture
def observe(context: ToolContext, call: Callable[..., ToolCall], tmp_path: Path) -> Any:
    files = {
        "shop/order.py": "class Order:\n    def total(self): ...\n",
        "shop/tax.py": "from shop.order import Order\n\ndef tax_of(order: Order): ...\n",
    }
    repository = make_repository(tmp_path / "repository", {**files})
    workspace = open_workspace(repository, home=tmp_path / "opened")
    map_ = RepositoryMap(workspace)
    here = replace(context, workspace=workspace)
    toolbox = Toolbox((repo_map_of(lambda _: map_),), context=here, policy=ALLOWED)

    async def run(**arguments: Any) -> tuple[str, str]:
        executed = await toolbox.execute(call("repo_map", **arguments))
        return executed.result.kind, executed.result.content

    return run


@pytest.mark.anyio
async def test_the_repository_is_mapped(observe: Any) -> None:
    assert await observe() == (
        "done",
        (
            "map of .: 2 files, 2 with definitions; the most used elsewhere first\n"
            "shop/order.py\n"
            "     1| class Order\n"
            "     2|   def total(self)\n"
            "shop/tax.py\n"
            "     3| def tax_of(order: Order)"
        ),
    )


@pytest.mark.anyio
async def test_what_it_is_about_and_its_folder_can_be_said(observe: Any) -> None:
    _, text = await observe(about=["tax_of"], path="shop", max_tokens=200)
    assert text.splitlines()[1] == "shop/tax.py"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "arguments",
    [{"path": "nowhere"}, {"path": "../.."}, {"max_tokens": 1}, {"about": [""]}, {"about": "x"}],
)
async def test_what_cannot_be_mapped_is_told(observe: Any, arguments: dict[str, Any]) -> None:
    kind, text = await observe(**arguments)
    assert kind == "failed"
    assert text.startswith("repo_map")


@pytest.mark.anyio
async def test_a_cancelled_call_lets_go_of_the_map(
    context: ToolContext, call: Callable[..., ToolCall]
) -> None:
    waiting = WaitingMap()
    toolbox = Toolbox((repo_map_of(lambda _: waiting),), context=context, policy=ALLOWED)
    with anyio.move_on_after(0.05) as scope:
        await toolbox.execute(call("repo_map"))
    assert scope.cancelled_caught
    assert waiting.asked == [Question(limit_s=LIMIT_S)]
    assert waiting.stopped.wait(60)


@pytest.mark.anyio
async def test_the_loop_turns_while_a_map_is_drawn(
    context: ToolContext, call: Callable[..., ToolCall]
) -> None:
    waiting = WaitingMap()
    toolbox = Toolbox((repo_map_of(lambda _: waiting),), context=context, policy=ALLOWED)
    turns = 0
    async with anyio.create_task_group() as group:
        group.start_soon(toolbox.execute, call("repo_map"))
        while not waiting.asked or turns < 20:
            turns += 1
            await anyio.sleep(0.001)
        group.cancel_scope.cancel()
    assert waiting.stopped.wait(60)
