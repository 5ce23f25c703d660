"""Replace one exact text in a file's bytes and touch no other byte. Pure: bytes in, bytes out.

The text is matched on a view in which every CRLF reads as LF, and the difference is spliced into
the raw bytes by offset. A guess is never made: a text that is not there exactly once is refused,
with a message that shows what is there instead.
"""

import bisect
import codecs
import re
from collections.abc import Sequence

from msgspec import Struct

from goldseam.workspace.errors import EditRefusedError, TextNotFoundError
from goldseam.workspace.nearest import nearest

MAX_REGIONS = 20
"""Places of one edit that are told of one by one."""

_MAX_LINES_NAMED = 20
_MAX_PLACES = 1_000
"""Places of a text that is not unique that are looked for: to name it so, a few would do."""


class Edited(Struct, frozen=True, kw_only=True):
    """The file after an edit.

    `regions` are the first and last lines (1-based) that new text stands on, at most
    `MAX_REGIONS` of them; `times` counts all; `loosely` says that white space was passed over.
    """

    content: bytes
    regions: tuple[tuple[int, int], ...]
    times: int = 1
    loosely: bool = False


class _View:
    """A file's bytes with LF line ends, and the way back to the raw offsets."""

    def __init__(self, original: bytes) -> None:
        self._start = len(codecs.BOM_UTF8) if original.startswith(codecs.BOM_UTF8) else 0
        body = original[self._start :]
        self.text = body.replace(b"\r\n", b"\n")
        pairs = [match.start() for match in re.finditer(rb"\r\n", body)]
        self._pairs = [offset - before for before, offset in enumerate(pairs)]
        self.newline = b"\r\n" if 2 * len(pairs) > self.text.count(b"\n") else b"\n"

    def raw_offset(self, offset: int) -> int:
        return self._start + offset + bisect.bisect_left(self._pairs, offset)

    def lines_at(self, offsets: Sequence[int]) -> list[int]:
        """Return the lines of rising `offsets`, in one pass."""
        found: list[int] = []
        line, before = 1, 0
        for offset in offsets:
            line += self.text.count(b"\n", before, offset)
            found.append(line)
            before = offset
        return found


def replace_exact(original: bytes, old: str, new: str, *, line: int | None = None) -> bytes:
    """Return `original` with its only `old` replaced by `new`; every other byte is as it was.

    Line ends of `old` match either kind; new lines get the kind that most of the file's have. A
    mark of order stays. `line` (1-based) picks the match that starts there, where there are
    several.

    Raises:
        TextNotFoundError: `old` is not there; the nearest text and the first difference are named.
        EditRefusedError: `old` is empty or equals `new`, or is there more than once (all its lines
            are named).
    """
    return edit(original, old, new, line=line).content


def edit(original: bytes, old: str, new: str, *, line: int | None = None) -> Edited:
    """Do as `replace_exact`, and say where the new text stands. Raises as it does."""
    wanted, given = _checked(original, old, new)
    view = _View(original)
    start = _only_match(view, wanted, line)
    return _spliced(original, view, [start], wanted=wanted, given=given)


def edit_all(original: bytes, old: str, new: str) -> Edited:
    """Replace every `old`, none over another.

    Raises:
        TextNotFoundError: there is none.
        EditRefusedError: as `edit`, except that any number is taken.
    """
    wanted, given = _checked(original, old, new)
    view = _View(original)
    starts = [found.start() for found in re.finditer(re.escape(wanted), view.text)]
    if not starts:
        raise _not_found(view.text, wanted)
    return _spliced(original, view, starts, wanted=wanted, given=given)


def line_of_match(original: bytes, old: str, *, line: int | None = None) -> int:
    """Return the line (1-based) on which the match starts that `replace_exact` would replace.

    Raises:
        EditRefusedError: as `replace_exact`.
    """
    view = _View(original)
    return view.lines_at([_only_match(view, _plain(old), line)])[0]


def refuse_wide(original: bytes) -> None:
    """Raise where `original` is marked as text that is not made of single bytes.

    Raises:
        EditRefusedError: it is.
    """
    if original.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        raise EditRefusedError(
            "the file is UTF-16 or UTF-32; only UTF-8 text can be edited in place"
        )


def _checked(original: bytes, old: str, new: str) -> tuple[bytes, bytes]:
    refuse_wide(original)
    wanted, given = _plain(old), _plain(new)
    if not wanted:
        raise EditRefusedError("old_text is empty; give the exact text to replace")
    if wanted == given:
        raise EditRefusedError("old_text and new_text are equal; nothing would change")
    return wanted, given


def _spliced(
    original: bytes, view: _View, starts: Sequence[int], *, wanted: bytes, given: bytes
) -> Edited:
    before, after = _common_ends(wanted, given)
    middle = given[before : len(given) - after].replace(b"\n", view.newline)
    pieces: list[bytes] = []
    done = 0
    for start in starts:
        pieces += (original[done : view.raw_offset(start + before)], middle)
        done = view.raw_offset(start + len(wanted) - after)
    # Each place before moved the lines behind it.
    growth = given.count(b"\n") - wanted.count(b"\n")
    height = given.removesuffix(b"\n").count(b"\n")
    told = view.lines_at(starts[:MAX_REGIONS])
    firsts = [line + growth * index for index, line in enumerate(told)]
    return Edited(
        content=b"".join((*pieces, original[done:])),
        regions=tuple((first, first + height) for first in firsts),
        times=len(starts),
    )


def _plain(text: str) -> bytes:
    try:
        # A byte that is no UTF-8 may be named as surrogateescape writes it.
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EditRefusedError("the text holds half of a surrogate pair; send it whole") from error
    return raw.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")


def _only_match(view: _View, wanted: bytes, line: int | None) -> int:
    limit = _MAX_PLACES if line is None else len(view.text)
    offsets = _occurrences(view.text, wanted, limit=limit)
    if not offsets:
        raise _not_found(view.text, wanted)
    lines = view.lines_at(offsets)
    chosen = (
        offsets
        if line is None or len(offsets) == 1
        else [offset for offset, found in zip(offsets, lines, strict=True) if found == line]
    )
    if len(chosen) == 1:
        return chosen[0]
    raise not_unique(lines, line, name="old_text")


def _occurrences(text: bytes, wanted: bytes, *, limit: int) -> list[int]:
    """Return where `wanted` starts, overlaps included: "aa" stands twice in "aaa"."""
    found: list[int] = []
    offset = text.find(wanted)
    while offset >= 0 and len(found) < limit:
        found.append(offset)
        offset = text.find(wanted, offset + 1)
    return found


def _common_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """Return how many bytes `old` and `new` share in front and behind, not counting one twice."""
    shorter = min(len(old), len(new))
    before = 0
    while before < shorter and old[before] == new[before]:
        before += 1
    after = 0
    while after < shorter - before and old[-1 - after] == new[-1 - after]:
        after += 1
    return before, after


def not_unique(lines: Sequence[int], line: int | None, *, name: str) -> EditRefusedError:
    """Return what to say of a text, called `name`, that starts on each of `lines`."""
    distinct = tuple(dict.fromkeys(lines))
    named = ", ".join(map(str, distinct[:_MAX_LINES_NAMED]))
    more = (
        f" and {len(distinct) - _MAX_LINES_NAMED} more" if len(distinct) > _MAX_LINES_NAMED else ""
    )
    where = f"at {'lines' if len(distinct) > 1 else 'line'} {named}{more}"
    why = "add lines around it until it is unique"
    if line is not None:
        why = f"none or several of them start on line {line}; {why}"
    least = "at least " if len(lines) == _MAX_PLACES else ""
    return EditRefusedError(
        f"{name} stands {least}{len(lines)} times, {where}; {why}", lines=distinct
    )


def _not_found(text: bytes, wanted: bytes) -> TextNotFoundError:
    there = text.decode("utf-8", "replace").split("\n")
    return not_found(there, wanted.decode("utf-8", "replace").split("\n"), name="old_text")


def not_found(there: Sequence[str], sought: Sequence[str], *, name: str) -> TextNotFoundError:
    """Return what to say of lines, called `name`, that are not among the lines `there`."""
    found = nearest(there, sought, name=name)
    if found is None:
        return TextNotFoundError(f"{name} was not found, nor anything like it; read the file again")
    return TextNotFoundError(
        f"{name} was not found; the nearest text is lines {found.first}-{found.last}, "
        f"and the first difference is {found.difference}",
        lines=tuple(range(found.first, found.last + 1)),
    )
