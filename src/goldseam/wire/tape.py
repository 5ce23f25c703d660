"""Exchanges written down, to be played again without a network. Keys are not among what is written.

Stands at the seam of `Transport`. A tape is lines of JSON, one for each exchange; bodies are kept
byte for byte as Latin-1 text, less the request's secrets in whatever spelling.
"""

from collections.abc import Iterable
from typing import TypeAlias, assert_never

import msgspec
from msgspec import Struct

from goldseam.wire.message import (
    FailedAt,
    Heard,
    HttpReply,
    HttpRequest,
    TimeLimits,
    TransportError,
)
from goldseam.wire.secret import Secret
from goldseam.wire.transport import Transport

MARK = "[secret]"

_NOT_KEPT = frozenset({"set-cookie"})


class Replied(Struct, frozen=True, kw_only=True, tag="replied"):
    """A whole reply came."""

    status: int
    headers: dict[str, str]
    body: str = ""
    body_cut: bool = False


class Failed(Struct, frozen=True, kw_only=True, tag="failed"):
    """A `TransportError` came."""

    kind: FailedAt
    text: str
    sent: bool


Ending: TypeAlias = Replied | Failed


class Exchange(Struct, frozen=True, kw_only=True):
    """One request, what was heard of the answer, and how it ended."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: str
    heard: str
    ending: Ending


class UnmatchedRequestError(Exception):
    """The tape holds no answer to this request, or has given it already."""


class Tape:
    """Exchanges in the order in which they took place."""

    def __init__(self, exchanges: Iterable[Exchange] = ()) -> None:
        self._exchanges = list(exchanges)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What is on the tape."""
        return tuple(self._exchanges)

    def add(self, exchange: Exchange) -> None:
        """Write one more exchange at the end."""
        self._exchanges.append(exchange)

    def to_lines(self) -> bytes:
        """Return the tape as lines of JSON."""
        return msgspec.json.Encoder().encode_lines(self._exchanges)

    @classmethod
    def from_lines(cls, lines: bytes) -> "Tape":
        """Return the tape that `lines` write.

        Raises:
            msgspec.ValidationError: they write no tape.
        """
        return cls(msgspec.json.Decoder(Exchange).decode_lines(lines))


class RecordingTransport:
    """Passes everything on, and writes it down."""

    def __init__(self, transport: Transport, tape: Tape) -> None:
        self._transport = transport
        self._tape = tape

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        """See `Transport.send`."""
        overheard = bytearray()

        def hear(piece: bytes) -> None:
            overheard.extend(piece)
            heard(piece)

        clean = _Cleaner(request.secrets)
        try:
            reply = await self._transport.send(request, limits=limits, heard=hear)
        except TransportError as error:
            ending = Failed(kind=error.kind, text=clean(error.text), sent=error.sent)
            self._tape.add(_exchange(request, bytes(overheard), ending))
            raise
        self._tape.add(_exchange(request, bytes(overheard), clean.reply(reply)))
        return reply


class ReplayingTransport:
    """Answers from a tape alone, each exchange once; equal requests in the order of the tape."""

    def __init__(self, tape: Tape) -> None:
        self._left = list(tape.exchanges)

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:  # noqa: ARG002 - a tape takes no time
        """See `Transport.send`; the whole body is heard at once.

        Raises:
            UnmatchedRequestError: no such request is left on the tape.
        """
        exchange = self._take(_exchange(request, b"", Failed(kind="broken", text="", sent=False)))
        if exchange.heard:
            heard(exchange.heard.encode("latin-1"))
        match exchange.ending:
            case Replied(status=status, headers=headers, body=body, body_cut=cut):
                return HttpReply(
                    status=status, headers=headers, body=body.encode("latin-1"), body_cut=cut
                )
            case Failed(kind=kind, text=text, sent=sent):
                raise TransportError(kind, text, sent=sent)
            case _:
                assert_never(exchange.ending)

    def _take(self, asked: Exchange) -> Exchange:
        for place, exchange in enumerate(self._left):
            if _question(exchange) == _question(asked):
                return self._left.pop(place)
        raise UnmatchedRequestError(
            f"no exchange on the tape for {asked.method} {asked.url} with this body of "
            f"{len(asked.body)} bytes; {len(self._left)} others are left"
        )


def _question(exchange: Exchange) -> tuple[str, str, str]:
    """Return what an equal request must equal: its headers may differ."""
    return exchange.method, exchange.url, exchange.body


class _Cleaner:
    """Takes secrets out of what is written down."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        forms = {form for secret in secrets for form in secret.spellings()}
        # The longest first, so that no rest of one is left behind by another.
        self._spellings = sorted(forms, key=lambda form: (-len(form), form))

    def __call__(self, text: str) -> str:
        for form in self._spellings:
            text = text.replace(form, MARK)
        return text

    def bytes(self, raw: bytes) -> str:
        return self(raw.decode("latin-1"))

    def reply(self, reply: HttpReply) -> Replied:
        return Replied(
            status=reply.status,
            headers={
                name: self(value) for name, value in reply.headers.items() if name not in _NOT_KEPT
            },
            body=self.bytes(reply.body),
            body_cut=reply.body_cut,
        )


def _exchange(request: HttpRequest, heard: bytes, ending: Ending) -> Exchange:
    clean = _Cleaner(request.secrets)
    return Exchange(
        method=request.method,
        url=clean(request.url),
        headers=tuple(
            (name, clean(value) if isinstance(value, str) else MARK)
            for name, value in request.headers
        ),
        body=clean.bytes(request.body),
        heard=clean.bytes(heard),
        ending=ending,
    )
