"""The map of one repository, drawn anew for each question out of what has changed since the last.

Blocks while it works, hardly longer than it is given; meant for a thread of its own. What was not
reached in that time is said, and the next question goes on from there.
"""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from goldseam.tools.map.drawing import DEFINITIONS, DEFINITIONS_PER_ASKED, Drawing, choose, short
from goldseam.tools.map.languages import language_of
from goldseam.tools.map.outline import Definition, outline_of
from goldseam.tools.map.ranking import Focus, Ranking, focus_on, rank
from goldseam.tools.map.sketchbook import Passed, Sketchbook
from goldseam.tools.map.source import Source
from goldseam.workspace.clone import Workspace
from goldseam.workspace.errors import MissingFileError
from goldseam.workspace.listing import list_files
from goldseam.workspace.paths import normalise_path

BYTES_PER_TOKEN = 3
"""As the kernel estimates tokens: high for English, near for code."""

_LOOKING = 0.8
"""The share of the time that goes to looking at files; the rest is for drawing."""
_FOLDER_BYTES = 600
_LINE_BYTES = 60
_NAMED = 3


class Question(Struct, frozen=True, kw_only=True):
    """What to map: a folder, what it should be about, how long it may be and take."""

    path: str = "."
    about: tuple[str, ...] = ()
    max_tokens: int = 2_000
    limit_s: float = 2.0


class _Time:
    """How long there is, unless somebody stops it before."""

    def __init__(self, limit_s: float, stop: threading.Event) -> None:
        self._begun = time.monotonic()
        self._limit_s = limit_s
        self._stop = stop

    def is_over(self, share: float = 1.0) -> bool:
        """Whether that share of it has gone by."""
        return self._stop.is_set() or time.monotonic() > self._begun + share * self._limit_s


class RepositoryMap:
    """The map; the words of `task` colour it, `cache` is a file to keep sketches in."""

    def __init__(self, workspace: Workspace, *, task: str = "", cache: Path | None = None) -> None:
        self._workspace = workspace
        self._task = task
        self._book = Sketchbook(cache=cache)
        self._outlines: dict[bytes, tuple[Definition, ...]] = {}
        self._last: tuple[int, Focus, Ranking] | None = None
        self._lock = threading.Lock()

    def draw(self, question: Question, stop: threading.Event) -> str:
        """Return the map as text; it ends early once `stop` is set.

        Raises:
            WorkspaceError: no file is in the folder, or the files cannot be listed.
        """
        where = normalise_path(question.path, origin=self._workspace.origin)
        with self._lock, Source(self._workspace.root) as source:
            listed = self._listed()
            inside = [path for path in listed if where == "." or path.startswith(f"{where}/")]
            if not inside:
                raise MissingFileError(f'no file is in "{where}"; name a folder that has some')
            time_left = _Time(question.limit_s, stop)
            passed = self._refresh(source, listed, first=inside, time_left=time_left)
            focus, ranking = self._rank(question)
            within = set(inside)
            best = [path for path in ranking.paths if path in within]
            limit = question.max_tokens * BYTES_PER_TOKEN
            for_folders = min(limit // 6, _FOLDER_BYTES)
            drawing = Drawing(limit - for_folders)
            drawing.add(
                f"map of {short(where)}: {_count(inside)}, {len(best)} with definitions; "
                "the most used elsewhere first"
            )
            for note in _notes(passed, question.limit_s):
                drawing.add(note)
            # Where there are few files, there is room for more of each.
            room_for_each = max(DEFINITIONS, limit // _LINE_BYTES // max(len(best), 1))
            for path in best:
                within.discard(path)
                outline = self._outline(source, path, time_left=time_left)
                most = DEFINITIONS_PER_ASKED if path in focus.paths else room_for_each
                unused = most > DEFINITIONS
                chosen = choose(outline, ranking.worth, most=most, unused=unused)
                if not drawing.add_file(path, chosen, total=len(outline)):
                    break
            drawing.widen(for_folders)
            drawing.add_folders(within)
            return "\n".join(drawing.lines)

    def _listed(self) -> list[str]:
        workspace = self._workspace
        with workspace.tree_index() as index:
            return list_files(workspace.git(work_tree=workspace.root, index=index))

    def _refresh(
        self, source: Source, listed: list[str], *, first: list[str], time_left: _Time
    ) -> Passed:
        # What is asked about comes first, in case that time does not suffice for all.
        already = set(first)
        ordered = [*first, *(path for path in listed if path not in already)]
        return self._book.refresh(source, ordered, is_over=lambda: time_left.is_over(_LOOKING))

    def _rank(self, question: Question) -> tuple[Focus, Ranking]:
        book = self._book
        focus = focus_on(question.about, book.names, words_of=book.words, task=self._task)
        if self._last is None or self._last[:2] != (book.version, focus):
            ranking = rank(book.names, homes=book.homes, counts=book.counts, focus=focus)
            self._last = (book.version, focus, ranking)
        return focus, self._last[2]

    def _outline(self, source: Source, path: str, *, time_left: _Time) -> tuple[Definition, ...]:
        language = language_of(path)
        text = None if language is None else source.read(path, language)
        if language is None or text is None or time_left.is_over():
            return ()
        if text.digest not in self._outlines:
            outline = outline_of(text.content, language, is_over=time_left.is_over)
            if time_left.is_over():
                return outline  # it may have been cut short, and is not to stay
            self._outlines[text.digest] = outline
        return self._outlines[text.digest]


def _notes(passed: Passed, limit_s: float) -> Iterator[str]:
    if passed.out_of_time:
        yield (
            f"[a part of the map: time was up after {limit_s:g} s with {passed.out_of_time} files "
            "not looked at; the next call goes on from there]"
        )
    if passed.too_large:
        named = ", ".join(map(short, passed.too_large[:_NAMED]))
        more = len(passed.too_large) - _NAMED
        yield f"[too large to look at: {named}{f' and {more} more' if more > 0 else ''}]"
    if passed.unreadable:
        yield f"[{passed.unreadable} files could not be read]"


def _count(paths: list[str]) -> str:
    return "1 file" if len(paths) == 1 else f"{len(paths)} files"
