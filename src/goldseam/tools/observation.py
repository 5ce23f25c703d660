"""What a model is shown of a tool's result: clean, within limits, and honest about what is cut.

Pure. The same text in gives the same text out, in time linear to its length.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from goldseam.workspace.process import printable

LIMIT_BYTES = 50_000
"""UTF-8 bytes that one observation may have; a longer one shows its head and its tail."""

_HEAD_SHARE = 0.4
"""The end of an output tells more than its beginning."""

_NOTE_BYTES = 600
_FIRST_LINE = 400
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_HOST_PATH = re.compile(r"(?<![\w./:~-])(?:file://)?(?:/[\w.@+~-]+)+/([\w.@+~-]+)")
_WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:\\(?:[\w.@+~ -]+\\)*([\w.@+~-]+)")
_MEMORY_ADDRESS = re.compile(r"(?: at)? 0x[0-9a-fA-F]{6,}")
_TRACEBACK = "Traceback (most recent call last)"


class Ends(Struct, frozen=True, kw_only=True):
    """The two ends of a text that is too long, as UTF-8, and its length in bytes."""

    head: bytes
    tail: bytes
    total: int

    def joined(self, note: str) -> str:
        """Return them with `note` between."""
        head, tail = self.head.decode("utf-8", "ignore"), self.tail.decode("utf-8", "ignore")
        return f"{head}\n{note}\n{tail}"


def without_roots(text: str, roots: Iterable[str]) -> str:
    """Return `text` with each absolute path under one of `roots` made relative to it."""
    for root in sorted({root.rstrip("/") for root in roots}, key=len, reverse=True):
        if root:
            below = re.compile(rf"(?<![\w.-]){re.escape(root)}(?:/(?=[\w.@+-])|(?![\w.-]))")
            text = below.sub(lambda found: "" if found[0].endswith("/") else ".", text)
    return text


def failure_text(message: str, roots: Iterable[str]) -> str:
    """Return what an error says, in one short line (A4.3).

    That is the first line of its message, or where it quotes a traceback the line that ends it;
    without stacks, the host's paths, addresses in memory and codes for terminals.
    """
    lines = [line for line in printable(sendable(message).encode()).split("\n") if line.strip()]
    told = lines[0].strip() if lines else "no message"
    if told.startswith(_TRACEBACK):
        ends = [line for line in lines[1:] if not line[0].isspace()]
        told = ends[-1] if ends else "an error with a traceback and no message"
    told = _WINDOWS_PATH.sub(r"…/\1", _HOST_PATH.sub(r"…/\1", without_roots(told, roots)))
    told = _MEMORY_ADDRESS.sub("", told)
    return told if len(told) <= _FIRST_LINE else f"{told[: _FIRST_LINE - 1]}…"


def reason_of(error: Exception) -> str:
    """Return what `error` says, in whatever way errors of its kind say it; never nothing."""
    match error:
        case OSError(strerror=str(why)):
            # The disk's word: full, vanished, forbidden. It names no path.
            return why
        case UnicodeError() | RecursionError() | MemoryError():
            # Some content cannot be held or read by this process; the next call can be another.
            return f"its content is beyond what can be handled here ({type(error).__name__})"
        case ExceptionGroup(exceptions=(first, *_)):
            return reason_of(first)
        case LookupError():
            return f"{type(error).__name__} {_said(error)}".rstrip()
        case _:
            return _said(error) or type(error).__name__


def _said(error: Exception) -> str:
    try:
        return str(error).strip()
    except Exception:  # noqa: BLE001 - a foreign error's own words may fail, and are not needed
        return ""


def sendable(text: str) -> str:
    """Return `text` with half characters, which no vendor takes, replaced."""
    return _HALF_CHARACTER.sub("\ufffd", text)


def cut(text: str, *, lever: str, limit_bytes: int = LIMIT_BYTES) -> str:
    """Return `text` in about `limit_bytes`: whole if it fits, else head and tail in whole lines.

    The note between them says how much there was, how much is shown, and what to change (A4.6).
    """
    ends = ends_of(text, limit_bytes=limit_bytes)
    return text if ends is None else ends.joined(left_out(ends, lever=lever))


def ends_of(text: str, *, limit_bytes: int) -> Ends | None:
    """Return the ends of `text` that `limit_bytes` have room for; none where it fits whole."""
    if len(text) * 4 <= limit_bytes:
        return None
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit_bytes:
        return None
    room = max(2, limit_bytes - _NOTE_BYTES)
    head_room = int(room * _HEAD_SHARE)
    return Ends(
        head=_whole_lines_head(raw[:head_room]),
        tail=_whole_lines_tail(raw[-(room - head_room) :]),
        total=len(raw),
    )


def left_out(ends: Ends, *, lever: str) -> str:
    """Return the line that stands where something was left out."""
    head, tail = len(ends.head), len(ends.tail)
    return (
        f"[… {ends.total - head - tail} of {ends.total} bytes left out; shown: the first {head} "
        f"and the last {tail}. To see more: {lever}. …]"
    )


def _whole_lines_head(raw: bytes) -> bytes:
    end = raw.rfind(b"\n")
    # A line of its own length would leave nothing: then cut within it.
    return raw[:end] if end > len(raw) // 2 else raw


def _whole_lines_tail(raw: bytes) -> bytes:
    start = raw.find(b"\n") + 1
    return raw[start:] if 0 < start < len(raw) // 2 else raw
