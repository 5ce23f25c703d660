"""The objects of a streamed JSON array, however it is cut."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire.cutting import cuttings, growth, in_pieces

from goldseam.wire.json_array import JsonArrayDecoder
from goldseam.wire.message import TransportError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('ab"\\{}[],: é€🙂\n')),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)
OBJECTS = st.dictionaries(st.text(st.sampled_from('a"\\{[}]'), max_size=3), VALUES, max_size=3)
BLANKS = st.text(st.sampled_from(" \t\r\n"), max_size=3)


def feed(decoder: JsonArrayDecoder, pieces: Iterable[bytes]) -> list[str]:
    return [text for piece in pieces for text in decoder.feed(piece)]


def read(pieces: Iterable[bytes]) -> list[str]:
    decoder = JsonArrayDecoder()
    return feed(decoder, pieces) + decoder.close()


@given(st.data(), st.lists(OBJECTS, max_size=4), st.booleans())
def test_objects_come_back_however_they_are_written_and_cut(
    data: st.DataObject, objects: list[dict[str, object]], ascii_only: bool
) -> None:
    texts = [json.dumps(each, ensure_ascii=ascii_only) for each in objects]
    blank = data.draw(BLANKS)
    start = data.draw(st.sampled_from(["", "\ufeff"]))
    stream = f"{start}{blank}[{blank}{f'{blank},{blank}'.join(texts)}{blank}]{blank}".encode()
    assert read(data.draw(cuttings(stream))) == texts


@given(st.data(), OBJECTS)
def test_a_single_object_is_taken_without_an_array(
    data: st.DataObject, value: dict[str, object]
) -> None:
    text = json.dumps(value, indent=1)
    assert read(data.draw(cuttings(f"\n{text}\n".encode()))) == [text]


@given(st.lists(OBJECTS, max_size=3), st.data())
def test_no_cut_stream_passes_for_a_whole_one(
    objects: list[dict[str, object]], data: st.DataObject
) -> None:
    whole = json.dumps(objects).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    decoder = JsonArrayDecoder()
    texts = [json.dumps(each) for each in objects]
    found = decoder.feed(whole[:cut])
    assert found == texts[: len(found)]
    with pytest.raises(TransportError, match="ended before its JSON array did") as caught:
        decoder.close()
    assert (caught.value.kind, caught.value.sent) == ("broken", True)


def test_an_object_is_given_as_soon_as_it_is_closed() -> None:
    # GEM-3: the comma comes with the next piece
    decoder = JsonArrayDecoder()
    assert decoder.feed(b'[{"a": "}') == []
    assert decoder.feed(b'"}') == ['{"a": "}"}']
    assert decoder.feed(b"\n,\r\n") == []
    assert decoder.feed(b"{}{}") == ["{}", "{}"]
    assert decoder.feed(b"]") == []
    assert decoder.close() == []


@pytest.mark.parametrize("stream", [b"<html>", b"[1]", b'["{}"]', b"[{}]x", b"Internal error"])
@pytest.mark.parametrize("of", [1, 100])
def test_what_is_no_array_of_objects_is_an_error(stream: bytes, of: int) -> None:
    decoder = JsonArrayDecoder()
    with pytest.raises(TransportError, match="no JSON array of objects") as caught:
        feed(decoder, in_pieces(stream, of=of))
    assert (caught.value.kind, caught.value.sent) == ("broken", True)


@pytest.mark.parametrize("of", [1, 100])
def test_an_object_beyond_its_cap_is_an_error(of: int) -> None:
    decoder = JsonArrayDecoder(max_element_bytes=12)
    assert decoder.feed(b'[{"a":"1234"},' * 2) == ['{"a":"1234"}'] * 2
    with pytest.raises(TransportError, match="above 12 bytes") as caught:
        feed(decoder, in_pieces(b'{"a":"12345"}', of=of))
    assert (caught.value.kind, caught.value.sent) == ("too_large", True)


def test_an_empty_stream_holds_nothing() -> None:
    assert read([b"", b"[]"]) == read([]) == []


@pytest.mark.parametrize(("length", "of"), [(40, 16), (40, 2**20), (2**20, 16)])
def test_the_work_grows_with_the_stream_and_no_faster(length: int, of: int) -> None:
    def read_it(stream: bytes) -> None:
        feed(JsonArrayDecoder(), in_pieces(stream, of=of))

    def stream(size: int) -> bytes:
        element = b'{"a":"' + rb"\"{" * ((min(length, size) - 10) // 3) + b'"},'
        return element * (size // len(element))

    assert growth(read_it, stream(2**16), stream(2**19)) < 24  # eight times the bytes
