"""How the values of a record are put into words: outcomes, items, verdicts, texts. Pure."""

from collections.abc import Iterator
from typing import assert_never

from goldseam.kernel.conversation import Arguments, Malformed, Message, Reasoning, ToolCall
from goldseam.kernel.events import Allowed, MustAsk, Rejected, Verdict
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

MOST_LINES = 8
MOST_CHARACTERS = 160


def judged(verdict: Verdict, name: str) -> Iterator[str]:
    """Tell what policy said of the call `name`."""
    match verdict:
        case Allowed(why=why):
            yield f"{name} allowed: {why}"
        case MustAsk(why=why):
            yield f"{name} must be asked about: {why}"
        case Rejected(why=why, result=result):
            yield f"{name} rejected: {why}"
            yield from block("told", result.content)
        case _:
            assert_never(verdict)


def ended(outcome: Outcome) -> Iterator[str]:
    """Tell how a run ended."""
    match outcome:
        case Completed(answer=answer, proof=proof):
            yield f"run completed: {proved(proof)}"
            yield from block("answer", answer)
        case BudgetStopped(limit=limit, summary=summary):
            yield f"run stopped by its budget: {limit}"
            yield from block("summary", summary)
        case ModelFailed(kind=kind, text=text):
            yield f"run ended without a usable reply: {kind or 'no reply kept the contract'}"
            yield from block("because", text)
        case Stopped(why=why):
            yield f"run stopped: {why}"
        case Aborted(why=why):
            yield f"run aborted by a defect of goldseam: {why}"
        case _:
            assert_never(outcome)


def item_lines(item: ReplyItem) -> Iterator[str]:
    """Tell one item of a reply."""
    match item:
        case Message(text=text):
            yield from block("says", text)
        case Reasoning(text=text):
            yield from block("thinks", text or "(sealed)")
        case ToolCall(call_id=call_id, tool_name=name, arguments=arguments):
            yield short(f"calls {name} ({call_id}) {_written(arguments)}")
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


def proved(proof: Proof | None) -> str:
    """Say what a proof came to."""
    if proof is None:
        return "nothing to prove"
    return "proven" if proof.proven else "not proven"


def tokens(usage: TokenUsage) -> str:
    """Say what a call used; `?` is unknown."""
    cached = f", {usage.cache_read:,} cached" if usage.cache_read else ""
    return f"tokens {_count(usage.input)} in, {_count(usage.output)} out{cached}"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def block(label: str, text: str) -> Iterator[str]:
    """Tell `text` under a label, its first lines alone."""
    lines = (text or "(empty)").expandtabs(4).split("\n")
    for index, line in enumerate(lines[:MOST_LINES]):
        lead = f"{label}: " if index == 0 else " " * (len(label) + 2)
        yield lead + short(line)
    if len(lines) > MOST_LINES:
        yield " " * (len(label) + 2) + f"… and {len(lines) - MOST_LINES:,} more lines"


def short(line: str) -> str:
    """Cut a long line, and say how long it was."""
    if len(line) <= MOST_CHARACTERS:
        return line
    return f"{line[:MOST_CHARACTERS]} … ({len(line):,} characters)"
