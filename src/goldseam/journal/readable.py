"""A record as plain lines for a person: who did what, when. Pure; knows no terminal.

Whatever a model, a tool or a file wrote passes `visible` on its way out.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from goldseam.journal.reading import Gap, ReadRecord
from goldseam.journal.visible import visible
from goldseam.kernel.conversation import (
    Arguments,
    Malformed,
    Message,
    Reasoning,
    ToolCall,
)
from goldseam.kernel.events import (
    Allowed,
    ApprovalRequested,
    ApprovalResolved,
    BudgetWarning,
    CallJudged,
    ContextCompacted,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelReplied,
    MustAsk,
    Noted,
    Rejected,
    ReplyRejected,
    RunFinished,
    RunStarted,
    StopRequested,
    ToolFinished,
    ToolStarted,
    Verdict,
    VerificationFinished,
    VerificationStarted,
    Waited,
)
from goldseam.kernel.outcome import (
    Aborted,
    BudgetStopped,
    Completed,
    ModelFailed,
    Outcome,
    Proof,
    Stopped,
)
from goldseam.kernel.request import ReplyItem, TokenUsage

_INDENT = " " * 13
_BESIDE_TIME = " " * 9
_MOST_LINES = 8
_MOST_CHARACTERS = 160


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
        return [f"{since} {visible(_short(headline))}", *(_INDENT + visible(d) for d in details)]


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
        case ModelCallPrepared() | ModelReplied() | ReplyRejected() | ModelCallFailed() | Waited():
            return _told_of_model(event)
        case CallJudged() | ToolStarted() | ToolFinished():
            return _told_of_call(event, _call_name(event, names))
        case ApprovalRequested() | ApprovalResolved():
            return _told_of_approval(event, names.get(event.call_id, event.call_id))
        case VerificationStarted() | VerificationFinished():
            return _told_of_proof(event)
        case RunStarted() | StopRequested() | RunFinished():
            return _told_of_run(event)
        case ContextCompacted() | BudgetWarning() | Noted():
            return _told_aside(event)
        case _:
            assert_never(event)


def _told_of_model(
    event: ModelCallPrepared | ModelReplied | ReplyRejected | ModelCallFailed | Waited,
) -> Iterator[str]:
    match event:
        case ModelCallPrepared(call=call, reservation=reservation):
            yield f"asks the model, call {call} (at most {reservation.tokens:,} tokens)"
        case ModelReplied(call=call, response=reply):
            yield f"{reply.model} replies to call {call}: {_tokens(reply.usage)}, stop {reply.stop}"
            for item in reply.items:
                yield from _item(item)
            yield from (f"remark {remark.code}: {_short(remark.text)}" for remark in reply.remarks)
        case ReplyRejected(call=call, why=why, usage=usage, excerpt=excerpt, feedback=feedback):
            yield f"reply to call {call} rejected: {why} ({_tokens(usage)})"
            yield from _block("it began", excerpt)
            yield from _block("told", feedback)
        case ModelCallFailed(call=call, kind=kind, text=text, wait_s=wait_s):
            yield f"call {call} failed: {kind}" + (f"; waits {wait_s:.1f} s" if wait_s else "")
            yield from _block("because", text)
        case Waited(seconds=seconds):
            yield f"waited {seconds:.1f} s"
        case _:
            assert_never(event)


def _call_name(event: CallJudged | ToolStarted | ToolFinished, names: dict[str, str]) -> str:
    call_id = event.result.call_id if isinstance(event, ToolFinished) else event.call_id
    return names.get(call_id, call_id)


def _told_of_call(event: CallJudged | ToolStarted | ToolFinished, name: str) -> Iterator[str]:
    match event:
        case CallJudged(verdict=verdict):
            yield from _judged(verdict, name)
        case ToolStarted():
            yield f"{name} starts"
        case ToolFinished(result=result, seconds=seconds, full_text=full):
            more = f", {len(full):,} characters in full" if full is not None else ""
            yield f"{name} {result.kind} in {seconds:.2f} s{more}"
            yield from _block("result", result.content)
        case _:
            assert_never(event)


def _judged(verdict: Verdict, name: str) -> Iterator[str]:
    match verdict:
        case Allowed(why=why):
            yield f"{name} allowed: {why}"
        case MustAsk(why=why):
            yield f"{name} must be asked about: {why}"
        case Rejected(why=why, result=result):
            yield f"{name} rejected: {why}"
            yield from _block("told", result.content)
        case _:
            assert_never(verdict)


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
            yield from _block("answer", answer)
        case VerificationFinished(proof=proof, go_on=go_on, seconds=seconds):
            end = "; the run goes on" if go_on else ""
            yield f"{_proved(proof)} in {seconds:.2f} s{end}"
            yield from _block("proof", proof.text)
        case _:
            assert_never(event)


def _told_of_run(event: RunStarted | StopRequested | RunFinished) -> Iterator[str]:
    match event:
        case RunStarted(run_id=run_id, settings=settings, history=history, tools=tools):
            yield f"run {run_id} starts"
            yield from (f"{setting.name}: {_short(setting.value)}" for setting in settings)
            yield _short(f"tools: {', '.join(tool.name for tool in tools) or 'none'}")
            for message in history:
                yield from _block(message.role, message.text)
        case StopRequested(why=why):
            yield f"asked to stop: {why}"
        case RunFinished(outcome=outcome):
            yield from _ended(outcome)
        case _:
            assert_never(event)


def _told_aside(event: ContextCompacted | BudgetWarning | Noted) -> Iterator[str]:
    match event:
        case ContextCompacted(call_ids=call_ids, weight_before=before, weight_after=after):
            yield f"old results leave the context: {len(call_ids)}, {before:,} to {after:,} bytes"
        case BudgetWarning(limit=limit, share=share):
            yield f"warning: {share:.0%} of {limit} is used"
        case Noted(remark=remark):
            yield f"note {remark.code}"
            yield from _block("note", remark.text)
        case _:
            assert_never(event)


def _ended(outcome: Outcome) -> Iterator[str]:
    match outcome:
        case Completed(answer=answer, proof=proof):
            yield f"run completed: {_proved(proof)}"
            yield from _block("answer", answer)
        case BudgetStopped(limit=limit, summary=summary):
            yield f"run stopped by its budget: {limit}"
            yield from _block("summary", summary)
        case ModelFailed(kind=kind, text=text):
            yield f"run ended without a usable reply: {kind or 'no reply kept the contract'}"
            yield from _block("because", text)
        case Stopped(why=why):
            yield f"run stopped: {why}"
        case Aborted(why=why):
            yield f"run aborted by a defect of goldseam: {why}"
        case _:
            assert_never(outcome)


def _item(item: ReplyItem) -> Iterator[str]:
    match item:
        case Message(text=text):
            yield from _block("says", text)
        case Reasoning(text=text):
            yield from _block("thinks", text or "(sealed)")
        case ToolCall(call_id=call_id, tool_name=name, arguments=arguments):
            yield _short(f"calls {name} ({call_id}) {_written(arguments)}")
        case _:
            assert_never(item)


def _written(arguments: Arguments | Malformed) -> str:
    match arguments:
        case Arguments(text=text):
            return text
        case Malformed(raw=raw, why=why):
            return f"wrongly ({why}): {raw}"
        case _:
            assert_never(arguments)


def _proved(proof: Proof | None) -> str:
    if proof is None:
        return "nothing to prove"
    return "proven" if proof.proven else "not proven"


def _tokens(usage: TokenUsage) -> str:
    cached = f", {usage.cache_read:,} cached" if usage.cache_read else ""
    return f"tokens {_count(usage.input)} in, {_count(usage.output)} out{cached}"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _block(label: str, text: str) -> Iterator[str]:
    lines = (text or "(empty)").expandtabs(4).split("\n")
    for index, line in enumerate(lines[:_MOST_LINES]):
        lead = f"{label}: " if index == 0 else " " * (len(label) + 2)
        yield lead + _short(line)
    if len(lines) > _MOST_LINES:
        yield " " * (len(label) + 2) + f"… and {len(lines) - _MOST_LINES:,} more lines"


def _short(line: str) -> str:
    if len(line) <= _MOST_CHARACTERS:
        return line
    return f"{line[:_MOST_CHARACTERS]} … ({len(line):,} characters)"
