"""Where a text is not found: what in the file comes nearest, and where the two first differ. Pure.

The work is bounded, whatever is sought in whatever is there.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

_MAX_SHOWN = 160
_MAX_VOTES = 200_000
_VISIBLE = {" ": "·", "\t": "→", "\r": "␍", "\u00a0": "⍽"}


class Nearest(Struct, frozen=True, kw_only=True):
    """The nearest lines (1-based, both included) and the first difference from what is sought."""

    first: int
    last: int
    difference: str
    """As a sentence goes on: where it is, what the file has, what `name` has."""


def nearest(there: Sequence[str], sought: Sequence[str], *, name: str) -> Nearest | None:
    """Return where the lines `sought`, called `name`, would best stand among the lines `there`.

    The first and the last of `sought` may be parts of a line. None where nothing is alike.
    """
    start = _best_start(there, sought)
    if start is None:
        return None
    offset = _first_difference(there[start : start + len(sought)], sought)
    has = f"has «{visible(there[start + offset])}»" if start + offset < len(there) else "has ended"
    return Nearest(
        first=start + 1,
        last=min(start + len(sought) - (not sought[-1]), len(there)),
        difference=f"on line {start + offset + 1}: the file {has}, "
        f"{name} has «{visible(sought[offset])}»",
    )


def visible(text: str) -> str:
    """Return `text` with every kind of white space told apart, cut where it is long."""
    shown = "".join(_VISIBLE.get(character) or _seen(character) for character in text[:_MAX_SHOWN])
    return shown + "…" if len(text) > _MAX_SHOWN else shown


def _first_difference(there: Sequence[str], sought: Sequence[str]) -> int:
    """Return the first index at which the lines differ; the outer two may be parts of a line."""
    for offset, expected in enumerate(sought[:-1]):
        found = there[offset] if offset < len(there) else None
        if found is None or not (found == expected or (not offset and found.endswith(expected))):
            return offset
    return len(sought) - 1


def _best_start(there: Sequence[str], sought: Sequence[str]) -> int | None:
    """Return the index where `sought` would best begin: most lines alike but for space."""
    places: dict[str, list[int]] = {}
    for index, text in enumerate(there):
        places.setdefault("".join(text.split()), []).append(index)
    bare = [(offset, "".join(text.split())) for offset, text in enumerate(sought)]
    # The rarest lines say most; where the room for votes ends, what is left says little.
    telling = sorted(
        ((offset, places[text]) for offset, text in bare if text in places and text),
        key=lambda found: len(found[1]),
    )
    votes: Counter[int] = Counter()
    left = _MAX_VOTES
    for offset, indices in telling:
        votes.update(index - offset for index in indices[:left] if index >= offset)
        left -= len(indices[:left])
    if votes:
        most = max(votes.values())
        return min(index for index, count in votes.items() if count == most)
    return _most_alike(there, sought)


def _most_alike(there: Sequence[str], sought: Sequence[str]) -> int | None:
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
