"""Fetch one URL: resolved once, connected to the address that was checked, read within limits.

Knows neither tools nor pages. A request is a bare GET: no cookies, no credentials, nothing of the
environment. Redirects are followed by hand, each hop checked like the first, and only within the
site that was asked for: where another one is named, whoever asked must ask again.
"""

import anyio
import h11
from anyio.abc import ByteStream
from msgspec import Struct

from goldseam.tools.web.addresses import (
    RefusedError,
    Target,
    next_target,
    read_url,
    same_site,
    why_closed,
)
from goldseam.tools.web.decoding import ENCODINGS, MAX_BYTES, Body
from goldseam.tools.web.network import Network
from goldseam.tools.web.reply import Elsewhere, Fetched, FetchError, Reply

MAX_HOPS = 5
"""Redirects that are followed."""

_TRIED_ADDRESSES = 3
_CONNECT_S = 10.0
_CHUNK = 1 << 16
_MAX_HEAD = 1 << 16
_MAX_INTERIM = 20
_MAX_RECEIVED = MAX_BYTES + 2**20
_REDIRECTS = {301, 302, 303, 307, 308}
_ACCEPTED = "text/html, text/markdown, text/plain, application/json, */*;q=0.5"


class _Head(Struct, frozen=True, kw_only=True):
    status: int
    fields: dict[str, str]


class Fetcher:
    """Fetches over `network`; `also_open` are addresses open though they are not public."""

    def __init__(self, network: Network, *, also_open: frozenset[str] = frozenset()) -> None:
        self._network = network
        self._also_open = also_open

    async def fetch(self, url: str, *, limit_s: float) -> Reply:
        """See `Fetching.fetch`."""
        target = read_url(url)
        try:
            with anyio.fail_after(limit_s):
                return await self._follow(target)
        except TimeoutError as error:
            raise FetchError(f"{target.host} was not done after {limit_s:g} s") from error

    async def _follow(self, first: Target) -> Reply:
        target = first
        for _ in range(MAX_HOPS + 1):
            reply = await self._get(target)
            if isinstance(reply, Fetched):
                return reply
            if not same_site(first, reply):
                # Told only if it could be asked for.
                await self._open_addresses(reply)
                return Elsewhere(target=target, to=reply)
            target = reply
        raise FetchError(f"{first.host} redirects more than {MAX_HOPS} times")

    async def _get(self, target: Target) -> Fetched | Target:
        """Return what `target` answers, or where it sends us."""
        addresses = await self._open_addresses(target)
        stream = await self._connect(target, addresses)
        try:
            return await self._exchange(target, _Exchange(stream, target.host))
        finally:
            await _close(stream)

    async def _exchange(self, target: Target, exchange: "_Exchange") -> Fetched | Target:
        head = await exchange.ask(target)
        location = head.fields.get("location")
        if head.status in _REDIRECTS and location:
            return next_target(target, location)
        body = await exchange.read_body(head)
        return Fetched(
            target=target,
            status=head.status,
            content_type=head.fields.get("content-type", ""),
            body=body.content,
            cut=body.full,
            retry_after=head.fields.get("retry-after", ""),
        )

    async def _open_addresses(self, target: Target) -> tuple[str, ...]:
        """Return the addresses of `target`, resolved this once; one closed one closes them all."""
        if target.address is not None:
            found: tuple[str, ...] = (target.address,)
        else:
            try:
                found = await self._network.resolve(target.host, target.port)
            except (OSError, UnicodeError) as error:
                raise FetchError(f"the name {target.host} is not known") from error
        for address in found:
            why = None if address in self._also_open else why_closed(address)
            if why is not None:
                raise RefusedError(
                    f"{target.host} is at an address that is not fetched from ({why})"
                )
        return found

    async def _connect(self, target: Target, addresses: tuple[str, ...]) -> ByteStream:
        """Return a connection to one of `addresses`, secured where the scheme wants it."""
        stream = await self._reach(target, addresses)
        if target.scheme == "http":
            return stream
        try:
            return await self._network.secure(stream, target.host)
        except BaseException as error:
            await _close(stream)
            if isinstance(error, OSError | anyio.BrokenResourceError | anyio.EndOfStream):
                raise FetchError(f"{target.host} did not prove who it is (TLS)") from error
            raise

    async def _reach(self, target: Target, addresses: tuple[str, ...]) -> ByteStream:
        for address in addresses[:_TRIED_ADDRESSES]:
            try:
                with anyio.fail_after(_CONNECT_S):
                    return await self._network.connect(address, target.port)
            except OSError:
                continue  # TimeoutError is one; the next address may answer
        raise FetchError(f"{target.host} does not answer on port {target.port}")


class _Exchange:
    """One request and its reply over one connection."""

    def __init__(self, stream: ByteStream, host: str) -> None:
        self._stream = stream
        self._host = host
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)
        self._received = 0

    async def ask(self, target: Target) -> _Head:
        """Send the request and return the head of the reply."""
        request = h11.Request(
            method="GET",
            target=target.path,
            headers=[
                ("Host", target.authority),
                ("User-Agent", "goldseam"),
                ("Accept", _ACCEPTED),
                ("Accept-Encoding", ENCODINGS),
                ("Connection", "close"),
            ],
        )
        wire = (self._http.send(request) or b"") + (self._http.send(h11.EndOfMessage()) or b"")
        try:
            await self._stream.send(wire)
        except anyio.BrokenResourceError as error:
            raise FetchError(f"{self._host} closed the connection") from error
        event = await self._next()
        for _ in range(_MAX_INTERIM):
            if not isinstance(event, h11.InformationalResponse):
                break
            event = await self._next()
        if not isinstance(event, h11.Response):
            raise FetchError(f"{self._host} sent no reply")
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        return _Head(status=event.status_code, fields=fields)

    async def read_body(self, head: _Head) -> Body:
        """Return the body, or its beginning where it is too long."""
        body = Body(head.fields.get("content-encoding", ""))
        while isinstance(event := await self._next(), h11.Data):
            body.feed(bytes(event.data))
            if body.full:
                break
        if not (body.full or body.is_whole):
            raise FetchError(f"{self._host} broke off in the middle of the reply")
        return body

    async def _next(self) -> object:
        """Return the next event of the reply; what is none of h11's events is its end."""
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self._receive())
        except h11.RemoteProtocolError as error:
            raise FetchError(f"{self._host} does not speak HTTP, or broke off") from error
        return event

    async def _receive(self) -> bytes:
        try:
            piece = await self._stream.receive(_CHUNK)
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, OSError) as error:
            raise FetchError(f"{self._host} broke the connection") from error
        self._received += len(piece)
        if self._received > _MAX_RECEIVED:
            raise FetchError(f"{self._host} sends more than is taken")
        return piece


async def _close(stream: ByteStream) -> None:
    # Closing says no farewell, so that it waits for nobody, cancelled or not.
    with anyio.CancelScope(shield=True):
        await stream.aclose()
