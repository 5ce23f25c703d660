"""Carry text from one indentation into another: what was written with spaces, into a file of tabs.

Pure. Learns from pairs of lines that are alike but for their indentation.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise


def reindenter(pairs: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    """Return what writes a line as the file would, after `pairs` of (line as given, in the file).

    An indentation that no pair shows is made of the longest one that it begins with.
    """
    known: dict[str, str] = {}
    for given, there in pairs:
        if given.strip():
            known.setdefault(_indent(given), _indent(there))
    if all(given == there for given, there in known.items()):
        return lambda line: line

    def rewritten(line: str) -> str:
        indent = _indent(line)
        if not line.strip():
            return line
        base = max((given for given in known if indent.startswith(given)), key=len, default=None)
        if base is None:
            return line
        rest = _converted(indent[len(base) :], known)
        return known[base] + rest + line[len(indent) :]

    return rewritten


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _converted(rest: str, known: dict[str, str]) -> str:
    """Return `rest` in the file's kind of indentation, where pairs show what one step is."""
    for given, there in _steps(known):
        if _is_of(given, " ") and _is_of(there, "\t") and len(given) % len(there) == 0:
            step = len(given) // len(there)
            return rest.replace(" " * step, "\t")
        if _is_of(given, "\t") and _is_of(there, " ") and len(there) % len(given) == 0:
            return rest.replace("\t", " " * (len(there) // len(given)))
    return rest


def _steps(known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Give what one indentation has more than another, as given and in the file; then all pairs."""
    ordered = sorted(known.items(), key=lambda pair: len(pair[0]))
    for (given, there), (deeper, there_deeper) in pairwise(ordered):
        if deeper.startswith(given) and there_deeper.startswith(there):
            yield deeper[len(given) :], there_deeper[len(there) :]
    yield from ordered


def _is_of(indent: str, kind: str) -> bool:
    return bool(indent) and not indent.strip(kind)
