import hashlib
import json
import math
import re
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal.generated_events import (
    EVENTS,
    NOON,
    TEXTS,
    closed_fields,
    noted,
    open_fields,
    texts_in,
)

from goldseam.journal.codec import (
    CLOSED_FIELDS,
    MAX_LINE,
    START,
    BadLineError,
    Link,
    NewerFormatError,
    read_line,
    split_glued,
    write_line,
)
from goldseam.journal.redact import Redactor
from goldseam.kernel.conversation import Arguments, ToolCall
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event, ModelReplied, Noted, RunStarted, Waited
from goldseam.kernel.request import ModelResponse, Remark, TokenUsage

PLAIN = Redactor()


def line_of(event: Event, after: Link = START) -> bytes:
    return write_line(event, after=after, at=NOON, clean=PLAIN).line


def no_blob(name: str) -> bytes:
    raise BadLineError(f"needs {name}")


@given(EVENTS)
def test_an_event_comes_back_whole_from_one_ascii_line(event: Event) -> None:  # M4
    written = write_line(event, after=START, at=NOON, clean=PLAIN)
    assert written.line.isascii()
    assert written.line.index(b"\n") == len(written.line) - 1
    entry = read_line(written.line[:-1], written.blobs.__getitem__)
    assert (entry.event, entry.link, entry.prev) == (event, written.link, START.h)
    assert entry.time == "2026-11-30T12:00:00.125+00:00"


@given(EVENTS, st.integers(0, 8))
def test_strings_that_stand_aside_as_blobs_come_back_the_same(event: Event, limit: int) -> None:
    written = write_line(event, after=START, at=NOON, clean=PLAIN, long_string=limit)
    assert all(hashlib.sha256(blob).hexdigest() == name for name, blob in written.blobs.items())
    assert read_line(written.line[:-1], written.blobs.__getitem__).event == event


def test_a_line_has_the_documented_form() -> None:  # B4.8
    at = NOON.astimezone(timezone(timedelta(hours=1)))
    line = write_line(noted("é"), after=Link(6, "a" * 32), at=at, clean=PLAIN).line
    h = re.search(rb'"h":"([0-9a-f]{32})",', line)
    assert h
    assert line == (
        b'{"v":1,"seq":7,"prev":"%s","h":"%s","t":"2026-11-30T13:00:00.125+01:00",'
        b'"type":"noted","data":{"at_s":0.5,"remark":{"code":"n","text":"\\u00e9"}}}\n'
    ) % (b"a" * 32, h[1])
    body = line[:-1].replace(b'{"v":1,', b"").replace(b'"prev":"%s",' % (b"a" * 32), b"")
    body = body.replace(h[0], b"")
    assert h[1].decode() == hashlib.sha256(b"a" * 32 + body).hexdigest()[:32]


@given(EVENTS, st.data())
def test_a_changed_byte_never_reads_as_another_event(event: Event, data: st.DataObject) -> None:
    line = bytearray(line_of(event)[:-1])
    where = data.draw(st.integers(0, len(line) - 1))
    line[where] ^= data.draw(st.integers(1, 255))
    with pytest.raises((BadLineError, NewerFormatError)):
        read_line(bytes(line), no_blob)


@given(st.binary(max_size=60))
def test_strange_bytes_are_refused_and_never_shown(strange: bytes) -> None:  # B4.9
    with pytest.raises((BadLineError, NewerFormatError)) as refusal:
        read_line(strange, no_blob)
    assert str(refusal.value) in {"is no event", "format 2"} or refusal.type is NewerFormatError


def forged(rest: str) -> bytes:
    """Return a line whose hash is right and whose content need not be."""
    h = hashlib.sha256(f'{START.h}"seq":1,{rest}'.encode()).hexdigest()[:32]
    return f'{{"v":1,"seq":1,"prev":"{START.h}","h":"{h}",{rest}'.encode()


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ('"t":"x","type":"waited","data":{"at_s":0,"seconds":1}}', None),
        ('"t":"x","type":"waited","data":{"at_s":0,"at_s":0,"seconds":1}}', "holds no valid JSON"),
        ('"t":"x","type":"waited","data":{"at_s":NaN,"seconds":1}}', "holds no valid JSON"),
        ('"t":"x","type":"waited","data":{"at_s":1e999,"seconds":1}}', "holds no valid JSON"),
        ('"t":"x","type":"waited","data":{"at_s":1' + "0" * 500 + ',"seconds":1}}', "holds"),
        ('"t":"x","type":"waited","data":{"at_s":1' + "0" * 5000 + ',"seconds":1}}', "holds"),
        ('"t":"x","type":"waited","data":' + "[" * 90_000, "holds no valid JSON"),
        ('"t":"x","type":"waited","data":{}} {}', "holds no valid JSON"),
        ('"t":"x","type":"secret","data":{}}', "holds an event that this version does not know"),
        ('"t":"x","type":"waited","data":{},"more":1}', "holds an event that"),
        ('"t":"x","type":"waited","data":{},"blobs":[["a","b"]]}', "holds no valid JSON"),
        ('"t":"x","type":"waited","data":{"a":1},"blobs":[["a"]]}', "holds no valid JSON"),
        ('"t":"x","type":"waited","data":{},"blobs":[[]]}', "holds no valid JSON"),
    ],
)
def test_a_line_is_read_strictly(rest: str, why: str | None) -> None:  # B4.9
    if why is None:
        assert read_line(forged(rest), no_blob).event == Waited(at_s=0, seconds=1)
        return
    with pytest.raises(BadLineError) as refusal:
        read_line(forged(rest), no_blob)
    assert str(refusal.value).startswith(why)
    assert "secret" not in str(refusal.value)


def test_a_newer_format_is_named() -> None:
    with pytest.raises(NewerFormatError) as refusal:
        read_line(b'{"v":2,"whatever":1}', no_blob)
    assert refusal.value.version == 2


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_cannot_carry_is_refused_before_a_byte_is_written(number: float) -> None:
    with pytest.raises(JournalError, match="a waited event holds a number"):
        line_of(Waited(at_s=0.0, seconds=number))


def test_a_number_that_json_cannot_carry_is_refused_beside_strange_text_too() -> None:
    remark = Remark(code="n", text="\ud800")
    with pytest.raises(JournalError, match="a noted event holds a number"):
        line_of(Noted(at_s=math.nan, remark=remark))


class Suspicious(Redactor):
    """Finds nothing, and is never sure of it: every string is looked at by itself."""

    def may_find(self, written: bytes) -> bool:
        return bool(written)


@given(EVENTS)
def test_the_quick_way_and_the_careful_one_write_the_same(event: Event) -> None:
    quick = write_line(event, after=START, at=NOON, clean=PLAIN)
    careful = write_line(event, after=START, at=NOON, clean=Suspicious())
    assert json.loads(quick.line)["data"] == json.loads(careful.line)["data"]
    assert quick.blobs == careful.blobs


@pytest.mark.parametrize("start", [0, 0x700, 0x2000, 0xF000, 0x1F000])
def test_both_ways_write_each_character_alike(start: int) -> None:
    """Else a secret, sought as it would stand in the line, might not be found there."""
    text = "".join(map(chr, range(start, start + 0x1000)))
    careful = write_line(noted(text), after=START, at=NOON, clean=Suspicious())
    assert line_of(noted(text)) == careful.line


@given(TEXTS, st.text(st.characters(), min_size=8, max_size=30), TEXTS)
def test_what_is_found_in_a_string_is_found_in_the_line(
    before: str, secret: str, behind: str
) -> None:
    clean = Redactor((secret,))
    text = f"{before}{secret}{behind}"
    if clean(text) != text:
        assert clean.may_find(json.dumps(text).encode())


def test_a_long_string_stands_aside_and_short_ones_stay() -> None:
    written = write_line(noted("x" * 300_000), after=START, at=NOON, clean=PLAIN)
    (name,) = written.blobs
    assert json.loads(written.line)["data"]["remark"] == {
        "code": "n",
        "text": {"bytes": 300_000, "sha256": name},
    }
    assert json.loads(written.line)["blobs"] == [["remark", "text"]]
    assert write_line(noted("x" * 200_000), after=START, at=NOON, clean=PLAIN).blobs == {}


def crowded(count: int, length: int) -> ModelReplied:
    remarks = tuple(Remark(code=str(index), text="€" * length) for index in range(count))
    response = ModelResponse(items=(), stop="end", usage=TokenUsage(), model="m", remarks=remarks)
    return ModelReplied(at_s=0.0, call=1, response=response)


def test_many_long_strings_together_keep_within_a_line() -> None:
    event = crowded(8, 200_000)
    written = write_line(event, after=START, at=NOON, clean=PLAIN)
    assert len(written.line) <= MAX_LINE
    assert read_line(written.line[:-1], written.blobs.__getitem__).event == event


def test_an_event_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(JournalError, match="too large for the record"):
        line_of(crowded(3000, 1000))


def test_the_fields_that_no_redaction_touches_hold_fixed_words_alone() -> None:
    assert closed_fields() == CLOSED_FIELDS
    assert open_fields() & CLOSED_FIELDS == set()


@given(
    st.text(st.sampled_from('Zq7"\\é€\n😀 %+/'), min_size=8, max_size=14), st.sampled_from([3, 999])
)
def test_a_secret_never_reaches_the_bytes(secret: str, limit: int) -> None:
    event = noted(f"{secret} and {json.dumps(secret)} {json.dumps(json.dumps(secret))}")
    written = write_line(event, after=START, at=NOON, clean=Redactor((secret,)), long_string=limit)
    everything = written.line + b"".join(written.blobs.values())
    assert secret.encode() not in everything
    assert json.dumps(secret)[1:-1].encode() not in everything


@given(EVENTS.filter(lambda event: not isinstance(event, RunStarted)))
def test_whatever_text_of_an_event_is_a_secret_it_is_gone_and_the_event_is_still_one(
    event: Event,
) -> None:
    secrets = [text for text in texts_in(event) if len(text) >= 8 and not text.isidentifier()]
    written = write_line(event, after=START, at=NOON, clean=Redactor(secrets))
    left = texts_in(read_line(written.line[:-1], written.blobs.__getitem__).event)
    assert [text for text in left if any(secret in text for secret in secrets)] == []


def test_arguments_named_like_secrets_stay_and_secrets_in_them_go() -> None:  # M14, B4.10
    def reply(text: str) -> ModelReplied:
        call = ToolCall(call_id="1", tool_name="t", arguments=Arguments(text=text))
        usage = TokenUsage(input=1, output=1)
        response = ModelResponse(items=(call,), stop="tool_calls", usage=usage, model="m")
        return ModelReplied(at_s=0.0, call=1, response=response)

    def kept(text: str) -> Event:
        clean = Redactor(("hunter2hunter2", "1234567890"))
        written = write_line(reply(text), after=START, at=NOON, clean=clean)
        return read_line(written.line[:-1], no_blob).event

    assert kept('{"api_key":"x","token":"next page"}') == reply(
        '{"api_key":"x","token":"next page"}'
    )
    assert kept('{"note":"use hunter2hunter2"}') == reply('{"note":"use [redacted]"}')
    assert kept('{"pin":1234567890}') == reply('{"redacted": "[redacted]"}')


def test_glued_events_are_cut_where_each_begins() -> None:
    one, two = line_of(noted('{"v":1,"seq":1,'))[:-1], line_of(noted("b"))[:-1]
    assert list(split_glued(one + two + one[:30])) == [one, two, one[:30]]
    assert list(split_glued(b"\0\0" + one)) == [b"\0\0", one]
    assert list(split_glued(b"")) == [b""]
