"""Server-sent events out of bytes, whatever way the bytes are cut. Pure, and linear in them.

As the HTML standard reads them, save for one thing: an event that the stream ends in, without
the blank line behind it, counts too. `[DONE]` is data like any other.
"""

import re

from msgspec import Struct

from goldseam.wire.message import TransportError

MAX_EVENT_BYTES = 16 * 2**20

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class SseEvent(Struct, frozen=True, kw_only=True):
    """One event. `name` is empty where the stream gave none; `id` is the last one it gave."""

    data: str
    name: str = ""
    id: str = ""


class SseDecoder:
    """Decodes one stream."""

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_event_bytes
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._id = ""
        self._data: list[str] = []
        self._data_bytes = 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes and return the events that they complete.

        Raises:
            TransportError: an event is too large (kind `too_large`).
        """
        if not chunk:
            return []
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        *ends, rest = _LINE_END.split(chunk)
        events = []
        for end in ends:
            self._hold(end)
            line = b"".join(self._line)
            self._line, self._line_bytes = [], 0
            events += self._take(line)
        self._hold(rest)
        return events

    def close(self) -> list[SseEvent]:
        """Say that the stream has ended; return the event it ended in, where there is one."""
        return self.feed(b"\n\n")

    def _hold(self, piece: bytes) -> None:
        self._line.append(piece)
        self._line_bytes += len(piece)
        self._refuse_above(self._line_bytes)

    def _take(self, line: bytes) -> list[SseEvent]:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        match field:
            case "data":
                self._data.append(value)
                self._data_bytes += len(line)
                self._refuse_above(self._data_bytes)
            case "event":
                self._name = value
            case "id" if "\0" not in value:
                self._id = value
            case _:
                pass  # comments (no name before the colon), `retry`, and what nobody defined
        return []

    def _dispatch(self) -> list[SseEvent]:
        name, data = self._name, self._data
        self._name, self._data, self._data_bytes = "", [], 0
        return [SseEvent(data="\n".join(data), name=name, id=self._id)] if data else []

    def _refuse_above(self, size: int) -> None:
        if size > self._max_bytes:
            raise TransportError(
                "too_large", f"one event of the reply is above {self._max_bytes} bytes", sent=True
            )
