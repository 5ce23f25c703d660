"""The runs of a home, by their names."""

import re
from datetime import datetime
from pathlib import Path
from random import Random

from goldseam.journal.store import EVENTS
from goldseam.kernel.errors import JournalError

_RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")


def runs_home(home: Path) -> Path:
    """Return the directory that holds a directory for each run."""
    return home / "runs"


def new_run_id(now: datetime, dice: Random) -> str:
    """Return a name that sorts by time, such as `20261130-101502-7f3a`."""
    return f"{now:%Y%m%d-%H%M%S}-{dice.getrandbits(16):04x}"


def run_folders(home: Path) -> tuple[Path, ...]:
    """Return the directories of all runs, the newest first; none where there is no home yet.

    Raises:
        JournalError: the home cannot be read.
    """
    try:
        found = sorted(runs_home(home).iterdir(), key=lambda folder: folder.name, reverse=True)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise JournalError(f"{runs_home(home)}: {error.strerror}") from error
    return tuple(
        folder for folder in found if _RUN_ID.fullmatch(folder.name) and (folder / EVENTS).is_file()
    )


def find_run(home: Path, name: str) -> Path:
    """Return the directory of the run `name`: its id, the only start of one, or `last`.

    Raises:
        JournalError: there is none, or more than one; the message says how to go on.
    """
    runs = run_folders(home)
    if not runs:
        raise JournalError(f"there are no runs in {runs_home(home)} yet")
    if name == "last":
        return runs[0]
    fitting = [folder for folder in runs if name and folder.name.startswith(name)]
    if not fitting:
        raise JournalError(f"no run is called {name!r}: the last one is {runs[0].name}")
    if len(fitting) > 1:
        some = ", ".join(folder.name for folder in fitting[:3])
        raise JournalError(
            f"{len(fitting)} runs begin with {name!r}: {some}; write more of the name"
        )
    return fitting[0]
