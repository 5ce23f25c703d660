"""Fold the long stacks that a user's program prints: frames of its own stay, others make room.

Pure, and linear. A failing test's traceback is no noise: where it is short, all of it stays.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

MAX_FRAMES = 20
"""Frames of one stack that are shown."""

_HEAD_FRAMES = 8
_FRAME = re.compile(r'(?P<indent>[ \t]*)(?:File "(?P<path>[^"\n]*)", line \d+|at \S.*)')
_REPEATED = re.compile(r"[ \t]+\[Previous line repeated \d+ more times?\]")
_LINES_OF_FRAME = 8
_FOREIGN = ("site-packages/", "dist-packages/", "node_modules/", ".venv/", "venv/", ".tox/")


class _Frame(Struct, frozen=True, kw_only=True):
    """One frame: its lines, the indentation of the first, and whether it is the workspace's."""

    lines: tuple[str, ...]
    indent: str
    is_own: bool


def fold_stacks(text: str, *, lever: str) -> str:
    """Return `text` with each stack of more than `MAX_FRAMES` frames folded, and that said.

    Paths of the workspace are relative by now, so an absolute one is foreign.
    """
    lines = text.split("\n")
    shown: list[str] = []
    stack: list[_Frame] = []
    at = 0
    while at < len(lines):
        found = _FRAME.match(lines[at])
        if found is None:
            shown += _folded(stack, lever)
            stack = []
            shown.append(lines[at])
            at += 1
            continue
        end = _end_of_frame(lines, at, found["indent"])
        stack.append(
            _Frame(
                lines=tuple(lines[at:end]), indent=found["indent"], is_own=_is_own(found["path"])
            )
        )
        at = end
    return "\n".join((*shown, *_folded(stack, lever)))


def _end_of_frame(lines: Sequence[str], start: int, indent: str) -> int:
    """Return where the lines of the frame that begins at `start` end: those further in are its."""
    end = start + 1
    while end < min(len(lines), start + _LINES_OF_FRAME):
        line = lines[end]
        deeper = line.startswith(indent) and line[len(indent) : len(indent) + 1] in {" ", "\t"}
        if not (deeper or _REPEATED.match(line)) or _FRAME.match(line):
            break
        end += 1
    return end


def _is_own(path: str | None) -> bool:
    if path is None or path.startswith(("/", "<")):
        return False
    return not any(folder in path for folder in _FOREIGN)


def _folded(stack: Sequence[_Frame], lever: str) -> list[str]:
    if len(stack) <= MAX_FRAMES:
        return [line for frame in stack for line in frame.lines]
    kept = [
        index for index, frame in enumerate(stack) if frame.is_own or index in {0, len(stack) - 1}
    ]
    if len(kept) > MAX_FRAMES:
        kept = [*kept[:_HEAD_FRAMES], *kept[_HEAD_FRAMES - MAX_FRAMES :]]
    shown: list[str] = []
    before = -1
    for index in kept:
        missing = index - before - 1
        if missing:
            shown.append(
                f"{stack[index].indent}[… {missing} of {len(stack)} frames left out; {lever} …]"
            )
        shown += stack[index].lines
        before = index
    return shown
