"""The record of a run as files: one directory, one writer, lines that are never changed.

RUN/events.jsonl   the events (see `codec`)
RUN/blobs/         long texts
RUN/events.torn    unfinished last lines that opening cut off
RUN/lock           held by the writer for life; reading needs no lock
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

from msgspec import Struct

from goldseam.journal.appending import GrowingFile
from goldseam.journal.blobs import fetch_blob, keep_blob, sync_folder
from goldseam.journal.codec import Link, write_line
from goldseam.journal.reading import ReadRecord, read_record
from goldseam.journal.redact import Redactor
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event

EVENTS = "events.jsonl"
TORN = "events.torn"
BLOBS = "blobs"
LOCK = "lock"

_LOOKING_S = (0.01, 0.03, 0.06)

WallClock = Callable[[], datetime]
"""Returns the time with its offset from UTC."""


class Writing(Struct, frozen=True, kw_only=True):
    """How events are written: by which clock, and without which secrets."""

    wall: WallClock
    secrets: tuple[str, ...] = ()


class FileJournal:
    """The one writer of a run's record. Close it, or use it in a `with` statement."""

    def __init__(
        self, folder: Path, file: GrowingFile, *, writing: Writing, end: Link, lock: int
    ) -> None:
        self.folder = folder
        self._file = file
        self._end = end
        self._lock = lock
        self._wall = writing.wall
        self._clean = Redactor(writing.secrets)

    async def append(self, event: Event, *, durable: bool) -> None:
        """Write `event` at the end; where `durable`, return only once it would outlive the machine.

        Nothing waits here: a sync took half as long as one handed to a thread, and so a cancelled
        task can never leave the caller in doubt whether the event is there.

        Raises:
            JournalError: it could not be written, and nothing of it is there.
        """
        written = write_line(event, after=self._end, at=self._wall(), clean=self._clean)
        if written.blobs:
            with _readable_errors(self.folder / BLOBS):
                for name, blob in written.blobs.items():
                    keep_blob(self.folder / BLOBS, name, blob)
        self._file.append(written.line, durable=durable)
        self._end = written.link

    def close(self) -> None:
        """Let another writer in."""
        self._file.close()
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class OpenedRun(Struct, frozen=True, kw_only=True):
    """A run opened to be gone on with: the journal to write on, and what stood there."""

    journal: FileJournal
    record: ReadRecord


def create_run(runs: Path, run_id: str, *, writing: Writing) -> FileJournal:
    """Make the directory of a new run in `runs`, for its owner's eyes alone, and its empty record.

    Raises:
        JournalError: it cannot be made, or there is one.
    """
    folder = runs / run_id
    with _readable_errors(folder):
        runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        sync_folder(runs)
    opened = open_run(folder, writing=writing)
    with _readable_errors(folder):
        sync_folder(folder)
    return opened.journal


def open_run(folder: Path, *, writing: Writing) -> OpenedRun:
    """Open the run in `folder` to write on, once its end is mended.

    An unfinished last line moves to `events.torn`: nothing is thrown away, and nothing written
    later is glued to it.

    Raises:
        JournalError: another process writes it, a newer version wrote it, or it cannot be opened.
    """
    with ExitStack() as undo:
        lock = _lock(folder)
        undo.callback(os.close, lock)
        with _readable_errors(folder):
            file = GrowingFile(folder / EVENTS)
            undo.callback(file.close)
            record = read_run(folder)
            _mend(folder, file, record)
        undo.pop_all()
    journal = FileJournal(folder, file, writing=writing, end=record.end, lock=lock)
    return OpenedRun(journal=journal, record=record)


def read_run(folder: Path) -> ReadRecord:
    """Return what the run in `folder` holds; it may be read while it is written.

    Raises:
        JournalError: it cannot be read, or a newer version wrote it.
    """
    path = folder / EVENTS
    with _readable_errors(path), path.open("rb") as lines:
        return read_record(f"{folder.name}/{EVENTS}", lines, partial(fetch_blob, folder / BLOBS))


def is_written(folder: Path) -> bool:
    """Return whether a process writes the run in `folder` just now.

    Raises:
        JournalError: its lock cannot be read.
    """
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise JournalError(f"{folder}/{LOCK}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _mend(folder: Path, file: GrowingFile, record: ReadRecord) -> None:
    if record.torn:
        torn = GrowingFile(folder / TORN)
        torn.append(record.torn + b"\n", durable=False)
        torn.close()
    file.cut(record.length)
    file.end_line()
    for unfinished in (folder / BLOBS).glob("*.part"):
        unfinished.unlink()


def _lock(folder: Path) -> int:
    with _readable_errors(folder):
        descriptor = os.open(
            folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            _take(descriptor)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise JournalError(
                f"run {folder.name} is being written by process {holder}: wait for it or stop it; "
                f"`goldseam show {folder.name}` reads it meanwhile"
            ) from error
        except OSError:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _take(descriptor: int) -> None:
    """Lock for good; one that only looks whether the lock is held, holds it for a moment."""
    for wait_s in _LOOKING_S:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(wait_s)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror or error}") from error


if TYPE_CHECKING:
    from goldseam.kernel.ports import Journal

    _fits: Journal = cast("FileJournal", ...)
