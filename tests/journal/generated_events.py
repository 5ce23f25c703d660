"""Every event that the types allow, grown from those types: a new one is covered at once."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import Message
from goldseam.kernel.events import Event, Noted, RunStarted
from goldseam.kernel.request import Remark, ToolSpec

NOON = datetime(2026, 11, 30, 12, 0, 0, 125_000, tzinfo=UTC)

HOSTILE_TEXTS = (
    "",
    "\ud800",
    "\udc00\ud800",
    "\ud83d\ude00",
    "\U0001f600",
    "\u2028\u2029\x85\x0b\x0c\r\n",
    "\x00",
    '{"v":1,"seq":1,',
    '"},\n',
    "\\ud83d",
    "\x1b[2J\x9b",
    "\u202e",
)

TEXTS = st.one_of(st.sampled_from(HOSTILE_TEXTS), st.text(st.characters(), max_size=20))

_OPENINGS = st.lists(
    st.builds(Message, role=st.sampled_from(["system", "user"]), text=TEXTS), max_size=2
).map(lambda messages: (*messages, Message(role="user", text="mend it")))


def _toolsets() -> st.SearchStrategy[tuple[ToolSpec, ...]]:
    specs = st.lists(_of(inspect.type_info(ToolSpec)), max_size=2, unique_by=lambda spec: spec.name)
    return specs.map(tuple)


def _struct(kind: inspect.StructType) -> st.SearchStrategy[Any]:
    if kind.cls is Limits:
        return st.just(Limits(model_calls=7))
    fields = {field.encode_name: _of(field.type) for field in kind.fields}
    if kind.cls is RunStarted:
        fields |= {"history": _OPENINGS, "tools": _toolsets()}
    return st.builds(kind.cls, **fields)


def _of(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.StructType():
            return _struct(kind)
        case inspect.UnionType(types=types):
            return st.one_of([_of(one) for one in types])
        case inspect.VarTupleType(item_type=item):
            return st.lists(_of(item), max_size=3).map(tuple)
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.StrType():
            return TEXTS
        case _:
            return _PLAIN[type(kind)]


_PLAIN: dict[type[inspect.Type], st.SearchStrategy[Any]] = {
    inspect.BoolType: st.booleans(),
    inspect.IntType: st.integers(-(10**40), 10**40),
    inspect.FloatType: st.floats(allow_nan=False, allow_infinity=False),
    inspect.NoneType: st.none(),
}

EVENTS: st.SearchStrategy[Event] = _of(inspect.type_info(Event))


def closed_fields(kind: inspect.Type | None = None) -> set[str]:
    """Return the names of all fields in events that hold fixed words."""
    kind = kind or inspect.type_info(Event)
    match kind:
        case inspect.UnionType(types=types):
            return set().union(*map(closed_fields, types))
        case inspect.VarTupleType(item_type=item):
            return closed_fields(item)
        case inspect.StructType(fields=fields, tag_field=tag):
            inner = [closed_fields(field.type) for field in fields]
            own = {field.encode_name for field in fields if _is_closed(field.type)}
            return own.union({tag} if tag else set(), *inner)
        case _:
            return set()


def open_fields(kind: inspect.Type | None = None) -> set[str]:
    """Return the names of all fields in events that hold free text."""
    kind = kind or inspect.type_info(Event)
    match kind:
        case inspect.UnionType(types=types):
            return set().union(*map(open_fields, types))
        case inspect.VarTupleType(item_type=item):
            return open_fields(item)
        case inspect.StructType(fields=fields):
            inner = [open_fields(field.type) for field in fields]
            return {f.encode_name for f in fields if _is_text(f.type)}.union(*inner)
        case _:
            return set()


def _is_closed(kind: inspect.Type) -> bool:
    return any(isinstance(one, inspect.LiteralType) for one in _choices(kind))


def _is_text(kind: inspect.Type) -> bool:
    return any(isinstance(one, inspect.StrType) for one in _choices(kind))


def _choices(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def noted(text: str) -> Noted:
    return Noted(at_s=0.5, remark=Remark(code="n", text=text))


def texts_in(value: object) -> list[str]:
    """Return every string in an event."""
    match value:
        case str():
            return [value]
        case tuple() | list():
            return [text for part in value for text in texts_in(part)]
        case msgspec.Struct():
            return texts_in([getattr(value, name) for name in value.__struct_fields__])
        case _:
            return []


def every_event(text: str) -> list[Event]:
    """Return events of every kind and of every variety within, `text` in every field for it."""
    found: list[Event] = _samples(inspect.type_info(Event), text)
    return found


def _samples(kind: inspect.Type, text: str) -> list[Any]:
    match kind:
        case inspect.StructType():
            return _structs(kind, text)
        case inspect.UnionType(types=types):
            return [sample for one in types for sample in _samples(one, text)]
        case inspect.VarTupleType(item_type=item):
            return [(), tuple(_samples(item, text))]
        case inspect.LiteralType(values=values):
            return list(values)
        case inspect.StrType():
            return [text]
        case _:
            return _PLAIN_SAMPLES[type(kind)]


def _structs(kind: inspect.StructType, text: str) -> list[Any]:
    if kind.cls is Limits:
        return [Limits(model_calls=7)]
    fields = {field.encode_name: _samples(field.type, text) for field in kind.fields}
    if kind.cls is RunStarted:
        specs = [ToolSpec(name=f"{n}{text}", description=text, parameters=text) for n in range(2)]
        fields |= {"history": [(Message(role="user", text=text),)], "tools": [tuple(specs)]}
    return [
        kind.cls(**{name: samples[turn % len(samples)] for name, samples in fields.items()})
        for turn in range(max(map(len, fields.values()), default=1))
    ]


_PLAIN_SAMPLES: dict[type[inspect.Type], list[Any]] = {
    inspect.BoolType: [True, False],
    inspect.IntType: [0, 12_345],
    inspect.FloatType: [0.0, 1.5],
    inspect.NoneType: [None],
}
