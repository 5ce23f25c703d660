"""Independent judges of a generateContent body: Google's own types for the shape, rules for order.

`refusals(body)` is empty where all of them accept. Nothing here opens a socket.
"""

from collections.abc import Iterator
from typing import cast

import google.ai.generativelanguage_v1beta as proto
from google.genai import types
from google.protobuf import json_format  # type: ignore[import-untyped] # ships no types
from pydantic import BaseModel, ValidationError

from goldseam.kernel.json_text import Json
from goldseam.models.dialect import Body
from goldseam.models.gemini.forms import list_in, text_in, within

_REQUEST = type(proto.GenerateContentRequest.pb(proto.GenerateContentRequest()))


def refusals(body: Body, *, requires_signatures: bool) -> list[str]:
    """Return what the judges have against `body`."""
    return [
        *_of_the_proto(body),
        *_of_the_client(body),
        *_of_the_order(body),
        *(_of_the_signatures(body) if requires_signatures else ()),
    ]


def _of_the_proto(body: Body) -> Iterator[str]:
    """Ask the message that the server itself reads, in JSON and once more in binary."""
    generation = dict(cast("Body", body["generationConfig"]))
    thinking = dict(cast("Body", generation.get("thinkingConfig", {})))
    # The field is younger than this package; the client's types judge it.
    thinking.pop("thinkingLevel", None)
    generation["thinkingConfig"] = thinking
    message = _REQUEST()
    try:
        json_format.ParseDict({**body, "generationConfig": generation}, message)
        _REQUEST().ParseFromString(message.SerializeToString())
    except Exception as error:  # noqa: BLE001 - a judge may say no in any way
        yield f"proto: {error}"


def _of_the_client(body: Body) -> Iterator[str]:
    asked: list[tuple[type[BaseModel], Json]] = [
        *((types.Content, content) for content in list_in(body, "contents")),
        *((types.Tool, tool) for tool in list_in(body, "tools")),
        (types.Content, body.get("systemInstruction", {})),
        (types.ThinkingConfig, within(body, "generationConfig", "thinkingConfig") or {}),
    ]
    for model, value in asked:
        try:
            model.model_validate(value)
        except ValidationError as error:
            yield f"client: {error}"


def _of_the_order(body: Body) -> Iterator[str]:
    contents = list_in(body, "contents")
    roles = [text_in(content, "role") for content in contents]
    if roles[:1] != ["user"]:
        yield "GEM-15: the conversation does not open with a user's turn"
    if roles[-1:] != ["user"]:
        yield "case 65: the conversation ends with a model's turn"
    calls = list[Json]()
    for place, role in enumerate(roles):
        parts = list_in(contents, place, "parts")
        yield from _of_the_parts(parts, place)
        yield from _of_the_answers(calls, _found(parts, "functionResponse"), place)
        calls = _found(parts, "functionCall")
        if role not in {"user", "model"} or (calls and role == "user"):
            yield f"GEM-12: contents[{place}] has the role {role}"


def _found(parts: list[Json], kind: str) -> list[Json]:
    return [within(part, kind) for part in parts if within(part, kind) is not None]


def _of_the_parts(parts: list[Json], place: int) -> Iterator[str]:
    kinds = {"text", "inlineData", "functionCall", "functionResponse"}
    if not parts:
        yield f"GEM-11: contents[{place}].parts must not be empty"
    for part in parts:
        held = [*part] if isinstance(part, dict) else []
        if len(kinds.intersection(held)) != 1:
            yield f"GEM-7: a part of contents[{place}] holds {held}"


def _of_the_answers(calls: list[Json], answers: list[Json], place: int) -> Iterator[str]:
    if answers and not calls:
        yield f"GEM-16: contents[{place}] answers no call"
    elif len(calls) != len(answers):
        yield f"GEM-14: contents[{place}] holds {len(answers)} answers to {len(calls)} calls"
    for call, answer in zip(calls, answers, strict=False):
        if text_in(call, "name") != text_in(answer, "name"):
            yield f"GEM-9: contents[{place}] answers under another name"
        if text_in(call, "id") != text_in(answer, "id"):
            yield f"GEM-10: contents[{place}] answers under another id"


def _of_the_signatures(body: Body) -> Iterator[str]:
    contents = list_in(body, "contents")
    ordinary = [
        place
        for place, content in enumerate(contents)
        if text_in(content, "role") == "user"
        and not _found(list_in(content, "parts"), "functionResponse")
    ]
    for place in range(ordinary[-1] if ordinary else 0, len(contents)):
        calls = [part for part in list_in(contents, place, "parts") if within(part, "functionCall")]
        if calls and not text_in(calls, 0, "thoughtSignature"):
            yield f"GEM-21: a call of contents[{place}] is missing a thought_signature"
