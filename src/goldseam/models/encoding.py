"""JSON as it goes out: compact UTF-8, keys as they stand. A part of a request is encoded once.

Knows neither a vendor nor a history.
"""

import json
from typing import TypeAlias

import msgspec
from msgspec import Raw

from goldseam.kernel.json_text import Json

Part: TypeAlias = dict[str, object]
"""A JSON object to be encoded; in it, what is JSON text already stands as `Raw`."""


encoded = msgspec.json.Encoder().encode
"""Returns a part as JSON: its text must be sendable, its own numbers within 64 bits."""

encode_into = msgspec.json.Encoder().encode_into
"""Puts a part, as `encoded` returns it, into a `bytearray`; at -1, which is its end."""


def raw_text(text: str) -> Raw:
    """Return the JSON value that `text` writes, to be set in as it stands."""
    return Raw(text.encode())


def raw_json(value: Json) -> Raw:
    """Return `value`, which may hold any number but must be sendable, encoded once for many."""
    return raw_text(_ANY_NUMBER.encode(value))


def body_of(head: Part, field: str, *parts: bytes | bytearray) -> bytes:
    """Return the body of the fields of `head`, then the array `field` of `parts`.

    A part may be several with commas between, or empty, which is none. What grows stands last, so
    the text of a request begins with nearly all of the one before it (law 5 of the dialects).
    """
    pieces: list[bytes | bytearray] = [encoded(head)[:-1], f',"{field}":['.encode()]
    for n, part in enumerate(part for part in parts if part):
        if n:
            pieces.append(b",")
        pieces.append(part)
    return b"".join([*pieces, b"]}"])


_ANY_NUMBER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
)
