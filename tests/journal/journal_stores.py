"""The stores behind the `Journal` port. One more is held to its promises by a row in `STORES`."""

import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from journal.generated_events import NOON

from goldseam.journal.codec import START, Link, read_line, write_line
from goldseam.journal.redact import Redactor
from goldseam.journal.store import EVENTS, FileJournal, Writing, create_run, open_run, read_run
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event
from goldseam.kernel.ports import Journal

RUN = "20261130-120000-0001"


class Store(Protocol):
    """One record."""

    def open(self, *secrets: str) -> AbstractContextManager[Journal]:
        """Open it to write at its end; raises JournalError where somebody writes it already."""
        ...

    def events(self) -> tuple[Event, ...]:
        """Return what it holds, also while it is written."""
        ...

    def full(self) -> AbstractContextManager[None]:
        """Give a time in which no event fits, though the beginning of one may."""
        ...


class FileStore:
    """The record of a run in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / RUN
        create_run(folder, RUN, writing=Writing(wall=lambda: NOON)).close()

    def open(self, *secrets: str) -> AbstractContextManager[FileJournal]:
        writing = Writing(wall=lambda: NOON, secrets=secrets)
        return open_run(self._folder, writing=writing).journal

    def events(self) -> tuple[Event, ...]:
        record = read_run(self._folder)
        assert (record.gaps, record.torn) == ((), b"")
        return record.events

    @contextmanager
    def full(self) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        room = (self._folder / EVENTS).stat().st_size + 20
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


class MemoryStore:
    """A record in memory, for tests: lines and blobs in lists, and no disk."""

    def __init__(self, _: Path) -> None:
        self.lines: list[bytes] = []
        self.blobs: dict[str, bytes] = {}
        self.end: Link = START
        self.is_full = False
        self._is_open = False

    @contextmanager
    def open(self, *secrets: str) -> Iterator["MemoryJournal"]:
        if self._is_open:
            raise JournalError("somebody writes it already")
        self._is_open = True
        try:
            yield MemoryJournal(self, Redactor(secrets))
        finally:
            self._is_open = False

    def events(self) -> tuple[Event, ...]:
        return tuple(read_line(line[:-1], self.blobs.__getitem__).event for line in self.lines)

    @contextmanager
    def full(self) -> Iterator[None]:
        self.is_full = True
        yield
        self.is_full = False


class MemoryJournal:
    """Writes on a `MemoryStore`, and can go on once there is room again."""

    def __init__(self, store: MemoryStore, clean: Redactor) -> None:
        self._store = store
        self._clean = clean

    async def append(self, event: Event, *, durable: bool) -> None:
        store = self._store
        written = write_line(event, after=store.end, at=NOON, clean=self._clean)
        if store.is_full:
            raise JournalError(f"no room for an event{' to outlive anything' * durable}")
        store.blobs |= written.blobs
        store.lines.append(written.line)
        store.end = written.link


STORES: tuple[Callable[[Path], Store], ...] = (FileStore, MemoryStore)
"""Each makes an empty store; what it puts on disk goes into the folder."""
