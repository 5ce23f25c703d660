"""The standard streams of the process, made to last for the whole of a command.

A reader that went away, a full disk, a stream that was closed before we began, an encoding that
lacks a letter: none of them stops a run. Imported before anything else, so it imports little.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import _typeshed


class LastingOutput(io.RawIOBase):
    """Writes to a descriptor until that fails once; from then on, what is written is let go."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self.failure: OSError | None = None

    @property
    def loss(self) -> str | None:
        """Why output was lost; `None` where none was, or where the reader had seen enough."""
        if self.failure is None or isinstance(self.failure, BrokenPipeError):
            return None
        return self.failure.strerror or str(self.failure)

    def write(self, content: _typeshed.ReadableBuffer, /) -> int:
        """Write some of `content` and return how much of it is done with; nothing is raised."""
        while self.failure is None:
            try:
                return os.write(self._descriptor, content)
            except BlockingIOError:
                # Somebody we share the terminal or pipe with has set it so; we can wait.
                select.select([], [self._descriptor], [])
            except OSError as error:
                self.failure = error
        return memoryview(content).nbytes

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a terminal is written to."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True


def settle_streams() -> LastingOutput:
    """Put lasting streams in the place of the process's own; return what standard output is."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Takes the lowest free number, this one, lest a file of ours become a standard stream.
            # Reading it gives nothing, writing it fails, as with a closed one.
            os.open(os.devnull, os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(
            io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8"
        )
    out, err = LastingOutput(1), LastingOutput(2)
    sys.stdout = _text(out, sys.stdout, line_buffering=out.isatty())
    sys.stderr = _text(err, sys.stderr, line_buffering=True)
    return out


def _text(raw: LastingOutput, like: TextIO | None, *, line_buffering: bool) -> TextIO:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=like.encoding if like is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=line_buffering,
    )
