"""A disk that is really full: a small one, made for the test in a mount name space of its own."""

import subprocess
from functools import cache
from pathlib import Path

import pytest
from journal.child_programs import run_child

RUN = "20261130-120000-0001"
SMALL_DISK = 'mount -t tmpfs -o size=200k,mode=700 tmpfs "$0" && exec "$@"'


@cache
def way_in() -> tuple[str, ...] | None:
    """Return the words that begin a name space in which a disk may be mounted, if there are any."""
    for words in (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user")):
        try:
            done = subprocess.run(
                [*words, "sh", "-c", "mount -t tmpfs tmpfs /tmp"], capture_output=True, check=False
            )
        except FileNotFoundError:
            return None
        if done.returncode == 0:
            return words
    return None


def on_a_small_disk(program: str, folder: Path) -> list[str]:
    way = way_in()
    if way is None:
        pytest.skip("no disk can be mounted here: unshare --mount fails")
    child = run_child(program, folder, before=(*way, "sh", "-c", SMALL_DISK, str(folder)))
    assert child.returncode == 0, child.stderr
    assert child.stderr == ""
    return child.stdout.splitlines()


FILLED = """
home, kept = Path(sys.argv[1]), 0
journal = create_run(home, "20261130-120000-0001", writing=WRITING)
try:
    while True:
        keep(journal, noted(f"{kept} " + "x" * 3000), durable=kept % 3 == 0)
        kept += 1
except JournalError as error:
    print(error)
refused(lambda: keep(journal, noted("y")))
journal.close()
record = read_run(journal.folder)
print(kept, len(record.events), record.gaps, record.torn)
with open_run(journal.folder, writing=WRITING).journal as journal:
    refused(lambda: keep(journal, noted("z" * 300_000)))
    print(os.listdir(journal.folder / "blobs"))
"""


def test_the_last_good_record_stays_and_can_be_opened(tmp_path: Path) -> None:
    told = on_a_small_disk(FILLED, tmp_path)
    events = tmp_path / RUN / "events.jsonl"
    kept = told[2].split()[0]
    assert int(kept) > 40
    assert told == [
        f"{events}: cannot be written: No space left on device",
        f"{events}: an earlier write failed, so nothing more is written",
        f"{kept} {kept} () b''",
        f"{tmp_path / RUN}/blobs: No space left on device",
        "[]",
    ]
    assert not (tmp_path / RUN).exists()


STOPPED = """
from kernel.fakes import FakeTool, Script, Turn, World
from kernel.values import call, opening, reply
from msgspec.structs import replace
from goldseam.app.clock import RunClock
from goldseam.app.tasks import AnyioTasks
from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.events import Allowed
from goldseam.kernel.loop import run
from goldseam.kernel.ports import Executed

home, ran = Path(sys.argv[1]), []

class Filling:
    specs = (FakeTool("fill").spec,)

    def judge(self, call):
        return Allowed(why="always")

    async def execute(self, call):
        ran.append(call.call_id)
        if len(ran) == 3:
            with suppress(OSError), open(home / "junk", "wb", buffering=0) as junk:
                while True:
                    junk.write(bytes(4096))
        return Executed(result=ToolResult(call_id=call.call_id, content="x" * 5000))

async def play():
    script = Script(
        turns=tuple(Turn(reply(call("fill", str(number)))) for number in range(1, 9)),
        tools=(FakeTool("fill"),),
    )
    with create_run(home, "20261130-120000-0001", writing=WRITING) as journal:
        world = World(script, wait=anyio.sleep, clock=RunClock(), tasks=AnyioTasks())
        ports = replace(world.ports, journal=journal, toolbox=Filling())
        try:
            await run(opening(script), ports)
        except JournalError as error:
            print(error)
        print(len(world.model.requests), ran)

anyio.run(play)
record = read_run(home / "20261130-120000-0001")
print(record.gaps, record.torn, type(record.events[-1]).__name__)
"""


def test_a_run_stops_before_its_next_effect(tmp_path: Path) -> None:
    events = tmp_path / RUN / "events.jsonl"
    assert on_a_small_disk(STOPPED, tmp_path) == [
        f"{events}: cannot be written: No space left on device",
        "3 ['1', '2', '3']",
        "() b'' ToolStarted",
    ]
