"""What differs between two runs that the same replies were given in. Pure.

Times that tools print, and scratch folders of ours, differ from run to run: they are passed over.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.events import (
    CallJudged,
    Event,
    RunFinished,
    ToolFinished,
    VerificationFinished,
)
from goldseam.kernel.outcome import Completed

_SCRATCH = re.compile(r"goldseam-[a-z-]+-\w{8}\b")
_TIME = re.compile(r"\b\d+(?:\.\d+)?(?: ?(?:s|ms|seconds?|minutes?))\b")


def differences(old: Sequence[Event], new: Sequence[Event]) -> Iterator[str]:
    """Yield a line for each difference in what policy, tools and proofs said, and in the end."""
    yield from _by_key("policy on", _verdicts(old), _verdicts(new))
    yield from _by_key("the result of", _results(old), _results(new))
    yield from _by_key("proof", _proofs(old), _proofs(new))
    if _end(old) != _end(new):
        yield f"the end: {_end(old)} was recorded, {_end(new)} now"


def _by_key(what: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if before is None or after is None:
            there = "is new" if before is None else "is gone"
            yield f"{what} {key} {there}"
        else:
            yield f"{what} {key}: {_apart(before, after)}"


def _apart(old: str, new: str) -> str:
    """Return the first line in which two texts differ."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    pairs = zip(old_lines, new_lines, strict=False)
    place = next((n for n, (one, two) in enumerate(pairs) if one != two), None)
    if place is None:
        return f"{len(old_lines)} lines were recorded, {len(new_lines)} now"
    return f"{old_lines[place]!r} was recorded, {new_lines[place]!r} now"


def _verdicts(events: Sequence[Event]) -> dict[str, str]:
    return {
        f"{event.call_id} ({event.phase})": type(event.verdict).__name__
        for event in events
        if isinstance(event, CallJudged)
    }


def _results(events: Sequence[Event]) -> dict[str, str]:
    return {
        event.result.call_id: _told(event.result)
        for event in events
        if isinstance(event, ToolFinished)
    }


def _told(result: ToolResult) -> str:
    return f"{result.kind}: {_SCRATCH.sub('SCRATCH', _TIME.sub('TIME', result.content))}"


def _proofs(events: Sequence[Event]) -> dict[str, str]:
    proofs = [event.proof for event in events if isinstance(event, VerificationFinished)]
    return {str(n): f"proven is {proof.proven}" for n, proof in enumerate(proofs, start=1)}


def _end(events: Sequence[Event]) -> str:
    outcomes = [event.outcome for event in events if isinstance(event, RunFinished)]
    if not outcomes:
        return "no end"
    match outcomes[-1]:
        case Completed(proof=proof):
            return "a proved answer" if proof is not None and proof.proven else "an answer"
        case other:
            return type(other).__name__
