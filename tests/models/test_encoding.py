"""JSON as it goes out: what is put together of pieces is one body."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_objects

from goldseam.kernel.json_text import Json
from goldseam.models.encoding import Part, body_of, encode_into, encoded, raw_json, raw_text
from goldseam.models.fitting import sendable_json


@given(json_objects())
def test_any_value_is_set_in_as_compact_utf_8(value: dict[str, Json]) -> None:
    sent = sendable_json(value)
    text = encoded({"inner": raw_json(sent)}).decode()
    assert text == json.dumps({"inner": sent}, ensure_ascii=False, separators=(",", ":"))


def test_what_is_json_text_already_stands_as_it_is() -> None:
    part: Part = {"a": raw_text('{"b": "é", "n": 1e400}'), "c": "\u4e2d"}
    assert encoded(part) == '{"a":{"b": "é", "n": 1e400},"c":"中"}'.encode()


@given(st.lists(st.sampled_from([b"", b"1", b"2,3", bytearray(b"4,5")]), max_size=5))
def test_a_body_ends_in_the_array_of_its_parts(parts: list[bytes | bytearray]) -> None:
    body = body_of({"model": "m"}, "items", *parts)
    items = [int(item) for part in parts for item in part.split(b",") if item]
    assert json.loads(body) == {"model": "m", "items": items}
    assert list(json.loads(body)) == ["model", "items"]


def test_parts_are_put_at_the_end_of_a_text() -> None:
    text = bytearray(b"1,")
    encode_into({"é": None}, text, -1)
    assert text == '1,{"é":null}'.encode()


def test_text_that_cannot_be_sent_is_never_sent() -> None:
    with pytest.raises(UnicodeEncodeError):
        encoded({"text": "\ud800"})
