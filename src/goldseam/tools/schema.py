"""The JSON Schema of a tool's arguments, made from their type and from nothing else (M17).

Pure. One schema serves twice: the model is shown it, and what the model sends is checked by it.
"""

from typing import TypeAlias, cast

import msgspec
from msgspec import Struct

from goldseam.kernel.json_text import Json

Schema: TypeAlias = dict[str, Json]


def schema_of(arguments: type[Struct]) -> Schema:
    """Return the schema of `arguments`: one object, no references, no titles, no unknown fields.

    A class attribute `example` is its example: for where the required fields alone make no call.

    Raises:
        ValueError: our defect; the type is no struct that forbids unknown fields, or holds itself.
    """
    whole = cast("Schema", msgspec.json.schema(arguments))
    definitions = part(whole, "$defs")
    schema = _inlined(whole, definitions, within=())
    if schema.get("additionalProperties") is not False:
        raise ValueError(f"{arguments.__name__} must forbid unknown fields")
    example: Json = getattr(arguments, "example", None)
    return schema if example is None else {**schema, "examples": [example]}


def part(schema: Schema, key: str) -> Schema:
    """Return the object at `key` of `schema`, or an empty one."""
    found = schema.get(key)
    return found if isinstance(found, dict) else {}


def branches(schema: Schema) -> list[Schema]:
    """Return the alternatives of `schema`, or itself alone."""
    found = schema.get("anyOf")
    if not isinstance(found, list):
        return [schema]
    return [branch for branch in found if isinstance(branch, dict)]


def required(schema: Schema) -> list[str]:
    """Return the names that an object of `schema` must have."""
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _inlined(node: Schema, definitions: Schema, *, within: tuple[str, ...]) -> Schema:
    reference = node.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix("#/$defs/")
        if name in within:
            raise ValueError(f"{name} holds itself, and a schema without references cannot say so")
        own = {key: value for key, value in node.items() if key not in {"$ref", "$defs"}}
        target = _inlined(part(definitions, name), definitions, within=(*within, name))
        return {**target, **own}
    return {
        key: _inlined_value(key, value, definitions, within=within)
        for key, value in node.items()
        if key not in {"title", "$defs"}
    }


def _inlined_value(key: str, value: Json, definitions: Schema, *, within: tuple[str, ...]) -> Json:
    match key, value:
        case "properties", dict():
            # The keys here are names of arguments, of which one may well be "title".
            return {
                name: _inlined(node, definitions, within=within)
                for name, node in value.items()
                if isinstance(node, dict)
            }
        case "items", dict():
            return _inlined(value, definitions, within=within)
        case "anyOf", list():
            nodes = [node for node in value if isinstance(node, dict)]
            return [_inlined(node, definitions, within=within) for node in nodes]
        case _:
            return value
