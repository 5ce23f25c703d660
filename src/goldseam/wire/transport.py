"""The port through which every exchange passes, and what stands behind it in earnest."""

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from goldseam.wire.message import Heard, HttpReply, HttpRequest, TimeLimits

if TYPE_CHECKING:
    from goldseam.wire.http_client import HttpClient


class Transport(Protocol):
    """Something that exchanges a request for a reply."""

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        """Return the reply, once it has ended.

        The body of a 2xx reply goes to `heard`, piece by piece as it comes; what `heard` raises
        ends the exchange and is raised. Any other body is in the reply, its first megabyte.
        Cancelled, the connection is closed before the cancellation goes on. Nothing is asked
        twice, no redirect is followed.

        Raises:
            TransportError: no whole reply came; pieces of it may have been heard.
        """
        ...


class HttpTransport:
    """The network. Belongs to the event loop that it was first used in.

    `environ` names proxies (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) and authorities
    (`SSL_CERT_FILE`, `SSL_CERT_DIR`). Connections are kept for the next request until `aclose`.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._client: HttpClient | None = None

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        """See `Transport.send`."""
        if self._client is None:
            from goldseam.wire.http_client import HttpClient  # noqa: PLC0415 - slow to load

            self._client = HttpClient(self._environ)
        return await self._client.send(request, limits=limits, heard=heard)

    async def aclose(self) -> None:
        """Close every connection."""
        if self._client is not None:
            await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
