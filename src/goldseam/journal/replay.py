"""Decide a recorded run once more: does the record follow from itself? Pure.

What came from outside (replies, results, answers, wishes, models chosen) is taken from the record.
Each intent must be the one that `decide` gives for the state before it, and a call's reservation
that of the request as it is rebuilt. The first event that is another is named.
"""

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from goldseam.kernel.compaction import without_outputs
from goldseam.kernel.decide import (
    AskApproval,
    CallModel,
    Compact,
    Finish,
    JudgeCalls,
    RunTools,
    Step,
    Verify,
    Wait,
    Warn,
    decide,
)
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import (
    ApprovalRequested,
    ApprovalResolved,
    BudgetWarning,
    CallJudged,
    ContextCompacted,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    Noted,
    ReplyRejected,
    Resumed,
    RunFinished,
    RunStarted,
    StopRequested,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
    Waited,
)
from goldseam.kernel.outcome import Aborted, Stopped
from goldseam.kernel.state import RunState, begin, evolve


class Deviation(Struct, frozen=True, kw_only=True):
    """The first event, by its place in the record, that does not follow; and what should stand."""

    place: int
    expected: str
    found: str


def first_deviation(events: Sequence[Event]) -> Deviation | None:
    """Return where a whole record is not what `decide` makes of it; `None` where it is.

    Raises:
        JournalError: its beginning is lost.
    """
    replay = _Replay(events)
    try:
        while replay.goes_on:
            replay.step()
    except _OtherError as other:
        return Deviation(place=replay.place, expected=other.expected, found=_short(replay.event))
    except _BrokenOffError:
        return None
    return None


class _OtherError(Exception):
    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


class _BrokenOffError(Exception):
    """The record ends in the middle of an act."""


class _Replay:
    def __init__(self, events: Sequence[Event]) -> None:
        if not events or not isinstance(events[0], RunStarted):
            raise JournalError("the beginning of the record is lost")
        self._events = events
        self._at = 1
        self._state: RunState = begin(events[0])

    @property
    def goes_on(self) -> bool:
        return self._at < len(self._events)

    @property
    def place(self) -> int:
        return self._at + 1

    @property
    def event(self) -> Event:
        if not self.goes_on:
            raise _BrokenOffError
        return self._events[self._at]

    def step(self) -> None:
        event = self.event
        if isinstance(event, Resumed):
            self._fold()
            self._take_unknown()
        elif isinstance(event, ModelChosen | StopRequested) or self._ends_from_outside():
            self._fold()
        elif self._state.outcome is not None:
            raise _OtherError("the end of the record: the run was over")
        else:
            self._act(decide(self._state))

    def _act(self, step: Step) -> None:
        try:
            self._follow(step)
        except _CutShort:
            return

    def _follow(self, step: Step) -> None:
        at_s = self.event.at_s
        match step:
            case CallModel(call=call, reservation=reservation, max_output_tokens=most):
                self._same(
                    ModelCallPrepared(
                        at_s=at_s, call=call, reservation=reservation, max_output_tokens=most
                    )
                )
                self._take_reply(call)
            case JudgeCalls(calls=calls, again=again):
                phase = "approval" if again else "initial"
                for call_id in [call.call_id for call in calls]:
                    self._take_judged(call_id, phase)
            case RunTools(calls=calls):
                self._take_tools([call.call_id for call in calls])
            case AskApproval(call=asked, question=question):
                self._same(
                    ApprovalRequested(
                        at_s=at_s,
                        call_id=asked.call_id,
                        why=question.why,
                        shown=question.shown,
                    )
                )
                self._take(ApprovalResolved)
            case Verify(answer=answer):
                self._same(VerificationStarted(at_s=at_s, answer=answer))
                self._take(VerificationFinished)
            case Warn() | Wait() | Compact() | Finish():
                self._keep_books(step, at_s)
            case _:
                assert_never(step)

    def _keep_books(self, step: Warn | Wait | Compact | Finish, at_s: float) -> None:
        match step:
            case Warn(limit=limit, share=share):
                self._same(BudgetWarning(at_s=at_s, limit=limit, share=share))
            case Wait():
                self._take(Waited)
            case Compact(call_ids=call_ids):
                before = self._state.conversation
                self._same(
                    ContextCompacted(
                        at_s=at_s,
                        call_ids=call_ids,
                        weight_before=before.weight,
                        weight_after=without_outputs(before, frozenset(call_ids)).weight,
                    )
                )
            case Finish(outcome=outcome):
                self._same(RunFinished(at_s=at_s, outcome=outcome))
            case _:
                assert_never(step)

    def _take_reply(self, call: int) -> None:
        while isinstance(self.event, Noted):
            self._fold()
        event = self._expect(ModelReplied, ReplyRejected, ModelCallFailed)
        if isinstance(event, ModelReplied | ReplyRejected | ModelCallFailed) and event.call != call:
            raise _OtherError(f"what came of call {call}")
        self._fold()

    def _take_judged(self, call_id: str, phase: str) -> None:
        event = self._expect(CallJudged)
        if isinstance(event, CallJudged) and (event.call_id, event.phase) != (call_id, phase):
            raise _OtherError(f"a judgement ({phase}) of {call_id}")
        self._fold()

    def _take_tools(self, call_ids: list[str]) -> None:
        for call_id in call_ids:
            self._same(ToolStarted(at_s=self.event.at_s, call_id=call_id))
        waiting = set(call_ids)
        while waiting:
            event = self._expect(ToolFinished)
            if isinstance(event, ToolFinished) and event.result.call_id not in waiting:
                raise _OtherError(f"a result of {', '.join(sorted(waiting))}")
            waiting -= {event.result.call_id} if isinstance(event, ToolFinished) else set()
            self._fold()

    def _take_unknown(self) -> None:
        """After a resume, calls that may have run are told so, in their order."""
        running = [entry.call.call_id for entry in self._state.calls if entry.stage == "running"]
        for call_id in running:
            if not self.goes_on or isinstance(self.event, Resumed | RunFinished):
                return
            event = self._expect(ToolFinished)
            if isinstance(event, ToolFinished) and (
                event.result.call_id != call_id or event.result.kind != "unknown"
            ):
                raise _OtherError(f"that it is unknown what came of {call_id}")
            self._fold()

    def _take(self, kind: type[Event]) -> None:
        self._expect(kind)
        self._fold()

    def _expect(self, *kinds: type[Event]) -> Event:
        event = self.event
        if isinstance(event, Resumed) or self._ends_from_outside():
            raise _CutShort
        if not isinstance(event, kinds):
            raise _OtherError(" or ".join(kind.__name__ for kind in kinds))
        return event

    def _same(self, expected: Event) -> None:
        event = self.event
        if isinstance(event, Resumed) or self._ends_from_outside():
            raise _CutShort
        if event != expected:
            raise _OtherError(_short(expected))
        self._fold()

    def _ends_from_outside(self) -> bool:
        """Whether the run ends here by a defect or a cancelling, or what it did is undone."""
        event = self.event
        if not isinstance(event, RunFinished):
            return False
        match event.outcome:
            case Aborted():
                return True
            case Stopped(why=why):
                return self._state.outcome is not None or why.startswith("cancelled (")
            case _:
                return False

    def _fold(self) -> None:
        self._state = evolve(self._state, self.event)
        self._at += 1


class _CutShort(Exception):  # noqa: N818 - no error: an act of the record that did not come to its end
    pass


_MOST = 300


def _short(event: Event) -> str:
    text = repr(event)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
