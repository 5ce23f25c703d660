"""Read JSON that a stranger wrote, strictly and without ever falling over.

Python's own reader takes duplicate keys, NaN and `1e999`, and answers great depth or length
with other errors than `ValueError`. A model can write all of these: each text passes here.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import TypeAlias

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

MAX_DEPTH = 64
"""Deeper nesting is refused: every later walker may recurse without fear."""

_MAX_INTEGER_DIGITS = 400
# Possessive, and a string without its end is one token: no text takes more than one pass.
_OPENERS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class BadJsonError(ValueError):
    """The text is not JSON that we take; the message says what is wrong and where."""


def read_json(text: str) -> Json:
    """Return the value that `text` writes.

    Raises:
        BadJsonError: not JSON, duplicate keys, NaN or infinity, a number beyond double or 400
            digits, nested deeper than `MAX_DEPTH`, or text after the value.
    """
    _refuse_depth(text)
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadJsonError(f"not valid JSON: {_plain(error.msg)} at {where}") from error
    return value


def write_json(value: Json | Mapping[str, Json]) -> str:
    """Return `value` as compact JSON, keys sorted, ASCII only: equal values give equal bytes."""
    return _ENCODER.encode(value)


def _refuse_depth(text: str) -> None:
    depth = 0
    for token in _OPENERS.finditer(text):
        mark = token.group()
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise BadJsonError(f"nested deeper than {MAX_DEPTH} levels")
        elif mark in "]}":
            depth -= 1


def _plain(message: str) -> str:
    return message[:1].lower() + message[1:]


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, value in pairs:
        if name in found:
            raise BadJsonError(f"the key {json.dumps(name)} stands twice in one object")
        found[name] = value
    return found


def _no_constant(name: str) -> Json:
    raise BadJsonError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadJsonError(f"the number {digits[:20]} is too large")
    return number


def _integer(digits: str) -> int:
    if len(digits) > _MAX_INTEGER_DIGITS:
        raise BadJsonError(f"an integer of {len(digits)} digits is too long")
    return int(digits)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_no_constant,
    parse_float=_finite,
    parse_int=_integer,
)
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
