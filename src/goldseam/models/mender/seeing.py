"""Find and read the files that a failure may come from: tests, tracebacks, imports. Pure."""

import builtins
import re
from collections.abc import Sequence

from goldseam.models.mender.program import FileSeen, is_test_file, see_file
from goldseam.models.mender.reading import Frame, TestsSeen, read_found, read_frames, read_page
from goldseam.models.mender.script import Script, Use

MAX_FILES = 12
MAX_PAGES = 8
"""Pages of one file that are read; a longer file is passed over."""
MAX_ROUNDS = 3
MAX_SEARCHED = 120
"""Names in one search."""
_NAME = re.compile(r"[A-Za-z_]\w+")
_EVERYDAY = frozenset(dir(builtins))


def see_files(tests: TestsSeen, issue: str) -> Script[tuple[FileSeen, ...]]:
    """Read the failing tests, what the tracebacks name, and what those import, round by round."""
    seen: dict[str, FileSeen | None] = {}
    wanted = [*_test_files(tests), *(frame.path for frame in read_frames(tests.output))]
    words = frozenset(_NAME.findall(issue))
    for _ in range(MAX_ROUNDS):
        for path in dict.fromkeys(wanted):
            if path not in seen and _count(seen) < MAX_FILES:
                seen[path] = yield from _read_file(path)
        known = [file for file in seen.values() if file]
        wanted = yield from _defined(known, words)
        words = frozenset()
        if all(path in seen for path in wanted) or _count(seen) >= MAX_FILES:
            break
    return tuple(file for file in seen.values() if file)


def _count(seen: dict[str, FileSeen | None]) -> int:
    return sum(file is not None for file in seen.values())


def _test_files(tests: TestsSeen) -> list[str]:
    """Return the files of failing tests: of `a/b.py::test`, or of the dotted `a.b.Case.test`."""
    found: dict[str, None] = {}
    for name in tests.failing:
        path = name.partition("::")[0]
        if path.endswith(".py"):
            found[path] = None
        elif "::" not in name:
            words = name.split(".")
            last = next((n for n, word in enumerate(words) if word[:1].isupper()), len(words))
            found["/".join(words[:last]) + ".py"] = None
    return list(found)[: MAX_FILES // 2]


def _read_file(path: str) -> Script[FileSeen | None]:
    lines: list[str] = []
    for _ in range(MAX_PAGES):
        start = len(lines) + 1
        observed = yield Use(tool="read_file", arguments={"path": path, "start_line": start})
        page = None if observed.is_error else read_page(observed.text)
        if page is None or not page.lines or not page.whole:
            return None
        lines.extend(page.lines)
        if page.last >= page.total:
            return see_file(path, "\n".join(lines) + "\n")
    return None


def _defined(files: Sequence[FileSeen], words: frozenset[str]) -> Script[list[str]]:
    """Return the files that define what `files` import or mention and do not define themselves."""
    modules = {part for file in files for name in file.imports for part in name.split(".")}
    own = {function.name for file in files for function in file.functions}
    mentioned = {name for file in files for function in file.functions for name in function.calls}
    names = sorted((modules | mentioned | words) - own - _EVERYDAY)
    names = sorted(names, key=lambda name: name not in modules)[:MAX_SEARCHED]
    if not names:
        return []
    pattern = rf"^\s*(?:async\s+def|def|class)\s+(?:{'|'.join(map(re.escape, names))})\b"
    observed = yield Use(
        tool="search", arguments={"pattern": pattern, "glob": "*.py", "max_matches": 200}
    )
    places = () if observed.is_error else read_found(observed.text)
    return _nearest_first(places, files, modules=modules)


def _nearest_first(
    places: Sequence[Frame], files: Sequence[FileSeen], *, modules: set[str]
) -> list[str]:
    """Return the files of `places` that are no tests, those first whose module is imported."""
    counts: dict[str, int] = {}
    for place in places:
        counts[place.path] = counts.get(place.path, 0) + 1
    seen = {file.path for file in files}
    fresh = [path for path in counts if path not in seen and not is_test_file(path)]

    def closeness(path: str) -> tuple[bool, int, str]:
        words = path.removesuffix(".py").removesuffix("/__init__").split("/")
        return words[-1] not in modules, -counts[path], path

    return sorted(fresh, key=closeness)
