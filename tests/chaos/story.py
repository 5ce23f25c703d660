"""The story that every run of the chaos plays: two turns of parallel calls, and the answer.

Each text in it is there once, so that what is told twice, or in a wrong run, is seen.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace as changed

from models.endpoints import Endpoint
from models.shapes import TOOLS
from simulators.saying import Call, Say

from goldseam.kernel.conversation import (
    HistoryItem,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.events import Allowed, Verdict
from goldseam.kernel.ports import Executed
from goldseam.kernel.request import ToolSpec

TURNS = ("first", "middle", "last")
ANSWER = "Both are mended."
TASK = "Mend what is broken."
RESULT = ": nothing"
"""How the result of each call ends."""
TOKENS = 120
"""What each simulator counts for a reply, whatever its protocol."""


def story(mark: str = "") -> tuple[Say, ...]:
    """Return what a model says in turn; `mark` stands in each of its texts."""
    return (
        Say(
            thought=f"{mark}two files first",
            text=f"{mark}I read both.",
            calls=(_reads(f"{mark}notes.txt", "call_1"), _reads(f"{mark}todo.txt", "call_2")),
        ),
        Say(
            thought=f"{mark}then the folder",
            text=f"{mark}I look around.",
            calls=(
                Call(call_id="call_3", name="list_dir", arguments=_path(f"{mark}src")),
                _reads(f"{mark}more.txt", "call_4"),
            ),
        ),
        Say(text=mark + ANSWER),
    )


def _reads(path: str, call_id: str) -> Call:
    return Call(call_id=call_id, arguments=_path(path))


def _path(path: str) -> str:
    return json.dumps({"path": path}, separators=(",", ":"))


def as_told_by(endpoint: Endpoint, say: Say) -> Say:
    """Return `say` as the model of `endpoint` says it: in JSON text, or without ids."""
    if endpoint.speaks_json_text:
        return Say(text=_json_text(say))
    if not endpoint.gives_ids:
        return changed(say, calls=tuple(changed(call, call_id="") for call in say.calls))
    return say


def _json_text(say: Say) -> str:
    if not say.calls:
        return json.dumps({"type": "final_answer", "content": say.text})
    return json.dumps([
        {
            "type": "tool_call",
            "call_id": call.call_id,
            "tool_name": call.name,
            "arguments": json.loads(call.arguments),
        }
        for call in say.calls
    ])


class CountingTools:
    """Fits `Toolbox`: every call may run, and each run is counted by the path it is about."""

    def __init__(self) -> None:
        self.ran = Counter[str]()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return TOOLS

    def judge(self, call: ToolCall) -> Verdict:
        del call
        return Allowed(why="it only counts")

    async def execute(self, call: ToolCall) -> Executed:
        path = path_of(call)
        self.ran[path] += 1
        return Executed(result=ToolResult(call_id=call.call_id, content=f"in {path}{RESULT}"))


def path_of(call: ToolCall) -> str:
    return str(json.loads(getattr(call.arguments, "text", "{}"))["path"])


def breaches(history: Iterable[HistoryItem], ran: Counter[str], mark: str = "") -> list[str]:
    """Return what is wrong with a history that should tell the whole story once.

    Thoughts and words beside calls are their model's own matter: not every dialect has them.
    """
    items = list(history)
    paths = [json.loads(call.arguments)["path"] for say in story(mark) for call in say.calls]
    calls = [item for item in items if isinstance(item, ToolCall)]
    results = [item for item in items if isinstance(item, ToolResult)]
    texts = [item.text for item in items if isinstance(item, Message | Reasoning) and item.text]
    known = {text for say in story(mark) for text in (say.text, say.thought)}
    checks = {
        "calls": [path_of(call) for call in calls] == paths,
        "results": [result.content for result in results]
        == [f"in {path}{RESULT}" for path in paths],
        "pairs": [call.call_id for call in calls] == [result.call_id for result in results],
        "tools that ran": ran == Counter(paths),
        "texts, each once": len(texts) == len({*texts}) and {*texts[2:]} <= known,
        "the answer": texts[-1:] == [mark + ANSWER],
    }
    return [f"{what}: {items}" for what, holds in checks.items() if not holds]
