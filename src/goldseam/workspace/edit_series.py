"""Several edits of one file, one after the other, all or none. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from goldseam.workspace.edits import edit_all
from goldseam.workspace.errors import EditRefusedError
from goldseam.workspace.loose_edits import edit_or_loosely

Region = tuple[int, int]


class Replacement(Struct, frozen=True, kw_only=True):
    """One text for another: the only one there, or all that there are."""

    old: str
    new: str
    everywhere: bool = False


class Series(Struct, frozen=True, kw_only=True):
    """The file after all edits, and what is to be said of them."""

    content: bytes
    regions: tuple[Region, ...]
    """First and last lines (1-based) of what is new, by line, none touching another."""
    times: tuple[int, ...]
    """How many places each edit replaced."""
    loose: tuple[int, ...]
    """The numbers (from 1) of edits for which white space was passed over."""


class SeriesRefusedError(EditRefusedError):
    """Edit `number` (from 1) cannot be made; `content` is the file as that edit met it."""

    def __init__(self, cause: EditRefusedError, *, number: int, content: bytes) -> None:
        super().__init__(cause.message, lines=cause.lines)
        self.number = number
        self.content = content


def edit_in_turn(original: bytes, replacements: Sequence[Replacement]) -> Series:
    """Return `original` with all `replacements` made, each in what those before it left.

    Raises:
        SeriesRefusedError: one cannot be made.
    """
    content = original
    regions: list[Region] = []
    times: list[int] = []
    loose: list[int] = []
    for number, one in enumerate(replacements, 1):
        make = edit_all if one.everywhere else edit_or_loosely
        try:
            edited = make(content, one.old, one.new)
        except EditRefusedError as refused:
            raise SeriesRefusedError(refused, number=number, content=content) from refused
        growth = (edited.content.count(b"\n") - content.count(b"\n")) // edited.times
        for place in edited.regions:
            regions = [_moved(region, place, growth) for region in regions]
        regions += edited.regions
        content = edited.content
        times.append(edited.times)
        loose += [number] if edited.loosely else []
    return Series(content=content, regions=joined(regions), times=tuple(times), loose=tuple(loose))


def joined(regions: Sequence[Region], *, gap: int = 0) -> tuple[Region, ...]:
    """Return `regions` in order, those with at most `gap` lines between them as one."""
    found: list[Region] = []
    for first, last in sorted(regions):
        if found and first <= found[-1][1] + gap + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def _moved(region: Region, edited: Region, growth: int) -> Region:
    """Return where the lines of `region` are once `edited` (its lines now) grew by `growth`."""
    first, last = region
    begin, _ = edited
    if last < begin:
        return region
    return (first if first <= begin else max(first + growth, begin), max(last + growth, begin))
