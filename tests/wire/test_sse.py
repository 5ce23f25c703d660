"""Server-sent events, however they are written and cut."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire.cutting import cuttings, growth, in_pieces

from goldseam.wire.message import TransportError
from goldseam.wire.sse import SseDecoder, SseEvent

# Of one stream: "\r" before "\n" would be one end, not two.
ENDS = st.sampled_from([["\n", "\r\n"], ["\r", "\r\n"]])
TEXT = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)
NOISE = st.sampled_from([": ping", ":", "retry: 10", "unknown: field", "nothing", "id: a\0b"])
EVENTS = st.lists(
    st.builds(
        SseEvent,
        data=st.lists(TEXT, min_size=1, max_size=3).map("\n".join),
        name=TEXT,
        id=TEXT.filter(lambda text: "\0" not in text),
    ),
    max_size=4,
)


def feed(decoder: SseDecoder, pieces: Iterable[bytes]) -> list[SseEvent]:
    return [event for piece in pieces for event in decoder.feed(piece)]


def read(pieces: Iterable[bytes]) -> list[SseEvent]:
    decoder = SseDecoder()
    return feed(decoder, pieces) + decoder.close()


@st.composite
def written(draw: st.DrawFn, events: list[SseEvent]) -> bytes:
    """Return `events` as a stream, with any line ends, noise between the lines, and any spaces."""
    lines: list[str] = []
    ends = st.sampled_from(draw(ENDS))
    for event in events:
        fields = [("data", line) for line in event.data.split("\n")]
        fields += [("event", event.name), ("id", event.id)]
        for name, value in fields:
            space = " " if value.startswith(" ") else draw(st.sampled_from(["", " "]))
            bare = not value and draw(st.booleans())
            lines += [name if bare else f"{name}:{space}{value}"]
            lines += draw(st.lists(NOISE, max_size=1))
        lines += [""] * draw(st.integers(1, 2))
    text = draw(st.sampled_from(["", "\ufeff"])) + "".join(line + draw(ends) for line in lines)
    return text.encode()


@given(st.data(), EVENTS)
def test_events_come_back_however_they_are_written_and_cut(
    data: st.DataObject, events: list[SseEvent]
) -> None:
    stream = data.draw(written(events))
    assert read(data.draw(cuttings(stream))) == events


@given(
    st.data(), st.lists(st.sampled_from([*b'\r\n: adtevni\xef\xbb\xbf\xe2\x82"{}', 0]), max_size=60)
)
def test_any_bytes_read_alike_however_they_are_cut(data: st.DataObject, codes: list[int]) -> None:
    stream = b"data: x\n" + bytes(codes)
    assert read(data.draw(cuttings(stream))) == read([stream])


def test_an_event_is_given_as_soon_as_its_blank_line_has_begun() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: 1\r\n\r") == [SseEvent(data="1")]
    assert decoder.feed(b"\ndata: 2\n") == []
    assert decoder.feed(b"\n") == [SseEvent(data="2")]
    assert decoder.close() == []


@pytest.mark.parametrize("end", ["", "\r", "\n", "\r\n"])
def test_the_last_event_counts_without_a_blank_line(end: str) -> None:
    stream = f"event: end\ndata: {{}}{end}".encode()
    assert read([stream]) == [SseEvent(data="{}", name="end")]
    assert read([stream[:9], stream[9:]]) == [SseEvent(data="{}", name="end")]


def test_an_event_without_data_is_none_and_its_name_is_forgotten() -> None:
    assert read([b"event: ping\n\ndata: 1\n\n"]) == [SseEvent(data="1")]


def test_an_id_holds_until_the_next_one() -> None:
    assert read([b"id: 7\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n"]) == [
        SseEvent(data="1", id="7"),
        SseEvent(data="2", id="7"),
        SseEvent(data="3"),
    ]


def test_the_end_mark_is_data_like_any_other() -> None:
    # OAI-27
    assert read([b"data: [DONE]\n\n"]) == [SseEvent(data="[DONE]")]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert read([b"data: \xff\n\n"]) == [SseEvent(data="\ufffd")]


def test_a_mark_of_byte_order_is_one_at_the_start_alone() -> None:
    assert read([b"\xef\xbb\xbfdata: \xef\xbb\xbf1\n\n\xef\xbb\xbfdata: 2\n\n"]) == [
        SseEvent(data="\ufeff1")
    ]


def test_a_page_of_html_holds_no_event() -> None:
    assert read([b"<!doctype html>\n<p>data: 1</p>\n\n"]) == []


def test_an_error_within_the_stream_is_an_event() -> None:
    # ANT-32, case 137
    body = '{"type":"error","error":{"type":"overloaded_error"}}'
    assert read([f"event: error\ndata: {body}\n\n".encode()]) == [SseEvent(data=body, name="error")]


@given(st.data(), st.dictionaries(st.text(), st.text() | st.integers(), min_size=1, max_size=5))
def test_arguments_arrive_whole_from_any_fragments(
    data: st.DataObject, arguments: dict[str, str | int]
) -> None:
    # cases 100, 104: nothing is seeded, nothing is lost
    text = json.dumps(arguments)
    fragments = data.draw(cuttings(text.encode()))
    stream = b"".join(b"data: %b\n\n" % json.dumps(part.decode()).encode() for part in fragments)
    events = read(data.draw(cuttings(stream)))
    assert "".join(json.loads(event.data) for event in events) == text


@pytest.mark.parametrize(
    "stream", [b"data: 12345678", b"data: 123\ndata: 123\n", b": 12345678901", b"data:12345678\n\n"]
)
@pytest.mark.parametrize("of", [1, 3, 100])
def test_an_event_beyond_its_cap_is_an_error(stream: bytes, of: int) -> None:
    decoder = SseDecoder(max_event_bytes=12)
    with pytest.raises(TransportError, match="above 12 bytes") as caught:
        feed(decoder, in_pieces(stream, of=of))
    assert (caught.value.kind, caught.value.sent) == ("too_large", True)


def test_many_events_within_the_cap_may_be_longer_together() -> None:
    decoder = SseDecoder(max_event_bytes=12)
    assert len(decoder.feed(b"data: 123456\n\n: 1234567890\n" * 100)) == 100


@pytest.mark.parametrize("line_length", [40, 2**20])
def test_the_work_grows_with_the_stream_and_no_faster(line_length: int) -> None:
    def in_small_pieces(stream: bytes) -> None:
        read(in_pieces(stream, of=16))

    def stream(size: int) -> bytes:
        line = b"data: " + b"x" * (min(line_length, size) - 8) + b"\n\n"
        return line * (size // len(line))

    assert growth(in_small_pieces, stream(2**17), stream(2**20)) < 24  # eight times the bytes
