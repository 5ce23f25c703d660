"""What model and person are told of a run that goes on after it was left. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from goldseam.kernel.conversation import ToolCall
from goldseam.repair.prompting import fill
from goldseam.workspace.differences import Change

_MOST_FILES = 30
_EDITING = frozenset({"apply_patch", "edit_file", "write_file"})
"""These change files of the workspace and nothing else."""


class LeftAs(Struct, frozen=True, kw_only=True):
    """How a run is found: what differs in its files from how the model last knew them, and why.

    `changes` are `None` where a call that was under way accounts for them, which is told there.
    """

    changes: Sequence[Change] | None = ()
    undone: str = ""
    """What a person undid, in words; empty where nothing."""
    damage: int = 0
    """Places where the record is not whole."""
    left_out: Sequence[str] = ()
    """Files that were too large for a checkpoint, and are as they were at the start, or gone."""
    was_answered: bool = False
    """Whether the model gave an answer that ended the run, which was not proved."""


def told_of_call(call: ToolCall, changes: Sequence[Change]) -> str:
    """Return what the model is told of a call that was under way when the run broke off."""
    files = f"these files differ: {_listed(changes)}" if changes else "no file differs"
    reach = "" if call.tool_name in _EDITING else f" {fill('look_outside')}"
    return fill("call_unknown", tool=call.tool_name, files=files, reach=reach)


def told_of_run(left: LeftAs) -> str:
    """Return what the model is told of the whole run."""
    notes = [fill("resumed")]
    if left.undone:
        notes.append(f"A person has undone changes: {left.undone}.")
    if left.changes:
        notes.append(fill("files_differ", files=_listed(left.changes)))
    notes += [note for note in person_notes(left) if note]
    if left.was_answered:
        notes.append(fill("not_proved_yet"))
    return "\n".join(notes)


def person_notes(left: LeftAs) -> list[str]:
    """Return what the person is told as well, a line each."""
    notes: list[str] = []
    if left.damage:
        places = "1 place" if left.damage == 1 else f"{left.damage} places"
        notes.append(
            f"The record of this run is not whole in {places}: replies or results may be missing."
        )
    if left.left_out:
        notes.append(f"Too large to be kept, and so not as they were: {', '.join(left.left_out)}.")
    return notes


def _listed(changes: Sequence[Change]) -> str:
    shown = [f"{change.path} ({change.status})" for change in changes[:_MOST_FILES]]
    more = len(changes) - _MOST_FILES
    return ", ".join(shown) + (f", and {more} more" if more > 0 else "")
