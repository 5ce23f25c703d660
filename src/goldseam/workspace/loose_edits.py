"""Edit where white space alone differs from what was given, and only where one place fits.

Pure. Lines that the edit keeps stay as they are in the file, byte for byte; new ones are written
in the file's own indentation. Whoever uses this says so to whoever gave the text.
"""

import re
from difflib import SequenceMatcher

from goldseam.workspace.edits import Edited, edit, not_unique, refuse_wide
from goldseam.workspace.errors import EditRefusedError, TextNotFoundError
from goldseam.workspace.indents import reindenter
from goldseam.workspace.lines import MAX_LINES, FileLines, Line, but_for_space, places_of

MAX_LOOSE_LINES = 500
"""Lines of a text that is compared line by line with what replaces it."""
_MAX_WORDS = 200


def edit_or_loosely(original: bytes, old: str, new: str) -> Edited:
    """Replace the only `old`: exactly if it is there, else where but for white space it is.

    Raises:
        EditRefusedError: as `edit`; or white space aside, it is there more than once.
    """
    try:
        return edit(original, old, new)
    except TextNotFoundError:
        loose = _edit_loosely(original, _lf(old), _lf(new))
        if loose is None:
            raise
        return loose


def _edit_loosely(original: bytes, old: str, new: str) -> Edited | None:
    wanted, given = _lines(old), _lines(new)
    if not old.strip() or max(len(wanted), len(given)) > MAX_LOOSE_LINES:
        return None
    if original.count(b"\n") > MAX_LINES:
        return None
    if list(map(but_for_space, wanted)) == list(map(but_for_space, given)):
        # White space is what is to change: then it must be right.
        return None
    refuse_wide(original)
    file = FileLines.of(original)
    places = places_of(wanted, file.texts, alike=but_for_space)
    if len(places) > 1:
        raise _not_unique(places)
    if not places:
        return _edit_within_line(file, old, new)
    (start,) = places
    replaced = merged(file.lines[start : start + len(wanted)], wanted, given, newline=file.newline)
    lines = (*file.lines[:start], *replaced, *file.lines[start + len(wanted) :])
    last = start + max(1, len(replaced))
    open_end = not file.lines[-1][1]
    return Edited(
        content=file.with_lines(lines, open_end=open_end).content(),
        regions=((start + 1, last),),
        loosely=True,
    )


def merged(
    there: tuple[Line, ...], wanted: list[str], given: list[str], *, newline: str
) -> list[Line]:
    """Return the lines `given` as they replace `there`, which are `wanted` but for white space."""
    rewritten = reindenter(zip(wanted, (text for text, _ in there), strict=True))
    merged: list[Line] = []
    for kind, old_at, old_end, new_at, new_end in SequenceMatcher(
        a=wanted, b=given, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            merged += there[old_at:old_end]
        else:
            merged += [(rewritten(line), newline) for line in given[new_at:new_end]]
    return merged


def _edit_within_line(file: FileLines, old: str, new: str) -> Edited | None:
    """Replace a part of one line; the white space around it is not part of it."""
    words = old.split()
    if "\n" in old.strip() or len(words) > _MAX_WORDS:
        return None
    sought = " ".join(words)
    hits = [
        number
        for number, text in enumerate(file.texts)
        for _ in range(but_for_space(text).count(sought))
    ]
    if not hits:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    text, end = file.lines[hits[0]]
    found = pattern.search(text)
    if len(hits) > 1 or found is None:
        raise _not_unique(hits)
    lead, tail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    middle = new.removeprefix(lead).removesuffix(tail)
    parts = f"{text[: found.start()]}{middle}{text[found.end() :]}".split("\n")
    lines = [(part, file.newline) for part in parts[:-1]] + [(parts[-1], end)]
    at = hits[0]
    whole = file.with_lines((*file.lines[:at], *lines, *file.lines[at + 1 :]))
    return Edited(content=whole.content(), regions=((at + 1, at + len(lines)),), loosely=True)


def _not_unique(places: list[int]) -> EditRefusedError:
    lines = [place + 1 for place in places]
    return not_unique(lines, None, name="old_text is not there exactly, and but for white space it")


def _lf(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
