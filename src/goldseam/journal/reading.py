"""Read a whole record and hide nothing: damage becomes a gap, and reading goes on after it.

Pure: eats the lines of a file, however they come.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from goldseam.journal.codec import (
    START,
    BadLineError,
    Entry,
    Fetch,
    Link,
    NewerFormatError,
    read_line,
    split_glued,
)
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import SCHEMA_VERSION, Event


class Gap(Struct, frozen=True, kw_only=True):
    """A place where the record is not whole: `after` events before it can be read."""

    after: int
    line: int
    why: str


class ReadRecord(Struct, frozen=True, kw_only=True):
    """What a record holds. `torn` is an unfinished last line, which begins at byte `length`."""

    entries: tuple[Entry, ...] = ()
    gaps: tuple[Gap, ...] = ()
    length: int = 0
    torn: bytes = b""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events alone."""
        return tuple(entry.event for entry in self.entries)

    @property
    def end(self) -> Link:
        """Where the chain goes on."""
        return self.entries[-1].link if self.entries else START


def read_record(name: str, lines: Iterable[bytes], fetch: Fetch) -> ReadRecord:
    """Return what `lines` hold: the bytes of the file `name`, cut after each line feed.

    Raises:
        JournalError: a newer version wrote it.
    """
    reader = _Reader(name, fetch)
    for number, line in enumerate(lines, start=1):
        if line.endswith(b"\n"):
            reader.take_line(number, line)
        else:
            reader.take_tail(number, line)
    return ReadRecord(
        entries=tuple(reader.entries),
        gaps=tuple(reader.gaps),
        length=reader.length,
        torn=reader.torn,
    )


class _Reader:
    def __init__(self, name: str, fetch: Fetch) -> None:
        self.entries: list[Entry] = []
        self.gaps: list[Gap] = []
        self.length = 0
        self.torn = b""
        self._name = name
        self._fetch = fetch
        self._explained = False
        """Whether a damaged line accounts for events that are missing."""

    def take_line(self, number: int, line: bytes) -> None:
        for _, found in self._pieces(number, line[:-1]):
            self._take(number, found)
        self.length += len(line)

    def take_tail(self, number: int, tail: bytes) -> None:
        """Take what is whole of a last line that has no end; a crash may also have left NULs."""
        pieces = list(self._pieces(number, tail.rstrip(b"\0")))
        torn: list[bytes] = []
        while pieces and not isinstance(pieces[-1][1], Entry):
            torn.insert(0, pieces.pop()[0])
        for piece, found in pieces:
            self._take(number, found)
            self.length += len(piece)
        self.torn = b"".join(torn)

    def _pieces(self, number: int, line: bytes) -> Iterator[tuple[bytes, Entry | str]]:
        for piece in split_glued(line):
            try:
                yield piece, read_line(piece, self._fetch)
            except BadLineError as error:
                yield piece, str(error)
            except NewerFormatError as error:
                raise JournalError(
                    f"{self._name}, line {number}: written in format {error.version}, and this "
                    f"version reads up to {SCHEMA_VERSION}; use a newer goldseam"
                ) from error

    def _take(self, number: int, found: Entry | str) -> None:
        if isinstance(found, str):
            self._add_gap(number, found)
            self._explained = True
            return
        last = self.entries[-1].link if self.entries else START
        if found.link == last:
            self._add_gap(number, "repeats the event before it")
            return
        if found.prev != last.h and not self._explained:
            self._add_gap(number, _break(last, found))
        self._explained = False
        self.entries.append(found)

    def _add_gap(self, number: int, why: str) -> None:
        self.gaps.append(
            Gap(after=len(self.entries), line=number, why=f"{self._name}, line {number}: {why}")
        )


def _break(last: Link, found: Entry) -> str:
    missing = found.link.seq - last.seq - 1
    if missing > 0:
        return f"{missing} events before it are missing"
    return "does not follow the event before it"
