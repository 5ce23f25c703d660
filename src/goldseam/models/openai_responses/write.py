"""A request as a body. The host stores nothing: each body holds the whole conversation (RSP-13).

System texts stand in place, which this protocol allows everywhere, so nothing is hoisted.
"""

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Raw

from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.dialect import Profile, Written
from goldseam.models.encoding import Part, body_of, raw_json
from goldseam.models.fitting import Losses, cache_key, fit_name, sendable, sendable_json
from goldseam.models.openai_responses.items import ItemWriter
from goldseam.models.schemas import fit_schema, fit_strict
from goldseam.models.turn_cache import TurnCache
from goldseam.models.turns import Turn

_LEAST_OUTPUT = 16
"""The host refuses fewer (RSP-12)."""


class RequestWriter:
    """Writes the requests of one model, a growing history at the cost of what is new."""

    def __init__(self, profile: Profile) -> None:
        items = ItemWriter(profile)

        def step(_: None, turn: Turn, losses: Losses) -> tuple[None, list[Part]]:
            return None, items.render(turn, losses)

        self._profile = profile
        self._turns = TurnCache(None, step, hides=items.hides)

    def write(self, request: ModelRequest) -> Written:
        """Return the body for `request`; see `goldseam.models.dialect.Writer`."""
        profile, losses = self._profile, Losses()
        head: Part = {"model": profile.model, "store": False}
        if profile.streams:
            head["stream"] = True
        head["max_output_tokens"] = _output_limit(request.max_output_tokens, losses)
        head |= _thinking(profile, losses)
        if profile.caches:
            head["prompt_cache_key"] = cache_key(request.history)
        tools, simplified = _tools(request.tools, is_strict=profile.strict_schemas)
        if request.tools:
            head["tools"] = tools
        items = self._turns.write(request.history)
        return Written(
            encoded=body_of(head, "input", items.text),
            losses=(*losses.found, *simplified, *items.losses),
        )


def _output_limit(tokens: int, losses: Losses) -> int:
    if tokens < _LEAST_OUTPUT:
        what = f"at most {tokens} tokens of output is sent as {_LEAST_OUTPUT}, the least there is"
        losses.note("setting_dropped", None, what)
    return max(tokens, _LEAST_OUTPUT)


def _thinking(profile: Profile, losses: Losses) -> Part:
    """Return what concerns thinking: a model that thinks takes no temperature (OAI-19)."""
    body: Part = {}
    if profile.thinking:
        body["include"] = ["reasoning.encrypted_content"]  # RSP-10
    if profile.effort is not None:
        body["reasoning"] = {"effort": profile.effort}
    thinks = profile.thinking or profile.effort not in {None, "none"}
    if profile.temperature is not None and thinks:
        losses.note("setting_dropped", None, "a model that thinks takes no temperature")
    elif profile.temperature is not None:
        body["temperature"] = profile.temperature
    return body


@lru_cache(maxsize=16)
def _tools(specs: tuple[ToolSpec, ...], *, is_strict: bool) -> tuple[Raw, tuple[Remark, ...]]:
    written = [_tool(spec, is_strict=is_strict) for spec in specs]
    tools: list[Json] = [tool for tool, _ in written]
    return raw_json(tools), tuple(remark for _, lost in written for remark in lost)


def _tool(spec: ToolSpec, *, is_strict: bool) -> tuple[dict[str, Json], Iterator[Remark]]:
    """Return the tool, flat (RSP-2), strict where that can be said (OAI-15, case 92)."""
    strict = fit_strict(spec.parameters) if is_strict else None
    schema, simplified = (strict, ()) if strict else fit_schema(spec.parameters, "openai")
    tool: dict[str, Json] = {
        "type": "function",
        "name": fit_name(spec.name),
        "description": sendable(spec.description),
        "parameters": sendable_json(schema),
        "strict": strict is not None,
    }
    lost = [(remark.code, remark.text) for remark in simplified]
    if tool["name"] != spec.name:
        lost.append(("tool_name_changed", f"is called {tool['name']} here"))
    if tool["description"] != spec.description or tool["parameters"] != schema:
        lost.append(("text_replaced", "characters that cannot be sent were replaced"))
    return tool, (Remark(code=c, text=f"tool {spec.name}: {what}") for c, what in lost)
