"""Read a patch in its envelope: `*** Begin Patch`, files by name, hunks without line numbers. Pure.

*** Begin Patch
*** Update File: src/app.py
@@ def total(a, b):
-    return a - b
+    return a + b
*** Add File: NEWS
+Totals are right again.
*** Delete File: old.py
*** End Patch
"""

from collections.abc import Iterator, Sequence
from typing import cast

from goldseam.workspace.patch_text import FileChange, Hunk, Mark, PatchRefusedError, refused_at

BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
_MOVE, _END_OF_FILE = "*** Move to: ", "*** End of File"

Numbered = tuple[int, str]


def read_envelope(lines: Sequence[Numbered]) -> tuple[FileChange, ...]:
    """Return the changes in `lines` (their numbers and texts), the first of which is `BEGIN`.

    Raises:
        PatchRefusedError: a line means nothing where it stands, or the end is missing.
    """
    ends = [index for index, (_, text) in enumerate(lines) if text.rstrip() == _END]
    if not ends:
        raise PatchRefusedError(
            f'the patch has no "{_END}": it may have been cut off; send it again, whole'
        )
    body = lines[1 : ends[0]]
    return tuple(_read_section(section) for section in _sections(body))


def _sections(body: Sequence[Numbered]) -> Iterator[list[Numbered]]:
    section: list[Numbered] = []
    for number, text in body:
        if text.startswith((_ADD, _DELETE, _UPDATE)):
            if section:
                yield section
            section = [(number, text)]
        elif section:
            section.append((number, text))
        elif text.strip():
            raise refused_at(number, text, f'stands before any file; begin with "{_UPDATE}PATH"')
    if section:
        yield section


def _read_section(section: list[Numbered]) -> FileChange:
    (number, head), rest = section[0], section[1:]
    kind, _, named = head.partition(": ")
    path = named.strip()
    if not path:
        raise refused_at(number, head, "names no file")
    match f"{kind}: ":
        case "*** Add File: ":
            return FileChange(kind="add", path=path, hunks=(_added(rest),))
        case "*** Delete File: ":
            return _deleted(path, rest)
        case _:
            change = _updated(path, rest)
            if not change.hunks and not change.moved_to:
                why = "changes nothing; give lines that begin with - or +"
                raise refused_at(number, head, why)
            return change


def _deleted(path: str, rest: Sequence[Numbered]) -> FileChange:
    for number, text in rest:
        if text.strip():
            raise refused_at(number, text, f"means nothing where {path} is deleted")
    return FileChange(kind="delete", path=path)


def _updated(path: str, rest: Sequence[Numbered]) -> FileChange:
    moved_to = None
    if rest and rest[0][1].startswith(_MOVE):
        moved_to = rest[0][1].removeprefix(_MOVE).strip()
        rest = rest[1:]
    return FileChange(kind="update", path=path, moved_to=moved_to, hunks=tuple(_hunks(rest)))


def _added(rest: Sequence[Numbered]) -> Hunk:
    lines: list[tuple[Mark, str]] = []
    for number, text in _without_blank_tail(rest):
        if not text.startswith("+"):
            raise refused_at(number, text, "is in a new file, whose lines all begin with +")
        lines.append(("+", text[1:]))
    return Hunk(lines=tuple(lines))


def _hunks(rest: Sequence[Numbered]) -> Iterator[Hunk]:
    anchors: list[str] = []
    lines: list[tuple[Mark, str]] = []
    for number, text in _without_blank_tail(rest):
        if text.startswith("@@"):
            if lines:
                yield Hunk(lines=tuple(lines), anchors=tuple(anchors))
                anchors, lines = [], []
            anchor = text.removeprefix("@@").strip().removesuffix("@@").strip()
            anchors += [anchor] if anchor else []
        elif text.rstrip() == _END_OF_FILE:
            yield Hunk(lines=tuple(lines), anchors=tuple(anchors), at_end=True)
            anchors, lines = [], []
        else:
            lines.append(_marked(number, text))
    if lines or anchors:
        yield Hunk(lines=tuple(lines), anchors=tuple(anchors))


def _marked(number: int, text: str) -> tuple[Mark, str]:
    if not text:
        # The space in front of an empty line is often lost on the way.
        return " ", ""
    if text[0] not in " +-":
        raise refused_at(number, text, "begins with none of space (stays), - (goes) and + (comes)")
    return cast("Mark", text[0]), text[1:]


def _without_blank_tail(lines: Sequence[Numbered]) -> Sequence[Numbered]:
    """Return `lines` without empty ones at the end, which part sections and mean nothing."""
    end = len(lines)
    while end and not lines[end - 1][1]:
        end -= 1
    return lines[:end]
