"""The network as fetching meets it: names become addresses, an address becomes a connection."""

import socket
import ssl
from collections.abc import Mapping
from typing import Protocol

import anyio
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream


class Network(Protocol):
    """What can be asked of the network, in three steps that are checked in between."""

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Return every address that `host` has now, the likeliest to answer first.

        Raises:
            OSError: it has none.
        """
        ...

    async def connect(self, address: str, port: int) -> ByteStream:
        """Return a connection to `address` itself.

        Raises:
            OSError: nobody answers there.
        """
        ...

    async def secure(self, stream: ByteStream, host: str) -> ByteStream:
        """Return `stream` under TLS, with whoever proved to be `host`.

        Raises:
            OSError: that was not proved; `ssl.SSLError` is one.
        """
        ...


class Internet:
    """The network of this machine, without any proxy.

    `environ` may name authorities (`SSL_CERT_FILE`, `SSL_CERT_DIR`). Proxies are passed over on
    purpose: behind one, nobody could say which address is connected to in the end.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._authorities: ssl.SSLContext | None = None

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """See `Network.resolve`."""
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(address[0] for *_, address in found))

    async def connect(self, address: str, port: int) -> ByteStream:
        """See `Network.connect`."""
        return await anyio.connect_tcp(address, port)

    async def secure(self, stream: ByteStream, host: str) -> ByteStream:
        """See `Network.secure`."""
        self._authorities = self._authorities or ssl.create_default_context(
            cafile=self._environ.get("SSL_CERT_FILE") or None,
            capath=self._environ.get("SSL_CERT_DIR") or None,
        )
        return await TLSStream.wrap(
            stream, hostname=host, ssl_context=self._authorities, standard_compatible=False
        )
