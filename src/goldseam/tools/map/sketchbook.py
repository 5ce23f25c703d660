"""The sketches of a tree's files, kept up to date: only what has changed is read again."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.tools.map.cache import load_sketches, save_sketches
from goldseam.tools.map.languages import Language, language_of
from goldseam.tools.map.sketch import Sketch, sketch_of
from goldseam.tools.map.source import MAX_FILE_BYTES, Source, Stamp

_Outcome: TypeAlias = Literal["known", "too large", "unreadable", "out of time"]


class Passed(Struct, frozen=True, kw_only=True):
    """What was not looked at, though its language is known."""

    too_large: tuple[str, ...] = ()
    unreadable: int = 0
    out_of_time: int = 0


class _Look(Struct, frozen=True, kw_only=True):
    """A look at one file: where from, as what, and how it stands there now."""

    source: Source
    language: Language
    stamp: Stamp
    is_over: Callable[[], bool]


class _Known(Struct, frozen=True, kw_only=True):
    stamp: Stamp
    digest: bytes


class Sketchbook:
    """What is known of a tree's files. `cache` is a file to keep it in from run to run."""

    def __init__(self, *, cache: Path | None = None) -> None:
        self._cache = cache
        self._known: dict[str, _Known] = {}
        self.names: dict[str, list[bytes]] = {}
        """By path, the names that a file probably defines."""
        self.homes: Counter[bytes] = Counter()
        """In how many files a name is defined."""
        self.counts: Counter[bytes] = Counter()
        """In how many files a word is."""
        self.version = 0
        """Another one whenever something has changed."""

    @cached_property
    def _by_digest(self) -> dict[bytes, Sketch]:
        return load_sketches(self._cache) if self._cache is not None else {}

    def words(self, path: str) -> bytes:
        """Return the words of a known file, joined by spaces."""
        return self._by_digest[self._known[path].digest].words

    def refresh(
        self, source: Source, paths: Iterable[str], *, is_over: Callable[[], bool]
    ) -> Passed:
        """Bring the book to what stands at `paths`, as far as time allows."""
        kept = len(self._by_digest)
        outcomes: dict[_Outcome, list[str]] = {
            outcome: [] for outcome in ("known", "too large", "unreadable", "out of time")
        }
        for path in paths:
            language = language_of(path)
            if language is not None and (stamp := source.stamp(path)) is not None:
                look = _Look(source=source, language=language, stamp=stamp, is_over=is_over)
                outcomes[self._outcome(path, look)].append(path)
        # What was not reached may be known as it was, which is better than nothing.
        for path in self._known.keys() - {*outcomes["known"], *outcomes["out of time"]}:
            self._forget(path)
        if len(self._by_digest) > kept and self._cache is not None:
            used = {known.digest for known in self._known.values()}
            save_sketches(self._cache, {digest: self._by_digest[digest] for digest in used})
        return Passed(
            too_large=tuple(outcomes["too large"]),
            unreadable=len(outcomes["unreadable"]),
            out_of_time=len(outcomes["out of time"]),
        )

    def _outcome(self, path: str, look: _Look) -> _Outcome:
        """Look at a file, if it is not known already; return what came of it."""
        known = self._known.get(path)
        if known is not None and known.stamp == look.stamp:
            return "known"
        if look.stamp[0] > MAX_FILE_BYTES:
            return "too large"
        if look.is_over():
            return "out of time"
        text = look.source.read(path, look.language)
        if text is None:
            return "unreadable"
        if text.digest not in self._by_digest:
            self._by_digest[text.digest] = sketch_of(text.content, look.language)
        self._forget(path)
        self.version += 1
        self._known[path] = _Known(stamp=look.stamp, digest=text.digest)
        sketch = self._by_digest[text.digest]
        self.names[path] = sketch.names.split()
        self.homes.update(self.names[path])
        self.counts.update(sketch.words.split())
        return "known"

    def _forget(self, path: str) -> None:
        if path in self._known:
            self.version += 1
            self.counts.subtract(self.words(path).split())
            self.homes.subtract(self.names.pop(path))
            del self._known[path]
