"""What `goldseam show` does."""

import os
import sys

from goldseam.app.world import home_of
from goldseam.journal.readable import readable
from goldseam.journal.runs import find_run
from goldseam.journal.store import read_run
from goldseam.kernel.errors import JournalError, UsageError


def show_run(name: str) -> None:
    """Write the run `name` to standard output.

    Raises:
        UsageError: there is no such run, or its record cannot be read.
    """
    try:
        record = read_run(find_run(home_of(os.environ), name))
    except JournalError as error:
        raise UsageError(str(error)) from error
    for line in readable(record):
        sys.stdout.write(line + "\n")
