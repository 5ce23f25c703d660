"""Replace one exact text in a file's bytes and touch no other byte. Pure: bytes in, bytes out.

The text is matched on a view in which every CRLF reads as LF, and the difference is spliced into
the raw bytes by offset. A guess is never made: a text that is not there exactly once is refused,
with a message that shows what is there instead.
"""

import bisect
import codecs
import re
import unicodedata
from collections import Counter

from msgspec import Struct

from goldseam.workspace.errors import EditRefusedError

_MAX_LINES_NAMED = 20
_MAX_SHOWN = 160
_VISIBLE = {" ": "·", "\t": "→", "\r": "␍", "\u00a0": "⍽"}


class Edited(Struct, frozen=True, kw_only=True):
    """The file after an edit, and the first and last line (1-based) that the new text stands on."""

    content: bytes
    first_line: int
    last_line: int


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

    def line_at(self, offset: int) -> int:
        return self.text.count(b"\n", 0, offset) + 1


def replace_exact(original: bytes, old: str, new: str, *, line: int | None = None) -> bytes:
    """Return `original` with its only `old` replaced by `new`; every other byte is as it was.

    Line ends of `old` match either kind; new lines get the kind that most of the file's have. A
    mark of order stays. `line` (1-based) picks the match that starts there, where there are
    several.

    Raises:
        EditRefusedError: `old` is empty or equals `new`, is not there (the nearest text and the
            first difference are named), or is there more than once (all its lines are named).
    """
    return edit(original, old, new, line=line).content


def edit(original: bytes, old: str, new: str, *, line: int | None = None) -> Edited:
    """Do as `replace_exact`, and say where the new text stands. Raises as it does."""
    _refuse_wide(original)
    wanted, given = _plain(old), _plain(new)
    if not wanted:
        raise EditRefusedError("old_text is empty; give the exact text to replace")
    if wanted == given:
        raise EditRefusedError("old_text and new_text are equal; nothing would change")
    view = _View(original)
    start = _only_match(view, wanted, line)
    before, after = _common_ends(wanted, given)
    head = view.raw_offset(start + before)
    tail = view.raw_offset(start + len(wanted) - after)
    middle = given[before : len(given) - after].replace(b"\n", view.newline)
    first = view.line_at(start)
    return Edited(
        content=original[:head] + middle + original[tail:],
        first_line=first,
        last_line=first + given.removesuffix(b"\n").count(b"\n"),
    )


def line_of_match(original: bytes, old: str, *, line: int | None = None) -> int:
    """Return the line (1-based) on which the match starts that `replace_exact` would replace.

    Raises:
        EditRefusedError: as `replace_exact`.
    """
    view = _View(original)
    return view.line_at(_only_match(view, _plain(old), line))


def visible(text: str) -> str:
    """Return `text` with every kind of white space told apart, cut where it is long."""
    shown = "".join(_VISIBLE.get(character) or _seen(character) for character in text[:_MAX_SHOWN])
    return shown + "…" if len(text) > _MAX_SHOWN else shown


def _plain(text: str) -> bytes:
    try:
        # A byte that is no UTF-8 may be named as surrogateescape writes it.
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EditRefusedError("the text holds half of a surrogate pair; send it whole") from error
    return raw.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")


def _refuse_wide(original: bytes) -> None:
    if original.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        raise EditRefusedError(
            "the file is UTF-16 or UTF-32; only UTF-8 text can be edited in place"
        )


def _only_match(view: _View, wanted: bytes, line: int | None) -> int:
    offsets = _occurrences(view.text, wanted)
    if not offsets:
        raise _not_found(view.text, wanted)
    lines = [view.line_at(offset) for offset in offsets]
    chosen = (
        offsets
        if line is None or len(offsets) == 1
        else [offset for offset, found in zip(offsets, lines, strict=True) if found == line]
    )
    if len(chosen) == 1:
        return chosen[0]
    raise _not_unique(lines, line)


def _occurrences(text: bytes, wanted: bytes) -> list[int]:
    """Return where `wanted` starts, overlaps included: "aa" stands twice in "aaa"."""
    found: list[int] = []
    offset = text.find(wanted)
    while offset >= 0:
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


def _not_unique(lines: list[int], line: int | None) -> EditRefusedError:
    distinct = tuple(dict.fromkeys(lines))
    named = ", ".join(map(str, distinct[:_MAX_LINES_NAMED]))
    more = (
        f" and {len(distinct) - _MAX_LINES_NAMED} more" if len(distinct) > _MAX_LINES_NAMED else ""
    )
    where = f"at {'lines' if len(distinct) > 1 else 'line'} {named}{more}"
    why = "add lines around it until it is unique"
    if line is not None:
        why = f"none or several of them start on line {line}; {why}"
    return EditRefusedError(f"old_text stands {len(lines)} times, {where}; {why}", lines=distinct)


def _not_found(text: bytes, wanted: bytes) -> EditRefusedError:
    there = text.decode("utf-8", "replace").split("\n")
    sought = wanted.decode("utf-8", "replace").split("\n")
    start = _nearest(there, sought)
    if start is None:
        return EditRefusedError("old_text was not found, nor anything like it; read the file again")
    offset = _first_difference(there[start:], sought)
    has = f"has «{visible(there[start + offset])}»" if start + offset < len(there) else "has ended"
    last = min(start + len(sought) - (not sought[-1]), len(there))
    return EditRefusedError(
        f"old_text was not found; the nearest text is lines {start + 1}-{last}, and the first "
        f"difference is on line {start + offset + 1}: the file {has}, "
        f"old_text has «{visible(sought[offset])}»",
        lines=tuple(range(start + 1, last + 1)),
    )


def _first_difference(there: list[str], sought: list[str]) -> int:
    """Return the first index at which the lines differ; the outer two may be parts of a line."""
    for offset, expected in enumerate(sought[:-1]):
        found = there[offset] if offset < len(there) else None
        if found is None or not (found == expected or (not offset and found.endswith(expected))):
            return offset
    return len(sought) - 1


def _nearest(there: list[str], sought: list[str]) -> int | None:
    """Return the index where `sought` would best begin: most lines alike but for space."""
    places: dict[str, list[int]] = {}
    for index, text in enumerate(there):
        places.setdefault("".join(text.split()), []).append(index)
    votes = Counter(
        index - offset
        for offset, text in enumerate(sought)
        if (bare := "".join(text.split()))
        for index in places.get(bare, ())
        if index >= offset
    )
    if votes:
        most = max(votes.values())
        return min(index for index, count in votes.items() if count == most)
    return _most_alike(there, sought)


def _most_alike(there: list[str], sought: list[str]) -> int | None:
    """Return where the line of `sought` with most words finds its likest line, if it has any."""
    words = [set(re.findall(r"\w+", text)) for text in sought]
    offset = max(range(len(words)), key=lambda index: len(words[index]))
    best, likest = 0.0, None
    for index, text in enumerate(there):
        found = set(re.findall(r"\w+", text))
        shared = len(found & words[offset])
        score = 2 * shared / (len(found) + len(words[offset])) if shared else 0.0
        if score > best and index >= offset:
            best, likest = score, index - offset
    return likest


def _seen(character: str) -> str:
    if character.isprintable() and unicodedata.category(character) != "Zs":
        return character
    return f"\\u{{{ord(character):x}}}"
