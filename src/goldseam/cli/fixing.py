"""What `goldseam fix` does: words and settings become a request, and a person is kept informed."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from goldseam.app.chain import Routing
from goldseam.app.fix import FixRequest, fix
from goldseam.app.settings import Settings, hosts_of, read_settings
from goldseam.app.world import World, this_machine
from goldseam.cli.dollars import picodollars, price_of
from goldseam.cli.watching import run_watched
from goldseam.kernel.budget import Limits
from goldseam.kernel.errors import UsageError
from goldseam.repair.task import read_issue

_LONGEST_TEST_RUN_S = 1e9


class FixWords(Struct, frozen=True, kw_only=True):
    """The words of one `goldseam fix`, as they were said; `None` where nothing was."""

    issue: str
    repo: str
    model: str | None
    test: str | None
    test_limit: float | None
    out: str | None
    include_dirty: bool
    require_sandbox: bool
    as_json: bool
    model_calls: int | None
    action_steps: int | None
    total_tokens: int | None
    max_output_tokens: int | None
    wall_s: float | None
    tool_s: float | None
    max_cost: float | None
    price: str | None


def fix_words_of(words: Mapping[str, object]) -> FixWords:
    """Return the words that click has read."""
    return msgspec.convert(words, FixWords)


def run_fix(words: FixWords) -> int:
    """Mend the issue, tell of it, and return the exit code.

    Raises:
        GoldseamError: it could not begin, or could not go on; `cli.endings` tells of it.
    """
    attended = not words.as_json and sys.stdin.isatty() and words.issue != "-"
    world = this_machine(read_stdin=_read_stdin, is_attended=attended)
    request = request_of(words, read_settings(world.environ), world)
    return run_watched(
        lambda watch: fix(request, world, watch), as_json=words.as_json, is_attended=attended
    )


def request_of(words: FixWords, settings: Settings, world: World) -> FixRequest:
    """Join words and settings; a word wins over a setting.

    Raises:
        UsageError: an issue that cannot be read, or a limit that is none.
    """
    return FixRequest(
        issue=read_issue(words.issue, folder=world.folder, read_stdin=world.read_stdin),
        repository=world.folder / words.repo,
        model=words.model or settings.model,
        test=words.test or settings.test,
        out=Path(os.path.normpath(world.folder / words.out)) if words.out else None,
        include_dirty=words.include_dirty,
        require_sandbox=words.require_sandbox or settings.require_sandbox,
        test_limit_s=_test_limit(words.test_limit, settings.test_limit_s),
        limits=_limits(words, settings.limits),
        rules=settings.rules,
        routing=_routing(words, settings),
    )


def _routing(words: FixWords, settings: Settings) -> Routing:
    return Routing(
        hosts=hosts_of(settings),
        chains=settings.chains,
        patience=settings.patience,
        price=price_of(words.price) if words.price is not None else None,
    )


def _test_limit(said: float | None, settled: float) -> float:
    limit_s = settled if said is None else said
    if not 0 < limit_s <= _LONGEST_TEST_RUN_S:
        raise UsageError(f"the limit of a test run must be seconds above zero, not {limit_s:g}")
    return limit_s


def _read_stdin() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise UsageError(f"cannot read standard input: {error.strerror or error}") from error


def _limits(words: FixWords, settled: Limits) -> Limits:
    names = set(Limits.__struct_fields__)
    said = {name: value for name, value in asdict(words).items() if name in names}
    if words.max_cost is not None:
        said["money"] = picodollars(words.max_cost, "--max-cost")
    try:
        return replace(
            settled, **{name: value for name, value in said.items() if value is not None}
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
