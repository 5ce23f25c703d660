"""Decode the body of a reply within limits that no compression can break. Pure.

Each piece is decoded in steps of a bounded size, and what has come out is counted before more is
made: a bomb is noticed when it begins to swell, not when it has gone off.
"""

import zlib

from goldseam.tools.web.addresses import RefusedError

ENCODINGS = "gzip, deflate"
"""What is understood, as `Accept-Encoding` says it."""
MAX_BYTES = 10 * 2**20
"""Decoded bytes of one body."""
MAX_RATIO = 100
"""How much larger than what came a body may become, once it is no longer small."""

_SMALL = 2**20
_STEP = 1 << 16
_GZIP_MARK = 0x1F
_PLAIN = {"", "identity"}
_COMPRESSED = {"gzip", "x-gzip", "deflate"}


class Body:
    """A body while it comes. Where it is `full`, it was longer than `limit` and is cut there."""

    def __init__(self, encoding: str, *, limit: int = MAX_BYTES) -> None:
        """Take the value of `Content-Encoding`.

        Raises:
            RefusedError: it is not one that was asked for.
        """
        named = encoding.strip().lower()
        if named not in _PLAIN | _COMPRESSED:
            raise RefusedError("the body came in an encoding that was not asked for")
        self._compressed = named in _COMPRESSED
        self._decoder: zlib._Decompress | None = None
        self._content = bytearray()
        self._came = 0
        self._limit = limit
        self.full = False

    @property
    def content(self) -> bytes:
        """What has been decoded so far."""
        return bytes(self._content)

    @property
    def is_whole(self) -> bool:
        """Whether nothing more is to come: a compressed body says so itself."""
        return self._decoder is None or self._decoder.eof

    def feed(self, piece: bytes) -> None:
        """Take the next piece.

        Raises:
            RefusedError: it is not what its encoding says, or swells beyond what is believable.
        """
        self._came += len(piece)
        if not (self._compressed and piece):
            self._keep(piece)
            return
        self._decoder = self._decoder or zlib.decompressobj(_window_of(piece[0]))
        try:
            self._inflate(self._decoder, piece)
        except zlib.error as error:
            raise RefusedError("the compressed body is damaged") from error

    def _inflate(self, decoder: "zlib._Decompress", piece: bytes) -> None:
        rest = piece
        # What follows the end of the compressed body is nobody's.
        while not (self.full or decoder.eof):
            made = decoder.decompress(rest, _STEP)
            rest = decoder.unconsumed_tail
            self._keep(made)
            if len(self._content) > max(_SMALL, MAX_RATIO * self._came):
                raise RefusedError("the compressed body swells without end; it was given up")
            if len(made) < _STEP:
                return

    def _keep(self, piece: bytes) -> None:
        room = self._limit - len(self._content)
        self._content += piece[:room]
        self.full = self.full or len(piece) > room


def _window_of(first: int) -> int:
    """Return how zlib reads a body that begins with `first`: gzip, zlib or bare deflate."""
    if first == _GZIP_MARK or first & 0x0F == zlib.DEFLATED:
        return 32 + zlib.MAX_WBITS
    # Some hosts send bare deflate where the standard wants zlib's frame around it.
    return -zlib.MAX_WBITS
