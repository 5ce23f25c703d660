"""A record as plain lines for a person: who did what, when. Pure; knows no terminal.

Whatever a model, a tool or a file wrote passes `visible` on its way out.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from goldseam.journal.phrases import block, ended, item_lines, judged, proved, short, tokens
from goldseam.journal.reading import Gap, ReadRecord
from goldseam.journal.visible import visible
from goldseam.kernel.conversation import ToolCall
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

_INDENT = " " * 13
_BESIDE_TIME = " " * 9


class Narrator:
    """Tells the events of one run in their order; remembers what its calls are called."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def lines_of(self, event: Event) -> list[str]:
        """Return what `event` says: a headline, and details below it, fit for a terminal."""
        if isinstance(event, ModelReplied):
            calls = (item for item in event.response.items if isinstance(item, ToolCall))
            named = ((call.call_id, f"{call.tool_name} ({call.call_id})") for call in calls)
            self._names.update(named)
        headline, *details = _told(event, self._names)
        since = f"{event.at_s:+11.1f}s"
        return [f"{since} {visible(short(headline))}", *(_INDENT + visible(d) for d in details)]


def readable(record: ReadRecord) -> Iterator[str]:
    """Yield the lines that tell `record`, its gaps in their places."""
    gaps = list(record.gaps)
    narrator = Narrator()
    for index, entry in enumerate(record.entries):
        while gaps and gaps[0].after <= index:
            yield _gap(gaps.pop(0))
        headline, *details = narrator.lines_of(entry.event)
        yield f"{visible(entry.time[11:19])} {headline}"
        yield from (_BESIDE_TIME + detail for detail in details)
    yield from map(_gap, gaps)
    if record.torn:
        yield f"the last line is unfinished: {len(record.torn):,} bytes of it are there"


def _gap(gap: Gap) -> str:
    return visible(f"the record is not whole here: {gap.why}")


def _told(event: Event, names: dict[str, str]) -> Iterable[str]:
    match event:
        case ModelChosen() | ModelCallPrepared() | ModelReplied() | ReplyRejected():
            return _told_of_model(event)
        case CallJudged() | ToolStarted() | ToolFinished():
            return _told_of_call(event, _call_name(event, names))
        case ApprovalRequested() | ApprovalResolved():
            return _told_of_approval(event, names.get(event.call_id, event.call_id))
        case VerificationStarted() | VerificationFinished():
            return _told_of_proof(event)
        case RunStarted() | Resumed() | StopRequested() | RunFinished():
            return _told_of_run(event)
        case ModelCallFailed() | Waited() | ContextCompacted() | BudgetWarning() | Noted():
            return _told_aside(event)
        case _:
            assert_never(event)


def _told_of_model(
    event: ModelChosen | ModelCallPrepared | ModelReplied | ReplyRejected,
) -> Iterator[str]:
    match event:
        case ModelChosen(candidate=candidate, why=why):
            yield f"the model is {candidate.name}" + (f": {why}" if why else "")
        case ModelCallPrepared(call=call, reservation=reservation):
            yield f"asks the model, call {call} (at most {reservation.tokens:,} tokens)"
        case ModelReplied(call=call, response=reply):
            yield f"{reply.model} replies to call {call}: {tokens(reply.usage)}, stop {reply.stop}"
            for item in reply.items:
                yield from item_lines(item)
            yield from (f"remark {remark.code}: {short(remark.text)}" for remark in reply.remarks)
        case ReplyRejected(call=call, why=why, usage=usage, excerpt=excerpt, feedback=feedback):
            yield f"reply to call {call} rejected: {why} ({tokens(usage)})"
            yield from block("it began", excerpt)
            yield from block("told", feedback)
        case _:
            assert_never(event)


def _call_name(event: CallJudged | ToolStarted | ToolFinished, names: dict[str, str]) -> str:
    call_id = event.result.call_id if isinstance(event, ToolFinished) else event.call_id
    return names.get(call_id, call_id)


def _told_of_call(event: CallJudged | ToolStarted | ToolFinished, name: str) -> Iterator[str]:
    match event:
        case CallJudged(verdict=verdict):
            yield from judged(verdict, name)
        case ToolStarted():
            yield f"{name} starts"
        case ToolFinished(result=result, seconds=seconds, full_text=full):
            more = f", {len(full):,} characters in full" if full is not None else ""
            yield f"{name} {result.kind} in {seconds:.2f} s{more}"
            yield from block("result", result.content)
        case _:
            assert_never(event)


def _told_of_approval(event: ApprovalRequested | ApprovalResolved, name: str) -> Iterator[str]:
    match event:
        case ApprovalRequested(why=why, shown=shown):
            yield f"asks the person about {name}: {why}"
            # What a person agreed to is never cut.
            yield from shown.split("\n")
        case ApprovalResolved(granted=granted, why=why):
            yield f"the person {'agrees' if granted else 'refuses'}: {name}: {why}"
        case _:
            assert_never(event)


def _told_of_proof(event: VerificationStarted | VerificationFinished) -> Iterator[str]:
    match event:
        case VerificationStarted(answer=answer):
            yield "proves the answer"
            yield from block("answer", answer)
        case VerificationFinished(proof=proof, go_on=go_on, seconds=seconds):
            end = "; the run goes on" if go_on else ""
            yield f"{proved(proof)} in {seconds:.2f} s{end}"
            yield from block("proof", proof.text)
        case _:
            assert_never(event)


def _told_of_run(event: RunStarted | Resumed | StopRequested | RunFinished) -> Iterator[str]:
    match event:
        case RunStarted(run_id=run_id, settings=settings, history=history, tools=tools):
            yield f"run {run_id} starts"
            yield from (f"{setting.name}: {short(setting.value)}" for setting in settings)
            yield short(f"tools: {', '.join(tool.name for tool in tools) or 'none'}")
            for message in history:
                yield from block(message.role, message.text)
        case Resumed(why=why):
            yield f"the run goes on: {why}"
        case StopRequested(why=why):
            yield f"asked to stop: {why}"
        case RunFinished(outcome=outcome):
            yield from ended(outcome)
        case _:
            assert_never(event)


def _told_aside(
    event: ModelCallFailed | Waited | ContextCompacted | BudgetWarning | Noted,
) -> Iterator[str]:
    match event:
        case ModelCallFailed(call=call, kind=kind, text=text, wait_s=wait_s):
            yield f"call {call} failed: {kind}" + (f"; waits {wait_s:.1f} s" if wait_s else "")
            yield from block("because", text)
        case Waited(seconds=seconds):
            yield f"waited {seconds:.1f} s"
        case ContextCompacted(call_ids=call_ids, weight_before=before, weight_after=after):
            yield f"old results leave the context: {len(call_ids)}, {before:,} to {after:,} bytes"
        case BudgetWarning(limit=limit, share=share):
            yield f"warning: {share:.0%} of {limit} is used"
        case Noted(remark=remark):
            yield f"note {remark.code}"
            yield from block("note", remark.text)
        case _:
            assert_never(event)
