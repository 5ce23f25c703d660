"""A reference run that is left after any event, and gone on with in the home as it was then.

In one process: a tap copies the whole home after each event is on record, which is what a process
that is killed there leaves behind. The replies that are left are those of a model that looks: an
edit that may not have been made is asked for again, and is refused where it was made.
"""

import json
import random
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from e2e.e2e_support import FIXED, Desk, answer, calls
from msgspec import Struct

from goldseam.app.chain import Routing
from goldseam.app.fix import FixRequest, fix
from goldseam.app.resuming import ResumeRequest, resume_run
from goldseam.app.settings import Settings, hosts_of
from goldseam.app.sitting import Watch
from goldseam.app.tasks import AnyioTasks
from goldseam.app.world import World
from goldseam.journal.reading import ReadRecord
from goldseam.journal.store import read_run
from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.events import Event, ModelReplied, MustAsk, ToolFinished, ToolStarted
from goldseam.kernel.ports import Delta
from goldseam.models.router.health import HealthBoard
from goldseam.repair.result import Result
from goldseam.repair.task import Issue
from goldseam.tools.policy import Rule

TEST = "sh check.sh"
CHECK = "grep -q 'in prices:' shop.py\n"

RULES = (
    Rule(decision="deny", tool="run_command", argument="command", glob="*rm -rf*"),
    Rule(decision="ask", tool="run_command", argument="command", glob="*counted*"),
    Rule(decision="allow", tool="run_command"),
)
USED = {"input": 100, "output": 10}
NOTE = {"path": "notes.txt", "content": "mended\n"}
COUNTED = "counted.txt"
SWITCH_AFTER = 2
"""Replies of the first model; then it falls over, and a second one takes over."""


def replies_in(folder: Path) -> tuple[dict[str, Any], ...]:
    """Return what the model says; a command counts, outside the workspace, how often it ran."""
    count = {"command": f"echo ran >> '{folder / COUNTED}'"}
    return (
        calls(("read_file", {"path": "shop.py"}), ("search", {"pattern": "total"})),
        calls(("run_command", {"command": "rm -rf /"}), ("run_command", count)),
        calls(("write_file", NOTE), ("edit_file", FIXED)),
        answer("The slice dropped the first price."),
    )


class Yes:
    """Fits `Approver`: agrees to everything."""

    async def ask(self, call: ToolCall, question: MustAsk) -> tuple[bool, str]:
        del call, question
        return True, "the person agreed"


class Heard(Struct, frozen=True, kw_only=True):
    """What a person sees of a run."""

    events: list[Event]
    lines: list[str]


def world_of(folder: Path, home: Path) -> World:
    return World(
        environ={
            "PATH": str(programs(folder)),
            "HOME": str(folder),
            "GOLDSEAM_HOME": str(home),
            "XDG_CONFIG_HOME": str(folder),
        },
        folder=folder,
        now=lambda: datetime.now(UTC),
        dice=random.Random(7),
        health=HealthBoard(),
        read_stdin=bytes,
        is_attended=True,
    )


def programs(folder: Path) -> Path:
    """Return a folder with the few programs that are needed; no walls, whose proof takes time."""
    made = folder / "programs"
    if not made.exists():
        made.mkdir()
        for name in ("git", "sh", "grep", "python3", "rm"):
            found = shutil.which(name)
            assert found is not None
            (made / name).symlink_to(found)
    return made


def watch_with(heard: Heard, *, after: Any = None) -> Watch:
    def tap(event: Event) -> None:
        heard.events.append(event)
        if after is not None:
            after(len(heard.events))

    return Watch(
        say=heard.lines.append, tap=tap, listener=unheard, approver=Yes(), tasks=AnyioTasks()
    )


def unheard(delta: Delta) -> None:
    del delta


def write_script(folder: Path, name: str, replies: Sequence[dict[str, Any]]) -> str:
    given = [{**reply, "usage": USED} if reply["type"] != "fails" else reply for reply in replies]
    (folder / name).write_text(json.dumps({"replies": given}))
    return f"scripted:{name}"


async def reference(desk: Desk, snapshots: Path) -> tuple[Result, Heard]:
    """Play the whole run; `snapshots/N` is the home after event N."""
    desk.write({"check.sh": CHECK})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "check")
    ill = {"type": "fails", "kind": "server", "text": "it fell over"}
    replies = replies_in(desk.folder)
    first = write_script(desk.folder, "first.json", (*replies[:SWITCH_AFTER], ill))
    second = write_script(desk.folder, "second.json", replies[SWITCH_AFTER:])
    (desk.folder / COUNTED).touch()
    heard = Heard(events=[], lines=[])
    request = FixRequest(
        issue=Issue(text="totals are wrong", source="text"),
        repository=desk.repository,
        model=f"{first},{second}",
        test=TEST,
        out=None,
        include_dirty=False,
        require_sandbox=False,
        test_limit_s=60.0,
        limits=Limits(),
        rules=RULES,
        routing=Routing(hosts=hosts_of(Settings())),
    )

    def copy(count: int) -> None:
        shutil.copytree(desk.home, snapshots / str(count), symlinks=True)
        shutil.copy(desk.folder / COUNTED, snapshots / f"{count}.{COUNTED}")

    watch = watch_with(heard, after=copy)
    return await fix(request, world_of(desk.folder, desk.home), watch), heard


async def go_on(desk: Desk, home: Path) -> tuple[Result, Heard]:
    """Resume the one run in `home`, by a model that has the rest to say."""
    counted = home.with_name(f"{home.name}.{COUNTED}")
    shutil.copy(counted, desk.folder / COUNTED)
    replies = rest_of(read_run(run_in(home)), replies_in(desk.folder))
    heard = Heard(events=[], lines=[])
    request = ResumeRequest(
        run="last",
        model=write_script(desk.folder, f"rest-{home.name}.json", replies),
        out=None,
        limits={},
        require_sandbox=False,
        rules=RULES,
        routing=Routing(hosts=hosts_of(Settings())),
    )
    return await resume_run(request, world_of(desk.folder, home), watch_with(heard)), heard


def run_in(home: Path) -> Path:
    (run,) = (home / "runs").iterdir()
    return run


def rest_of(record: ReadRecord, replies: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """Return what the model has yet to say; at least its answer, should it be asked once more."""
    said = sum(isinstance(event, ModelReplied) for event in record.events)
    again = [
        calls((call.tool_name, arguments))
        for call in calls_left_running(record)
        if (arguments := _edit(call)) is not None
    ]
    return [*again, *(replies[said:] or replies[-1:])]


def _edit(call: ToolCall) -> dict[str, Any] | None:
    return {"edit_file": FIXED, "write_file": NOTE}.get(call.tool_name)


def calls_left_running(record: ReadRecord) -> list[ToolCall]:
    named = {
        item.call_id: item
        for event in record.events
        if isinstance(event, ModelReplied)
        for item in event.response.items
        if isinstance(item, ToolCall)
    }
    started = {event.call_id for event in record.events if isinstance(event, ToolStarted)}
    ended = {event.result.call_id for event in record.events if isinstance(event, ToolFinished)}
    return [named[call_id] for call_id in sorted(started - ended)]


def times_counted(desk: Desk) -> int:
    """Return how often the counting command ran."""
    return (desk.folder / COUNTED).read_text().count("ran\n")
