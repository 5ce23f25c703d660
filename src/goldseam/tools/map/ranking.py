"""Which files and names of a repository matter most: those that others use. Pure.

A name counts by how many files say it that do not define it, shared among those that do. What was
asked about counts much more, and what is said beside that somewhat more. Equal input gives equal
order.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt

from msgspec import Struct

from goldseam.tools.map.sketch import words_in

_ASKED = 20.0
_NEAR = 3.0
_ASKED_FILE = 1_000.0
_PLAIN_WORD = 0.3
"""A word such as `name` or `run` is said in many places that do not mean the definition."""
_PRIVATE = 0.3
_TEST = 0.3
_COUNTED_NAMES = 8
"""A file counts by its best names, so that a large one is not the best for its size alone."""


class Focus(Struct, frozen=True, kw_only=True):
    """What is asked about: words and paths; `near` are words that stand beside those."""

    words: frozenset[bytes] = frozenset()
    paths: frozenset[str] = frozenset()
    near: frozenset[bytes] = frozenset()


class Ranking(Struct, frozen=True, kw_only=True):
    """The files that define something, in their order, and what each name counts."""

    paths: tuple[str, ...]
    worth: dict[bytes, float]


def focus_on(
    about: Iterable[str],
    paths: Iterable[str],
    *,
    words_of: Callable[[str], bytes],
    task: str = "",
) -> Focus:
    """Return the focus on `about`, paths and names alike, in the light of the `task`'s words."""
    asked = tuple(stripped for item in about if (stripped := item.strip("/ ")))
    named = frozenset(
        path for path in paths if any(f"/{path}".endswith(f"/{item}") for item in asked)
    )
    beside = b" ".join(words_of(path) for path in named)
    return Focus(
        words=frozenset(words_in(" ".join(asked).encode("utf-8", "replace"))),
        paths=named,
        near=frozenset(words_in(beside) | words_in(task.encode("utf-8", "replace"))),
    )


def rank(
    names: Mapping[str, Sequence[bytes]],
    *,
    homes: Mapping[bytes, int],
    counts: Mapping[bytes, int],
    focus: Focus,
) -> Ranking:
    """Return the order of the files, best first, those that nobody uses last.

    `names` are the names that each defines; `homes` says how many files define a name, `counts`
    how many say it.
    """
    worth = {
        name: _worth(name, uses=counts[name] - there, homes=there, focus=focus)
        for name, there in homes.items()
        if there
    }
    totals = {
        path: sum(sorted((worth[name] for name in defined), reverse=True)[:_COUNTED_NAMES])
        * (_TEST if _is_test(path) else 1.0)
        + _ASKED_FILE * (path in focus.paths)
        for path, defined in names.items()
        if defined or path in focus.paths
    }
    order = sorted(totals, key=lambda path: (-totals[path], path))
    return Ranking(paths=tuple(order), worth=worth)


def _worth(name: bytes, *, uses: int, homes: int, focus: Focus) -> float:
    asked = name in focus.words
    worth = (sqrt(uses) + asked) / homes
    if name.startswith(b"_"):
        worth *= _PRIVATE
    elif name.isalpha() and name.islower():
        worth *= _PLAIN_WORD
    if asked:
        return worth * _ASKED
    return worth * _NEAR if name in focus.near else worth


def _is_test(path: str) -> bool:
    return any(
        part.startswith(("test", "spec", "__tests__")) or "_test." in part or ".test." in part
        for part in path.split("/")
    )
