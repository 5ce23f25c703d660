"""Hear one reply: bytes become events by what they are, not by what was asked for.

A host that was asked to stream may answer whole, and the other way round; an error page may come
under a status that says all is well (case 137). The first byte tells these apart. Knows no socket.
"""

from collections.abc import Iterable

from goldseam.kernel.ports import Listener
from goldseam.kernel.request import ModelResponse
from goldseam.models.dialect import Reader, WireEvent
from goldseam.wire.json_array import JsonArrayDecoder
from goldseam.wire.sse import SseDecoder, SseEvent

_NOTHING = b" \t\r\n\xef\xbb\xbf"
"""What may stand before a reply: blanks that keep the line open, a byte order mark."""

_KEPT_BYTES = 4096


class Hearing:
    """Feeds `reader` with the reply whose bytes come to `hear`, and `listener` with its pieces."""

    def __init__(self, reader: Reader, listener: Listener) -> None:
        self._reader = reader
        self._listener = listener
        self._decoder: SseDecoder | JsonArrayDecoder | None = None
        self._start = bytearray()
        self._has_events = False

    def hear(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            ModelProviderError: they hold an error of the host.
            InvalidModelOutputError: they break the protocol.
            TransportError: they are cut, or too large.
        """
        if self._decoder is None:
            piece = piece.lstrip(_NOTHING)
            if not piece:
                return
            self._decoder = JsonArrayDecoder() if piece[:1] in {b"{", b"["} else SseDecoder()
        if not self._has_events:
            self._start += piece[: _KEPT_BYTES - len(self._start)]
        self._feed(self._decoder.feed(piece))

    def close(self) -> None:
        """Say that the bytes have ended well; raises as `hear`."""
        if self._decoder is not None:
            self._feed(self._decoder.close())

    def reply(self) -> ModelResponse:
        """Return the whole reply; see `goldseam.models.dialect.Reader.finish`."""
        return self._reader.finish()

    @property
    def no_reply(self) -> bytes:
        """How a text begins that is no reply at all, such as a page; empty where one was begun."""
        is_page = not self._has_events and not self._start.startswith(b":")
        return bytes(self._start) if is_page else b""

    def _feed(self, events: Iterable[SseEvent | str]) -> None:
        for event in events:
            self._has_events = True
            wire = (
                WireEvent(data=event)
                if isinstance(event, str)
                else WireEvent(data=event.data, name=event.name)
            )
            for delta in self._reader.feed(wire):
                self._listener(delta)
