"""A file's bytes as lines that keep their own ends, and the places of lines among lines. Pure.

Texts are read so that bytes which are no UTF-8 survive the way there and back.
"""

import codecs
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

MAX_PLACES = 1_000
MAX_LINES = 500_000
"""Of a file that is taken apart into lines: each costs far more memory than its bytes."""

Line: TypeAlias = tuple[str, str]
"""A line's text, and its end: LF, CRLF, or nothing at the end of a file."""


class FileLines(Struct, frozen=True, kw_only=True):
    """A file as lines; `mark` is its mark of order, `newline` the end that most lines have."""

    mark: bytes
    lines: tuple[Line, ...]
    newline: str

    @classmethod
    def of(cls, content: bytes) -> "FileLines":
        """Return the lines of `content`."""
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        text = content[len(mark) :].decode("utf-8", "surrogateescape")
        ended = [_parted(line) for line in text.split("\n")[:-1]]
        rest = text[text.rfind("\n") + 1 :]
        lines = (*ended, *([(rest, "")] if rest else []))
        wide = sum(end == "\r\n" for _, end in ended)
        return cls(mark=mark, lines=lines, newline="\r\n" if 2 * wide > len(ended) else "\n")

    @property
    def texts(self) -> list[str]:
        """The lines without their ends."""
        return [text for text, _ in self.lines]

    def with_lines(self, lines: Sequence[Line], *, open_end: bool | None = None) -> "FileLines":
        """Return the file with `lines`, of which only the last may lack an end.

        `open_end` says whether it does; none leaves it as it is given.
        """
        whole = [(text, end or self.newline) for text, end in lines]
        if lines and (open_end or (open_end is None and not lines[-1][1])):
            whole[-1] = (whole[-1][0], "")
        return FileLines(mark=self.mark, lines=tuple(whole), newline=self.newline)

    def content(self) -> bytes:
        """Return the bytes again."""
        text = "".join(text + end for text, end in self.lines)
        return self.mark + text.encode("utf-8", "surrogateescape")


def exactly(text: str) -> str:
    """Return `text`: lines are alike where they are equal."""
    return text


def but_for_space(text: str) -> str:
    """Return what of `text` counts where white space does not, but for its being there at all."""
    return " ".join(text.split())


def places_of(
    wanted: Sequence[str], texts: Sequence[str], *, alike: Callable[[str], str] = exactly
) -> list[int]:
    """Return the indices at which the lines `wanted` stand among `texts`; linear in both."""
    sought = "\n".join(("", *map(alike, wanted), ""))
    within = "\n".join(("", *map(alike, texts), ""))
    found: list[int] = []
    line, before = 0, 0
    offset = within.find(sought)
    while offset >= 0 and len(found) < MAX_PLACES:
        line += within.count("\n", before, offset)
        before = offset
        found.append(line)
        offset = within.find(sought, offset + 1)
    return found


def _parted(line: str) -> Line:
    return (line[:-1], "\r\n") if line.endswith("\r") else (line, "\n")
