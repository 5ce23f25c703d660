"""Write a map within a number of bytes. Pure: what to show was decided, how much fits is not.

Each piece is added only where it fits as a whole, so that the limit is kept exactly.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from goldseam.tools.map.outline import Definition
from goldseam.workspace.errors import one_line

DEFINITIONS = 8
"""Definitions that are shown of one file."""
DEFINITIONS_PER_ASKED = 60
"""The same for a file that was asked about."""

_FOLDERS = 12
_MAX_NAME = 100
_UNUSED = 3
_CUT = "      | …"


class Drawing:
    """Lines that together, with their ends, have at most `limit` bytes of UTF-8."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self.lines: list[str] = []

    def add(self, *lines: str) -> bool:
        """Add `lines` if they all fit; return whether they did."""
        size = sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)
        if size > self._left:
            return False
        self._left -= size
        self.lines.extend(lines)
        return True

    def widen(self, more: int) -> None:
        """Allow for `more` bytes."""
        self._left += more

    def add_file(self, path: str, definitions: Sequence[Definition], *, total: int) -> bool:
        """Add a file with as many of its definitions as fit; return whether all of them did.

        `total` is how many definitions it has.
        """
        left_out = total - len(definitions)
        more = f"  ({left_out} more)" if left_out else ""
        lines = [f"{one_line(path)}{more}", *map(_line, definitions)]
        if self.add(*lines):
            return True
        for count in range(len(lines) - 1, 1, -1):
            if self.add(*lines[:count], _CUT):
                break
        return False

    def add_folders(self, paths: Iterable[str]) -> None:
        """Add how many files there are, by folder, as far as it fits."""
        counts = Counter(path.rpartition("/")[0] for path in paths)
        if not counts or not self.add("other files:"):
            return
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        for shown, (folder, count) in enumerate(ordered):
            files = "1 file" if count == 1 else f"{count} files"
            if shown == _FOLDERS or not self.add(f"  {one_line(folder)}/ {files}"):
                self.add(f"  … and {len(ordered) - shown} more folders")
                return


def choose(
    outline: Sequence[Definition], worth: Mapping[bytes, float], *, most: int, unused: bool
) -> tuple[Definition, ...]:
    """Return the `most` definitions of the most worth, with what they are inside of, in order.

    Where `unused` is not set, what is worth nothing is left out, but for the first of a file where
    all is.
    """

    def loss(place: int) -> tuple[float, int, int]:
        return (-worth.get(outline[place].name.encode(), 0.0), outline[place].depth, place)

    chosen = sorted(range(len(outline)), key=loss)[:most]
    if not unused:
        chosen = [place for place in chosen if loss(place)[0] < 0] or chosen[:_UNUSED]
    kept = {around for place in chosen for around in (place, *_around(outline, place))}
    return tuple(outline[place] for place in sorted(kept))


def _around(outline: Sequence[Definition], place: int) -> Iterator[int]:
    depth = outline[place].depth
    for before in range(place - 1, -1, -1):
        if not depth:
            return
        if outline[before].depth < depth:
            depth = outline[before].depth
            yield before


def _line(definition: Definition) -> str:
    indent = "  " * definition.depth
    return f"{definition.line:>6}| {indent}{one_line(definition.signature)}"


def short(path: str) -> str:
    """Return a path fit to be named in a sentence."""
    plain = one_line(path)
    return plain if len(plain) <= _MAX_NAME else f"{plain[: _MAX_NAME - 1]}…"
