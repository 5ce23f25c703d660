"""What is wrong with the arguments of a call: all of it, each fault in its own form.

Pure: sees a schema of `schema.py` and a JSON value. The words for it are `guidance`'s.
"""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from operator import ge, gt, le, lt
from typing import TypeAlias, assert_never

from msgspec import Struct

from goldseam.kernel.json_text import Json
from goldseam.tools.schema import Schema, branches, part, required


class Missing(Struct, frozen=True, kw_only=True):
    """A required argument is not there."""

    where: str
    schema: Schema


class Unknown(Struct, frozen=True, kw_only=True):
    """An argument is there that is none; `nearest` is what was probably meant."""

    where: str
    nearest: str | None


class WrongType(Struct, frozen=True, kw_only=True):
    """The value is of another type."""

    where: str
    schema: Schema
    came: Json


class OutOfRange(Struct, frozen=True, kw_only=True):
    """The type is right, the value is outside its bounds or is none of its choices."""

    where: str
    schema: Schema
    came: Json


class Unsendable(Struct, frozen=True, kw_only=True):
    """The text holds half a character (a lone surrogate), which no file and no program takes."""

    where: str
    position: int


Problem: TypeAlias = Missing | Unknown | WrongType | OutOfRange | Unsendable

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
# To Python, though not to JSON, a boolean is an integer.
_TAKE_BOOLEANS = ((bool,), (object,))

_Bounds: TypeAlias = tuple[tuple[str, Callable[[float, float], bool]], ...]
_NUMBER: _Bounds = (
    ("minimum", ge),
    ("maximum", le),
    ("exclusiveMinimum", gt),
    ("exclusiveMaximum", lt),
)
_LENGTH: _Bounds = (("minLength", ge), ("maxLength", le))
_ITEMS: _Bounds = (("minItems", ge), ("maxItems", le))
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def find_problems(schema: Schema, value: Json, *, where: str = "") -> tuple[Problem, ...]:
    """Return all that keeps `value` from fitting `schema`, in the schema's order; never raises."""
    return (*_unfit(schema, value, where), *_unsendable(value, where))


def _unfit(schema: Schema, value: Json, where: str) -> Iterator[Problem]:
    choices = branches(schema)
    fitting = [choice for choice in choices if _is_of(choice, value)]
    if not fitting:
        yield WrongType(where=where, schema=schema, came=value)
        return
    found = [tuple(_unfit_within(choice, value, where)) for choice in fitting]
    yield from min(found, key=len)


def _unfit_within(schema: Schema, value: Json, where: str) -> Iterator[Problem]:
    if not _in_range(schema, value):
        yield OutOfRange(where=where, schema=schema, came=value)
        return
    items = schema.get("items")
    if isinstance(value, dict):
        yield from _unfit_members(schema, value, where)
    elif isinstance(value, list) and isinstance(items, dict):
        for index, item in enumerate(value):
            yield from _unfit(items, item, f"{where}[{index}]")


def _unfit_members(schema: Schema, value: dict[str, Json], where: str) -> Iterator[Problem]:
    properties = part(schema, "properties")
    missing = [name for name in required(schema) if name not in value]
    for name, member in properties.items():
        if isinstance(member, dict) and name in value:
            yield from _unfit(member, value[name], _inside(where, name))
        elif isinstance(member, dict) and name in missing:
            yield Missing(where=_inside(where, name), schema=member)
    if schema.get("additionalProperties") is False:
        free = [name for name in properties if name not in value]
        for name in (name for name in value if name not in properties):
            yield Unknown(where=_inside(where, name), nearest=_meant(name, free, missing))


def _meant(name: str, free: list[str], missing: list[str]) -> str | None:
    """Return what `name` was meant to be: its like, else what the call lacks, else its kin."""
    return (
        nearest_name(name, free, likeness=0.75)
        or nearest_name(name, missing)
        or (missing[0] if len(missing) == 1 else None)
        or nearest_name(name, free)
    )


def nearest_name(name: str, known: list[str], *, likeness: float = 0.5) -> str | None:
    """Return the one of `known` that is most like `name`, from 0 (not at all) to 1 (the same)."""
    folded = {_folded(candidate): candidate for candidate in known}
    # Long names come from a model gone astray; comparing them would take quadratic time.
    close = get_close_matches(_folded(name[:60]), folded, n=1, cutoff=likeness)
    return folded[close[0]] if close else None


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _is_of(schema: Schema, value: Json) -> bool:
    kinds = _KINDS.get(str(schema.get("type")), (object,))
    return isinstance(value, kinds) and (not isinstance(value, bool) or kinds in _TAKE_BOOLEANS)


def _in_range(schema: Schema, value: Json) -> bool:
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return False
    match value:
        case bool() | dict() | None:
            return True
        case int() | float():
            return _holds(schema, value, _NUMBER)
        case str():
            return _holds(schema, len(value), _LENGTH)
        case list():
            return _holds(schema, len(value), _ITEMS)
        case _:
            assert_never(value)


def _holds(schema: Schema, value: float, bounds: _Bounds) -> bool:
    return all(
        holds(value, bound)
        for name, holds in bounds
        if isinstance(bound := schema.get(name), int | float)
    )


def _unsendable(value: Json, where: str) -> Iterator[Problem]:
    match value:
        case str():
            half = _HALF_CHARACTER.search(value)
            if half:
                yield Unsendable(where=where, position=half.start())
        case list():
            for index, item in enumerate(value):
                yield from _unsendable(item, f"{where}[{index}]")
        case dict():
            for name, member in value.items():
                yield from _unsendable(member, _inside(where, name))
        case _:
            return
