"""One event is one line of bytes, and back. Pure; knows no file, no clock and no secret.

    {"v":1,"seq":7,"prev":"…","h":"…","t":"2026-11-30T10:15:02.125+01:00","type":"…","data":{…}}

ASCII only. `h` hashes `prev` and all the rest of the line, and `prev`
is the `h` of the line before: a change or a loss shows. Strings that are very long, or that JSON
cannot carry, stand aside as blobs named by their hash; `blobs`, last in the line, says where they
belong.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, ValidationError, convert, to_builtins

from goldseam.journal.redact import Redactor
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import SCHEMA_VERSION, Event

MAX_LINE = 8 * 1024 * 1024
"""Bytes; no line is longer."""

LONG_STRING = 256 * 1024
"""Characters; longer strings become blobs."""

_LONG_IN_CROWD = 1024
"""The same where many strings together would pass `MAX_LINE`."""

CLOSED_FIELDS = frozenset({"kind", "limit", "phase", "role", "stop", "type"})
"""Fields of fixed words, which no redaction may touch."""

Place: TypeAlias = tuple[str | int, ...]
Fetch: TypeAlias = Callable[[str], bytes]
"""Returns the blob of a hash, or raises `BadLineError`."""

_VERSION = re.compile(rb'\{"v":([0-9]{1,9}),')
_HEAD = re.compile(rb'("seq":[0-9]{1,18},)"prev":"([0-9a-f]{32})","h":"([0-9a-f]{32})",')
_NEXT = b'{"v":'
_OPEN = b"%s%d," % (_NEXT, SCHEMA_VERSION)
_NOT_ASCII = re.compile(r"[^\x00-\x7e]+")
# Two surrogates in a row: JSON escapes would join them into one character.
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class BadLineError(Exception):
    """The bytes are no line of a record. Says why without showing what stands there (B4.9)."""


class NewerFormatError(Exception):
    """The line was written by a newer version, in the format `version`."""

    def __init__(self, version: int) -> None:
        super().__init__(f"format {version}")
        self.version = version


class Link(Struct, frozen=True):
    """The end of the chain: the number and the hash of the last line."""

    seq: int
    h: str


START = Link(0, "0" * 32)


class Entry(Struct, frozen=True, kw_only=True):
    """An event as it stands in the record: its place, and when by the wall clock (ISO 8601)."""

    link: Link
    prev: str
    time: str
    event: Event


class Written(Struct, frozen=True, kw_only=True):
    """A line ready to be kept, and the blobs (by hash) that must be kept before it."""

    line: bytes
    link: Link
    blobs: dict[str, bytes]


class _Envelope(Struct, forbid_unknown_fields=True):
    v: int
    seq: int
    prev: str
    h: str
    t: str
    type: str
    data: dict[str, Any]
    blobs: tuple[Place, ...] = ()


class _Holder(Struct):
    """A union inside a struct is read many times quicker than the bare union."""

    event: Event


def write_line(
    event: Event, *, after: Link, at: datetime, clean: Redactor, long_string: int = LONG_STRING
) -> Written:
    """Return `event` as the line that follows `after`.

    Raises:
        JournalError: it cannot be a line: a number is not finite, or it is too much even so.
    """
    kind = str(event.__struct_config__.tag)
    data = _plain(event, kind, longest=long_string)
    blobs: dict[str, bytes] = {}
    # Nearly every line may stand as it is: a secret is looked for once, in the bytes.
    if data is None or clean.may_find(data):
        data, blobs = _packed(event, kind, clean, long_string=long_string)
    prev, head = after.h.encode(), b'"seq":%d,' % (after.seq + 1)
    about = f'"t":"{at.isoformat(timespec="milliseconds")}","type":"{kind}","data":'
    rest = b"".join((about.encode(), data, b"}"))
    h = _chain(prev, head, rest)
    line = b"".join((_OPEN, head, b'"prev":"', prev, b'","h":"', h.encode(), b'",', rest, b"\n"))
    return Written(line=line, link=Link(after.seq + 1, h), blobs=blobs)


def read_line(line: bytes, fetch: Fetch) -> Entry:
    """Return the event of `line`, which comes without its line feed.

    Raises:
        BadLineError: it is damaged, or was never a line of ours.
        NewerFormatError: it was written by a newer version.
    """
    version = _VERSION.match(line)
    if version and int(version[1]) > SCHEMA_VERSION:
        raise NewerFormatError(int(version[1]))
    head = _HEAD.match(line, version.end()) if version else None
    if head is None:
        raise BadLineError("is no event")
    if head[3].decode() != _chain(head[2], head[1], line[head.end() :]):
        raise BadLineError("does not match its hash")
    try:
        envelope = convert(_DECODER.decode(line.decode("ascii")), _Envelope)
        _restore(envelope, fetch)
        event = convert({"event": {**envelope.data, "type": envelope.type}}, _Holder).event
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        why = "an event that this version does not know"
        raise BadLineError(
            f"holds {why if isinstance(error, ValidationError) else 'no valid JSON'}"
        ) from error
    link = Link(envelope.seq, envelope.h)
    return Entry(link=link, prev=envelope.prev, time=envelope.t, event=event)


def split_glued(line: bytes) -> Iterator[bytes]:
    """Yield the pieces of `line` that each begin as an event does.

    A lost line feed glues two events together. Inside an event the sign cannot stand: its quotes
    would be escaped, and no object in `data` begins with the key `v`.
    """
    start = 0
    while (end := line.find(_NEXT, start + 1)) != -1:
        yield line[start:end]
        start = end
    yield line[start:]


def _plain(event: Event, kind: str, *, longest: int) -> bytes | None:
    """Return the fields of `event` as JSON; None where a string needs looking at, or may be long.

    Raises:
        JournalError: a number in it is not finite.
    """
    try:
        encoded = _WRITER.encode(event)
    except UnicodeEncodeError:
        return None
    if len(encoded) > longest:
        return None
    # A number that is not finite has become a null.
    if b"null" in encoded and not _reads_as(event, encoded):
        raise JournalError(f"a {kind} event holds a number that JSON cannot carry")
    data = b"{" + encoded[len('{"type":"",') + len(kind) :]
    if data.isascii() and b"\x7f" not in data:
        return data
    return _NOT_ASCII.sub(_escaped, data.decode()).encode("ascii")


def _reads_as(event: Event, encoded: bytes) -> bool:
    try:
        return bool(_READER.decode(encoded) == event)
    except ValidationError:
        return False


def _escaped(found: re.Match[str]) -> str:
    return encode_basestring_ascii(found[0])[1:-1]


def _packed(
    event: Event, kind: str, clean: Redactor, *, long_string: int
) -> tuple[bytes, dict[str, bytes]]:
    """Return the fields of `event` and the places of its blobs as JSON, and the blobs by hash."""
    packing = _Packing(clean, long_string)
    fields = packing.fields(to_builtins(event), ())
    del fields["type"]
    try:
        data = _json(fields)
    except ValueError as error:
        raise JournalError(f"a {kind} event holds a number that JSON cannot carry") from error
    if packing.places:
        data += f',"blobs":{_json(packing.places)}'
    if len(data) > MAX_LINE - 512:
        if long_string <= _LONG_IN_CROWD:
            raise JournalError(f"a {kind} event of {len(data):,} bytes is too large for the record")
        return _packed(event, kind, clean, long_string=_LONG_IN_CROWD)
    return data.encode("ascii"), packing.blobs


class _Packing:
    """Makes the strings of one event fit for its line, each by itself."""

    def __init__(self, clean: Redactor, long_string: int) -> None:
        self.blobs: dict[str, bytes] = {}
        self.places: list[Place] = []
        self._clean = clean
        self._long_string = long_string

    def fields(self, struct: dict[str, object], place: Place) -> dict[str, object]:
        return {name: self._field(struct, name, (*place, name)) for name in struct}

    def _field(self, struct: dict[str, object], name: str, place: Place) -> object:
        value = struct[name]
        if name in CLOSED_FIELDS:
            return value
        if name == "text" and struct.get("type") == "arguments" and isinstance(value, str):
            return self._string(self._clean.json_object(value), place)
        return self._value(value, place)

    def _value(self, value: object, place: Place) -> object:
        match value:
            case str():
                return self._string(self._clean(value), place)
            case dict():
                return self.fields(value, place)
            case tuple():
                return [self._value(part, (*place, index)) for index, part in enumerate(value)]
            case _:
                return value

    def _string(self, text: str, place: Place) -> str | dict[str, str | int]:
        plain = text.isascii() or not _SPLIT_PAIR.search(text)
        if plain and len(text) <= self._long_string:
            return text
        blob = text.encode("utf-8", "surrogatepass")
        name = sha256(blob).hexdigest()
        self.blobs[name] = blob
        self.places.append(place)
        return {"sha256": name, "bytes": len(blob)}


def _restore(envelope: _Envelope, fetch: Fetch) -> None:
    for *way, last in envelope.blobs:
        holder: Any = envelope.data
        for step in way:
            holder = holder[step]
        holder[last] = fetch(holder[last]["sha256"]).decode("utf-8", "surrogatepass")


def _chain(prev: bytes, head: bytes, rest: bytes) -> str:
    return sha256(b"".join((prev, head, rest))).hexdigest()[:32]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
)
_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_WRITER = msgspec.json.Encoder()
_READER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
