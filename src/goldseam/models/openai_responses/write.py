"""A request as a body. The host stores nothing: each body holds the whole conversation (RSP-13).

System texts stand in place, which this protocol allows everywhere, so nothing is hoisted.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from goldseam.kernel.conversation import HistoryItem, Message
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.dialect import Body, Profile, Written
from goldseam.models.fitting import Losses, fit_name, sendable, sendable_json
from goldseam.models.openai_responses.items import ItemWriter
from goldseam.models.schemas import fit_schema, fit_strict
from goldseam.models.turn_cache import Rendered, TurnCache
from goldseam.models.turns import Turn

_LEAST_OUTPUT = 16
"""The host refuses fewer (RSP-12)."""


class RequestWriter:
    """Writes the requests of one model, a growing history at the cost of what is new."""

    def __init__(self, profile: Profile) -> None:
        items = ItemWriter(profile)

        def step(_: None, turn: Turn) -> tuple[None, Rendered]:
            return None, items.render(turn)

        self._profile = profile
        self._turns = TurnCache(None, step, hides=items.hides)

    def write(self, request: ModelRequest) -> Written:
        """Return the body for `request`, which shares its items with the next one's."""
        profile, losses = self._profile, Losses()
        body: Body = {"model": profile.model, "store": False}
        if profile.streams:
            body["stream"] = True
        body["max_output_tokens"] = _output_limit(request.max_output_tokens, losses)
        body |= _thinking(profile, losses)
        if profile.caches:
            body["prompt_cache_key"] = _cache_key(request.history)
        tools, simplified = _tools(request.tools, is_strict=profile.strict_schemas)
        if tools:
            body["tools"] = tools
        rendered = self._turns.write(request.history)
        body["input"] = list[Json](rendered.parts)
        return Written(body=body, losses=(*losses.found, *simplified, *rendered.losses))


def _output_limit(tokens: int, losses: Losses) -> int:
    if tokens < _LEAST_OUTPUT:
        what = f"at most {tokens} tokens of output is sent as {_LEAST_OUTPUT}, the least there is"
        losses.note("setting_dropped", None, what)
    return max(tokens, _LEAST_OUTPUT)


def _thinking(profile: Profile, losses: Losses) -> Body:
    """Return what concerns thinking: a model that thinks takes no temperature (OAI-19)."""
    body: Body = {}
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


def _cache_key(history: Sequence[HistoryItem]) -> str:
    """Return a key that all requests of a run have in common, from how its history opens."""
    digest = sha256()
    for item in history:
        if not isinstance(item, Message) or item.role == "assistant":
            break
        digest.update(f"{item.role}\0{item.text}\0".encode("utf-8", "surrogatepass"))
    return f"goldseam-{digest.hexdigest()[:32]}"


def _tools(specs: Sequence[ToolSpec], *, is_strict: bool) -> tuple[list[Json], list[Remark]]:
    tools, losses = list[Json](), list[Remark]()
    for spec in specs:
        tool, lost = _tool(spec, is_strict=is_strict)
        tools.append(tool)
        losses += lost
    return tools, losses


@lru_cache(maxsize=256)
def _tool(spec: ToolSpec, *, is_strict: bool) -> tuple[dict[str, Json], tuple[Remark, ...]]:
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
    return tool, tuple(Remark(code=c, text=f"tool {spec.name}: {what}") for c, what in lost)
