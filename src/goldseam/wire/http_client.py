"""HTTP by httpx2, which no other module imports. Its transports are used without its client.

The client would read the environment, keep cookies, follow redirects and write URLs to the log.
"""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import anyio
import httpx2

from goldseam.wire.message import Heard, HttpReply, HttpRequest, TimeLimits, TransportError
from goldseam.wire.progress import Progress
from goldseam.wire.proxies import proxy_for

MAX_BODY_BYTES = 64 * 2**20
MAX_ERROR_BYTES = 2**20

T = TypeVar("T")

_KEPT = httpx2.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30)
# A compressed body is not taken, so that none can be a bomb (security 0.12).
_OUR_HEADERS = [("accept-encoding", "identity"), ("user-agent", "goldseam")]


class HttpClient:
    """Pools of connections, one for each proxy."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._authorities: ssl.SSLContext | None = None
        self._pools: dict[str | None, httpx2.AsyncHTTPTransport] = {}

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        """See `Transport.send`."""
        pool = self._pool(proxy_for(request.url, self._environ))
        progress = Progress(request.host, limits)
        asked = _as_httpx2(request, progress)
        reply = await _within(progress, pool.handle_async_request(asked))
        headers = {name.lower(): value for name, value in reply.headers.items()}
        if reply.is_success:
            await _within(progress, _hear(reply, heard, progress))
            return HttpReply(status=reply.status_code, headers=headers)
        body = bytearray()
        progress.came()
        try:
            await _within(progress, _drain(reply, _collect_into(body)))
            cut = len(body) > MAX_ERROR_BYTES or _is_compressed(reply)
        except TransportError:
            cut = True  # the status says more than how its page broke off
        return HttpReply(
            status=reply.status_code,
            headers=headers,
            body=b"" if _is_compressed(reply) else bytes(body[:MAX_ERROR_BYTES]),
            body_cut=cut,
        )

    async def aclose(self) -> None:
        """Close every connection."""
        while self._pools:
            _, pool = self._pools.popitem()
            await pool.aclose()

    def _pool(self, proxy: str | None) -> httpx2.AsyncHTTPTransport:
        if proxy not in self._pools:
            self._authorities = self._authorities or _authorities(self._environ)
            self._pools[proxy] = httpx2.AsyncHTTPTransport(
                verify=self._authorities,
                trust_env=False,
                limits=_KEPT,
                proxy=None if proxy is None else _as_proxy(proxy, self._authorities),
            )
        return self._pools[proxy]


def _as_proxy(url: str, authorities: ssl.SSLContext) -> httpx2.Proxy:
    proxy = httpx2.Proxy(url)
    if proxy.url.scheme == "https":
        proxy.ssl_context = authorities
    return proxy


def _authorities(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return whose certificates are believed: those of the environment, else the machine's."""
    file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if not (file or folder):
        return httpx2.create_ssl_context(trust_env=False)
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError as error:
        raise TransportError(
            "tls",
            f"SSL_CERT_FILE or SSL_CERT_DIR names certificates that cannot be read: {error}",
            sent=False,
        ) from error


def _as_httpx2(request: HttpRequest, progress: Progress) -> httpx2.Request:
    headers = [
        (name, value if isinstance(value, str) else value.header) for name, value in request.headers
    ]
    given = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in _OUR_HEADERS if name not in given]
    try:
        return httpx2.Request(
            request.method,
            request.url,
            headers=headers,
            content=request.body,
            extensions={"trace": progress.trace},
        )
    except httpx2.InvalidURL as error:
        raise TransportError("connect", "the host's name is not valid", sent=False) from error


async def _within(progress: Progress, work: Awaitable[T]) -> T:
    """Await `work` until the exchange is overdue; the errors of httpx2 become ours."""
    with progress.scope():
        try:
            return await work
        except httpx2.ProxyError as error:
            text = f"the proxy refused: status {str(error)[:3]}"
            raise TransportError("connect", text, sent=False) from error
        except httpx2.TransportError as error:
            raise progress.broken(error) from error
    raise progress.overdue()


async def _drain(reply: httpx2.Response, take: Callable[[bytes], bool]) -> None:
    """Give each piece of the body to `take` until it wants no more; the reply is closed then."""
    pieces = reply.aiter_raw()
    try:
        async for piece in pieces:
            if not take(piece):
                break
    finally:
        with anyio.CancelScope(shield=True):
            await pieces.aclose()


async def _hear(reply: httpx2.Response, heard: Heard, progress: Progress) -> None:
    compressed = _is_compressed(reply)
    size = 0

    def take(piece: bytes) -> bool:
        nonlocal size
        size += len(piece)
        if compressed:
            raise TransportError(
                "broken", "the reply came compressed, which was not asked for", sent=True
            )
        if size > MAX_BODY_BYTES:
            raise TransportError(
                "too_large", f"the reply is above {MAX_BODY_BYTES} bytes", sent=True
            )
        heard(piece)
        progress.came()
        return True

    await _drain(reply, take)


def _collect_into(body: bytearray) -> Callable[[bytes], bool]:
    def take(piece: bytes) -> bool:
        body.extend(piece)
        return len(body) <= MAX_ERROR_BYTES

    return take


def _is_compressed(reply: httpx2.Response) -> bool:
    return reply.headers.get("content-encoding", "identity").lower() not in {"", "identity"}
