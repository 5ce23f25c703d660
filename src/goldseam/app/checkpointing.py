"""Checkpoints around each call that may change something, and at the end of a sitting."""

from collections.abc import Callable
from contextlib import suppress

from anyio import to_thread

from goldseam.app.moments import Moment
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event, Verdict
from goldseam.kernel.ports import Executed, Toolbox
from goldseam.kernel.request import ToolSpec
from goldseam.workspace.checkpoint_store import Checkpoint
from goldseam.workspace.checkpoints import Checkpoints
from goldseam.workspace.errors import WorkspaceError


class EventCount:
    """A tap that knows how many events are on record."""

    def __init__(self, seq: int = 0) -> None:
        """Begin after the event `seq`."""
        self.seq = seq

    def __call__(self, event: Event) -> None:
        """Hear one event."""
        del event
        self.seq += 1


class RunCheckpoints:
    """The checkpoints of one sitting, each named after its moment; taken in a thread."""

    def __init__(self, checkpoints: Checkpoints, count: EventCount) -> None:
        self._checkpoints = checkpoints
        self._count = count
        self._tree: str | None = None
        """The files as they are known to be; `None` where they may have changed."""

    async def before(self, call: ToolCall, *, is_disturbed: bool) -> None:
        """Keep the files as they stand before `call`; `is_disturbed` where others change them, too.

        Raises:
            JournalError: they cannot be kept; the call must not run.
        """
        name = Moment(seq=self._count.seq, what="before", call_id=call.call_id).name
        tree, self._tree = self._tree, None
        try:
            if tree is None or is_disturbed:
                await to_thread.run_sync(self._checkpoints.take, name)
            else:
                note = Checkpoint(name=name, tree=tree)
                await to_thread.run_sync(self._checkpoints.store.note, note)
        except (WorkspaceError, OSError) as error:
            raise JournalError(
                f"no checkpoint can be taken before {call.tool_name}: {error}"
            ) from error

    async def after(self, call: ToolCall) -> None:
        """Keep the files as `call` left them, before its result is on record."""
        name = Moment(seq=self._count.seq + 1, what="after", call_id=call.call_id).name
        # It ran, and its result must be told; the next checkpoint speaks up if none can be taken.
        with suppress(WorkspaceError):
            self._tree = (await to_thread.run_sync(self._checkpoints.take, name)).tree

    async def end(self) -> None:
        """Keep the files as the sitting leaves them.

        Raises:
            WorkspaceError: they cannot be kept.
        """
        name = Moment(seq=self._count.seq, what="end").name
        await to_thread.run_sync(self._checkpoints.take, name)


class CheckpointingToolbox:
    """Implements `kernel.ports.Toolbox` over another: a call that may change files is undoable."""

    def __init__(
        self, tools: Toolbox, checkpoints: RunCheckpoints, *, is_disturbed: Callable[[], bool]
    ) -> None:
        """`is_disturbed` says whether something beside the calls may change the files."""
        self._tools = tools
        self._checkpoints = checkpoints
        self._is_disturbed = is_disturbed
        self._readers = {spec.name for spec in tools.specs if spec.reads_only}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools on offer."""
        return self._tools.specs

    def judge(self, call: ToolCall) -> Verdict:
        """Return whether `call` may run."""
        return self._tools.judge(call)

    async def execute(self, call: ToolCall) -> Executed:
        """Run `call`.

        Raises:
            JournalError: no checkpoint could be taken before it; it did not run.
        """
        if call.tool_name in self._readers:
            return await self._tools.execute(call)
        await self._checkpoints.before(call, is_disturbed=self._is_disturbed())
        executed = await self._tools.execute(call)
        await self._checkpoints.after(call)
        return executed
