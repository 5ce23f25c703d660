"""The network as it is: right, slow, cut and hostile, over real sockets on loopback."""

import logging
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import anyio
import pytest
from wire.scripted_server import (
    AUTHORITY,
    CHUNKED,
    LAST_CHUNK,
    ScriptedServer,
    Step,
    become_the_model,
    chunk,
    drip,
    end_writing,
    hang_up,
    head,
    reset,
    say_nothing,
    whole,
)

from goldseam.wire.http_client import MAX_ERROR_BYTES
from goldseam.wire.message import Heard, HttpReply, HttpRequest, TimeLimits, TransportError
from goldseam.wire.secret import Secret
from goldseam.wire.transport import HttpTransport

pytestmark = pytest.mark.anyio

AMPLE = TimeLimits(connect_s=20, first_byte_s=20, idle_s=20, total_s=20)
KEY = "sk-wire-0123456789abcdef"


class Ear:
    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def __call__(self, piece: bytes) -> None:
        self.pieces.append(piece)

    @property
    def heard(self) -> bytes:
        return b"".join(self.pieces)


@pytest.fixture
async def transport() -> AsyncIterator[HttpTransport]:
    async with HttpTransport({}) as opened:
        yield opened


def ask(server: ScriptedServer, *, body: bytes = b"{}") -> HttpRequest:
    return HttpRequest(
        method="POST",
        url=f"{server.url}/v1/chat?alt=sse",
        headers=(("content-type", "application/json"), ("x-api-key", Secret(KEY))),
        body=body,
    )


def limits(
    *, connect_s: float = 20, first_byte_s: float = 20, idle_s: float = 20, total_s: float = 20
) -> TimeLimits:
    return TimeLimits(
        connect_s=connect_s, first_byte_s=first_byte_s, idle_s=idle_s, total_s=total_s
    )


async def failure_of(
    transport: HttpTransport,
    server: ScriptedServer,
    *,
    within: TimeLimits = AMPLE,
    heard: Heard | None = None,
) -> TransportError:
    with anyio.fail_after(30), pytest.raises(TransportError) as caught:
        await transport.send(ask(server), limits=within, heard=heard or Ear())
    assert len(caught.value.text) < 200
    assert caught.value.text.isprintable()
    assert KEY not in caught.value.text
    return caught.value


def told(error: TransportError) -> tuple[str, bool]:
    return error.kind, error.sent


# What is asked and answered


async def test_a_body_is_heard_piece_by_piece_as_it_comes(transport: HttpTransport) -> None:
    ear, first_heard = Ear(), anyio.Event()

    def hear(piece: bytes) -> None:
        ear(piece)
        first_heard.set()

    async def wait_until_heard(_: object) -> None:
        await first_heard.wait()

    script: list[Step] = [CHUNKED, chunk(b"one"), wait_until_heard, chunk(b"two"), LAST_CHUNK]
    async with ScriptedServer(script) as server:
        with anyio.fail_after(20):
            reply = await transport.send(ask(server), limits=AMPLE, heard=hear)
    assert reply == HttpReply(
        status=200,
        headers={"transfer-encoding": "chunked", "content-type": "text/event-stream"},
    )
    assert ear.pieces == [b"one", b"two"]


async def test_the_request_goes_out_as_it_was_built(transport: HttpTransport) -> None:
    async with ScriptedServer([whole(b"")]) as server:
        await transport.send(ask(server, body=b'{"a":1}'), limits=AMPLE, heard=Ear())
    first, *fields = server.requests[0].partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert first == "POST /v1/chat?alt=sse HTTP/1.1"
    assert sorted(field.lower() for field in fields) == [
        "accept-encoding: identity",
        "content-length: 7",
        "content-type: application/json",
        f"host: localhost:{server.port}",
        "user-agent: goldseam",
        f"x-api-key: {KEY}",
    ]
    assert server.requests[0].endswith(b'\r\n\r\n{"a":1}')


async def test_a_header_that_was_given_is_not_given_twice(transport: HttpTransport) -> None:
    async with ScriptedServer([whole(b"")]) as server:
        request = HttpRequest(
            method="GET",
            url=server.url,
            headers=(
                ("User-Agent", "another"),
                ("Authorization", Secret(KEY, scheme="Bearer")),
            ),
        )
        await transport.send(request, limits=AMPLE, heard=Ear())
    sent = server.requests[0]
    assert b"User-Agent: another\r\n" in sent
    assert b"goldseam" not in sent
    assert f"Authorization: Bearer {KEY}\r\n".encode() in sent


async def test_headers_of_one_name_are_joined(transport: HttpTransport) -> None:
    async with ScriptedServer([whole(b"", "200 OK", "X-A: 1", "x-a: 2")]) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=Ear())
    assert reply.headers["x-a"] == "1, 2"


async def test_a_connection_is_used_again(transport: HttpTransport) -> None:
    async with ScriptedServer([whole(b"1")], [CHUNKED, LAST_CHUNK]) as server:
        await transport.send(ask(server), limits=AMPLE, heard=Ear())
        await transport.send(ask(server), limits=AMPLE, heard=Ear())
        assert server.connections == 1


async def test_a_connection_that_was_closed_meanwhile_is_not_used_again(
    transport: HttpTransport,
) -> None:
    async with ScriptedServer([whole(b"1"), hang_up], [whole(b"2")]) as server:
        await transport.send(ask(server), limits=AMPLE, heard=Ear())
        await server.closed.wait()
        reply = await transport.send(ask(server), limits=AMPLE, heard=Ear())
    assert (reply.status, server.connections) == (200, 2)


async def test_a_body_that_ends_with_its_connection_is_whole(transport: HttpTransport) -> None:
    ear = Ear()
    async with ScriptedServer([head(), b"to the", b" end", end_writing]) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=ear)
    assert reply == HttpReply(status=200, headers={})
    assert ear.heard == b"to the end"


async def test_a_reply_that_is_not_2xx_is_not_heard_but_returned(transport: HttpTransport) -> None:
    ear = Ear()
    async with ScriptedServer(
        [whole(b"<html>busy</html>", "529 Overloaded", "Retry-After: 7")], [whole(b"ok")]
    ) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=ear)
        assert reply == HttpReply(
            status=529,
            headers={"content-length": "17", "retry-after": "7"},
            body=b"<html>busy</html>",
        )
        assert ear.pieces == []
        await transport.send(ask(server), limits=AMPLE, heard=ear)
        assert server.connections == 1


async def test_no_redirect_is_followed(transport: HttpTransport) -> None:
    async with ScriptedServer(
        [whole(b"", "307 Moved", "Location: http://127.0.0.1:1/", "Set-Cookie: a=b")], [whole(b"")]
    ) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=Ear())
        await transport.send(ask(server), limits=AMPLE, heard=Ear())
    assert reply.status == 307
    assert [b"cookie" in request.lower() for request in server.requests] == [False, False]


async def test_a_page_of_ten_megabytes_is_left_unread_beyond_one(transport: HttpTransport) -> None:
    page = whole(b"<" * 10 * 2**20, "500 Oops")
    async with ScriptedServer([page, say_nothing]) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=Ear())
        with anyio.fail_after(20):
            await server.client_left.wait()  # the connection is closed, not read to its end
    assert (reply.status, len(reply.body), reply.body_cut) == (500, MAX_ERROR_BYTES, True)


# What breaks


CUTS: dict[str, list[Step]] = {
    "nothing": [hang_up],
    "half a status": [b"HTTP/1.1 2", hang_up],
    "half a header": [b"HTTP/1.1 200 OK\r\nContent-Le", hang_up],
    "not HTTP": [b"SSH-2.0-OpenSSH\r\n\r\n", hang_up],
    "reset before": [reset],
    "silence, then reset": [head("200 OK", "Content-Length: 9"), reset],
    "length too long": [head("200 OK", "Content-Length: 9"), b"12345678", hang_up],
    "length is no number": [head("200 OK", "Content-Length: many"), b"1", hang_up],
    "two lengths": [head("200 OK", "Content-Length: 1", "Content-Length: 2"), b"1", hang_up],
    "no last chunk": [CHUNKED, chunk(b"one"), hang_up],
    "chunk cut": [CHUNKED, b"5\r\none", hang_up],
    "half closed": [CHUNKED, chunk(b"one"), end_writing],
    "chunk without length": [CHUNKED, b"\r\none\r\n", hang_up],
    "chunk longer than said": [CHUNKED, b"1\r\none\r\n", hang_up],
    "reset in the middle": [CHUNKED, chunk(b"one"), reset],
    "endless header": [b"HTTP/1.1 200 OK\r\n" + b"X: " + b"x" * 200_000, say_nothing],
}


@pytest.mark.parametrize("script", CUTS.values(), ids=CUTS)
async def test_a_broken_reply_is_never_taken_for_a_whole_one(
    transport: HttpTransport, script: list[Step]
) -> None:
    async with ScriptedServer(script) as server:
        assert told(await failure_of(transport, server)) == ("broken", True)


async def test_every_cut_of_a_reply_is_noticed(transport: HttpTransport) -> None:
    reply = CHUNKED + chunk(b"data: 1\n\n") + chunk(b"data: [DONE]\n\n") + LAST_CHUNK
    scripts: list[list[Step]] = [[reply[:cut], hang_up] for cut in range(1, len(reply), 3)]
    for script in scripts:
        async with ScriptedServer(script) as server:
            assert told(await failure_of(transport, server)) == ("broken", True)


async def test_an_error_page_that_breaks_off_keeps_its_status(transport: HttpTransport) -> None:
    async with ScriptedServer([
        head("429 Too Many", "Content-Length: 90"),
        b'{"error":',
        hang_up,
    ]) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=Ear())
    assert (reply.status, reply.body, reply.body_cut) == (429, b'{"error":', True)


async def test_html_in_place_of_json_is_heard_as_it_is(transport: HttpTransport) -> None:
    ear = Ear()
    page = whole(b"<html>", "200 OK", "Content-Type: text/html")
    async with ScriptedServer([page]) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=ear)
    assert (reply.headers["content-type"], ear.heard) == ("text/html", b"<html>")


async def test_a_compressed_body_is_refused(transport: HttpTransport) -> None:
    # security 0.12: one read of a bomb would be 67 MB
    async with ScriptedServer([whole(b"\x1f\x8b", "200 OK", "Content-Encoding: gzip")]) as server:
        assert told(await failure_of(transport, server)) == ("broken", True)


async def test_a_compressed_page_keeps_its_status_alone(transport: HttpTransport) -> None:
    page = whole(b"\x1f\x8b", "502 Bad Gateway", "Content-Encoding: br")
    async with ScriptedServer([page]) as server:
        reply = await transport.send(ask(server), limits=AMPLE, heard=Ear())
    assert (reply.status, reply.body, reply.body_cut) == (502, b"", True)


async def test_a_body_beyond_the_cap_ends_the_exchange(transport: HttpTransport) -> None:
    size = 0

    def count(piece: bytes) -> None:
        nonlocal size
        size += len(piece)

    megabyte = chunk(b"x" * 2**20)
    async with ScriptedServer([CHUNKED, *[megabyte] * 65, say_nothing]) as server:
        assert told(await failure_of(transport, server, heard=count)) == ("too_large", True)
    assert 63 * 2**20 < size <= 64 * 2**20


async def test_what_the_listener_raises_is_raised_and_ends_the_exchange(
    transport: HttpTransport,
) -> None:
    def refuse(piece: bytes) -> None:
        raise LookupError(piece)

    async with ScriptedServer([CHUNKED, chunk(b"one"), say_nothing]) as server:
        with anyio.fail_after(20):
            with pytest.raises(LookupError, match="one"):
                await transport.send(ask(server), limits=AMPLE, heard=refuse)
            await server.client_left.wait()


# How long it takes


async def test_a_server_that_never_answers_is_left(transport: HttpTransport) -> None:
    async with ScriptedServer([say_nothing]) as server:
        error = await failure_of(transport, server, within=limits(first_byte_s=0.1))
        await server.client_left.wait()
    assert told(error) == ("first_byte", True)
    assert error.text == f"localhost:{server.port} did not begin its reply within 0.1 s"


async def test_headers_alone_are_no_beginning(transport: HttpTransport) -> None:
    async with ScriptedServer([CHUNKED, say_nothing]) as server:
        error = await failure_of(transport, server, within=limits(first_byte_s=0.1))
    assert told(error) == ("first_byte", True)


async def test_headers_that_drip_are_no_beginning(transport: HttpTransport) -> None:
    dripped: list[Step] = [b"HTTP/1.1 200 OK\r\nX: "]
    for _ in range(200):
        dripped += [b"x", 0.01]
    async with ScriptedServer(dripped) as server:
        error = await failure_of(transport, server, within=limits(first_byte_s=0.1))
    assert told(error) == ("first_byte", True)


async def test_a_server_that_falls_silent_is_left(transport: HttpTransport) -> None:
    async with ScriptedServer([CHUNKED, chunk(b"one"), say_nothing]) as server:
        error = await failure_of(transport, server, within=limits(idle_s=0.1))
        await server.client_left.wait()
    assert told(error) == ("idle", True)
    assert error.text == f"localhost:{server.port} fell silent for 0.1 s in the middle of its reply"


async def test_a_server_that_drips_is_left_in_the_end(transport: HttpTransport) -> None:
    # security 0.12: a limit for each read lets this go on for ever
    ear = Ear()
    async with ScriptedServer([CHUNKED, drip]) as server:
        error = await failure_of(transport, server, within=limits(total_s=0.5), heard=ear)
        await server.client_left.wait()
    assert told(error) == ("total", True)
    assert error.text == f"localhost:{server.port} did not end its reply within 0.5 s"
    assert set(ear.heard) <= {ord(":")}


async def test_pieces_that_come_in_time_may_take_longer_together(transport: HttpTransport) -> None:
    script: list[Step] = [CHUNKED]
    for _ in range(20):
        script += [chunk(b"."), 0.05]
    ear = Ear()
    async with ScriptedServer([*script, LAST_CHUNK]) as server:
        await transport.send(ask(server), limits=limits(idle_s=0.8), heard=ear)
    assert ear.heard == b"." * 20


async def test_an_error_page_that_drips_is_cut_and_keeps_its_status(
    transport: HttpTransport,
) -> None:
    async with ScriptedServer([head("503 Busy", "Transfer-Encoding: chunked"), drip]) as server:
        reply = await transport.send(ask(server), limits=limits(idle_s=0.4), heard=Ear())
        await server.client_left.wait()
    assert (reply.status, set(reply.body) <= {ord(":")}, reply.body_cut) == (503, True, True)


async def test_a_handshake_without_end_counts_as_connecting(transport: HttpTransport) -> None:
    async with ScriptedServer([say_nothing]) as server:
        request = HttpRequest(method="GET", url=f"https://localhost:{server.port}")
        with pytest.raises(TransportError) as caught:
            await transport.send(request, limits=limits(connect_s=0.1), heard=Ear())
        await server.client_left.wait()
    assert told(caught.value) == ("connect", False)
    assert caught.value.text == f"no connection to localhost:{server.port} within 0.1 s"


async def test_the_whole_time_counts_while_connecting_too(transport: HttpTransport) -> None:
    async with ScriptedServer([say_nothing]) as server:
        request = HttpRequest(method="GET", url=f"https://localhost:{server.port}")
        with pytest.raises(TransportError) as caught:
            await transport.send(request, limits=limits(total_s=0.1), heard=Ear())
    assert told(caught.value) == ("total", False)


@pytest.mark.parametrize("begun", [[], [CHUNKED], [CHUNKED, chunk(b"one")]])
async def test_a_cancelled_exchange_closes_its_connection_at_once(
    transport: HttpTransport, begun: list[Step]
) -> None:
    scope = anyio.CancelScope()

    async def give_up(_: object) -> None:
        scope.cancel()

    async with ScriptedServer([*begun, give_up, say_nothing], [whole(b"")]) as server:
        with anyio.fail_after(20):
            with scope:
                await transport.send(ask(server), limits=AMPLE, heard=Ear())
            assert scope.cancelled_caught
            await server.client_left.wait()
            reply = await transport.send(ask(server), limits=AMPLE, heard=Ear())
        assert (reply.status, server.connections) == (200, 2)


# Whom it is spoken with


async def test_a_closed_port_is_a_refusal_and_nothing_was_sent(transport: HttpTransport) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        request = HttpRequest(method="GET", url=f"http://127.0.0.1:{port}/")
        with pytest.raises(TransportError) as caught:
            await transport.send(request, limits=AMPLE, heard=Ear())
    assert told(caught.value) == ("connect", False)
    assert caught.value.text == f"no connection to 127.0.0.1:{port}: it was refused"


async def test_an_address_that_is_none_is_no_crash(transport: HttpTransport) -> None:
    request = HttpRequest(method="GET", url="https://999.999.999.999/")
    with pytest.raises(TransportError) as caught:
        await transport.send(request, limits=AMPLE, heard=Ear())
    assert told(caught.value) == ("connect", False)
    assert caught.value.text == "the host's name is not valid"


async def test_an_unknown_authority_is_not_trusted(transport: HttpTransport) -> None:
    async with ScriptedServer([whole(b"")], tls=True) as server:
        error = await failure_of(transport, server)
        assert server.requests == []
    assert told(error) == ("tls", False)
    assert error.text.startswith(
        f"no connection to localhost:{server.port}: its certificate is not trusted ("
    )


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
async def test_a_server_without_tls_is_told_apart(
    transport: HttpTransport, greeting: bytes
) -> None:
    async with ScriptedServer(greeting=greeting) as server:
        request = HttpRequest(method="GET", url=f"https://localhost:{server.port}")
        with pytest.raises(TransportError) as caught:
            await transport.send(request, limits=AMPLE, heard=Ear())
    assert told(caught.value) == ("tls", False)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
async def test_the_environment_names_whom_to_trust(variable: str, tmp_path: Path) -> None:
    # OpenSSL looks in a folder for the hash of the authority's name.
    (tmp_path / "967a923a.0").write_bytes(AUTHORITY.read_bytes())
    value = {"SSL_CERT_FILE": AUTHORITY, "SSL_CERT_DIR": tmp_path}[variable]
    ear = Ear()
    async with (
        ScriptedServer([whole(b"safe")], tls=True) as server,
        HttpTransport({variable: str(value)}) as transport,
    ):
        await transport.send(ask(server), limits=AMPLE, heard=ear)
    assert ear.heard == b"safe"


async def test_authorities_that_cannot_be_read_are_named() -> None:
    async with ScriptedServer([]) as server, HttpTransport({"SSL_CERT_FILE": "/none"}) as transport:
        error = await failure_of(transport, server)
    assert told(error) == ("tls", False)
    assert error.text.startswith("SSL_CERT_FILE or SSL_CERT_DIR names certificates that cannot")


# Proxies


def through(proxy: ScriptedServer) -> Mapping[str, str]:
    address = proxy.url.replace("://", "://user:pass-word-1@")
    return {"HTTPS_PROXY": address, "SSL_CERT_FILE": str(AUTHORITY)}


MODEL = HttpRequest(
    method="GET", url="https://model.example/v1", headers=(("x-api-key", Secret(KEY)),)
)


@pytest.mark.parametrize("tls", [False, True])
async def test_a_model_is_reached_through_a_proxy_that_learns_no_key(tls: bool) -> None:
    ear = Ear()
    script: list[Step] = [head("200 Established"), become_the_model, whole(b"through")]
    async with (
        ScriptedServer(script, tls=tls) as proxy,
        HttpTransport(through(proxy)) as transport,
    ):
        reply = await transport.send(MODEL, limits=AMPLE, heard=ear)
    asked, told_inside = proxy.requests
    assert asked.startswith(b"CONNECT model.example:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " in asked
    assert KEY.encode() not in asked
    assert f"x-api-key: {KEY}\r\n".encode() in told_inside
    assert (reply.status, ear.heard) == (200, b"through")


async def test_a_proxy_that_refuses_is_named_and_nothing_was_sent() -> None:
    async with (
        ScriptedServer([whole(b"", "407 Proxy Authentication Required")]) as proxy,
        HttpTransport(through(proxy)) as transport,
    ):
        with pytest.raises(TransportError) as caught:
            await transport.send(MODEL, limits=AMPLE, heard=Ear())
    assert told(caught.value) == ("connect", False)
    assert caught.value.text == "the proxy refused: status 407"


async def test_a_proxy_that_breaks_off_counts_as_not_connected() -> None:
    async with (
        ScriptedServer([hang_up]) as proxy,
        HttpTransport(through(proxy)) as transport,
    ):
        with pytest.raises(TransportError) as caught:
            await transport.send(MODEL, limits=AMPLE, heard=Ear())
    assert told(caught.value) == ("connect", False)
    assert caught.value.text == "no connection to model.example: it was closed"


async def test_this_machine_is_reached_without_a_proxy() -> None:
    async with (
        ScriptedServer([whole(b"")]) as server,
        HttpTransport({"https_proxy": "http://127.0.0.1:1", "http_proxy": "h"}) as transport,
    ):
        assert (await transport.send(ask(server), limits=AMPLE, heard=Ear())).status == 200


# What is seen of it


async def test_no_key_reaches_the_log(
    transport: HttpTransport, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with ScriptedServer([whole(b"")], [hang_up]) as server:
        await transport.send(ask(server), limits=AMPLE, heard=Ear())
        await failure_of(transport, server)
    assert caplog.records
    assert KEY not in caplog.text


def test_no_http_is_loaded_before_a_request_is_made() -> None:
    program = (
        "import sys, goldseam\n"
        "from goldseam.wire import json_array, sse, tape, transport\n"
        "transport.HttpTransport({})\n"
        "sys.exit(any(name.partition('.')[0] in ('httpx2', 'httpcore2', 'h11', 'ssl')"
        " for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_a_transport_that_was_never_used_closes() -> None:
    async with HttpTransport({}):
        pass
