"""What a run began from, beside its record: kept in its folder for whoever goes on with it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.errors import JournalError
from goldseam.repair.task import Issue
from goldseam.workspace.testing.detect import TestCommand
from goldseam.workspace.testing.report import TestReport

BEGINNING = "beginning.json"
_VERSION = 1


class Beginning(Struct, frozen=True, kw_only=True):
    """The issue, the tests and how they stood, and what the person asked for.

    `model` and `out` are as they were said; `out` is absolute.
    """

    version: int = _VERSION
    issue: Issue
    model: str | None
    out: str | None
    tests: TestCommand
    test_limit_s: float
    baseline: TestReport

    @property
    def out_folder(self) -> Path | None:
        """Where the files of the result go besides the run's folder."""
        return None if self.out is None else Path(self.out)


def keep_beginning(folder: Path, beginning: Beginning, *, clean: Callable[[str], str]) -> None:
    """Write `beginning` into the run's `folder`; it would outlive the machine on return.

    `clean` takes secrets out of text. What the tests printed is left out: nothing turns on it.

    Raises:
        JournalError: it cannot be written.
    """
    kept = replace(
        beginning,
        issue=replace(beginning.issue, text=clean(beginning.issue.text)),
        baseline=replace(beginning.baseline, output=""),
    )
    content = json.dumps(msgspec.to_builtins(kept)).encode("ascii")
    try:
        descriptor = os.open(folder / BEGINNING, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise JournalError(f"{folder / BEGINNING}: {error.strerror}") from error


def read_beginning(folder: Path) -> Beginning:
    """Return what the run in `folder` began from.

    Raises:
        JournalError: it was not kept, cannot be read, or a newer version wrote it.
    """
    try:
        beginning = msgspec.convert(json.loads((folder / BEGINNING).read_bytes()), Beginning)
    except (OSError, ValueError) as error:
        raise JournalError(f"what run {folder.name} began from cannot be read: {error}") from error
    if beginning.version > _VERSION:
        raise JournalError(f"{folder / BEGINNING}: a newer version wrote it; use a newer goldseam")
    return beginning
