"""Names and marks that both writing and reading use. Knows no order of turns.

A thought signature stands on the very part it came on (GEM-19, GEM-27). What a model says unsigned
may come in any number of parts and is one text; where a signed part of that text ends it, the
message remembers at which character that part begins, and so goes back as it came.
"""

from collections.abc import Mapping

from goldseam.kernel.json_text import Json
from goldseam.models.fitting import USER_MARK

SIGNATURE = "thought_signature"
"""The seal of a part's `thoughtSignature`."""

SIGNED_FROM = "signed_from"
"""The seal that says at which character of a message its signed part begins; absent for 0."""

NATIVE_ID = "call_id"
"""The seal of the id that a call came with (GEM-10)."""

PLACEHOLDER = "skip_thought_signature_validator"
"""Stands for the signature of a call made elsewhere; every endpoint takes it (GEM-24, GEM-25)."""

BRIDGE = f"{USER_MARK}Go on."
"""A user's turn where the protocol wants one and the history has none; no item is written so."""

_LONGEST_OFFSET = 12


def signed_from(own: Mapping[str, str]) -> int:
    """Return at which character of its message a signed part begins, by the message's own seals."""
    offset = own.get(SIGNED_FROM, "")
    sound = offset.isascii() and offset.isdigit() and len(offset) <= _LONGEST_OFFSET
    return int(offset) if sound else 0


def within(value: Json, *path: str | int) -> Json:
    """Return what stands in `value` at `path`, `None` where the path leads nowhere."""
    for step in path:
        match value, step:
            case dict(), str():
                value = value.get(step)
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                return None
    return value


def text_in(value: Json, *path: str | int) -> str:
    """Return the text in `value` at `path`, empty where there is none."""
    found = within(value, *path)
    return found if isinstance(found, str) else ""


def list_in(value: Json, *path: str | int) -> list[Json]:
    """Return the list in `value` at `path`, empty where there is none."""
    found = within(value, *path)
    return found if isinstance(found, list) else []
