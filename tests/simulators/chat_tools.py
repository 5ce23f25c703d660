"""What the hosts of Chat Completions refuse of tools and settings (OAI-9 to OAI-20).

Knows no messages but for the calls in them.
"""

import re
from collections.abc import Iterator
from typing import Any

from simulators.chat_hosts import Host
from simulators.refusal import Refusal, dicts_in

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
FOREIGN_FIELDS = {"thinking", "cache_control", "extra_body", "reasoning_content", "extra_content"}
TOOL_SETTINGS = {"tool_choice", "parallel_tool_calls"}
INVALID = "invalid_request_error"


def refuse(
    host: Host,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    kind: str = INVALID,
    status: int = 400,
) -> Refusal:
    """Return the refusal in the words and the body of `host`."""
    return host.voice(status, message, kind, code, param)


def calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of an assistant message, none of any other."""
    return dicts_in(message.get("tool_calls")) if message["role"] == "assistant" else []


def refused_tools(body: dict[str, Any], host: Host) -> Iterator[Refusal]:
    """Yield what `host` has against the tools of `body`, and against what it says of them."""
    tools = dicts_in(body.get("tools"))
    for at, tool in enumerate(tools):
        if tool.get("type") != "custom":
            yield from _tool(tool, at, host)
    if "OAI-12" in host.doubts and len(tools) > 128:
        yield refuse(host, "Invalid 'tools': array too long.", code="array_above_max_length")
    if host.known_tools_only:  # GRQ-1
        names = {str(tool["function"]["name"]) for tool in tools if "function" in tool}
        for name in (c["function"]["name"] for m in body["messages"] for c in calls_of(m)):
            if name not in names:
                yield refuse(host, f"requested tool does not exist: {name}")
    yield from _choice(body, host)


def _tool(tool: dict[str, Any], at: int, host: Host) -> Iterator[Refusal]:
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict):  # OAI-9
        yield refuse(host, f"Missing required parameter: 'tools[{at}].function'.")
        return
    if not NAME.fullmatch(str(function.get("name", ""))):  # OAI-10
        path = f"tools[{at}].function.name"
        text = f"Invalid '{path}': string does not match pattern."
        yield refuse(host, text, code="invalid_value", param=path)
    yield from _schema(function, f"tools[{at}].function.parameters", host)


def _schema(function: dict[str, Any], path: str, host: Host) -> Iterator[Refusal]:
    if "parameters" not in function:  # OAI-9
        return
    parameters = function["parameters"]
    broken = schema_fault(parameters, strict=bool(function.get("strict")))
    if broken:
        text = f"Invalid schema for function '{function.get('name')}': {broken}"
        yield refuse(host, text, code="invalid_function_parameters", param=path)


def schema_fault(schema: Any, *, strict: bool) -> str | None:
    """Return what the vendor has against the parameters of a tool (OAI-15, OAI-16)."""
    if not isinstance(schema, dict) or "properties" not in schema:
        return "In context=(), object schema missing properties."
    return next(_open_objects(schema, ()), None) if strict else None


def _open_objects(schema: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(schema, list):
        for inner in schema:
            yield from _open_objects(inner, path)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield (
                f"In context={path}, 'additionalProperties' is required to be supplied and to be"
                " false."
            )
        if {*schema.get("required", ())} != {*schema.get("properties", {})}:
            yield f"In context={path}, 'required' is required to include every key in properties."
    for name, inner in schema.items():
        yield from _open_objects(inner, (*path, name))


def _choice(body: dict[str, Any], host: Host) -> Iterator[Refusal]:
    choice = body.get("tool_choice")
    forced = choice == "required" or isinstance(choice, dict)
    known = {None, "none", "auto", "required"} | ({"any"} if host.id_pattern else set())  # MIS-3
    if not isinstance(choice, dict) and choice not in known:  # OAI-13
        yield refuse(host, f"Invalid value: '{choice}'.", code="invalid_value", param="tool_choice")
    if forced and host.forced_choice_words:  # DSK-4, QWN-1, KIM-2
        yield refuse(host, host.forced_choice_words, code="invalid_parameter_error")
    if "OAI-14" in host.doubts and not body.get("tools") and TOOL_SETTINGS & {*body}:
        yield refuse(host, "'tool_choice' is only allowed when 'tools' are specified.")


def refused_settings(body: dict[str, Any], host: Host) -> Iterator[Refusal]:
    """Yield what `host` has against the other settings of `body`."""
    if host.thinks:
        for name, hint in (
            ("max_tokens", " Use 'max_completion_tokens' instead."),
            ("temperature", ""),
        ):
            if name in body:  # OAI-18, OAI-19
                text = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
                code = "unsupported_parameter" if name == "max_tokens" else None
                yield refuse(host, text, code=code, param=name)
    if host.penalties_refused:  # XAI-1
        for name in {"presence_penalty", "frequency_penalty"} & {*body}:
            yield refuse(host, f"Model does not support parameter {name}.")
    if "OAI-28" in host.doubts and "stream_options" in body and not body.get("stream"):
        yield refuse(host, "The 'stream_options' parameter is only allowed when 'stream' is on.")
    if "OAI-17" in host.doubts and FOREIGN_FIELDS & {*body}:
        name = min(FOREIGN_FIELDS & {*body})
        yield refuse(host, f"Unknown parameter: '{name}'.", code="unknown_parameter", param=name)
