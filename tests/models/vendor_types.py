"""A vendor's own request type as a judge: its shape, its types, and no field that it does not know.

The types are changed for this whole process (extras forbidden), and only when a judge is made.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, get_args

import typing_extensions
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

Judge: TypeAlias = Callable[[Mapping[str, Any]], str | None]
"""Returns why a body is refused, or `None` where it is taken."""


def judge_by(form: Any) -> Judge:
    """Return the judge that `form`, a typed dictionary of a vendor's package, makes."""
    _forbid_extras(form, set())
    adapter = TypeAdapter[Any](form)

    def judge(body: Mapping[str, Any]) -> str | None:
        try:
            _drain(adapter.validate_python(body, strict=True))
        except ValidationError as error:
            return str(error)
        return None

    return judge


def strings_in(value: Any) -> Iterator[str]:
    """Yield every string in `value`, names of fields among them."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield name
                yield from strings_in(inner)
        case list():
            for inner in value:
                yield from strings_in(inner)
        case _:
            return


def _forbid_extras(form: Any, seen: set[Any]) -> None:
    if isinstance(form, type):
        if form in seen:
            return
        seen.add(form)
        if typing_extensions.is_typeddict(form):
            if "__pydantic_config__" not in vars(form):
                open_form: Any = form
                open_form.__pydantic_config__ = ConfigDict(extra="forbid")
            for hint in typing_extensions.get_type_hints(form, include_extras=True).values():
                _forbid_extras(hint, seen)
    for argument in get_args(form):
        if not isinstance(argument, str | int | bool | None):
            _forbid_extras(argument, seen)


def _drain(value: Any) -> None:
    """Walk through what is checked only when it is walked through."""
    if isinstance(value, Mapping):
        for inner in value.values():
            _drain(inner)
    elif hasattr(value, "__iter__") and not isinstance(value, str | bytes | BaseModel):
        for inner in value:
            _drain(inner)
