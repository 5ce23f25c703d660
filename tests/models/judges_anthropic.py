"""Anthropic's own request types as a judge of what we write: shape, types, unknown fields.

It is blind to order, pairing, ids and blank texts; those are in `models.anthropic.message_rules`.
The types are changed for this whole process (extras forbidden), and only when a judge is asked.
"""

from collections.abc import Iterator, Mapping
from functools import cache, reduce
from operator import or_
from types import GenericAlias
from typing import Annotated, Any, Union, get_args, get_origin

from anthropic.types import (
    assistant_message_param,
    message_content_param,
    message_create_params,
    user_message_param,
)
from models.vendor_types import Judge, judge_by
from pydantic import BaseModel

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
        judge_by(message_create_params.MessageCreateParamsNonStreaming),
        judge_by(message_create_params.MessageCreateParamsStreaming),
    )


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
