"""Play a recorded run again: the model's replies from the record, everything else live.

The replay is a run of its own, in a fresh workspace at the base the recorded one began from.
"""

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from goldseam.app.beginning import Beginning, keep_beginning, read_beginning
from goldseam.app.chain import ChosenChain
from goldseam.app.left import usable_record, workspace_again
from goldseam.app.models import ChosenModel
from goldseam.app.place import SCRATCH, Place, open_walls, person_can_mend
from goldseam.app.sitting import Sitting, Watch, sit
from goldseam.app.undoing import Access
from goldseam.app.work import CHECKPOINTS, run_record, work_folder
from goldseam.app.world import World
from goldseam.journal.comparing import differences
from goldseam.journal.reading import ReadRecord
from goldseam.journal.replay import Deviation, first_deviation
from goldseam.journal.runs import find_run
from goldseam.journal.store import read_run
from goldseam.kernel.budget import Candidate
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.errors import (
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
    UsageError,
)
from goldseam.kernel.events import (
    ApprovalResolved,
    Event,
    ModelChosen,
    ModelReplied,
    MustAsk,
    ReplyRejected,
    RunStarted,
    Setting,
)
from goldseam.kernel.loop import run
from goldseam.kernel.ports import Listener
from goldseam.kernel.request import ModelRequest, ModelResponse
from goldseam.models.router.chain import Member
from goldseam.models.router.health import HealthBoard
from goldseam.models.router.router import Router
from goldseam.repair.outputs import PATCH
from goldseam.repair.result import Result
from goldseam.repair.site import Site
from goldseam.tools.policy import Rule
from goldseam.workspace.checkpoint_store import BASE, CheckpointStore
from goldseam.workspace.checkpoints import make_store
from goldseam.workspace.clone import Workspace

_Reply: TypeAlias = ModelReplied | ReplyRejected


class Recorded(Struct, frozen=True, kw_only=True):
    """A run to be played again."""

    folder: Path
    record: ReadRecord
    beginning: Beginning
    opening: RunStarted


class Played(Struct, frozen=True, kw_only=True):
    """What a replay showed."""

    result: Result
    differences: tuple[str, ...]


class RecordedModel:
    """Fits `ModelAdapter`: gives the replies of a record in their order, whatever is asked."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._replies: deque[_Reply] = deque(e for e in events if isinstance(e, _Reply))

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        """Return the next reply.

        Raises:
            InvalidModelOutputError: the next one broke its contract, then as now.
            ModelProviderError: no reply is left.
        """
        del request, listener
        if not self._replies:
            raise ModelProviderError(
                "the record holds no more replies", kind="refused", consumption=NoConsumption()
            )
        reply = self._replies.popleft()
        if isinstance(reply, ReplyRejected):
            raise InvalidModelOutputError(reply.why, excerpt=reply.excerpt, usage=reply.usage)
        return reply.response


class RecordedApprover:
    """Fits `Approver`: answers as the person did, and no where the person was not asked."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._answers = {
            e.call_id: (e.granted, e.why) for e in events if isinstance(e, ApprovalResolved)
        }

    async def ask(self, call: ToolCall, question: MustAsk) -> tuple[bool, str]:
        """Return the recorded answer."""
        del question
        return self._answers.get(call.call_id, (False, "nobody was asked then"))


def recorded_run(access: Access, name: str) -> Recorded:
    """Return the run `name`.

    Raises:
        UsageError: there is none, or its record is not whole.
    """
    with usable_record():
        folder = find_run(access.home, name)
        record = read_run(folder)
        beginning = read_beginning(folder)
    opening = record.events[0] if record.events and not record.gaps else None
    if not isinstance(opening, RunStarted):
        raise UsageError(f"the record of {folder.name} is not whole: it cannot be replayed")
    return Recorded(folder=folder, record=record, beginning=beginning, opening=opening)


def verified(recorded: Recorded) -> Deviation | None:
    """Return the first event of the record that does not follow from those before it."""
    return first_deviation(recorded.record.events)


async def play_again(
    recorded: Recorded,
    access: Access,
    world: World,
    *,
    watch: Watch,
    rules: tuple[Rule, ...],
    run_id: str,
) -> Played:
    """Play the run again as the run `run_id`, and return what differs.

    Raises:
        UsageError: its workspace cannot be made again.
        RunBrokenError: a defect of ours, or a lost record, broke it off.
    """
    events = recorded.record.events
    watch = replace(watch, approver=RecordedApprover(events))
    with work_folder(access.home, run_id, git=access.git) as work:
        place = await _place(recorded, access, world, watch=watch, work=work)
        with run_record(access.home, run_id, access.writing) as journal:
            beginning = replace(recorded.beginning, model=None, out=None)
            keep_beginning(journal.folder, beginning, clean=str)
            store = (work / CHECKPOINTS).rename(journal.folder / CHECKPOINTS)
            sitting = Sitting(
                beginning=beginning,
                rules=rules,
                chain=_chain(recorded, world),
                place=place,
                journal=journal,
                store=CheckpointStore(store, git=access.git),
            )
            opening = _opening(recorded, run_id)
            attended = replace(world, is_attended=True)
            result = await sit(sitting, attended, watch, go=lambda ports: run(opening, ports))
    found = differences(events, read_run(journal.folder).events)
    patch = () if _patch(recorded.folder) == _patch(journal.folder) else ("the patch is another",)
    return Played(result=result, differences=(*found, *patch))


async def _place(
    recorded: Recorded, access: Access, world: World, *, watch: Watch, work: Path
) -> Place:
    def make() -> Workspace:
        kept = CheckpointStore(recorded.folder / CHECKPOINTS, git=access.git)
        workspace = workspace_again(kept, work, BASE)
        make_store(work / CHECKPOINTS, workspace)
        return workspace

    with person_can_mend():
        workspace = await to_thread.run_sync(make)
        sandbox = await open_walls(workspace, world, watch.say, required=False)
    site = Site(
        workspace=workspace,
        tests=recorded.beginning.tests,
        sandbox_for=sandbox.on,
        scratch=work / SCRATCH,
        test_limit_s=recorded.beginning.test_limit_s,
    )
    return Place(work=work, site=site, sandbox=sandbox)


def _chain(recorded: Recorded, world: World) -> ChosenChain:
    chosen = [e.candidate for e in recorded.record.events if isinstance(e, ModelChosen)]
    known = chosen[-1] if chosen else Candidate(name="")
    candidate = replace(known, name=f"replay:{recorded.folder.name}")
    adapter = RecordedModel(recorded.record.events)
    router = Router(
        (Member(candidate=candidate, adapter=adapter),),
        health=HealthBoard(),
        now=monotonic,
        dice=world.dice.random,
        limits=recorded.opening.limits,
    )
    return ChosenChain(models=(ChosenModel(candidate=candidate, adapter=adapter),), router=router)


def _opening(recorded: Recorded, run_id: str) -> RunStarted:
    told = Setting(name="replay of", value=recorded.folder.name)
    opening = recorded.opening
    return replace(opening, run_id=run_id, settings=(*opening.settings, told))


def _patch(folder: Path) -> bytes:
    file = folder / PATCH
    return file.read_bytes() if file.is_file() else b""
