"""A value that must never be seen: masked wherever it is shown, and known by all its spellings."""

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

LEAST_LENGTH = 8
"""Shorter secrets are not looked for in text: they would blot out half of it."""


class Secret:
    """The value of a key header: `scheme`, a blank, `value`; or `value` alone.

    Cannot be turned to text, JSON or a pickle by accident: only `header` and `value` give it away.
    """

    __slots__ = ("header", "value")

    def __init__(self, value: str, *, scheme: str = "") -> None:
        self.value = value
        self.header = f"{scheme} {value}" if scheme else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.header == other.header

    def __hash__(self) -> int:
        return hash(self.header)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written anywhere")

    def spellings(self) -> frozenset[str]:
        """Return every form in which the value is likely to stand in text."""
        return frozenset(_spellings(self.value) if len(self.value) >= LEAST_LENGTH else ())


def _spellings(value: str) -> Iterator[str]:
    yield value
    in_json = json.dumps(value)[1:-1]
    yield from (in_json, json.dumps(in_json)[1:-1])
    for quoted in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield quoted
        yield re.sub(r"%..", lambda escape: escape[0].lower(), quoted)
    raw = value.encode()
    yield from (raw.hex(), raw.hex().upper())
    for offset in range(3):
        standard = _within_base64(raw, offset)
        yield from (standard, standard.replace("+", "-").replace("/", "_"))


def _within_base64(raw: bytes, offset: int) -> str:
    """Return the Base64 letters that `raw`, `offset` bytes into a group, decides all by itself."""
    letters = base64.b64encode(bytes(offset) + raw).decode()
    return letters[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
