"""What every simulator says and remembers: a refusal, and the seals that it handed out.

Knows no vendor, and nothing of what is tested.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The HTTP status and the JSON body with which a vendor refuses."""

    status: int
    body: Any


@dataclass(frozen=True, kw_only=True)
class Handed:
    """What a seal was handed out on (`on`), and what stood right behind that (`before`)."""

    number: int
    on: str
    before: str = ""


def first(refusals: Iterator[Refusal], malformed: Refusal) -> Refusal | None:
    """Return the first refusal; `malformed` where a value of a foreign type stops the judging.

    Each vendor answers a wrong type with a 400 of its own; its types judge that, not these rules.
    """
    try:
        return next(refusals, None)
    except (AttributeError, KeyError, TypeError):
        return malformed


Issued: TypeAlias = Mapping[str, Handed]
"""The seals that were handed out, by their value. `None` in facts: nobody remembers."""


class Memory:
    """Mints seals and remembers where each belongs."""

    def __init__(self) -> None:
        self.issued: dict[str, Handed] = {}

    def hand_out(self, seal: str, on: str, before: str = "") -> str:
        """Remember that `seal` stands on `on`, right before `before`, and return it."""
        self.issued[seal] = Handed(number=len(self.issued), on=on, before=before)
        return seal

    @property
    def next_number(self) -> int:
        """The number that makes the next seal unlike all others."""
        return len(self.issued)


def print_of(value: Any) -> str:
    """Return the one text of a JSON value, by which it is known again."""
    return json.dumps(value, sort_keys=True)


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in the list `value`; none where it is no list."""
    return [inner for inner in value if isinstance(inner, dict)] if isinstance(value, list) else []


def texts_in(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, names included."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield name
                yield from texts_in(inner)
        case list():
            for inner in value:
                yield from texts_in(inner)
        case _:
            pass


def arguments_of(text: Any) -> dict[str, Any] | None:
    """Return the object that `text` writes, `None` where it writes none."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return None
    return value if isinstance(value, dict) else None
