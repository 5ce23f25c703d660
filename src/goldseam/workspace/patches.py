"""Read a patch in whichever form it comes, and lay its hunks onto a file's bytes. Pure.

Nothing is guessed: a hunk goes where its lines stand and nowhere else could be meant, or it is
refused with what is there instead (agents 21, 22, 23).
"""

from collections.abc import Sequence

from msgspec import Struct

from goldseam.workspace.edit_series import Region, joined
from goldseam.workspace.edits import MAX_REGIONS, not_found, not_unique, refuse_wide
from goldseam.workspace.envelopes import BEGIN, read_envelope
from goldseam.workspace.errors import EditRefusedError
from goldseam.workspace.lines import MAX_LINES, FileLines, Line, but_for_space, places_of
from goldseam.workspace.loose_edits import MAX_LOOSE_LINES, merged
from goldseam.workspace.patch_text import FileChange, Hunk, PatchRefusedError
from goldseam.workspace.unified import read_unified

_FENCE = "```"


class Patched(Struct, frozen=True, kw_only=True):
    """A file after its hunks: `regions` are the lines that changed, `loose` the hunks' numbers."""

    content: bytes
    regions: tuple[Region, ...]
    loose: tuple[int, ...] = ()


class _Place(Struct, frozen=True, kw_only=True):
    index: int
    loosely: bool = False


def read_patch(text: str) -> tuple[FileChange, ...]:
    """Return what `text` changes, file by file.

    Raises:
        PatchRefusedError: it is no patch, or one that was cut off or is written wrongly.
    """
    plain = text.replace("\r\n", "\n").removesuffix("\n")
    lines = [
        (number, line)
        for number, line in enumerate(plain.split("\n"), 1)
        if not line.startswith(_FENCE)
    ]
    begins = [index for index, (_, line) in enumerate(lines) if line.rstrip() == BEGIN]
    changes = read_envelope(lines[begins[0] :]) if begins else read_unified(lines)
    if not changes:
        raise PatchRefusedError(
            'the patch names no file; write a unified diff ("--- a/PATH", "+++ b/PATH", '
            f'"@@ … @@") or "{BEGIN}" with "*** Update File: PATH"'
        )
    return changes


def new_content(hunks: Sequence[Hunk]) -> bytes:
    """Return what a new file made of `hunks` holds."""
    lines = [line for hunk in hunks for line in hunk.new]
    end = "" if not lines or any(hunk.open_end for hunk in hunks) else "\n"
    try:
        return ("\n".join(lines) + end).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise PatchRefusedError(
            "the patch holds half of a surrogate pair; send it whole"
        ) from error


def lay_hunks(original: bytes, hunks: Sequence[Hunk]) -> Patched:
    """Return `original` with all `hunks` laid onto it, in their order; other bytes stay.

    Raises:
        EditRefusedError: the lines of one are not there, or not in one place alone.
    """
    refuse_wide(original)
    if original.count(b"\n") > MAX_LINES:
        raise EditRefusedError(f"the file has more than {MAX_LINES} lines; use edit_file or sed")
    file = FileLines.of(original)
    regions: list[Region] = []
    loose: list[int] = []
    below, shift = 0, 0
    for number, hunk in enumerate(hunks, 1):
        name = f"hunk {number}" if len(hunks) > 1 else "the hunk"
        place = _place(file, hunk, name=name, below=below, shift=shift)
        replaced = _replaced(file, hunk, place)
        file = _with(file, place.index, hunk, replaced=replaced)
        below = place.index + len(replaced)
        shift += len(replaced) - len(hunk.old)
        regions.append(_region(hunk, place.index))
        loose += [number] if place.loosely else []
    try:
        content = file.content()
    except UnicodeEncodeError as error:
        raise PatchRefusedError(
            "the patch holds half of a surrogate pair; send it whole"
        ) from error
    return Patched(content=content, regions=joined(regions), loose=tuple(loose))


def _place(file: FileLines, hunk: Hunk, *, name: str, below: int, shift: int) -> _Place:
    texts, old = file.texts, hunk.old
    if not old:
        return _Place(index=_insertion(texts, hunk, name=name, below=below))
    exact = places_of(old, texts)
    index = _chosen(exact, hunk, texts, name=name, below=below, shift=shift)
    if index is not None:
        return _Place(index=index)
    if exact:
        lines = ", ".join(str(place + 1) for place in exact[:MAX_REGIONS])
        raise EditRefusedError(f"{name} stands at line {lines}, but not below its @@ line")
    if len(hunk.lines) <= MAX_LOOSE_LINES:
        loose = places_of(old, texts, alike=but_for_space)
        index = _chosen(loose, hunk, texts, name=name, below=below, shift=shift)
        if index is not None:
            return _Place(index=index, loosely=True)
    raise not_found(texts, old, name=name)


def _chosen(
    places: Sequence[int], hunk: Hunk, texts: list[str], *, name: str, below: int, shift: int
) -> int | None:
    """Return which of `places` is meant; none where there is none."""
    if hunk.anchors:
        places = _behind_anchors(places, hunk, texts, name=name)
    if hunk.at_end and len(texts) - len(hunk.old) in places:
        return len(texts) - len(hunk.old)
    if hunk.start is not None and hunk.start - 1 + shift in places:
        return hunk.start - 1 + shift
    # Hunks come in the order of the file, as far as they do.
    places = [place for place in places if place >= below] or places
    if len(places) > 1:
        raise not_unique([place + 1 for place in places], None, name=name)
    return places[0] if places else None


def _behind_anchors(
    places: Sequence[int], hunk: Hunk, texts: list[str], *, name: str
) -> Sequence[int]:
    """Return of `places` the first behind each place of the anchors; some are behind none."""
    starts = _anchored(texts, hunk, name=name)
    ends = [*starts[1:], len(texts) + 1]
    first = [
        next((place for place in places if start <= place < end), None)
        for start, end in zip(starts, ends, strict=True)
    ]
    return [place for place in first if place is not None]


def _anchored(texts: list[str], hunk: Hunk, *, name: str) -> list[int]:
    """Return where the lines below the innermost anchor begin, for each place that it has."""
    starts = [0]
    for anchor in hunk.anchors:
        sought = but_for_space(anchor)
        found = [
            index + 1
            for index, text in enumerate(texts)
            if index >= starts[0] and but_for_space(text) == sought
        ]
        if not found:
            raise not_found(texts, [anchor], name=f"the line that {name} gives behind @@")
        starts = found
    return starts


def _insertion(texts: list[str], hunk: Hunk, *, name: str, below: int) -> int:
    if not texts:
        return 0
    if hunk.at_end and not hunk.anchors:
        return len(texts)
    if not hunk.anchors:
        raise EditRefusedError(
            f"{name} only adds lines, and nothing says where; give it lines that stand around them"
        )
    starts = _anchored(texts, hunk, name=name)
    starts = [start for start in starts if start >= below] or starts
    if len(starts) > 1:
        raise not_unique(starts, None, name=f"the line that {name} gives behind @@")
    return starts[0]


def _replaced(file: FileLines, hunk: Hunk, place: _Place) -> list[Line]:
    there = file.lines[place.index : place.index + len(hunk.old)]
    if place.loosely:
        return merged(there, hunk.old, hunk.new, newline=file.newline)
    replaced: list[Line] = []
    stays = iter(there)
    for mark, text in hunk.lines:
        match mark:
            case " ":
                replaced.append(next(stays))
            case "-":
                next(stays)
            case "+":
                replaced.append((text, file.newline))
    return replaced


def _with(file: FileLines, index: int, hunk: Hunk, *, replaced: list[Line]) -> FileLines:
    behind = file.lines[index + len(hunk.old) :]
    lines = (*file.lines[:index], *replaced, *behind)
    open_end = bool(file.lines) and not file.lines[-1][1]
    if not behind and hunk.open_end is not None:
        open_end = hunk.open_end
    return file.with_lines(lines, open_end=open_end)


def _region(hunk: Hunk, index: int) -> Region:
    """Return the lines from the first that comes to the last; where none does, where some went."""
    fresh = [at for at, (mark, _) in enumerate(_new_marks(hunk)) if mark == "+"]
    first, last = (fresh[0], fresh[-1]) if fresh else (0, max(0, len(hunk.new) - 1))
    return index + 1 + first, index + 1 + last


def _new_marks(hunk: Hunk) -> list[tuple[str, str]]:
    return [line for line in hunk.lines if line[0] != "-"]
