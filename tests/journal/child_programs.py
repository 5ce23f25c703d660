"""Programs that write records in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

PRELUDE = """
import os, resource, sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
import anyio
from goldseam.journal.store import Writing, create_run, open_run, read_run
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Noted
from goldseam.kernel.request import Remark

WRITING = Writing(wall=lambda: datetime(2026, 11, 30, tzinfo=UTC))

def noted(text):
    return Noted(at_s=0.5, remark=Remark(code="n", text=text))

def keep(journal, event, durable=False):
    async def append():
        await journal.append(event, durable=durable)
    anyio.run(append)

def refused(deed):
    try:
        deed()
    except JournalError as error:
        print(error)
    else:
        print("no refusal")
"""


def run_child(
    program: str, *arguments: Path, before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run `program` behind the prelude; `before` are the words of a command that starts it."""
    return subprocess.run(
        [*before, sys.executable, "-c", PRELUDE + program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
