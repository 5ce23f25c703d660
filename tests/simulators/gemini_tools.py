"""What Google refuses of tools (GEM-28 to GEM-32), and the form of each refusal."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from simulators.refusal import Refusal, dicts_in

SCHEMA = {
    *("type", "format", "title", "description", "nullable", "enum", "items", "minItems"),
    *("maxItems", "minimum", "maximum", "minLength", "maxLength", "minProperties"),
    *("maxProperties", "properties", "required", "pattern", "example", "anyOf"),
    *("propertyOrdering", "default"),
}
DECLARATION = {
    *("name", "description", "parameters", "parametersJsonSchema", "response"),
    *("responseJsonSchema", "behavior"),
}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")


def refuse(
    message: str, *, status: int = 400, kind: str = "INVALID_ARGUMENT", details: Any = None
) -> Refusal:
    """Return the refusal in the vendor's body (GEM-39)."""
    error = {"code": status, "message": message, "status": kind}
    if details:
        error["details"] = details
    return Refusal(status=status, body={"error": error})


def unknown_names(value: Any, known: set[str], path: str) -> Iterator[Refusal]:
    """Yield a refusal for each name in `value` that is not `known` (GEM-5)."""
    for name in (name for name in value if name not in known):  # GEM-5
        where = f" at '{path}'" if path else ""
        text = f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'
        violation = {"field": path, "description": text}
        details = [
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}
        ]
        yield refuse(text, details=details)


def in_camel_case(value: Any) -> Any:
    """Return `value` with names in camelCase, but for what is the caller's own (GEM-4)."""
    match value:
        case list():
            return [in_camel_case(inner) for inner in value]
        case dict():
            return {
                (key := _camel_name(name)): inner if key in _OPAQUE else in_camel_case(inner)
                for name, inner in value.items()
            }
        case _:
            return value


_OPAQUE = {"args", "response", "parametersJsonSchema", "properties", "default", "example"}


def _camel_name(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def refused_tools(body: dict[str, Any]) -> Iterator[Refusal]:
    """Yield what is wrong with the tools of `body` and with how they are to be called."""
    declared = list(
        chain.from_iterable(
            dicts_in(tool.get("functionDeclarations")) for tool in dicts_in(body.get("tools"))
        )
    )
    for at, one in enumerate(declared):
        path = f"tools[0].function_declarations[{at}]"
        yield from unknown_names(one, DECLARATION, path)
        if not NAME.fullmatch(str(one.get("name", ""))):  # GEM-31
            text = f"* GenerateContentRequest.{path}.name: Invalid function name. Must start with a"
            yield refuse(f"{text} letter or an underscore.\n")
        if "parameters" in one and "parametersJsonSchema" in one:  # GEM-29
            yield refuse("parameters and parameters_json_schema are mutually exclusive.")
        if "parameters" in one:
            yield from _schema(one["parameters"], f"{path}.parameters")
    yield from _calling(body, has_tools=bool(declared))


def _calling(body: dict[str, Any], *, has_tools: bool) -> Iterator[Refusal]:
    config = (body.get("toolConfig") or {}).get("functionCallingConfig")
    if config is None:
        return
    if not has_tools:  # GEM-32
        yield refuse("Function calling config is set without function_declarations.")
    if config.get("mode", "AUTO") not in {"AUTO", "ANY", "NONE", "VALIDATED"}:
        yield refuse("Invalid value at 'tool_config.function_calling_config.mode'")
    if config.get("allowedFunctionNames") and config.get("mode") not in {"ANY", "VALIDATED"}:
        yield refuse("allowed_function_names should only be set when mode is ANY or VALIDATED.")


def _schema(schema: Any, path: str) -> Iterator[Refusal]:
    if not isinstance(schema, dict):
        return
    yield from unknown_names(schema, SCHEMA, path)  # GEM-28
    if isinstance(schema.get("type"), list):
        yield refuse(f"Proto field is not repeating, cannot start list at '{path}.type'.")
    if any(not isinstance(value, str) for value in schema.get("enum", ())):
        yield refuse(f"Invalid value at '{path}.enum' (TYPE_STRING)")
    for name, inner in (schema.get("properties") or {}).items():
        yield from _schema(in_camel_case(inner), f"{path}.properties[{name}]")
    for inner in (schema.get("items"), *schema.get("anyOf", ())):
        yield from _schema(inner, path)
