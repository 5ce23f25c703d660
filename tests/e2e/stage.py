"""A stage for scenes: the loop, the tools and the record, a host of the catalog over real sockets.

All of it is the program's own but the tests that would prove an answer, and the person.
"""

import json
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import anyio
from kernel.fakes import ListJournal
from msgspec import Struct
from simulators.door import KEY, MODEL
from simulators.gateway import Gateway
from simulators.saying import Call, Say

from goldseam.app.clock import RunClock
from goldseam.app.models import choose_model
from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.budget import Candidate, Limits
from goldseam.kernel.conversation import HistoryItem, Message, Reasoning, ToolCall, ToolResult
from goldseam.kernel.events import RunStarted, Verdict
from goldseam.kernel.json_text import Json
from goldseam.kernel.loop import run
from goldseam.kernel.outcome import Proof
from goldseam.kernel.ports import Choice, Executed, Ports, Toolbox
from goldseam.kernel.request import ToolSpec
from goldseam.kernel.state import RunState
from goldseam.models.catalog import read_catalog
from goldseam.tools.approval import HeadlessApprover
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.context import ToolContext
from goldseam.tools.policy import default_rules
from goldseam.tools.toolbox import Policy
from goldseam.tools.toolbox import Toolbox as Tools
from goldseam.workspace.clone import Workspace
from goldseam.workspace.files import Files
from goldseam.workspace.process import ProcessResult
from goldseam.workspace.resolver import Root
from goldseam.workspace.sandbox.port import Command, Level

Named: TypeAlias = Literal["openai", "openai-responses", "anthropic", "gemini", "json:openai"]
"""A host as a person names it."""

HOSTS: tuple[Named, ...] = ("openai", "openai-responses", "anthropic", "gemini")
EVERYONE: tuple[Named, ...] = (*HOSTS, "json:openai")
FILES = {"notes.txt": "buy milk", "todo.txt": "sleep"}
TASK = "What do notes.txt and todo.txt say?"
_ROOTS = {"openai": "v1", "openai-responses": "v1", "anthropic": "v1", "gemini": "v1beta"}
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), KEY)


class NoSandbox:
    """Fits `Sandbox` where no command is run."""

    level: Level = "A"
    banner = "no sandbox"

    async def run(self, command: Command) -> ProcessResult:
        raise AssertionError(command)

    def path_inside(self) -> str:
        return "/tree"

    def on(self, _tree: Path) -> Self:
        return self


class InOrder:
    """A toolbox whose calls end in the order of `paths`, whatever order they began in."""

    def __init__(self, tools: Toolbox, paths: Sequence[str]) -> None:
        self._tools = tools
        self._paths = paths
        self._ended = {path: anyio.Event() for path in paths}
        self.order: list[Json] = []

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    def judge(self, call: ToolCall) -> Verdict:
        return self._tools.judge(call)

    async def execute(self, call: ToolCall) -> Executed:
        path = arguments_in(call)["path"]
        for earlier in self._paths[: self._paths.index(str(path))]:
            await self._ended[earlier].wait()
        executed = await self._tools.execute(call)
        self.order.append(path)
        self._ended[str(path)].set()
        return executed


class NothingToProve:
    async def verify(self, answer: str) -> tuple[Proof, bool]:
        raise AssertionError(answer)


class Played(Struct, frozen=True, kw_only=True):
    """What a scene left behind."""

    state: RunState
    tools_ended: tuple[Json, ...]

    @property
    def items(self) -> tuple[HistoryItem, ...]:
        """What happened once the task was given."""
        return tuple(self.state.conversation)[2:]


async def play(
    named: Named, gateway: Gateway, folder: Path, *, streamed: bool, order: Sequence[str] = ()
) -> Played:
    """Run the task against `gateway`, which speaks as the host; tools end in `order`."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with Root(folder) as root:
        tools = Tools(builtin_tools(), context=_context(folder, root), policy=_POLICY)
        toolbox = InOrder(tools, order or tuple(FILES))
        opening = RunStarted(
            at_s=0.0,
            run_id="a-scene",
            history=(
                Message(role="system", text="You read files."),
                Message(role="user", text=TASK),
            ),
            tools=toolbox.specs,
            limits=Limits(invalid_retries=0),
        )
        catalog = read_catalog(rows(gateway.url, streamed=streamed))
        chosen = choose_model(f"{named}:{MODEL}", folder=folder, environ=KEYS, catalog=catalog)
        async with aclosing(chosen) as model:
            ports = Ports(
                model=model.adapter,
                choose=lambda _: Choice(candidate=Candidate(name=model.name)),
                toolbox=toolbox,
                approver=HeadlessApprover(),
                verifier=NothingToProve(),
                journal=ListJournal(anyio.sleep),
                clock=RunClock(),
                tasks=AnyioTasks(),
                listener=lambda _: None,
            )
            state = await run(opening, ports)
    return Played(state=state, tools_ended=tuple(toolbox.order))


_POLICY = Policy(defaults=default_rules(walls_hold=True), somebody_is_there=False)


def _context(folder: Path, root: Root) -> ToolContext:
    origin = Path("/tree")
    return ToolContext(
        workspace=Workspace(root=folder, origin=origin, base="", kind="folder"),
        files=Files(root, origin=origin),
        sandbox=NoSandbox(),
        sandbox_for=lambda _: NoSandbox(),
        tests=None,
        environ={},
    )


def rows(url: str, *, streamed: bool) -> dict[str, dict[str, Any]]:
    """Return the catalog's own rows, at the gateway's address and with its model."""
    own = read_catalog()
    model = {MODEL: {"facts": {"thinking": True}}}
    return {
        name: {
            "url": f"{url}/{root}",
            "facts": {**own[name].facts, "streams": streamed},
            "models": model,
        }
        for name, root in _ROOTS.items()
    }


def reading(named: Named, *calls: tuple[str, str], thought: str | None = None) -> Say:
    """Return a reply that reads each path of `calls`, which are ids and paths."""
    if named == "json:openai":
        actions = [
            {
                "type": "tool_call",
                "call_id": call_id,
                "tool_name": "read_file",
                "arguments": {"path": path},
            }
            for call_id, path in calls
        ]
        return Say(text=json.dumps(actions if len(actions) > 1 else actions[0]))
    asked = (Call(call_id=call_id, arguments=json.dumps({"path": path})) for call_id, path in calls)
    return Say(calls=tuple(asked), thought=thought)


def answering(named: Named, text: str) -> Say:
    """Return a reply that is the answer."""
    if named == "json:openai":
        return Say(text=json.dumps({"type": "final_answer", "content": text}))
    return Say(text=text)


def arguments_in(call: ToolCall) -> dict[str, Json]:
    arguments: dict[str, Json] = json.loads(getattr(call.arguments, "text", "null"))
    return arguments


def kinds_of(items: Sequence[HistoryItem]) -> list[str]:
    """Return what each item is, thoughts left out."""
    names = {ToolCall: "call", ToolResult: "result"}
    return [
        item.role if isinstance(item, Message) else names[type(item)]
        for item in items
        if not isinstance(item, Reasoning)
    ]
