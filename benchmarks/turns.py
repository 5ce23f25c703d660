"""What a thousand tool turns cost the run itself: JSON text, kernel and journal, no model, no tool.

`python -m benchmarks.turns` plays the run and prints its figures as JSON; `measure` has that done
in a process of its own and judges them. Time is the processor's own for this process, so that
neither waiting for the disk nor a child process counts.
"""

import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import anyio
import msgspec
from msgspec import Struct

from benchmarks.child import peak_mb, python
from benchmarks.row import Row, at_most
from goldseam.app.clock import RunClock
from goldseam.app.tasks import AnyioTasks
from goldseam.journal.store import Writing, create_run
from goldseam.kernel.budget import Candidate, Limits
from goldseam.kernel.conversation import Message, ToolCall, ToolResult
from goldseam.kernel.events import Allowed, Event, ModelCallPrepared, MustAsk, RunStarted
from goldseam.kernel.loop import run
from goldseam.kernel.outcome import Completed, Proof
from goldseam.kernel.ports import Choice, Delta, Executed, Ports
from goldseam.kernel.request import ToolSpec
from goldseam.models.json_text.adapter import JsonTextModelAdapter
from goldseam.models.scripted import ScriptedTextProvider

TURNS = 1000
HUNDRED = 100
PLAYS = 3
SOME_LINES = "".join(f"{number:>6}| value_{number} = {number}\n" for number in range(1, 21))
LOOK = ToolSpec(
    name="look",
    description="Look at a place.",
    parameters='{"properties":{"place":{"type":"integer"}},"required":["place"],"type":"object"}',
)


class Figures(Struct, frozen=True, kw_only=True):
    """What the run showed: the time of each turn, and the most memory resident."""

    turn_s: list[float]
    peak_mb: float


class Looking:
    """One tool that shows a few lines. Fits `Toolbox`."""

    specs = (LOOK,)

    def judge(self, call: ToolCall) -> Allowed:
        return Allowed(why=f"{call.tool_name} may always run")

    async def execute(self, call: ToolCall) -> Executed:
        return Executed(result=ToolResult(call_id=call.call_id, content=SOME_LINES))


class Nobody:
    """Neither asked nor asked to prove. Fits `Approver` and `Verifier`."""

    async def ask(self, call: ToolCall, question: MustAsk) -> tuple[bool, str]:
        return False, f"nobody is here to answer {question.shown} of {call.call_id}"

    async def verify(self, answer: str) -> tuple[Proof, bool]:
        return Proof(proven=False, text=f"nobody looked at {answer}"), False


def silent(_: Delta) -> None:
    return None


def call(place: int) -> str:
    arguments = {"place": place}
    return json.dumps({
        "type": "tool_call",
        "call_id": f"call-{place}",
        "tool_name": LOOK.name,
        "arguments": arguments,
    })


async def play(folder: Path) -> list[float]:
    """Return the processor's time at the beginning of each turn."""
    marks: list[float] = []

    def mark(event: Event) -> None:
        if isinstance(event, ModelCallPrepared):
            marks.append(time.process_time())

    script = [call(place) for place in range(TURNS)]
    answer = json.dumps({"type": "final_answer", "content": "seen"})
    opening = RunStarted(
        at_s=0.0,
        run_id="turns",
        history=(Message(role="user", text="Look at a thousand places."),),
        tools=Looking.specs,
        limits=Limits(
            model_calls=TURNS * 2,
            action_steps=TURNS * 2,
            total_tokens=10**12,
            context_tokens=10**9,
        ),
    )
    with create_run(folder, "turns", writing=Writing(wall=lambda: datetime.now(UTC))) as journal:
        ports = Ports(
            choose=lambda _: Choice(candidate=Candidate(name="scripted")),
            model=JsonTextModelAdapter(ScriptedTextProvider([*script, answer])),
            toolbox=Looking(),
            approver=Nobody(),
            verifier=Nobody(),
            journal=journal,
            clock=RunClock(),
            tasks=AnyioTasks(),
            listener=silent,
            taps=(mark,),
        )
        state = await run(opening, ports)
    if state.outcome != Completed(answer="seen"):
        raise SystemExit(f"the run ended otherwise: {state.outcome}")
    return marks


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        marks = anyio.run(play, Path(folder))
    turn_s = [after - before for before, after in pairwise(marks)]
    sys.stdout.buffer.write(msgspec.json.encode(Figures(turn_s=turn_s, peak_mb=peak_mb())))


def measure() -> tuple[Row, ...]:
    """Judge each turn by the least time it took in a few plays: a busy machine only ever adds."""
    plays = [
        msgspec.json.decode(python("-m", "benchmarks.turns").stdout, type=Figures)
        for _ in range(PLAYS)
    ]
    turn_s = [min(times) for times in zip(*(each.turn_s for each in plays), strict=True)]
    growth = sum(turn_s[-HUNDRED:]) / sum(turn_s[:HUNDRED])
    mean_ms = 1000 * sum(turn_s) / len(turn_s)
    peak = max(each.peak_mb for each in plays)
    return (
        at_most(f"a turn of {len(turn_s)}, own time", mean_ms, limit=5, unit="ms"),
        at_most("last hundred turns to the first hundred", growth, limit=1.2, unit="x"),
        at_most("the whole run, resident", peak, limit=60, unit="MB"),
    )


if __name__ == "__main__":
    main()
