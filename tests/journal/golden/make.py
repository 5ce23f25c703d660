"""Write the golden records of the present format: `PYTHONPATH=tests python -m journal.golden.make`.

Run it again when an event or a field is added; once a format has been released, its files stay as
they are, and those of the next stand beside them.
"""

import shutil
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path

import anyio
from journal.generated_events import NOON, every_event, noted
from kernel.fakes import Answer, FakeTool, Proving, Script, Turn, World
from kernel.values import LOOK, PAY, READ, WRITE, call, opening, reply, said

from goldseam.journal.codec import LONG_STRING
from goldseam.journal.store import BLOBS, EVENTS, Writing, create_run
from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import Reasoning, Seal
from goldseam.kernel.errors import InvalidModelOutputError, ModelProviderError, NoConsumption
from goldseam.kernel.events import SCHEMA_VERSION, Event
from goldseam.kernel.outcome import Proof
from goldseam.kernel.request import TokenUsage

GOLDEN = Path(__file__).parent
TEXT = 'Grüße \u2028 \ud800 \U0001f600 "quoted" \\ \x00 \n'

THOUGHT = Reasoning(text="look first", seals=(Seal(origin="a", name="b", value="c"),))
RUN = Script(
    tools=(
        READ,
        LOOK,
        WRITE,
        PAY,
        FakeTool("spoil", verdict="reject"),
        FakeTool("no", kind="failed"),
    ),
    turns=(
        Turn(
            ModelProviderError(
                "busy", kind="overloaded", retryable=True, consumption=NoConsumption()
            )
        ),
        Turn(
            InvalidModelOutputError("no JSON", excerpt="Hm", usage=TokenUsage(input=10, output=1))
        ),
        Turn(
            reply(THOUGHT, said("I look."), call("read", "1"), call("look", "2"), stop="tool_calls")
        ),
        Turn(reply(call("write", "3", '{"path":"a.py"}'), call("pay", "4"), call("pay", "5"))),
        Turn(
            reply(
                call("spoil", "6"), call("nothing", "7"), call("write", "8", "{"), call("no", "9")
            )
        ),
        Turn(reply(said("It is mended."))),
        Turn(reply(call("write", "10"))),
        Turn(reply(said("Now it is."))),
    ),
    answers=(Answer(granted=True), Answer(granted=False)),
    provings=(
        Proving(Proof(proven=False, text="1 test fails"), go_on=True),
        Proving(Proof(proven=True, text="all tests pass")),
    ),
)


def run_events() -> list[Event]:
    """Return a run in which nearly everything happens that can."""
    world = World(RUN)
    world.play(opening(RUN, limits=Limits(model_calls=9), verifies=True))
    return world.events


def write(name: str, events: Sequence[Event]) -> None:
    ticks = count()
    writing = Writing(wall=lambda: NOON + timedelta(milliseconds=next(ticks)))

    async def append() -> None:
        for event in events:
            await journal.append(event, durable=False)

    with tempfile.TemporaryDirectory() as folder:
        with create_run(Path(folder), "golden", writing=writing) as journal:
            anyio.run(append)
        target = GOLDEN / f"v{SCHEMA_VERSION}-{name}"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        shutil.copy(journal.folder / EVENTS, target / EVENTS)
        if (journal.folder / BLOBS).is_dir():
            shutil.copytree(journal.folder / BLOBS, target / BLOBS)


def main() -> None:
    write("run", run_events())
    long = noted("0123456789" * (LONG_STRING // 10 + 1))
    split = noted("a pair that is split: \ud83d\ude00")
    write("events", [*every_event(TEXT), long, split])


if __name__ == "__main__":
    main()
