"""What a call would change, as lines of a diff read off its arguments. Pure; knows no tool by name.

Tools that change files say so alike: an old text and a new one, a whole content, or a patch.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.conversation import Arguments, ToolCall
from goldseam.kernel.json_text import BadJsonError, Json

Sign: TypeAlias = Literal["+", "-", "@", " "]

_MOST_COMPARED = 2_000
"""Lines; beyond them all that was there goes and all that is new comes."""

_HEADERS = ("+++ ", "--- ", "index ", "new ", "old ", "deleted ", "similarity ", "rename ")


class ChangeLine(Struct, frozen=True):
    """One line of a diff."""

    sign: Sign
    text: str


Change: TypeAlias = tuple[ChangeLine, ...]


def changes_of(call: ToolCall) -> tuple[Change, ...]:
    """Return the changes that `call` asks for, one for each place; none where it only looks."""
    return tuple(change for change in _found(values_of(call)) if change)


def values_of(call: ToolCall) -> dict[str, Json]:
    """Return the arguments of `call` by name; none where they are no object."""
    try:
        return call.arguments.value() if isinstance(call.arguments, Arguments) else {}
    except BadJsonError:
        return {}  # only in a record that we did not write


def lines_of_diff(diff: str) -> Change:
    """Return the lines of a diff that is text already; headers count as places."""
    lines: list[ChangeLine] = []
    is_header = True
    for line in diff.removesuffix("\n").split("\n"):
        if line.startswith(("@@", "diff ", "*** ")):
            is_header = line.startswith("diff ")
            lines.append(ChangeLine("@", line))
        elif is_header and line.startswith(_HEADERS):
            lines.append(ChangeLine("@", line))
        else:
            lines.append(_line(line))
    return tuple(lines)


def _found(arguments: dict[str, Json]) -> Iterator[Change]:
    match arguments:
        case {"old_text": str(old), "new_text": str(new)}:
            yield _compared(old, new)
        case {"content": str(content), "path": str()}:
            yield tuple(ChangeLine("+", line) for line in content.removesuffix("\n").split("\n"))
        case {"patch": str(patch)}:
            yield lines_of_diff(patch)
        case _:
            pass
    edits = arguments.get("edits")
    for edit in edits if isinstance(edits, list) else ():
        if isinstance(edit, dict):
            yield from _found(edit)


def _compared(old: str, new: str) -> Change:
    before, after = old.split("\n"), new.split("\n")
    gone = tuple(ChangeLine("-", line) for line in before)
    come = tuple(ChangeLine("+", line) for line in after)
    if len(before) + len(after) > _MOST_COMPARED:
        return gone + come
    lines: list[ChangeLine] = []
    for kind, old_from, old_to, new_from, new_to in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            lines += [ChangeLine(" ", line) for line in before[old_from:old_to]]
        else:
            lines += gone[old_from:old_to] + come[new_from:new_to]
    return tuple(lines)


def _line(line: str) -> ChangeLine:
    match line[:1]:
        case "+":
            return ChangeLine("+", line[1:])
        case "-":
            return ChangeLine("-", line[1:])
        case _:
            return ChangeLine(" ", line.removeprefix(" "))
