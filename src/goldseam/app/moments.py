"""The moments of a run at which a checkpoint of its files is taken, as the checkpoint's name. Pure.

A name says after which event of the record the files stood so: what a record up to some event has
to do with a tree of files is told by that alone.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from goldseam.workspace.checkpoint_store import Checkpoint

What: TypeAlias = Literal["before", "after", "end", "resumed"]
"""before, after (a call that may change something) · end (of a sitting) · resumed (a new one)."""

UNDONE = "changes were undone"
"""So begins why a run stopped whose changes a person undid."""


class Moment(Struct, frozen=True, kw_only=True):
    """A moment after the event `seq` of the record, and before the next one."""

    seq: int
    what: What
    call_id: str = ""

    @property
    def name(self) -> str:
        """What a checkpoint of this moment is called."""
        return f"{self.seq} {self.what} {self.call_id}".rstrip()


def moment_of(checkpoint: Checkpoint) -> Moment | None:
    """Return when `checkpoint` was taken; `None` where it is none of a run's."""
    number, _, rest = checkpoint.name.partition(" ")
    word, _, call_id = rest.partition(" ")
    for what in get_args(What):
        if word == what and number.isascii() and number.isdecimal():
            return Moment(seq=int(number), what=what, call_id=call_id)
    return None


def last_until(taken: Iterable[Checkpoint], seq: int) -> Checkpoint | None:
    """Return the checkpoint of the files as they stood once the event `seq` was on record."""
    last = None
    for checkpoint in taken:
        moment = moment_of(checkpoint)
        if moment is not None and moment.seq <= seq:
            last = checkpoint
    return last


def last_known(taken: Iterable[Checkpoint]) -> Checkpoint | None:
    """Return the checkpoint of the files as the model last knew them."""
    last = None
    for checkpoint in taken:
        moment = moment_of(checkpoint)
        if moment is not None and moment.what != "end":
            last = checkpoint
    return last


def before_call(taken: Iterable[Checkpoint], call_id: str) -> Checkpoint | None:
    """Return the checkpoint that was taken last before the call."""
    last = None
    for checkpoint in taken:
        moment = moment_of(checkpoint)
        if moment is not None and (moment.what, moment.call_id) == ("before", call_id):
            last = checkpoint
    return last


class Station(Struct, frozen=True, kw_only=True):
    """A state of the files that a person can go back to: its number, 1 being the first change."""

    number: int
    checkpoint: Checkpoint


def stations(taken: Iterable[Checkpoint], base: str) -> Sequence[Station]:
    """Return the states of the files that differ from the one before; `base` is the tree of 0."""
    found: list[Station] = []
    tree = base
    for checkpoint in taken:
        if moment_of(checkpoint) is not None and checkpoint.tree != tree:
            found.append(Station(number=len(found) + 1, checkpoint=checkpoint))
            tree = checkpoint.tree
    return found
