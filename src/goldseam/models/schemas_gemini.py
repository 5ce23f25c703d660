"""A JSON Schema as the OpenAPI-like one that Gemini's field `parameters` takes (GEM-28). Pure.

Takes a schema whose references are inlined. What that form cannot say is noted, and told in words
in the description, so that a model still knows it (case 89).
"""

from collections.abc import Callable
from typing import TypeAlias

from goldseam.kernel.json_text import Json, write_json

_Schema: TypeAlias = dict[str, Json]
_Note: TypeAlias = Callable[[str], None]

_SAME = {
    *("title", "description", "minItems", "maxItems", "minimum", "maximum", "minLength"),
    *("maxLength", "minProperties", "maxProperties", "pattern", "default", "example"),
}
_HANDLED = {"type", "nullable", "properties", "required", "items", "prefixItems"}
_FORMATS = {"date-time", "float", "double", "int32", "int64"}


def openapi_schema(schema: _Schema, note: _Note) -> _Schema:
    """Return `schema` in that form, types in upper case; what it cannot say goes to `note`."""
    alone, branches, nullable = _alternatives(_with_all_of(schema))
    if branches:
        # Vertex wants nothing beside `anyOf`, so each branch says what they have in common.
        each = [openapi_schema({**alone, **branch}, note) for branch in branches]
        return {"anyOf": [{**branch, "nullable": True} if nullable else branch for branch in each]}
    fitted: _Schema = {"type": _kind(alone, note).upper()}
    fitted |= {key: value for key, value in alone.items() if key in _SAME}
    if nullable:
        fitted["nullable"] = True
    fitted |= _inner(alone, fitted["type"], note)
    return _with_words(fitted, alone, note)


def _with_all_of(schema: _Schema) -> _Schema:
    """Return `schema` with the parts of its `allOf` merged into it; what it says itself wins."""
    merged = {key: value for key, value in schema.items() if key != "allOf"}
    for part in map(_with_all_of, _schemas(schema.get("allOf"))):
        properties = {**_named(part), **_named(merged)}
        required: list[Json] = [*_listed(merged.get("required")), *_listed(part.get("required"))]
        merged = {**part, **merged}
        merged |= {"properties": properties} if properties else {}
        merged |= {"required": required} if required else {}
    return merged


def _alternatives(schema: _Schema) -> tuple[_Schema, list[_Schema], bool]:
    """Return what stands beside the alternatives, these without null, and whether null is one."""
    alone = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    branches = [*_schemas(schema.get("anyOf")), *_schemas(schema.get("oneOf"))]
    kinds = schema.get("type")
    if isinstance(kinds, list):
        del alone["type"]
        branches = branches or [{"type": kind} for kind in kinds]
    others = [branch for branch in branches if branch.get("type") != "null"]
    nullable = len(others) < len(branches) or None in _listed(schema.get("enum"))
    nullable = nullable or schema.get("nullable") is True
    if len(others) == 1:
        inner, more, inner_null = _alternatives(_with_all_of({**alone, **others[0]}))
        return inner, more, nullable or inner_null
    return alone, others, nullable


def _kind(schema: _Schema, note: _Note) -> str:
    match schema:
        case {"type": str(kind)} if kind != "null":
            return kind
        case {"properties": _} | {"additionalProperties": _}:
            return "object"
        case {"items": _} | {"prefixItems": _}:
            return "array"
        case {"enum": [first, *_]} | {"const": first}:
            return _kind_of(first)
        case _:
            note("a value of no stated type is told as a string")
            return "string"


def _kind_of(value: Json) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case dict():
            return "object"
        case list():
            return "array"
        case _:
            return "string"


def _inner(schema: _Schema, kind: Json, note: _Note) -> _Schema:
    match kind:
        case "OBJECT":
            properties = {
                name: openapi_schema(inner if isinstance(inner, dict) else {}, note)
                for name, inner in _named(schema).items()
            }
            required: list[Json] = [n for n in _listed(schema.get("required")) if n in properties]
            return {"properties": {**properties}, **({"required": required} if required else {})}
        case "ARRAY":
            return {"items": openapi_schema(_items(schema, note), note)}
        case _:
            return {}


def _items(schema: _Schema, note: _Note) -> _Schema:
    places = _schemas(schema.get("prefixItems"))
    if places:
        note("an array with a schema for each place is told as one of any of these")
        return {"anyOf": list[Json](places)}
    items = schema.get("items")
    return items if isinstance(items, dict) else {}


def _with_words(fitted: _Schema, schema: _Schema, note: _Note) -> _Schema:
    """Return `fitted` with all else that `schema` says, said where it fits or in words."""
    said, words = dict(fitted), list[str]()
    for key, value in schema.items():
        match key, value:
            case "format", str() if value in _FORMATS:
                said[key] = value
            case "enum", list() if fitted["type"] == "STRING" and _texts(value):
                said[key] = _texts(value)
            case "const", str():
                said["enum"] = [value]
            case "additionalProperties", bool():
                pass
            case _ if key not in _SAME | _HANDLED:
                words.append(f"{key}: {write_json(value)}")
                note(f"{key} is told in words")
            case _:
                pass
    if words:
        described = said.get("description")
        first = [described] if isinstance(described, str) else []
        said["description"] = " ".join([*first, f"({'; '.join(words)})"])
    return said


def _texts(values: list[Json]) -> list[Json]:
    """Return the strings of an enum that holds nothing else but null, none where it does."""
    texts = [value for value in values if isinstance(value, str)]
    return list[Json](texts) if len(texts) == len([v for v in values if v is not None]) else []


def _schemas(value: Json) -> list[_Schema]:
    return [inner for inner in _listed(value) if isinstance(inner, dict)]


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _named(schema: _Schema) -> _Schema:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}
