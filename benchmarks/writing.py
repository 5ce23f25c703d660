"""What writing a request costs, beside `json.dumps` of the same body: at first, and a turn later.

The history is that of an agent at work on code: short thoughts of the model's own, calls with 150
bytes of arguments, results of two kilobytes of source, a fifth of them not all ASCII. A message is
what a host sees as one: a reply, or the result of its call. Figures are ratios within this one run.
"""

import gc
import json
from collections.abc import Callable
from functools import partial
from time import process_time

from msgspec import Struct

from benchmarks.row import Row, at_most
from goldseam.kernel.conversation import (
    Conversation,
    HistoryItem,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import Body, Dialect, Profile, Written
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.models.openai_responses.dialect import ResponsesDialect

LENGTHS = (100, 1000, 5000)
WRITTEN_ITEMS = 80_000
"""How many items of history are written in all for one figure: a short history is written often."""
LATER_TURNS = 100
SHORT = 40
TOOLS = tuple(
    ToolSpec(
        name=f"tool_{number}",
        description="Does one thing, and says what came of it. " * 10,
        parameters='{"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"}',
    )
    for number in range(12)
)


class Case(Struct, frozen=True, kw_only=True):
    """A dialect with a model that has seals of its own, by name."""

    dialect: Dialect
    profile: Profile
    seals: tuple[str, ...]


def profile_of(host: str, *, reasoning_field: str | None = None) -> Profile:
    return Profile(
        host=host,
        model="one",
        seal_scope=host,
        thinking=True,
        caches=True,
        reasoning_field=reasoning_field,
        echoes_reasoning="always",
    )


CASES = {
    "openai_chat": Case(
        dialect=ChatDialect(),
        profile=profile_of("chat", reasoning_field="reasoning_content"),
        seals=("reasoning_field",),
    ),
    "openai_responses": Case(
        dialect=ResponsesDialect(),
        profile=profile_of("responses"),
        seals=("item_id", "encrypted_content"),
    ),
    "anthropic": Case(
        dialect=AnthropicDialect(), profile=profile_of("anthropic"), seals=("signature",)
    ),
    "gemini": Case(
        dialect=GeminiDialect(), profile=profile_of("gemini"), seals=("thought_signature",)
    ),
}


def measure() -> tuple[Row, ...]:
    return tuple(row for name, case in CASES.items() for row in rows_of(name, case))


def rows_of(name: str, case: Case) -> list[Row]:
    rows: list[Row] = []
    for length in LENGTHS:
        cold_s, dumped_s = cold(case, partial(worked, case, length // 2))
        ratio = cold_s / dumped_s
        rows.append(at_most(f"{name}: {length} messages", ratio, limit=1.5, unit="x json.dumps"))
    later = 1000 * next_turn(case, worked(case, length // 2)) / cold_s
    rows.append(at_most(f"{name}: the next turn of {length}", later, limit=20, unit="/1000 of it"))
    cold_s, dumped_s = cold(case, partial(chatted, length))
    figure = f"{cold_s / dumped_s:.3g} x json.dumps"
    return [*rows, Row(what=f"{name}: {length} messages of {SHORT} characters", figure=figure)]


def cold(case: Case, remember: Callable[[], Conversation]) -> tuple[float, float]:
    """Return the seconds of writing a history for the first time, and of dumping its body."""
    times: list[tuple[float, float]] = []
    for _ in range(WRITTEN_ITEMS // len(remember())):
        body = write_once(case, remember()).body
        # Anew: a text that is not ASCII remembers its UTF-8 once it was encoded.
        history = remember()
        times.append((seconds(partial(write_once, case, history)), seconds(partial(dump, body))))
    ours_s, dumped_s = (min(each) for each in zip(*times, strict=True))
    return ours_s, dumped_s


def dump(body: Body) -> bytes:
    return json.dumps(body).encode()


def write_once(case: Case, history: Conversation) -> Written:
    return case.dialect.write(asked(history), case.profile)


def next_turn(case: Case, history: Conversation) -> float:
    """Return the seconds of writing `history` with one more step at its end."""
    writer = case.dialect.writer(case.profile)
    writer.write(asked(history))
    times: list[float] = []
    for number in range(LATER_TURNS):
        history = history.extend(step(case, len(history) + number))
        times.append(seconds(partial(writer.write, asked(history))))
    return min(times)


def asked(history: Conversation) -> ModelRequest:
    return ModelRequest(history=history, tools=TOOLS, max_output_tokens=8000)


def seconds(do: Callable[[], object]) -> float:
    """Return what `do` takes of the processor's own time, no garbage collected, as in `timeit`."""
    gc.disable()
    begun = process_time()
    do()
    taken = process_time() - begun
    gc.enable()
    return taken


OPENING: tuple[HistoryItem, ...] = (
    Message(role="system", text="Mend the program with the tools on offer. " * 50),
    Message(role="user", text="The total is wrong when a price is missing. " * 20),
)


def worked(case: Case, steps: int) -> Conversation:
    """Return the history of an agent that looked and changed in `steps` steps."""
    items = (item for number in range(steps) for item in step(case, number))
    return Conversation([*OPENING, *items])


def step(case: Case, number: int) -> tuple[HistoryItem, ...]:
    call_id = f"call-{number}"
    origin = case.profile.origin
    seals = tuple(
        Seal(origin=origin, name=name, value=f"{name}{number:0>80}") for name in case.seals
    )
    arguments = arguments_of({
        "path": f"src/shop/module_{number}.py",
        "old_text": f"    total = price_{number}\n",
        "new_text": f'    total = price_{number} if price_{number} is not None else "none"\n',
    })
    thought = f"The fault may be in module {number}: I look there first, then at what calls it."
    return (
        Reasoning(text=thought, seals=seals),
        ToolCall(call_id=call_id, tool_name="tool_1", arguments=arguments),
        ToolResult(call_id=call_id, content=source(number)),
    )


def source(number: int) -> str:
    """Return two kilobytes of numbered source, in every fifth a little that is no ASCII."""
    remark = "# größer als 合計" if number % 5 == 0 else "# not too large"
    head = f"src/shop/module_{number}.py: lines 1-43 of 90 {remark}"
    lines = [f'{line:>6}|     value_{line} = prices["{number}"] or total' for line in range(1, 44)]
    return "\n".join([head, *lines])


def chatted(length: int) -> Conversation:
    """Return a history of many words in short messages, which has little to be copied in it."""
    pairs = (
        Message(role="assistant" if number % 2 else "user", text=f"{number:0>{SHORT}}")
        for number in range(length)
    )
    return Conversation(pairs)
