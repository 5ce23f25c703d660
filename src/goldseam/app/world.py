"""The world outside, as it is handed in: environment, folders, time, dice; made at the edge."""

import os
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from goldseam.models.router.health import HealthBoard


class World(Struct, frozen=True, kw_only=True):
    """What a command may know of the machine it runs on."""

    environ: Mapping[str, str]
    folder: Path
    """Where the person stands."""
    now: Callable[[], datetime]
    dice: random.Random
    health: HealthBoard
    """Which models are ill, as far as this process knows."""
    read_stdin: Callable[[], bytes]
    is_attended: bool
    """Whether somebody is there who can be asked."""


def this_machine(*, read_stdin: Callable[[], bytes], is_attended: bool) -> World:
    """Return the world as this process finds it."""
    return World(
        environ=dict(os.environ),
        folder=Path.cwd(),
        now=lambda: datetime.now(UTC).astimezone(),
        dice=random.SystemRandom(),
        health=HealthBoard(),
        read_stdin=read_stdin,
        is_attended=is_attended,
    )


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the folder of all state: `GOLDSEAM_HOME`, else the platform's data folder."""
    given = environ.get("GOLDSEAM_HOME", "").strip()
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - only this path of several needs it

    return user_data_path("goldseam", appauthor=False)


def ignore_file_of(world: World) -> Path | None:
    """Return the person's own list of files that git ignores, in its usual place, if any."""
    home = Path(world.environ.get("HOME", "/"))
    folder = Path(world.environ.get("XDG_CONFIG_HOME") or home / ".config")
    file = folder / "git" / "ignore"
    return file if file.is_file() else None
