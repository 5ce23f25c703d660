"""Anthropic's own request types as a judge of what we write: shape, types, unknown fields.

It is blind to order, pairing, ids and blank texts; those are in `models.anthropic.message_rules`.
The types are changed for this whole process (extras forbidden), and only when a judge is asked.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from operator import or_
from types import GenericAlias
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

import typing_extensions
from anthropic.types import (
    assistant_message_param,
    message_content_param,
    message_create_params,
    user_message_param,
)
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

Judge: TypeAlias = Callable[[Mapping[str, Any]], str | None]

_CLASSIC_FIELDS = {"temperature"}
"""Taken under the older version alone, and gone from these types (ANT-37)."""


def refusal(body: Mapping[str, Any]) -> str | None:
    """Return why the vendor's types refuse `body`, or `None` where they take it."""
    whole, streamed = _judges()
    judge = streamed if body.get("stream") else whole
    return judge({name: value for name, value in body.items() if name not in _CLASSIC_FIELDS})


@cache
def _judges() -> tuple[Judge, Judge]:
    # Its union holds what a reply may hold too, and those types take any extra field.
    requests = _request_content(message_content_param.MessageContentParam)
    for module in (user_message_param, assistant_message_param):
        vars(module)["MessageContentParam"] = requests
    return (
        _judge(message_create_params.MessageCreateParamsNonStreaming),
        _judge(message_create_params.MessageCreateParamsStreaming),
    )


def _judge(form: Any) -> Judge:
    _forbid_extras(form, set())
    adapter = TypeAdapter[Any](form)

    def judge(body: Mapping[str, Any]) -> str | None:
        try:
            _drain(adapter.validate_python(body, strict=True))
        except ValidationError as error:
            return str(error)
        return None

    return judge


def _forbid_extras(form: Any, seen: set[Any]) -> None:
    if isinstance(form, type):
        if form in seen:
            return
        seen.add(form)
        if typing_extensions.is_typeddict(form):
            if "__pydantic_config__" not in vars(form):
                vars_of: Any = form
                vars_of.__pydantic_config__ = ConfigDict(extra="forbid")
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


def _request_content(content: Any) -> Any:
    blocks = next(form for form in get_args(content) if form is not str)
    requests: Any = reduce(
        or_,
        (
            form
            for form in _flat(get_args(blocks)[0])
            if not (isinstance(form, type) and issubclass(form, BaseModel))
        ),
    )
    return str | GenericAlias(list, (requests,))


def _flat(form: Any) -> Iterator[Any]:
    if get_origin(form) is Annotated:
        yield from _flat(get_args(form)[0])
    elif get_origin(form) is Union:
        for member in get_args(form):
            yield from _flat(member)
    else:
        yield form
