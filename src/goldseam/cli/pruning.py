"""What `goldseam prune` does."""

import json
import os
import re
import sys
from collections.abc import Iterable

from msgspec import Struct

from goldseam.app.pruning import Aged, Bounds, aged, plan_for, remove_leftovers, remove_run
from goldseam.app.world import home_of, this_machine
from goldseam.cli.run_list import fields_of
from goldseam.journal.summaries import list_runs
from goldseam.kernel.errors import JournalError, UsageError

_AGE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_BYTES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_YES = {"y", "yes"}


class PruneWords(Struct, frozen=True, kw_only=True):
    """The words of one `goldseam prune`."""

    older_than: str | None
    keep_size: str | None
    dry_run: bool
    yes: bool
    as_json: bool


def prune(words: PruneWords) -> None:
    """Remove what the words say, and say what is gone.

    Raises:
        UsageError: nothing was said to go, a bound is no bound, or a run cannot be removed.
    """
    bounds = bounds_of(words)
    home = home_of(os.environ)
    world = this_machine(read_stdin=sys.stdin.buffer.read, is_attended=sys.stdin.isatty())
    try:
        if not words.dry_run:
            remove_leftovers(home)
        plan = plan_for(aged(list_runs(home), now_s=world.now().timestamp()), bounds)
        going = [*plan.finished, *_agreed(plan.resumable, words, is_attended=world.is_attended)]
        gone = [one for one in going if words.dry_run or remove_run(one.run.folder)]
    except (JournalError, OSError) as error:
        raise UsageError(f"cannot prune: {error}") from error
    _report(gone, kept=len(plan.finished) + len(plan.resumable) - len(gone), words=words)


def bounds_of(words: PruneWords) -> Bounds:
    """Return what may stay.

    Raises:
        UsageError: no bound was said, or one is not such as 30d or 2GB.
    """
    if words.older_than is None and words.keep_size is None:
        raise UsageError("say what is to go: --older-than 30d, --keep-size 2GB, or both")
    return Bounds(
        age_s=None if words.older_than is None else _age(words.older_than),
        size=None if words.keep_size is None else _size(words.keep_size),
    )


def _age(text: str) -> float:
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--older-than takes a time such as 30d, 12h or 2w, not {text!r}")
    return float(found[1]) * _SECONDS[found[2]]


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--keep-size takes a size such as 500MB or 2GB, not {text!r}")
    return int(float(found[1]) * _BYTES[found[2].upper().replace("K", "k")])


def _agreed(
    resumable: tuple[Aged, ...], words: PruneWords, *, is_attended: bool
) -> tuple[Aged, ...]:
    """Return those of the runs that could be resumed which the person lets go."""
    if not resumable or words.yes or words.dry_run:
        return resumable
    if not is_attended:
        return ()
    for one in resumable:
        sys.stderr.write(f"{one.run.run_id}  {one.run.standing}  {_bytes(one.size)}\n")
    sys.stderr.write(f"{_runs(len(resumable))} could still be resumed. Remove them? [y/N] ")
    sys.stderr.flush()
    return resumable if sys.stdin.readline().strip().lower() in _YES else ()


def _report(gone: list[Aged], *, kept: int, words: PruneWords) -> None:
    if words.as_json:
        for one in gone:
            told = {**fields_of(one.run), "size": one.size, "removed": not words.dry_run}
            sys.stdout.write(json.dumps(told, separators=(",", ":")) + "\n")
    else:
        for one in gone:
            days = one.age_s / _SECONDS["d"]
            sys.stdout.write(
                f"{one.run.run_id}  {one.run.standing}  {days:,.0f} days  {_bytes(one.size)}\n"
            )
        verb = "would go" if words.dry_run else "gone"
        sys.stdout.write(f"{_runs(len(gone))} {verb}, {_bytes(sum(_sizes(gone)))}\n")
    if kept:
        sys.stderr.write(
            f"goldseam: {_runs(kept)} stayed that could be resumed or are just written; "
            "--yes removes those that could be resumed\n"
        )


def _sizes(runs: Iterable[Aged]) -> Iterable[int]:
    return (one.size for one in runs)


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"


def _bytes(size: int) -> str:
    unit = max(
        (unit for unit in _BYTES if size >= _BYTES[unit]), key=_BYTES.__getitem__, default=""
    )
    return f"{size / _BYTES[unit]:,.0f} {unit}B"
