"""The issue, as the person gave it: text, a file, or standard input. Pure but for that one read."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from goldseam.kernel.errors import UsageError

MAX_ISSUE_BYTES = 200_000
_LONGEST_PATH = 4096
_TEXT_SUFFIXES = (".md", ".txt", ".rst", ".markdown")


class Issue(Struct, frozen=True, kw_only=True):
    """What is to be mended. `text` is never blank."""

    text: str
    source: str
    """`text`, `standard input`, or the file's name as it was given."""

    @property
    def title(self) -> str:
        """The first line that says something, without Markdown's marks."""
        lines = (line.strip().lstrip("#").strip() for line in self.text.splitlines())
        return next(line for line in lines if line)


def read_issue(given: str, *, folder: Path, read_stdin: Callable[[], bytes]) -> Issue:
    """Return the issue that `given` means: `-` is standard input, a file is read, else it is text.

    Raises:
        UsageError: empty, unreadable, too large, not UTF-8, or naming a file that is not there.
    """
    if given == "-":
        return _issue(read_stdin(), source="standard input")
    path = folder / given
    if _may_be_path(given) and path.exists():
        return _issue(_read(path, given), source=given)
    if _looks_like_path(given):
        raise UsageError(f"no file {given!r}; give the issue as text, an existing file, or -")
    return _issue(given.encode("utf-8", "surrogateescape"), source="text")


def _may_be_path(given: str) -> bool:
    return (
        bool(given.strip())
        and "\n" not in given
        and "\0" not in given
        and len(given) < _LONGEST_PATH
    )


def _looks_like_path(given: str) -> bool:
    bare = _may_be_path(given) and not any(character.isspace() for character in given)
    return bare and (given.endswith(_TEXT_SUFFIXES) or given.startswith(("/", "./", "../", "~")))


def _read(path: Path, given: str) -> bytes:
    if path.is_dir():
        raise UsageError(f"the issue {given!r} is a folder; give text, a file, or -")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the issue {given!r}: {error.strerror}") from error


def _issue(content: bytes, *, source: str) -> Issue:
    if len(content) > MAX_ISSUE_BYTES:
        raise UsageError(
            f"the issue ({source}) has {len(content)} bytes; the most is {MAX_ISSUE_BYTES}"
        )
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"the issue ({source}) is not UTF-8 text") from error
    if not text:
        raise UsageError(f"the issue ({source}) is empty; say what is wrong and what should happen")
    return Issue(text=text, source=source)
