"""What `goldseam resume` does: words and settings become a request, and a person is informed."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from goldseam.app.chain import Routing
from goldseam.app.resuming import ResumeRequest, resume_run
from goldseam.app.settings import Settings, hosts_of, read_settings
from goldseam.app.world import World, this_machine
from goldseam.cli.dollars import picodollars, price_of
from goldseam.cli.watching import run_watched
from goldseam.kernel.budget import Limits


class ResumeWords(Struct, frozen=True, kw_only=True):
    """The words of one `goldseam resume`, as they were said; `None` where nothing was."""

    run: str = "last"
    model: str | None = None
    out: str | None = None
    require_sandbox: bool = False
    as_json: bool = False
    model_calls: int | None = None
    action_steps: int | None = None
    total_tokens: int | None = None
    max_output_tokens: int | None = None
    wall_s: float | None = None
    tool_s: float | None = None
    max_cost: float | None = None
    price: str | None = None


def resume_words_of(words: Mapping[str, object]) -> ResumeWords:
    """Return the words that click has read."""
    return msgspec.convert(words, ResumeWords)


def run_resume(words: ResumeWords) -> int:
    """Go on with the run, tell of it, and return the exit code.

    Raises:
        GoldseamError: it could not go on; `cli.endings` tells of it.
    """
    is_attended = not words.as_json and sys.stdin.isatty()
    world = this_machine(read_stdin=bytes, is_attended=is_attended)
    request = request_of(words, read_settings(world.environ), world)
    return run_watched(
        lambda watch: resume_run(request, world, watch),
        as_json=words.as_json,
        is_attended=is_attended,
    )


def request_of(words: ResumeWords, settings: Settings, world: World) -> ResumeRequest:
    """Join words and settings. Limits, model and tests of the settings are those of new runs.

    Raises:
        UsageError: a price or an amount that is none.
    """
    return ResumeRequest(
        run=words.run,
        model=words.model,
        out=Path(os.path.normpath(world.folder / words.out)) if words.out else None,
        limits=_said_limits(words),
        require_sandbox=words.require_sandbox or settings.require_sandbox,
        rules=settings.rules,
        routing=Routing(
            hosts=hosts_of(settings),
            chains=settings.chains,
            patience=settings.patience,
            price=price_of(words.price) if words.price is not None else None,
        ),
    )


def _said_limits(words: ResumeWords) -> dict[str, Any]:
    names = set(Limits.__struct_fields__)
    said = {name: value for name, value in asdict(words).items() if name in names}
    if words.max_cost is not None:
        said["money"] = picodollars(words.max_cost, "--max-cost")
    return {name: value for name, value in said.items() if value is not None}
