"""A record put in the order a reader looks for: steps, each with its calls, and what lay between.

Pure, and forgiving: an event whose place is lost to damage is told as a note, and none is hidden.
Writes no words of its own where the narrator has them.
"""

from typing import assert_never

from msgspec.structs import replace

from goldseam.journal.readable import Narrator
from goldseam.journal.reading import Gap, ReadRecord
from goldseam.journal.run_view import CallView, Ending, NoteKind, NoteView, RunView, StepView
from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.events import (
    Allowed,
    ApprovalRequested,
    ApprovalResolved,
    CallJudged,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    MustAsk,
    Noted,
    Rejected,
    ReplyRejected,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
    Verdict,
    VerificationFinished,
    VerificationStarted,
)
from goldseam.kernel.outcome import (
    Aborted,
    BudgetStopped,
    Completed,
    ModelFailed,
    Outcome,
    Stopped,
)


def view_of(run_id: str, record: ReadRecord) -> RunView:
    """Return the run that `record` holds; its gaps stand among the notes, in their places."""
    viewer = _Viewer()
    gaps = list(record.gaps)
    for index, entry in enumerate(record.entries):
        while gaps and gaps[0].after <= index:
            viewer.note_gap(gaps.pop(0))
        viewer.take(entry.event, entry.time)
    for gap in gaps:
        viewer.note_gap(gap)
    return RunView(
        run_id=run_id,
        opening=viewer.opening,
        started=record.entries[0].time if record.entries else "",
        seconds=viewer.at_s,
        items=viewer.items(),
        outcome=viewer.outcome,
    )


class _Viewer:
    """Takes the events in order. Steps and calls are kept aside, for what comes to them later."""

    def __init__(self) -> None:
        self.opening: RunStarted | None = None
        self.outcome: Outcome | None = None
        self.at_s = 0.0
        self._time = ""
        self._items: list[int | NoteView] = []
        self._steps: list[StepView] = []
        self._calls: dict[str, CallView] = {}
        self._chosen: ModelChosen | None = None
        self._narrator = Narrator()

    def items(self) -> tuple[StepView | NoteView, ...]:
        return tuple(
            item if isinstance(item, NoteView) else self._whole(self._steps[item])
            for item in self._items
        )

    def take(self, event: Event, time: str) -> None:
        self.at_s, self._time = event.at_s, time
        words = self._narrator.lines_of(event)
        words[0] = words[0].partition("s ")[2]
        match event:
            case RunStarted() if self.opening is None:
                self.opening = event
            case ModelCallPrepared():
                self._begin_step(event.call)
            case ModelReplied() | ReplyRejected() | ModelCallFailed():
                self._end_step(event)
            case CallJudged() | ApprovalRequested() | ApprovalResolved() | ToolStarted():
                self._mark_call(event, words)
            case ToolFinished():
                self._finish_call(event, words)
            case _:
                self._take_aside(event, words)

    def note_gap(self, gap: Gap) -> None:
        self._note("gap", f"the record is not whole here: {gap.why}")

    def _take_aside(self, event: Event, words: list[str]) -> None:
        title, text = words[0], "\n".join(word.strip() for word in words[1:])
        match event:
            case ModelChosen():
                self._chosen = event
                self._note("model", title)
            case VerificationStarted():
                self._note("proof", title)
            case VerificationFinished(proof=proof, go_on=go_on):
                self._drop_intent_to_prove()
                self._note("proof", title, text=proof.text, told=go_on)
            case Noted(remark=remark):
                self._note("note", title, text=remark.text)
            case RunFinished(outcome=outcome):
                self.outcome = outcome
                self._note("end", title, text=_last_words(outcome))
            case _:
                self._note("note", title, text=text)

    def _note(self, kind: NoteKind, title: str, *, text: str = "", told: bool = False) -> None:
        note = NoteView(
            kind=kind, at_s=self.at_s, time=self._time, title=title, text=text, told=told
        )
        self._items.append(note)

    def _drop_intent_to_prove(self) -> None:
        match self._items:
            case [*_, NoteView(kind="proof", text="")]:
                self._items.pop()
            case _:
                pass

    def _begin_step(self, number: int) -> None:
        model = self._chosen.candidate.name if self._chosen is not None else self._named_at_first()
        step = StepView(number=number, at_s=self.at_s, time=self._time, model=model)
        self._items.append(len(self._steps))
        self._steps.append(step)

    def _named_at_first(self) -> str:
        settings = self.opening.settings if self.opening is not None else ()
        return next((setting.value for setting in settings if setting.name == "model"), "")

    def _end_step(self, ending: Ending) -> None:
        last = self._steps[-1] if self._steps else None
        if last is None or last.number != ending.call or last.ending is not None:
            self._begin_step(ending.call)
            last = self._steps[-1]
        step = replace(last, ending=ending, seconds=self.at_s - last.at_s)
        price = self._chosen.candidate.price if self._chosen is not None else None
        if price is not None and step.usage.total is not None:
            step = replace(step, money=price.of(step.usage))
        if isinstance(ending, ModelReplied):
            calls = tuple(
                CallView(call=item) for item in ending.response.items if isinstance(item, ToolCall)
            )
            self._calls.update((view.call.call_id, view) for view in calls)
            step = replace(step, calls=calls)
        self._steps[-1] = step

    def _mark_call(
        self,
        event: CallJudged | ApprovalRequested | ApprovalResolved | ToolStarted,
        words: list[str],
    ) -> None:
        view = self._calls.get(event.call_id)
        if view is None:
            self._note("note", words[0], text="\n".join(words[1:]))
        elif isinstance(event, ToolStarted):
            self._calls[event.call_id] = replace(view, has_started=True)
        else:
            if isinstance(event, CallJudged) and isinstance(event.verdict, Rejected):
                view = replace(view, result=view.result or event.verdict.result)
            said = _policy(event)
            self._calls[event.call_id] = replace(view, policy=(*view.policy, said))

    def _finish_call(self, event: ToolFinished, words: list[str]) -> None:
        view = self._calls.get(event.result.call_id)
        if view is None or view.result is not None:
            self._note("note", words[0], text=event.result.content)
            return
        self._calls[event.result.call_id] = replace(
            view, result=event.result, seconds=event.seconds, full_text=event.full_text
        )

    def _whole(self, step: StepView) -> StepView:
        return replace(step, calls=tuple(self._calls[view.call.call_id] for view in step.calls))


def _policy(event: CallJudged | ApprovalRequested | ApprovalResolved) -> str:
    match event:
        case CallJudged(verdict=verdict):
            return _spoken(verdict)
        case ApprovalRequested(shown=shown):
            return f"the person was shown:\n{shown}"
        case ApprovalResolved(granted=granted, why=why):
            return f"the person {'agreed' if granted else 'refused'}: {why}"
        case _:
            assert_never(event)


def _spoken(verdict: Verdict) -> str:
    match verdict:
        case Allowed(why=why):
            return f"allowed: {why}"
        case MustAsk(why=why):
            return f"must be asked about: {why}"
        case Rejected(why=why):
            return f"rejected: {why}"
        case _:
            assert_never(verdict)


def _last_words(outcome: Outcome) -> str:
    match outcome:
        case Completed(answer=text) | BudgetStopped(summary=text) | ModelFailed(text=text):
            return text
        case Stopped(why=text) | Aborted(why=text):
            return text
        case _:
            assert_never(outcome)
