"""Read a unified diff, as `git diff` and `diff -u` write it, and as people write it by hand. Pure.

The counts in hunk headers are not relied upon, for they are often wrong; whether a hunk fits is
found out where it is applied.
"""

import re
from collections.abc import Sequence
from typing import cast

from goldseam.workspace.patch_text import FileChange, Hunk, Mark, PatchRefusedError, refused_at

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_QUOTED = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"\\": b"\\"}
_NOWHERE = "/dev/null"
_SIGNATURE = "--"
"""Stands behind a diff in a mail, above the version of git."""
_HEADS = ("@@", "diff --git ", "--- ")
_BINARY = ("GIT binary patch", "Binary files ")

Numbered = tuple[int, str]


class _Reader:
    """A place in the lines of a patch."""

    def __init__(self, lines: Sequence[Numbered]) -> None:
        self._lines, self._at = lines, 0

    def peek(self) -> str | None:
        return self._lines[self._at][1] if self._at < len(self._lines) else None

    def refusal(self, why: str) -> PatchRefusedError:
        number, text = self._lines[min(self._at, len(self._lines) - 1)]
        return refused_at(number, text, why)

    def ahead(self, count: int) -> str:
        return self._lines[self._at + count][1] if self._at + count < len(self._lines) else ""

    def step(self) -> str:
        self._at += 1
        return self._lines[self._at - 1][1]

    @property
    def only_blank_here(self) -> bool:
        """Whether nothing but empty lines comes before the next hunk, the next file or the end."""
        count = 0
        while self._at + count < len(self._lines) and not self.ahead(count):
            count += 1
        return count > 0 and (not self.ahead(count) or self.ahead(count).startswith(_HEADS))

    @property
    def at_file(self) -> bool:
        line = self.peek() or ""
        if line.startswith("diff --git "):
            return True
        # A line that goes may itself begin with "-- ": only all three together are a head.
        return (
            line.startswith("--- ")
            and self.ahead(1).startswith("+++ ")
            and (self.ahead(2).startswith("@@") or not self.ahead(2))
        )


def read_unified(lines: Sequence[Numbered]) -> tuple[FileChange, ...]:
    """Return the changes in `lines` (their numbers and texts).

    Raises:
        PatchRefusedError: no file is named, or a line means nothing where it stands.
    """
    reader = _Reader(lines)
    changes: list[FileChange] = []
    while reader.peek() is not None:
        if reader.at_file:
            changes.append(_read_file(reader))
        elif (line := reader.peek() or "").startswith("@@"):
            raise reader.refusal('stands before any file; begin with "--- a/PATH", "+++ b/PATH"')
        elif line.rstrip() == _SIGNATURE:
            while reader.peek() is not None and not reader.at_file:
                reader.step()
        elif changes and line.strip():
            # Passing over it would pass over a part of a hunk, too.
            raise reader.refusal("belongs to no hunk; is a space, - or + missing in front of it?")
        else:
            # Words in front of a diff, such as a commit's message.
            reader.step()
    return tuple(changes)


def _read_file(reader: _Reader) -> FileChange:
    heads: dict[str, str] = {}
    if (reader.peek() or "").startswith("diff --git "):
        _read_heads(reader, heads)
    if (reader.peek() or "").startswith("--- ") and reader.ahead(1).startswith("+++ "):
        heads["old"] = _path(reader.step()[4:], "a/")
        heads["new"] = _path(reader.step()[4:], "b/")
    if "old" not in heads:
        raise reader.refusal('comes where a file is to be named with "--- a/PATH", "+++ b/PATH"')
    hunks: list[Hunk] = []
    while (reader.peek() or "").startswith("@@"):
        hunks.append(_read_hunk(reader))
    return _change(heads, tuple(hunks), reader)


def _read_heads(reader: _Reader, heads: dict[str, str]) -> None:
    names = re.fullmatch(r"diff --git (?:a/)?(.+) (?:b/)?\1", reader.step().rstrip())
    if names:
        heads["old"] = heads["new"] = names[1]
    words = {
        "rename from ": "old",
        "rename to ": "new",
        "new file mode ": "new mode",
        "new mode ": "new mode",
        "deleted file mode ": "gone",
    }
    while (line := reader.peek()) is not None and not line.startswith((
        "--- ",
        "@@",
        "diff --git ",
    )):
        if line.startswith(_BINARY):
            raise reader.refusal("is of a binary file; write such files with run_command")
        for word, name in words.items():
            if line.startswith(word):
                heads[name] = line.removeprefix(word).rstrip()
                heads["is new"] = "yes" if word == "new file mode " else heads.get("is new", "")
        reader.step()


def _change(heads: dict[str, str], hunks: tuple[Hunk, ...], reader: _Reader) -> FileChange:
    old, new = heads["old"], heads["new"]
    if old == _NOWHERE or heads.get("is new"):
        return FileChange(kind="add", path=new, hunks=hunks, mode=heads.get("new mode"))
    if new == _NOWHERE or "gone" in heads:
        return FileChange(kind="delete", path=old, hunks=hunks)
    if not hunks and old == new and "new mode" not in heads:
        raise reader.refusal(f"comes where a hunk (@@ …) of {old} is to begin")
    moved_to = new if new != old else None
    return FileChange(
        kind="update", path=old, moved_to=moved_to, hunks=hunks, mode=heads.get("new mode")
    )


def _read_hunk(reader: _Reader) -> Hunk:
    head = reader.step()
    numbers = _HUNK.match(head)
    anchor = "" if numbers else head.strip("@ ").strip()
    lines: list[tuple[Mark, str]] = []
    open_end: bool | None = None
    left = [int(numbers[2] or 1), int(numbers[4] or 1)] if numbers else [0, 0]
    while (line := reader.peek()) is not None and not line.startswith("@@") and not reader.at_file:
        is_full = left[0] <= 0 and left[1] <= 0
        if line.startswith("\\"):
            open_end = bool(lines) and lines[-1][0] != "-"
        elif is_full and (reader.only_blank_here or line.rstrip() == _SIGNATURE):
            break
        elif line and line[0] not in " +-":
            raise reader.refusal("begins with none of space (stays), - (goes) and + (comes)")
        else:
            mark = cast("Mark", line[:1] or " ")
            lines.append((mark, line[1:]))
            left[0] -= mark != "+"
            left[1] -= mark != "-"
        reader.step()
    start = int(numbers[1]) if numbers else None
    anchors = (anchor,) if anchor.strip(".… ") else ()
    return Hunk(lines=tuple(lines), anchors=anchors, start=start, open_end=open_end)


def _path(text: str, prefix: str) -> str:
    name = text.partition("\t")[0].rstrip()
    if name.startswith('"') and name.endswith('"'):
        name = _unquoted(name[1:-1])
    return name if name == _NOWHERE else name.removeprefix(prefix)


def _unquoted(name: str) -> str:
    def plain(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code, 8) & 255]) if code.isdigit() else _ESCAPES.get(code, code)

    return _QUOTED.sub(plain, name.encode("utf-8", "replace")).decode("utf-8", "surrogateescape")
