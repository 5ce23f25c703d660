import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import ByteStream
from anyio.streams.stapled import StapledByteStream
from wire.scripted_server import (
    AUTHORITY,
    Peer,
    ScriptedServer,
    Step,
    chunk,
    drip,
    hang_up,
    head,
    reset,
    say_nothing,
    whole,
)

from goldseam.tools.web.addresses import RefusedError, read_url
from goldseam.tools.web.decoding import MAX_BYTES
from goldseam.tools.web.fetching import MAX_HOPS, Fetcher
from goldseam.tools.web.network import Internet
from goldseam.tools.web.reply import Elsewhere, Fetched, FetchError

LOOPBACK = frozenset({"127.0.0.1"})
PUBLIC = "93.184.216.34"


class Resolved(Internet):
    """The network of this machine, but that names are looked up in `names`, one answer a time."""

    def __init__(self, **names: list[tuple[str, ...]]) -> None:
        super().__init__({"SSL_CERT_FILE": str(AUTHORITY)})
        self._names = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.asked: list[str] = []
        self.connected: list[tuple[str, int]] = []

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        assert port
        self.asked.append(host)
        answers = self._names.get(host) or []
        if not answers:
            raise OSError(f"no such name: {host}")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(self, address: str, port: int) -> ByteStream:
        self.connected.append((address, port))
        return await super().connect("127.0.0.1" if address == PUBLIC else address, port)


def local(**names: list[tuple[str, ...]]) -> Fetcher:
    return Fetcher(Resolved(localhost=[("127.0.0.1",)], **names), also_open=LOOPBACK)


def path_of(request: bytes) -> str:
    return request.split(b" ")[1].decode()


def to(url: str, status: str = "302 Found") -> bytes:
    return whole(b"", status, f"Location: {url}")


@asynccontextmanager
async def nobody_may_come() -> AsyncIterator[int]:
    """A listener on loopback to which no connection may be made."""
    came = 0

    async def count(_: ByteStream) -> None:
        nonlocal came
        came += 1

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, count)
        yield listener.extra(anyio.abc.SocketAttribute.local_port)
        await anyio.sleep(0.05)
        group.cancel_scope.cancel()
    assert came == 0


@pytest.mark.anyio
async def test_a_page_is_fetched_by_a_bare_request() -> None:
    async with ScriptedServer([whole(b"words", "200 OK", "Content-Type: text/plain")]) as server:
        url = f"http://localhost:{server.port}/a?b=c"
        fetched = await local().fetch(url, limit_s=5)
    assert fetched == Fetched(
        target=read_url(url), status=200, content_type="text/plain", body=b"words"
    )
    assert server.requests[0].lower().split(b"\r\n") == [
        b"get /a?b=c http/1.1",
        f"host: localhost:{server.port}".encode(),
        b"user-agent: goldseam",
        b"accept: text/html, text/markdown, text/plain, application/json, */*;q=0.5",
        b"accept-encoding: gzip, deflate",
        b"connection: close",
        b"",
        b"",
    ]


@pytest.mark.anyio
async def test_compressed_chunks_are_joined_and_decoded() -> None:
    packed = gzip.compress(b"words " * 1000)
    script: list[Step] = [
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        head("200 OK", "Transfer-Encoding: chunked", "Content-Encoding: gzip"),
        chunk(packed[:20]),
        0.01,
        chunk(packed[20:]),
        b"0\r\n\r\n",
    ]
    async with ScriptedServer(script) as server:
        fetched = await local().fetch(f"http://localhost:{server.port}/", limit_s=5)
    assert isinstance(fetched, Fetched)
    assert fetched.body == b"words " * 1000


@pytest.mark.anyio
async def test_the_name_is_proved_and_the_checked_address_connected_to() -> None:
    # security 43: the address is pinned, `Host` and the name of the certificate stay
    async with ScriptedServer([whole(b"words")], tls=True) as server:
        network = Resolved(model_example=[(PUBLIC,)])
        url = f"https://model.example:{server.port}/"
        fetched = await Fetcher(network).fetch(url, limit_s=5)
    assert isinstance(fetched, Fetched)
    assert fetched.body == b"words"
    assert network.connected == [(PUBLIC, server.port)]
    assert f"host: model.example:{server.port}".encode() in server.requests[0].lower()


@pytest.mark.anyio
@pytest.mark.parametrize("is_trusted", [True, False])
async def test_who_cannot_prove_a_name_is_not_talked_to(*, is_trusted: bool) -> None:
    async with ScriptedServer([whole(b"words")], tls=True) as server:
        network = Resolved(other_example=[("127.0.0.1",)], localhost=[("127.0.0.1",)])
        if not is_trusted:
            network._environ = {}
        host = "other.example" if is_trusted else "localhost"
        with pytest.raises(FetchError, match="did not prove"):
            await Fetcher(network, also_open=LOOPBACK).fetch(
                f"https://{host}:{server.port}/", limit_s=5
            )
    assert server.requests == []


@pytest.mark.anyio
async def test_a_server_without_tls_proves_nothing() -> None:
    async with ScriptedServer([whole(b"words")], greeting=b"220 welcome\r\n") as server:
        with pytest.raises(FetchError, match="did not prove"):
            await local().fetch(f"https://localhost:{server.port}/", limit_s=5)


# What is closed


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answers",
    [("127.0.0.1",), ("169.254.169.254",), ("64:ff9b::a9fe:a9fe",), (PUBLIC, "10.0.0.1"), ("::1",)],
)
async def test_one_closed_address_closes_a_name(answers: tuple[str, ...]) -> None:
    # security 42: all answers are checked
    async with nobody_may_come() as port:
        network = Resolved(a_example=[answers])
        with pytest.raises(RefusedError, match=r"a\.example is at an address that is not fetched"):
            await Fetcher(network).fetch(f"http://a.example:{port}/", limit_s=5)
    assert network.connected == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "where",
    [
        "http://127.0.0.1:{port}/",
        "//127.0.0.1:{port}/x",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://0x7f.1:{port}/",
        "http://2130706433:{port}/",
        "http://inside.example:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://unknown.example/",
        "file:///etc/passwd",
        "http://ada:secret@a.example/",
    ],
)
async def test_a_redirect_inside_is_refused_before_any_connection(where: str) -> None:
    # security 43
    async with nobody_may_come() as port, ScriptedServer([to(where.format(port=port))]) as server:
        network = Resolved(a_example=[(PUBLIC,)], inside_example=[("127.0.0.1",)])
        with pytest.raises((RefusedError, FetchError)):
            await Fetcher(network).fetch(f"http://a.example:{server.port}/", limit_s=5)
    assert network.connected == [(PUBLIC, server.port)]


@pytest.mark.anyio
async def test_a_name_that_turns_inside_is_refused_at_the_next_hop() -> None:
    # security 43: an answer that changes between two look-ups
    async with ScriptedServer([to("/second")]) as server:
        network = Resolved(a_example=[(PUBLIC,), ("127.0.0.1",)])
        with pytest.raises(RefusedError, match="loopback"):
            await Fetcher(network).fetch(f"http://a.example:{server.port}/", limit_s=5)
    assert network.asked == ["a.example", "a.example"]
    assert network.connected == [(PUBLIC, server.port)]


@pytest.mark.anyio
async def test_a_name_is_looked_up_once_for_a_hop() -> None:
    async with ScriptedServer([whole(b"words")]) as server:
        network = Resolved(a_example=[(PUBLIC,), ("127.0.0.1",)])
        await Fetcher(network).fetch(f"http://a.example:{server.port}/", limit_s=5)
    assert network.asked == ["a.example"]


@pytest.mark.anyio
async def test_a_refused_url_is_not_even_looked_up() -> None:
    network = Resolved()
    with pytest.raises(RefusedError):
        await Fetcher(network).fetch("http://0x7f.1/", limit_s=5)
    with pytest.raises(RefusedError):
        await Fetcher(network).fetch("http://[::1]/", limit_s=5)
    assert (network.asked, network.connected) == ([], [])


@pytest.mark.anyio
async def test_a_proxy_of_the_environment_is_passed_over() -> None:
    # security 43
    async with ScriptedServer([whole(b"words")]) as server, nobody_may_come() as port:
        proxy = f"http://127.0.0.1:{port}"
        environ = {"HTTP_PROXY": proxy, "http_proxy": proxy, "ALL_PROXY": proxy}
        fetcher = Fetcher(Internet(environ), also_open=LOOPBACK)
        await fetcher.fetch(f"http://127.0.0.1:{server.port}/", limit_s=5)


# Redirects


@pytest.mark.anyio
async def test_redirects_within_the_site_are_followed_by_hand() -> None:
    scripts: list[list[Step]] = [
        [to("/b", "301 Moved Permanently"), hang_up],
        [to("c?d", "307 Temporary Redirect"), hang_up],
        [whole(b"words")],
    ]
    async with ScriptedServer(*scripts) as server:
        fetched = await local().fetch(f"http://localhost:{server.port}/a", limit_s=5)
    assert isinstance(fetched, Fetched)
    assert fetched.target.path == "/c?d"
    assert [path_of(request) for request in server.requests] == ["/a", "/b", "/c?d"]


@pytest.mark.anyio
async def test_another_site_is_named_and_not_asked() -> None:
    async with nobody_may_come() as port:
        async with ScriptedServer([to(f"http://b.example:{port}/x")]) as server:
            network = Resolved(a_example=[(PUBLIC,)], b_example=[(PUBLIC,)])
            url = f"http://a.example:{server.port}/"
            reply = await Fetcher(network).fetch(url, limit_s=5)
        assert reply == Elsewhere(target=read_url(url), to=read_url(f"http://b.example:{port}/x"))


@pytest.mark.anyio
async def test_a_redirect_without_end_is_given_up() -> None:
    scripts: list[list[Step]] = [[to(f"/{n}"), hang_up] for n in range(20)]
    async with ScriptedServer(*scripts) as server:
        with pytest.raises(FetchError, match="more than 5 times"):
            await local().fetch(f"http://localhost:{server.port}/", limit_s=5)
    assert len(server.requests) == MAX_HOPS + 1


@pytest.mark.anyio
async def test_a_redirect_to_nowhere_is_a_reply() -> None:
    async with ScriptedServer([whole(b"words", "302 Found")]) as server:
        fetched = await local().fetch(f"http://localhost:{server.port}/", limit_s=5)
    assert isinstance(fetched, Fetched)
    assert (fetched.status, fetched.body) == (302, b"words")


# Limits


async def overdue(script: list[Step], url: str = "") -> str:
    async with ScriptedServer(script) as server:
        with pytest.raises(FetchError) as caught:
            await local().fetch(url or f"http://localhost:{server.port}/", limit_s=0.3)
        await server.client_left.wait()
    return str(caught.value)


async def drip_headers(peer: Peer) -> None:
    peer.writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    await drip_bytes(peer)


async def drip_bytes(peer: Peer) -> None:
    try:
        while True:
            peer.writer.write(b"x")
            await peer.writer.drain()
            await anyio.sleep(0.01)
    except ConnectionError:
        peer.server.client_left.set()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "script",
    [
        [say_nothing],
        [drip_headers],
        [head("200 OK", "Content-Length: 1000000"), drip_bytes],
        [head("200 OK", "Transfer-Encoding: chunked"), drip],
        [b"HTTP/1.1 100 Continue\r\n\r\n", say_nothing],
    ],
)
async def test_the_time_is_for_all_of_it(script: list[Step]) -> None:
    # security 0.12: a limit on each read is no limit for one who drips
    assert await overdue(script) == "localhost was not done after 0.3 s"


@pytest.mark.anyio
async def test_a_slow_resolver_is_within_the_time() -> None:
    class Slow(Resolved):
        async def resolve(self, host: str, port: int) -> tuple[str, ...]:
            await anyio.sleep_forever()
            return await super().resolve(host, port)

    with pytest.raises(FetchError, match=r"not done after 0\.1 s"):
        await Fetcher(Slow()).fetch("http://a.example/", limit_s=0.1)


@pytest.mark.anyio
async def test_a_bomb_does_not_go_off() -> None:
    bomb = gzip.compress(b"\0" * (50 * 2**20))
    async with ScriptedServer([whole(bomb, "200 OK", "Content-Encoding: gzip")]) as server:
        with pytest.raises(RefusedError, match="swells"):
            await local().fetch(f"http://localhost:{server.port}/", limit_s=5)


def flooding(piece: bytes) -> Callable[[Peer], Awaitable[None]]:
    async def flood(peer: Peer) -> None:
        try:
            while True:
                peer.writer.write(piece)
                await peer.writer.drain()
        except ConnectionError:
            peer.server.client_left.set()

    return flood


@pytest.mark.anyio
async def test_a_long_body_is_cut_and_the_rest_left() -> None:
    async with ScriptedServer([head(), flooding(b"x" * 2**16)]) as server:
        fetched = await local().fetch(f"http://localhost:{server.port}/", limit_s=20)
        await server.client_left.wait()
    assert isinstance(fetched, Fetched)
    assert (len(fetched.body), fetched.cut) == (MAX_BYTES, True)


@pytest.mark.anyio
async def test_what_comes_to_nothing_counts_too() -> None:
    begun = gzip.compress(b"")[:10]
    empty_blocks = b"\0\0\0\xff\xff" * 10_000
    script: list[Step] = [head("200 OK", "Content-Encoding: gzip"), begun, flooding(empty_blocks)]
    async with ScriptedServer(script) as server:
        with pytest.raises(FetchError, match="sends more than is taken"):
            await local().fetch(f"http://localhost:{server.port}/", limit_s=60)
        await server.client_left.wait()


@pytest.mark.anyio
async def test_a_reply_that_is_always_announced_never_comes() -> None:
    async with ScriptedServer([flooding(b"HTTP/1.1 102 Processing\r\n\r\n")]) as server:
        with pytest.raises(FetchError, match="sent no reply"):
            await local().fetch(f"http://localhost:{server.port}/", limit_s=60)


# Broken replies


BROKEN: dict[str, tuple[list[Step], str]] = {
    "hung up": ([hang_up], "broke off"),
    "reset": ([reset], "broke"),
    "no HTTP": ([b"220 mail.example ESMTP\r\n", hang_up], "does not speak HTTP"),
    "head too long": ([b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000], "does not speak HTTP"),
    "body too short": ([head("200 OK", "Content-Length: 9"), b"short", hang_up], "broke off"),
    "chunks cut": (
        [head("200 OK", "Transfer-Encoding: chunked"), chunk(b"x"), hang_up],
        "broke off",
    ),
    "gzip cut": (
        [head("200 OK", "Content-Encoding: gzip"), gzip.compress(b"words")[:-2], hang_up],
        "broke off in the middle",
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_reply_is_told(name: str) -> None:
    script, why = BROKEN[name]
    async with ScriptedServer(script) as server:
        with pytest.raises(FetchError, match=why):
            await local().fetch(f"http://localhost:{server.port}/", limit_s=5)


@pytest.mark.anyio
async def test_a_body_until_the_end_of_the_connection_is_whole() -> None:
    async with ScriptedServer([b"HTTP/1.0 200 OK\r\n\r\nwords", hang_up]) as server:
        fetched = await local().fetch(f"http://localhost:{server.port}/", limit_s=5)
    assert isinstance(fetched, Fetched)
    assert fetched.body == b"words"


@pytest.mark.anyio
async def test_an_address_that_is_dead_gives_way_to_the_next() -> None:
    async with ScriptedServer([whole(b"words")]) as server:
        fetcher = Fetcher(
            Resolved(two_example=[("127.0.0.2", "127.0.0.1")]),
            also_open=frozenset({"127.0.0.1", "127.0.0.2"}),
        )
        fetched = await fetcher.fetch(f"http://two.example:{server.port}/", limit_s=5)
    assert isinstance(fetched, Fetched)
    assert fetched.body == b"words"


@pytest.mark.anyio
async def test_nobody_there_and_no_such_name_are_told() -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
    with pytest.raises(FetchError, match=f"localhost does not answer on port {port}"):
        await local().fetch(f"http://localhost:{port}/", limit_s=5)
    with pytest.raises(FetchError, match=r"the name nobody\.example is not known"):
        await local().fetch("http://nobody.example/", limit_s=5)


@pytest.mark.anyio
async def test_a_connection_that_is_gone_before_the_request_is_told() -> None:
    class Deaf(StapledByteStream):
        async def send(self, item: bytes) -> None:
            raise anyio.BrokenResourceError(item)

    class Gone(Resolved):
        async def connect(self, address: str, port: int) -> ByteStream:
            stream = await super().connect(address, port)
            return Deaf(stream, stream)

    async with ScriptedServer([say_nothing]) as server:
        fetcher = Fetcher(Gone(localhost=[("127.0.0.1",)]), also_open=LOOPBACK)
        with pytest.raises(FetchError, match="localhost closed the connection"):
            await fetcher.fetch(f"http://localhost:{server.port}/", limit_s=5)


@pytest.mark.anyio
async def test_a_handshake_without_end_is_within_the_time_and_closed() -> None:
    async with ScriptedServer([say_nothing]) as server:
        with pytest.raises(FetchError, match=r"not done after 0\.2 s"):
            await local().fetch(f"https://localhost:{server.port}/", limit_s=0.2)
        await server.client_left.wait()


@pytest.mark.anyio
async def test_a_cancelled_fetch_closes_its_connection() -> None:
    async with ScriptedServer([say_nothing]) as server:
        with anyio.move_on_after(0.1):
            await local().fetch(f"http://localhost:{server.port}/", limit_s=60)
        await server.client_left.wait()


@pytest.mark.anyio
async def test_the_machines_own_resolver_gives_addresses() -> None:
    assert "127.0.0.1" in await Internet({}).resolve("127.0.0.1", 80)
