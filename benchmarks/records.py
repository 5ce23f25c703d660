"""What the record of a run costs: an append, opening it again, and a list of a thousand.

Each figure is a ratio to plain work on the same bytes, in this one run.
"""

import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio

from benchmarks.row import Row, at_most
from goldseam.journal.runs import runs_home
from goldseam.journal.store import EVENTS, FileJournal, Writing, create_run, read_run
from goldseam.journal.summaries import RESULT, list_runs
from goldseam.kernel.budget import Limits, Reservation
from goldseam.kernel.conversation import Message, ToolCall, ToolResult, arguments_of
from goldseam.kernel.events import (
    Allowed,
    CallJudged,
    Event,
    ModelCallPrepared,
    ModelReplied,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from goldseam.kernel.outcome import Completed
from goldseam.kernel.request import ModelResponse, TokenUsage, ToolSpec
from goldseam.kernel.state import begin, evolve

TURNS = 10_000
A_TENTH = 1000
ROUNDS = 8
ROUND_TURNS = 200
RUNS = 1000
KEY = "sk-proj-" + "a1B2" * 10
SOME_LINES = "".join(f"{number:>6}| value_{number} = {number}\n" for number in range(1, 21))
WORDS = "I read the file first, then change the one line that is wrong. "
USAGE = TokenUsage(input=12_000, output=150, cache_read=9_000)
OPENING = RunStarted(
    at_s=0.0,
    run_id="records",
    history=(Message(role="system", text=WORDS * 80), Message(role="user", text=WORDS * 20)),
    tools=tuple(
        ToolSpec(name=f"tool_{number}", description=WORDS * 8, parameters='{"type":"object"}')
        for number in range(10)
    ),
    limits=Limits(),
)


def turn(number: int) -> list[Event]:
    """Return the events of one turn with one tool call."""
    at_s, call_id = float(number), f"call-{number}"
    arguments = arguments_of({"path": f"src/package/module_{number}.py"})
    call = ToolCall(call_id=call_id, tool_name="read_file", arguments=arguments)
    words = Message(role="assistant", text=WORDS * 4)
    reply = ModelResponse(items=(words, call), stop="tool_calls", usage=USAGE, model="a-model")
    result = ToolResult(call_id=call_id, content=SOME_LINES)
    reservation = Reservation(tokens=20_000)
    return [
        ModelCallPrepared(at_s=at_s, call=number, reservation=reservation, max_output_tokens=8192),
        ModelReplied(at_s=at_s, call=number, response=reply),
        CallJudged(at_s=at_s, call_id=call_id, phase="initial", verdict=Allowed(why="it reads")),
        ToolStarted(at_s=at_s, call_id=call_id),
        ToolFinished(at_s=at_s, result=result, seconds=0.01),
    ]


def new_record(runs: Path, name: str) -> FileJournal:
    return create_run(runs, name, writing=Writing(wall=lambda: datetime.now(UTC), secrets=(KEY,)))


def append_s(journal: FileJournal, events: list[Event]) -> float:
    async def append() -> None:
        for event in events:
            await journal.append(event, durable=False)

    return own_s(lambda: anyio.run(append))


def own_s(deed: Callable[[], object]) -> float:
    """Return the processor's own time for `deed`; what other deeds left behind is cleared first."""
    gc.collect()
    begun = time.process_time()
    deed()
    return time.process_time() - begun


def lines_of(folder: Path) -> list[bytes]:
    return (folder / EVENTS).read_bytes().splitlines(keepends=True)


def appending(runs: Path) -> Iterator[Row]:
    appends, writes = [], []
    with new_record(runs, "short") as journal, (runs / "bare").open("ab", buffering=0) as bare:
        for number in range(ROUNDS):
            turns = range(number * ROUND_TURNS, (number + 1) * ROUND_TURNS)
            events = [event for each in turns for event in turn(each)]
            appends.append(append_s(journal, events))
            lines = lines_of(journal.folder)[-len(events) :]
            writes.append(own_s(partial(write_each, bare.fileno(), lines)))
    yield at_most(
        "an append, not synced, to a bare write", min(appends) / min(writes), limit=20, unit="x"
    )


def write_each(descriptor: int, lines: list[bytes]) -> None:
    for line in lines:
        os.write(descriptor, line)


def opening(runs: Path) -> Iterator[Row]:
    tenths = []
    with new_record(runs, "long") as journal:
        append_s(journal, [OPENING])
        for tenth in range(0, TURNS, A_TENTH):
            events = [event for number in range(tenth, tenth + A_TENTH) for event in turn(number)]
            tenths.append(append_s(journal, events))
            if tenth == 0:
                short = new_record(runs, "tenth")
                short.close()
                (short.folder / EVENTS).write_bytes((journal.folder / EVENTS).read_bytes())
    folders = (journal.folder, short.folder)
    long_s, short_s = (min(own_s(partial(fold, each)) for _ in range(3)) for each in folders)
    lines = lines_of(journal.folder)
    decode_s = min(own_s(lambda: [json.loads(line) for line in lines]) for _ in range(3))
    growth = min(tenths[-3:]) / min(tenths[:3])
    yield at_most(f"appends after {TURNS:,} turns to the first", growth, limit=1.5, unit="x")
    what = f"opening and folding {TURNS:,} turns to decoding them"
    yield at_most(what, long_s / decode_s, limit=4, unit="x")
    per_turn = long_s / TURNS / (short_s / A_TENTH)
    yield at_most(f"a turn of {TURNS:,} to one of {A_TENTH:,}", per_turn, limit=1.5, unit="x")


def fold(folder: Path) -> None:
    first, *others = read_run(folder).events
    if not isinstance(first, RunStarted):
        raise SystemExit(f"the record begins with {first}")
    state = begin(first)
    for event in others:
        state = evolve(state, event)


def listing(home: Path) -> Iterator[Row]:
    runs = runs_home(home)
    with new_record(runs, "model") as journal:
        events = [event for number in range(5) for event in turn(number)]
        append_s(journal, [OPENING, *events])
        append_s(journal, [RunFinished(at_s=9.0, outcome=Completed(answer=WORDS))])
    content = (journal.folder / EVENTS).read_bytes()
    for number in range(RUNS):
        folder = runs / f"20261130-120000-{number:04x}"
        folder.mkdir()
        (folder / EVENTS).write_bytes(content)
        (folder / "lock").touch()
        (folder / RESULT).write_text('{"verdict": "verified", "message": "mended"}')
    list_s = min(wall_s(lambda: list(list_runs(home))) for _ in range(5))
    ratio = min(own_s(lambda: list(list_runs(home))) for _ in range(5)) / min(
        own_s(lambda: look_into(runs)) for _ in range(5)
    )
    yield at_most(f"a list of {RUNS:,} runs to a look into each", ratio, limit=6, unit="x")
    yield at_most(f"a list of {RUNS:,} runs", list_s * 1000, limit=500, unit="ms")


def wall_s(deed: Callable[[], object]) -> float:
    begun = time.perf_counter()
    deed()
    return time.perf_counter() - begun


def look_into(runs: Path) -> None:
    for entry in os.scandir(runs):
        with Path(entry.path, EVENTS).open("rb") as file:
            file.read(4096)


def measure() -> tuple[Row, ...]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        return (*appending(home), *opening(home), *listing(home / "home"))
