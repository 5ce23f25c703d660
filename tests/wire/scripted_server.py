"""A TCP server on loopback that answers each request with the next script, right or wrong."""

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Self, TypeAlias

CERTIFICATES = Path(__file__).parent / "certificates"
AUTHORITY = CERTIFICATES / "authority.pem"


class Peer:
    """One connection, as a script sees it."""

    def __init__(
        self, server: "ScriptedServer", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server = server
        self.reader = reader
        self.writer = writer


Act: TypeAlias = Callable[[Peer], Awaitable[None]]
Step: TypeAlias = bytes | float | Act
"""Bytes to send, seconds to wait, or something to do."""


class ScriptedServer:
    """Plays each script once; then, and after a script that hangs up, the connection is closed."""

    def __init__(self, *scripts: list[Step], tls: bool = False, greeting: bytes = b"") -> None:
        self._scripts = list(scripts)
        self._greeting = greeting
        self._tls = server_tls() if tls else None
        self.requests: list[bytes] = []
        self.connections = 0
        self.client_left = asyncio.Event()
        self.closed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://localhost:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        peer = Peer(self, reader, writer)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                writer.write(self._greeting)
                while self._scripts:
                    self.requests.append(await read_request(reader))
                    await play(self._scripts.pop(0), peer)
        finally:
            self.client_left.set()
            self._tasks.discard(task)
            with suppress(ConnectionError, ssl.SSLError):
                peer.writer.close()


async def play(script: list[Step], peer: Peer) -> None:
    for step in script:
        if isinstance(step, bytes):
            peer.writer.write(step)
            await peer.writer.drain()
        elif isinstance(step, float):
            await asyncio.sleep(step)
        else:
            await step(peer)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return head + await reader.readexactly(length)


async def say_nothing(peer: Peer) -> None:
    """Wait until the client goes away."""
    with suppress(ConnectionError):
        while await peer.reader.read(65536):
            pass
    peer.server.client_left.set()


async def hang_up(peer: Peer) -> None:
    peer.writer.close()
    await peer.writer.wait_closed()
    peer.server.closed.set()


async def end_writing(peer: Peer) -> None:
    """Close the one direction, and go on listening."""
    peer.writer.write_eof()
    await say_nothing(peer)


async def reset(peer: Peer) -> None:
    """Close as a crashed machine does: at once, with RST."""
    connection = peer.writer.get_extra_info("socket")
    connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    peer.writer.transport.abort()


async def drip(peer: Peer) -> None:
    """Send a byte at a time until the client goes away."""
    with suppress(ConnectionError):
        while True:
            peer.writer.write(b"1\r\n:\r\n")
            await peer.writer.drain()
            await asyncio.sleep(0.01)
    peer.server.client_left.set()


async def become_the_model(peer: Peer) -> None:
    """Having answered CONNECT, speak TLS as `model.example` and take its first request."""
    await peer.writer.start_tls(server_tls())
    peer.server.requests.append(await read_request(peer.reader))


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem")
    return context


def head(status: str = "200 OK", *fields: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode()


def whole(body: bytes, status: str = "200 OK", *fields: str) -> bytes:
    return head(status, f"Content-Length: {len(body)}", *fields) + body


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


CHUNKED = head("200 OK", "Transfer-Encoding: chunked", "Content-Type: text/event-stream")
LAST_CHUNK = b"0\r\n\r\n"
