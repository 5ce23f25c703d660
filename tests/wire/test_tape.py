"""What is written down of an exchange, what is not, and that it plays again."""

import base64
import json
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire.cutting import cuttings

from goldseam.wire.message import Heard, HttpReply, HttpRequest, TimeLimits, TransportError
from goldseam.wire.secret import LEAST_LENGTH, Secret
from goldseam.wire.tape import (
    MARK,
    Exchange,
    Failed,
    RecordingTransport,
    ReplayingTransport,
    Replied,
    Tape,
    UnmatchedRequestError,
)

pytestmark = pytest.mark.anyio

LIMITS = TimeLimits(connect_s=1, first_byte_s=1, idle_s=1, total_s=1)
KEY = "sk-tape-0123456789abcdef"
KEYS = st.text(st.sampled_from('aZ09-_.+/=&%"\\~'), min_size=LEAST_LENGTH, max_size=40)
AROUND = st.binary(max_size=5)


class Scripted:
    """A transport that gives the next of its replies, saying the pieces first."""

    def __init__(self, *replies: tuple[list[bytes], HttpReply | TransportError]) -> None:
        self._replies = list(replies)

    async def send(self, request: HttpRequest, *, limits: TimeLimits, heard: Heard) -> HttpReply:
        assert request.method
        assert limits == LIMITS
        pieces, ending = self._replies.pop(0)
        for piece in pieces:
            heard(piece)
        if isinstance(ending, TransportError):
            raise ending
        return ending


def ask(body: bytes = b"{}", *, key: str = KEY) -> HttpRequest:
    return HttpRequest(
        method="POST",
        url="https://api.example/v1",
        headers=(("authorization", Secret(key, scheme="Bearer")), ("x-a", "1")),
        body=body,
    )


async def record(
    request: HttpRequest, pieces: list[bytes], ending: HttpReply | TransportError
) -> Tape:
    tape = Tape()
    transport = RecordingTransport(Scripted((pieces, ending)), tape)
    heard: list[bytes] = []
    if isinstance(ending, HttpReply):
        assert await transport.send(request, limits=LIMITS, heard=heard.append) == ending
    else:
        with pytest.raises(TransportError) as caught:
            await transport.send(request, limits=LIMITS, heard=heard.append)
        assert caught.value is ending
    assert heard == pieces
    return tape


def forms(key: str, before: bytes, behind: bytes) -> list[bytes]:
    """Return `key` as it may stand in a body, `before` and `behind` it whatever there is."""
    written = json.dumps(key)[1:-1]
    around = before + key.encode() + behind
    return [
        around,
        written.encode(),
        json.dumps(written)[1:-1].encode(),
        quote(key).encode(),
        quote(key, safe="").encode(),
        quote_plus(key).lower().encode() if key.islower() else quote_plus(key).encode(),
        key.encode().hex().encode(),
        base64.b64encode(around),
        base64.urlsafe_b64encode(around),
    ]


@st.composite
def keys_in_bodies(draw: st.DrawFn) -> tuple[str, bytes, list[bytes]]:
    """Return a key, a form of it, and that form within a body in pieces."""
    key = draw(KEYS)
    form = draw(st.sampled_from(forms(key, draw(AROUND), draw(AROUND))))
    return key, form, draw(cuttings(b"<" + form + b">"))


@given(keys_in_bodies())
async def test_no_key_is_on_a_tape_in_any_form(case: tuple[str, bytes, list[bytes]]) -> None:
    key, form, pieces = case
    text = form.decode("latin-1")
    for ending in (
        HttpReply(status=401, headers={"x-echo": text, "set-cookie": "session"}, body=form),
        TransportError("broken", text, sent=True),
    ):
        tape = await record(ask(form, key=key), pieces, ending)
        (exchange,) = tape.exchanges
        written = json.dumps(msgspec.to_builtins(exchange), ensure_ascii=False)
        kept = [written, *msgspec.to_builtins(exchange).values(), exchange.heard]
        spellings = [*Secret(key).spellings()]
        assert not [form for form in spellings for text in kept if form in str(text)]
        assert exchange.headers == (("authorization", MARK), ("x-a", "1"))
        assert MARK in exchange.heard
        assert "session" not in written
        assert key.encode() not in tape.to_lines()


@given(st.binary(max_size=60), st.binary(max_size=60).flatmap(cuttings))
async def test_what_was_recorded_plays_again_byte_for_byte(
    body: bytes, pieces: list[bytes]
) -> None:
    page = b"".join(pieces)
    reply = HttpReply(status=529, headers={"a": "1"}, body=page, body_cut=True)
    tape = await record(ask(body), pieces, reply)
    heard: list[bytes] = []
    replaying = ReplayingTransport(Tape.from_lines(tape.to_lines()))
    # Another key, for the tape knows none.
    again = await replaying.send(
        ask(body, key="sk-another-0123456"), limits=LIMITS, heard=heard.append
    )
    assert again == reply
    assert heard == ([page] if page else [])


async def test_a_failure_plays_again_after_what_was_heard() -> None:
    failure = TransportError("idle", "api.example fell silent", sent=True)
    tape = await record(ask(), [b"da", b"ta"], failure)
    heard: list[bytes] = []
    with pytest.raises(TransportError) as caught:
        await ReplayingTransport(tape).send(ask(), limits=LIMITS, heard=heard.append)
    assert (caught.value.kind, caught.value.text, caught.value.sent) == (
        "idle",
        "api.example fell silent",
        True,
    )
    assert heard == [b"data"]


async def test_a_tape_is_lines_of_json_to_be_read() -> None:
    tape = await record(ask(b'{"q":"\xc3\xa9"}'), [b"ok"], HttpReply(status=200, headers={}))
    tape.add(tape.exchanges[0])
    line, again, end = tape.to_lines().split(b"\n")
    assert (line, end) == (again, b"")
    assert json.loads(line) == {
        "method": "POST",
        "url": "https://api.example/v1",
        "headers": [["authorization", MARK], ["x-a", "1"]],
        "body": '{"q":"Ã©"}',
        "heard": "ok",
        "ending": {"type": "replied", "status": 200, "headers": {}, "body": "", "body_cut": False},
    }


async def test_equal_requests_are_answered_in_the_order_of_the_tape_and_once_each() -> None:
    replies = [HttpReply(status=status, headers={}) for status in (500, 200)]
    other = HttpReply(status=201, headers={})
    tape = Tape()
    recording = RecordingTransport(Scripted(*(([], reply) for reply in [*replies, other])), tape)
    for body in (b"1", b"1", b"2"):
        await recording.send(ask(body), limits=LIMITS, heard=print)
    replaying = ReplayingTransport(tape)
    played = [
        await replaying.send(ask(body), limits=LIMITS, heard=print) for body in (b"2", b"1", b"1")
    ]
    assert played == [other, *replies]
    with pytest.raises(UnmatchedRequestError) as caught:
        await replaying.send(ask(b"1"), limits=LIMITS, heard=print)
    assert str(caught.value) == (
        "no exchange on the tape for POST https://api.example/v1 with this body of 1 bytes; "
        "0 others are left"
    )


@pytest.mark.parametrize("body", [b"", b"{} ", b"[]"])
async def test_a_request_that_differs_is_never_answered(body: bytes) -> None:
    tape = await record(ask(), [], HttpReply(status=200, headers={}))
    with pytest.raises(UnmatchedRequestError, match="1 others are left"):
        await ReplayingTransport(tape).send(ask(body), limits=LIMITS, heard=print)


async def test_one_secret_within_another_leaves_no_rest() -> None:
    request = HttpRequest(
        method="GET",
        url="https://api.example/",
        headers=(("x-api-key", Secret("abcdefgh")), ("api-key", Secret("abcdefgh-ijk"))),
        body=b"abcdefgh-ijk",
    )
    tape = await record(request, [], HttpReply(status=200, headers={}))
    assert tape.exchanges[0].body == MARK


async def test_a_key_too_short_to_tell_apart_is_masked_in_its_header_alone() -> None:
    tape = await record(ask(b"none", key="none"), [], HttpReply(status=200, headers={}))
    assert tape.exchanges[0] == Exchange(
        method="POST",
        url="https://api.example/v1",
        headers=(("authorization", MARK), ("x-a", "1")),
        body="none",
        heard="",
        ending=Replied(status=200, headers={}),
    )


@pytest.mark.parametrize("lines", [b"{}\n", b"not json\n", b'{"method":1}\n'])
def test_what_is_no_tape_is_refused(lines: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        Tape.from_lines(lines)


def test_an_ending_knows_its_kind() -> None:
    failed = Failed(kind="tls", text="t", sent=False)
    exchange = Exchange(method="GET", url="u", headers=(), body="", heard="", ending=failed)
    assert Tape.from_lines(Tape([exchange]).to_lines()).exchanges == (exchange,)
