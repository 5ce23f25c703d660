"""The objects of one JSON array out of bytes, each as soon as it is whole. Pure, and linear.

The form of Gemini's stream where `alt=sse` was not asked for (GEM-3). What stands between the
objects is not judged beyond its letters, so a single object without an array is taken too.
"""

import re

from goldseam.wire.message import TransportError

MAX_ELEMENT_BYTES = 16 * 2**20

# A byte order mark may be cut anywhere, so each of its bytes is taken for a blank.
_NOT_BETWEEN = re.compile(rb"[^ \t\r\n,\[\]\xef\xbb\xbf]")
_OUTSIDE = re.compile(rb'["{}\[\]]')
_INSIDE = re.compile(rb'["\\]')


class JsonArrayDecoder:
    """Decodes one stream."""

    def __init__(self, *, max_element_bytes: int = MAX_ELEMENT_BYTES) -> None:
        self._max_bytes = max_element_bytes
        self._element: list[bytes] = []
        self._element_bytes = 0
        self._depth = 0
        self._open_arrays = 0
        self._in_string = False
        self._after_backslash = False

    def feed(self, chunk: bytes) -> list[str]:
        """Take the next bytes and return the text of each object that they complete.

        Raises:
            TransportError: what came is no array of objects (kind `broken`), or one of them is
                too large (kind `too_large`).
        """
        found: list[str] = []
        at = 0
        while at < len(chunk):
            if self._depth == 0:
                at = self._skip_between(chunk, at)
                if at == len(chunk):
                    break
            start, at = at, self._end_of_piece(chunk, at)
            self._hold(chunk[start:at])
            if self._depth == 0:
                found.append(b"".join(self._element).decode("utf-8", "replace"))
                self._element, self._element_bytes = [], 0
        return found

    def close(self) -> list[str]:
        """Say that the stream has ended. Returns nothing: no object was held back.

        Raises:
            TransportError: it ended within the array, or within an object.
        """
        if self._depth or self._open_arrays:
            raise TransportError("broken", "the reply ended before its JSON array did", sent=True)
        return []

    def _skip_between(self, chunk: bytes, at: int) -> int:
        """Return where the next object begins, or the end of `chunk`."""
        mark = _NOT_BETWEEN.search(chunk, at)
        end = mark.start() if mark else len(chunk)
        self._open_arrays += chunk.count(b"[", at, end) - chunk.count(b"]", at, end)
        if mark and mark.group() != b"{":
            raise TransportError("broken", "the reply is no JSON array of objects", sent=True)
        return end

    def _end_of_piece(self, chunk: bytes, at: int) -> int:
        """Walk from `at` to the end of the object, or of `chunk`, keeping count."""
        while at < len(chunk):
            at = self._step(chunk, at)
            if self._depth == 0:
                break
        return at

    def _step(self, chunk: bytes, at: int) -> int:
        """Go past the next byte that changes what the ones behind it mean; return where."""
        if self._after_backslash:
            self._after_backslash = False
            return at + 1
        mark = (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at)
        if mark is None:
            return len(chunk)
        match mark.group():
            case b'"':
                self._in_string = not self._in_string
            case b"\\":
                self._after_backslash = True
            case b"{" | b"[":
                self._depth += 1
            case _:
                self._depth -= 1
        return mark.end()

    def _hold(self, piece: bytes) -> None:
        self._element.append(piece)
        self._element_bytes += len(piece)
        if self._element_bytes > self._max_bytes:
            raise TransportError(
                "too_large", f"one object of the reply is above {self._max_bytes} bytes", sent=True
            )
