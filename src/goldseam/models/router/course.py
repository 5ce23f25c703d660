"""What is remembered of one run and of the reply it waits for. Values and words, no decisions."""

import math
from typing import TypeAlias

from msgspec import Struct, field

from goldseam.kernel.errors import FailureKind
from goldseam.models.router.chain import Members

Words: TypeAlias = dict[str, str]
"""By candidate: a line of what happened."""

_LONG_S = 10

_ADVICE: dict[FailureKind, str] = {
    "auth": "check the key and what it may use",
    "quota": "add credit, or choose another model",
    "transport": "check the network and the host's address",
    "timeout": "try again later, or choose another model",
    "context_overflow": "choose a model with a larger window, or give a smaller task",
    "refused": "choose another model",
    "structural": "a defect of Goldseam's request, not of the model: please report it",
}


class Asking(Struct, kw_only=True):
    """The reply that is wanted now: over when one has come, useful or not."""

    attempts: int = 0
    unasked: int = 0
    """How often somebody else's trouble kept the model from being asked at all."""
    waited_s: float = 0.0
    tries: dict[str, int] = field(default_factory=dict)
    """By candidate: how often it broke off or was too slow."""
    refused: set[str] = field(default_factory=set)
    refitted: set[str] = field(default_factory=set)


class Course(Struct, kw_only=True):
    """What holds for the rest of the run."""

    waited_s: float = 0.0
    not_before: dict[str, float] = field(default_factory=dict)
    """By candidate: when this run itself may ask it again."""
    out: Words = field(default_factory=dict)
    """Those that said themselves that asking them again is no use."""
    useless: set[str] = field(default_factory=set)
    overflowed: dict[str, int] = field(default_factory=dict)
    """By candidate: the estimated tokens that were too many for it."""
    words: Words = field(default_factory=dict)
    """The last failure of each, until it answers."""


def with_advice(text: str, kind: FailureKind) -> str:
    """Return `text` with what to do about `kind`; a text that ends in brackets says it already."""
    advice = _ADVICE.get(kind)
    return text if text.endswith(")") or advice is None else f"{text} ({advice})"


def farewell(members: Members, words: Words, barred: Words, *, why: str) -> str:
    """Return why nobody is asked any more: one line for each candidate, `why` before several."""
    lines = [_line(member.name, words, barred) for member in members]
    if len(lines) == 1:
        return f"{lines[0]}; {why}"
    return "\n".join([why, *lines])


def _line(name: str, words: Words, barred: Words) -> str:
    parts = (words.get(name), barred.get(name))
    said = "; ".join(part for part in parts if part) or "not asked"
    return f"{name}: {said}"


def in_words(wait_s: float) -> str:
    """Return a wait that another run, or the person, must be told of."""
    return "before a restart" if math.isinf(wait_s) else f"for another {seconds(wait_s)}"


def seconds(wait_s: float) -> str:
    """Return a time as it is read: to two places at the most, and none where it is long."""
    return f"{wait_s:.0f} s" if wait_s >= _LONG_S else f"{wait_s:.2g} s"
