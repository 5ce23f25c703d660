"""The JSON Schema of a tool's arguments, fitted to what a target takes. Pure; knows no dialect.

References are inlined for every target (cases 85, 86); a schema that holds itself is cut where it
would come round again. What a target cannot be told is the loss `schema_simplified`, and is said
in the description where it narrows what a model may write (case 89).
"""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, assert_never

from goldseam.kernel.json_text import Json, read_json
from goldseam.kernel.request import Remark
from goldseam.models.fitting import sendable_json
from goldseam.models.schemas_gemini import openapi_schema

Schema: TypeAlias = dict[str, Json]
Target: TypeAlias = Literal["openai", "anthropic", "gemini_openapi", "gemini_json"]
Note: TypeAlias = Callable[[str], None]

_ONE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas")
_UNSAID = ("$ref", "$defs", "definitions", "$schema", "$id", "$anchor", "$comment")
_MAX_REFERENCES = 8
"""References within references that are inlined; what is deeper is cut."""


def fit_schema(schema_text: str, target: Target) -> tuple[Schema, tuple[Remark, ...]]:
    """Return the schema that `schema_text` writes as `target` takes it, and what that lost.

    The outermost is always an object schema with `properties`, and no `anyOf`, `oneOf` or `allOf`
    beside them (OAI-16, ANT-17). `gemini_openapi` is the field `parameters` (GEM-28), its types in
    upper case; `gemini_json` is `parametersJsonSchema` (GEM-29).

    Raises:
        BadJsonError: the text is not JSON.
    """
    found = dict[str, None]()

    def note(what: str) -> None:
        found[what] = None

    schema = _object_on_top(_inlined(read_json(schema_text), note), note)
    match target:
        case "openai" | "anthropic" | "gemini_json":
            fitted = _with_properties(schema)
        case "gemini_openapi":
            fitted = openapi_schema(schema, note)
        case _:
            assert_never(target)
    return fitted, tuple(Remark(code="schema_simplified", text=what) for what in found)


def fit_strict(schema_text: str) -> Schema | None:
    """Return the schema in the strict form (OAI-15), or `None` where that would change its meaning.

    Strictly, every object is closed and every property is there: so a free-form map (case 92), or
    an optional property that may not be null, cannot be said, and strict mode stays off.

    Raises:
        BadJsonError: the text is not JSON.
    """
    found = list[str]()
    schema = _object_on_top(_inlined(read_json(schema_text), found.append), found.append)
    return None if found else _strict(schema)


# References ---------------------------------------------------------------------------------------


def _inlined(value: Json, note: Note) -> Schema:
    if not isinstance(value, dict):
        note("a schema that is no object takes any object")
        return {}
    sent = sendable_json(value)
    if sent != value:
        note("characters that cannot be sent were replaced")
    root = sent if isinstance(sent, dict) else {}
    return _resolved(root, root, (), note=note)


def _resolved(schema: Schema, root: Schema, path: tuple[str, ...], *, note: Note) -> Schema:
    said = {key: value for key, value in schema.items() if key not in _UNSAID}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = _target(root, reference)
        if target is None:
            note(f"the reference {reference} leads nowhere and takes any value")
        elif reference in path or len(path) >= _MAX_REFERENCES:
            note("a schema that holds itself is cut where it comes round again")
            said = {k: v for k, v in target.items() if k in {"type", "description"}} | said
        else:
            return _resolved({**target, **said}, root, (*path, reference), note=note)
    return _mapped(said, lambda inner: _resolved(inner, root, path, note=note))


def _target(root: Schema, reference: str) -> Schema | None:
    if not reference.startswith("#"):
        return None
    found: Json = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _mapped(schema: Schema, visit: Callable[[Schema], Schema]) -> Schema:
    """Return `schema` with each schema right within it replaced by what `visit` makes of it."""

    def each(value: Json) -> Json:
        return visit(value) if isinstance(value, dict) else value

    mapped = Schema()
    for key, value in schema.items():
        if key in _ONE:
            mapped[key] = each(value)
        elif key in _MANY and isinstance(value, list):
            mapped[key] = [each(inner) for inner in value]
        elif key in _NAMED and isinstance(value, dict):
            mapped[key] = {name: each(inner) for name, inner in value.items()}
        else:
            mapped[key] = value
    return mapped


# The outermost ------------------------------------------------------------------------------------


def _object_on_top(schema: Schema, note: Note) -> Schema:
    """Return an object schema: the properties of branches are put together, all at choice."""
    top = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf", "allOf"}}
    properties = dict(_named(schema))
    for branch in _branches(schema):
        note("alternatives of the whole arguments are told as properties at choice")
        properties = {**_named(branch), **properties}
    if top.get("type", "object") != "object":
        note("arguments that are no object are told as an object")
    return {**top, "type": "object", "properties": properties}


def _branches(schema: Schema) -> Iterator[Schema]:
    for key in ("allOf", "anyOf", "oneOf"):
        found = schema.get(key)
        if isinstance(found, list):
            yield from (branch for branch in found if isinstance(branch, dict))


def _named(schema: Schema) -> Schema:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _with_properties(schema: Schema) -> Schema:
    """Return the same schema with `properties` on every object, as some hosts want (OAI-16)."""
    mapped = _mapped(schema, _with_properties)
    return {**mapped, "properties": _named(mapped)} if mapped.get("type") == "object" else mapped


# Strict -------------------------------------------------------------------------------------------

_STRICT_KEYS = {
    *("type", "title", "description", "enum", "const", "anyOf", "properties", "required", "items"),
    *("additionalProperties", "pattern", "format", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "multipleOf", "minItems", "maxItems", "default"),
}


def _strict(schema: Schema) -> Schema | None:
    refused = list[Schema]()

    def close(node: Schema) -> Schema:
        if not _can_be_strict(node):
            refused.append(node)
        closed = {key: value for key, value in _mapped(node, close).items() if key != "default"}
        if node.get("type") != "object":
            return closed
        properties = _named(closed)
        return {
            **closed,
            "properties": properties,
            "required": list[Json](properties),
            "additionalProperties": False,
        }

    closed = close(schema)
    return None if refused else closed


def _can_be_strict(schema: Schema) -> bool:
    kind, items = schema.get("type"), schema.get("items")
    if not schema.keys() <= _STRICT_KEYS or not schema.keys() & {"type", "anyOf", "enum", "const"}:
        return False
    if isinstance(kind, list) and {"object", "array"}.intersection(map(str, kind)):
        return False
    if kind == "array":
        return isinstance(items, dict)
    return kind != "object" or _can_be_closed(schema)


def _can_be_closed(schema: Schema) -> bool:
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    return (
        "properties" in schema
        and schema.get("additionalProperties", False) is False
        and all(name in needed or _may_be_null(inner) for name, inner in _named(schema).items())
    )


def _may_be_null(schema: Json) -> bool:
    """Whether null says the same as leaving the property out."""
    if not isinstance(schema, dict) or schema.get("default") is not None:
        return False
    kind = schema.get("type")
    return "null" in (kind if isinstance(kind, list) else [kind]) or any(
        branch.get("type") == "null" for branch in _branches(schema)
    )
