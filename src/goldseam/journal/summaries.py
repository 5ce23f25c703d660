"""What the runs of a home are and how they stand, without reading their records whole.

Of each are read the first line of its record, the last one, and `result.json` where that is no
older than the record; a lock that is held says that the run is written just now.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from goldseam.journal.codec import MAX_LINE
from goldseam.journal.runs import run_folders
from goldseam.journal.store import EVENTS, is_written
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Setting

RESULT = "result.json"

RunStanding: TypeAlias = Literal["running", "finished", "stopped", "crashed"]
"""running (written just now) · finished (the model gave its answer) · stopped (by a limit, a person
or the provider) · crashed (it ended without saying how, or by a defect)."""

_STANDINGS: dict[str, RunStanding] = {
    "completed": "finished",
    "budget_stopped": "stopped",
    "model_failed": "stopped",
    "stopped": "stopped",
}
_FIRST_LOOK, _LAST_LOOK = 32 * 1024, 4 * 1024


class RunSummary(Struct, frozen=True, kw_only=True):
    """A run in one line. What is not known is empty or None."""

    run_id: str
    folder: Path
    standing: RunStanding
    started: str = ""
    """By the wall clock, ISO 8601."""
    seconds: float = 0.0
    """On the run's own clock, at its last event."""
    outcome: str | None = None
    """The tag of the kernel's outcome, where the run came to its end."""
    verdict: str | None = None
    message: str = ""
    issue: str = ""
    model: str = ""
    repository: str = ""
    model_calls: int | None = None
    tokens: int | None = None
    """All that were reported, those of caches among them."""


class _Outcome(Struct, frozen=True):
    type: str


class _Fields(Struct, frozen=True):
    at_s: float = 0.0
    settings: tuple[Setting, ...] = ()
    outcome: _Outcome | None = None


class _Line(Struct, frozen=True):
    t: str = ""
    type: str = ""
    data: _Fields = _Fields()


class _Usage(Struct, frozen=True):
    model_calls: int | None = None
    tokens: dict[str, int | None] = {}


class _Result(Struct, frozen=True):
    verdict: str | None = None
    message: str = ""
    issue: str = ""
    model: str = ""
    usage: _Usage | None = None


_Known = TypeVar("_Known", bound=Struct)


def list_runs(home: Path) -> Iterator[RunSummary]:
    """Yield a summary of each run, the newest first; of what is damaged, what can be had.

    Raises:
        JournalError: the home, or a run in it, cannot be read.
    """
    for folder in run_folders(home):
        try:
            yield summary_of(folder)
        except FileNotFoundError:
            continue  # pruned meanwhile
        except OSError as error:
            raise JournalError(f"{folder}: {error.strerror}") from error


def summary_of(folder: Path) -> RunSummary:
    """Return how the run in `folder` stands; raises OSError and JournalError."""
    descriptor = os.open(folder / EVENTS, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        first = _read(_Line, _first_line(descriptor))
        last = _read(_Line, _last_line(descriptor, status.st_size))
    finally:
        os.close(descriptor)
    running = is_written(folder)
    result = _Result() if running else _result(folder, since_ns=status.st_mtime_ns)
    outcome = last.data.outcome.type if last.type == "run_finished" and last.data.outcome else None
    facts = {setting.name: setting.value for setting in first.data.settings}
    usage = result.usage or _Usage()
    reported = [count for count in usage.tokens.values() if count is not None]
    return RunSummary(
        run_id=folder.name,
        folder=folder,
        standing="running" if running else _STANDINGS.get(outcome or "", "crashed"),
        started=first.t,
        seconds=last.data.at_s,
        outcome=None if running else outcome,
        verdict=result.verdict,
        message=result.message,
        issue=result.issue or facts.get("issue", ""),
        model=result.model or facts.get("model", ""),
        repository=facts.get("repository", ""),
        model_calls=usage.model_calls,
        tokens=sum(reported) if reported else None,
    )


def _first_line(descriptor: int) -> bytes:
    look = _FIRST_LOOK
    while True:
        found = os.pread(descriptor, look, 0)
        line, end, _ = found.partition(b"\n")
        if end or len(found) < look or look > MAX_LINE:
            return line
        look *= 16


def _last_line(descriptor: int, size: int) -> bytes:
    """Return the last line that has its end."""
    look = _LAST_LOOK
    while True:
        found = os.pread(descriptor, look, max(0, size - look))
        whole, end, _ = found.rpartition(b"\n")
        _, start, line = whole.rpartition(b"\n")
        if start or look >= min(size, 2 * MAX_LINE):
            return line if end else b""
        look *= 16


def _result(folder: Path, *, since_ns: int) -> _Result:
    try:
        with (folder / RESULT).open("rb") as file:
            # An older one is from before the run was gone on with.
            fresh = os.fstat(file.fileno()).st_mtime_ns >= since_ns
            return _read(_Result, file.read()) if fresh else _Result()
    except FileNotFoundError:
        return _Result()


def _read(kind: type[_Known], content: bytes) -> _Known:
    """Return what `content` says of `kind`, or an empty one where it cannot be read."""
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError:
        return kind()
    except msgspec.DecodeError:
        pass  # a path that is no UTF-8 stands there as escapes that this reader does not take
    try:
        return msgspec.convert(json.loads(content), kind)
    except (ValueError, RecursionError):
        return kind()
