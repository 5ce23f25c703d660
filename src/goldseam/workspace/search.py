"""Find lines in a tree by a regular expression. One interface, two engines, the same results.

Git says which files there are (so ignored ones are left out), an engine says on which lines the
expression fits, and the lines themselves are read here, beneath the root. The engines are ripgrep,
where it is handed in, and Python's own expressions in a child process, which can be ended.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from msgspec import Struct

from goldseam.workspace.clone import Workspace
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.files import MAX_READ_BYTES, BinaryFile, Files
from goldseam.workspace.finding import find_files
from goldseam.workspace.git import find_program

MAX_LINE = 500
"""Characters of one found line that are kept; a longer one ends in "…"."""

_RG_FILES_PER_START = 1000
_RG_ERROR = 2
_RG_OPTIONS = (
    "--no-config",
    "--line-number",
    "--with-filename",
    "--null",
    "--no-heading",
    "--color=never",
    "--no-messages",
    "--text",
    "--crlf",
    "--max-columns=1",
    "--threads=1",
)
_RG_LINE = re.compile(rb"([^\0]+)\0(\d+):[^\n]*\n")
# Python warns that these mean nothing today and may tomorrow; ripgrep gives them a meaning already.
_SET = re.compile(r"\[(?:\\.|[^\]\\])*\]")
_UNSURE_SET = re.compile(r"\[\^?\[|\[[^\]]*(?:--|&&|~~|\|\|)")


class Query(Struct, frozen=True, kw_only=True):
    """What to look for: `path` is a folder or a file, `context` a number of lines on both sides."""

    pattern: str
    path: str = "."
    glob: str | None = None
    ignore_case: bool = False
    context: int = 0
    max_matches: int = 100
    limit_s: float = 20.0


class FoundLine(Struct, frozen=True, kw_only=True):
    """One line to show; `is_match` is false for context."""

    path: str
    number: int
    text: str
    is_match: bool = True


class Found(Struct, frozen=True, kw_only=True):
    """Lines by path and number. Where not `complete`, there may be more."""

    lines: tuple[FoundLine, ...] = ()
    matches: int = 0
    files_searched: int = 0
    too_many: bool = False
    out_of_time: bool = False

    @property
    def complete(self) -> bool:
        """Whether these are all."""
        return not (self.too_many or self.out_of_time)


class _Ended(Struct, frozen=True, kw_only=True):
    """What a program wrote, and its exit code; None where its time was up."""

    output: bytes
    code: int | None = None


class _Places(Struct, frozen=True, kw_only=True):
    """Where an engine says that lines match: sorted line numbers by path."""

    by_path: dict[str, list[int]]
    searched: int
    out_of_time: bool = False


def find_ripgrep(search_path: str) -> str | None:
    """Return the full path of ripgrep on `search_path` (as PATH writes it), if it is there."""
    return find_program("rg", search_path)


def search(workspace: Workspace, files: Files, query: Query, *, rg: str | None = None) -> Found:
    """Return the lines on which `query.pattern` fits; `rg` is ripgrep, else Python searches.

    The pattern is one that Python understands; ripgrep is passed over where it does not take it.
    Each line is searched by itself. Bytes that are no text fit nothing in ripgrep.

    Raises:
        WorkspaceError: the pattern, glob or path cannot be used, or nothing is at the path.
    """
    _check_pattern(query.pattern)
    paths = find_files(workspace, files, path=query.path, glob=query.glob, max_bytes=MAX_READ_BYTES)
    places = _ask_ripgrep(rg, workspace.root, query, paths=paths) if rg else None
    if places is None:
        places = _ask_python(workspace.root, query, paths)
    return _shown(files, query, places)


def _check_pattern(pattern: str) -> None:
    if _UNSURE_SET.search(pattern):
        raise WorkspaceError(
            'the pattern has a set with "[", "--", "&&" or "||" in it; escape them'
        )
    if "\n" in pattern or re.search(r"(?<!\\)(?:\\\\)*\\n", _SET.sub("", pattern)):
        raise WorkspaceError("the pattern spans lines, but each line is searched by itself")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise WorkspaceError(f"the pattern is no regular expression: {error}") from error


def _ask_python(root: Path, query: Query, paths: list[str]) -> _Places:
    asked = {
        "pattern": query.pattern,
        "ignore_case": query.ignore_case,
        "max_matches": query.max_matches + 1,
        "paths": paths,
    }
    # Isolated and by path: nothing that lies in the tree is ever imported.
    argv = [sys.executable, "-I", "-S", str(Path(__file__).with_name("search_worker.py"))]
    done = _run(argv, root, stdin=json.dumps(asked).encode("ascii"), limit_s=query.limit_s)
    if done.code:
        raise WorkspaceError("the search ended before it was done; give a simpler pattern")
    by_path: dict[str, list[int]] = {}
    for line in done.output.split(b"\n")[:-1]:
        path, number = json.loads(line)
        by_path.setdefault(path, []).append(number)
    return _Places(by_path=by_path, searched=len(paths), out_of_time=done.code is None)


def _ask_ripgrep(rg: str, root: Path, query: Query, *, paths: list[str]) -> _Places | None:
    """Return what ripgrep finds, or None where it does not take the pattern."""
    argv = [rg, *_RG_OPTIONS, f"--max-count={query.max_matches + 1}"]
    argv += ["--ignore-case" if query.ignore_case else "--case-sensitive"]
    argv += ["--regexp", query.pattern, "--"]
    deadline = time.monotonic() + query.limit_s
    by_path: dict[str, list[int]] = {}
    for start in range(0, len(paths), _RG_FILES_PER_START):
        chunk = paths[start : start + _RG_FILES_PER_START]
        left = max(0.0, deadline - time.monotonic())
        done = _run([*argv, *chunk], root, limit_s=left)
        if done.code == _RG_ERROR and not done.output:
            return None
        for name, number in _RG_LINE.findall(done.output):
            by_path.setdefault(os.fsdecode(name), []).append(int(number))
        if done.code is None or sum(map(len, by_path.values())) > query.max_matches:
            return _Places(by_path=by_path, searched=len(paths), out_of_time=done.code is None)
    return _Places(by_path=by_path, searched=len(paths))


def _run(argv: list[str], root: Path, *, limit_s: float, stdin: bytes = b"") -> _Ended:
    try:
        done = subprocess.run(
            argv,
            cwd=root,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return _Ended(output=late.output or b"")
    return _Ended(output=done.stdout, code=done.returncode)


def _shown(files: Files, query: Query, places: _Places) -> Found:
    """Read the places, so that what is shown was opened beneath the root and is text."""
    lines: list[FoundLine] = []
    matches = 0
    too_many = False
    for path in sorted(places.by_path):
        texts = _lines_of(files, path)
        hits = [number for number in sorted(places.by_path[path]) if number <= len(texts)]
        room = query.max_matches - matches
        too_many = too_many or len(hits) > room
        hits = hits[:room]
        matches += len(hits)
        lines += _with_context(path, texts, hits, context=query.context)
    return Found(
        lines=tuple(lines),
        matches=matches,
        files_searched=places.searched,
        too_many=too_many,
        out_of_time=places.out_of_time,
    )


def _lines_of(files: Files, path: str) -> list[str]:
    try:
        file = files.read(path)
    except WorkspaceError:
        return []  # changed under way: gone, or no file any more
    if isinstance(file, BinaryFile):
        return []
    return [line.removesuffix("\r") for line in file.text.split("\n")]


def _with_context(path: str, texts: list[str], hits: list[int], *, context: int) -> list[FoundLine]:
    wanted = {
        number
        for hit in hits
        for number in range(max(1, hit - context), min(len(texts), hit + context) + 1)
    }
    return [
        FoundLine(path=path, number=number, text=_cut(texts[number - 1]), is_match=number in hits)
        for number in sorted(wanted)
    ]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}…"
