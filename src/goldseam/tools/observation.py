"""What a model is shown of a tool's result: clean, within limits, and honest about what is cut.

Pure. The same text in gives the same text out, in time linear to its length.
"""

import re
from collections.abc import Iterable

LIMIT_BYTES = 50_000
"""UTF-8 bytes that one observation may have; a longer one shows its head and its tail."""

_HEAD_SHARE = 0.4
"""The end of an output tells more than its beginning."""

_NOTE_BYTES = 400
_FIRST_LINE = 400
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def without_roots(text: str, roots: Iterable[str]) -> str:
    """Return `text` with each absolute path under one of `roots` made relative to it."""
    for root in sorted({root.rstrip("/") for root in roots}, key=len, reverse=True):
        if root:
            below = re.compile(rf"(?<![\w.-]){re.escape(root)}(?:/(?=[\w.@+-])|(?![\w.-]))")
            text = below.sub(lambda found: "" if found[0].endswith("/") else ".", text)
    return text


def failure_text(message: str, roots: Iterable[str]) -> str:
    """Return the first line of an error's message, short, without the host's paths."""
    lines = message.strip().splitlines() or ["no message"]
    first = without_roots(lines[0], roots)
    return first if len(first) <= _FIRST_LINE else f"{first[: _FIRST_LINE - 1]}…"


def sendable(text: str) -> str:
    """Return `text` with half characters, which no vendor takes, replaced."""
    return _HALF_CHARACTER.sub("\ufffd", text)


def cut(text: str, *, lever: str, limit_bytes: int = LIMIT_BYTES) -> str:
    """Return `text` in about `limit_bytes`: whole if it fits, else head and tail in whole lines.

    The note between them says how much there was, how much is shown, and what to change (A4.6).
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit_bytes:
        return text
    room = limit_bytes - _NOTE_BYTES
    head_room = int(room * _HEAD_SHARE)
    head = _whole_lines_head(raw[:head_room])
    tail = _whole_lines_tail(raw[-(room - head_room) :])
    note = _cut_note(len(raw), head=len(head), tail=len(tail), lever=lever)
    return f"{head.decode('utf-8', 'ignore')}\n{note}\n{tail.decode('utf-8', 'ignore')}"


def _cut_note(total: int, *, head: int, tail: int, lever: str) -> str:
    """Return the line that stands where something was left out."""
    return (
        f"[… {total - head - tail} of {total} bytes left out; shown: the first {head} and the "
        f"last {tail}. To see more: {lever}. …]"
    )


def _whole_lines_head(raw: bytes) -> bytes:
    end = raw.rfind(b"\n")
    # A line of its own length would leave nothing: then cut within it.
    return raw[:end] if end > len(raw) // 2 else raw


def _whole_lines_tail(raw: bytes) -> bytes:
    start = raw.find(b"\n") + 1
    return raw[start:] if 0 < start < len(raw) // 2 else raw
