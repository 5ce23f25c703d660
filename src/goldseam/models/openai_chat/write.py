"""A request as a body: settings and tools first, then messages that only ever grow at the end."""

from functools import lru_cache

from msgspec import Raw

from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.dialect import Body, Profile, Written
from goldseam.models.encoding import Part, body_of, encoded, raw_json
from goldseam.models.fitting import cache_key, fit_name, loss, sendable
from goldseam.models.openai_chat import forms
from goldseam.models.openai_chat.messages import Ending, MessageWriter
from goldseam.models.schemas import fit_schema, fit_strict
from goldseam.models.turn_cache import TurnCache


class ChatWriter:
    """Writes the requests of one run to one host, each at the cost of what is new in it."""

    def __init__(self, profile: Profile) -> None:
        writer = MessageWriter(profile)
        self._profile = profile
        self._turns = TurnCache[Ending]("assistant", writer.step, hides=writer.hides)

    def write(self, request: ModelRequest) -> Written:
        """Return the body for `request`; see `goldseam.models.dialect.Writer`."""
        head, setting_losses = _settings(request, self._profile)
        if self._profile.caches:
            head["prompt_cache_key"] = cache_key(request.history)
        tools, tool_losses = _tools(request.tools, self._profile)
        if request.tools:
            head["tools"] = tools
        said = self._turns.write(request.history)
        closing, bridges = _closing(said.state)
        return Written(
            encoded=body_of(head, "messages", said.text, closing),
            losses=(*setting_losses, *tool_losses, *said.losses, *bridges),
        )


def _closing(ending: Ending) -> tuple[bytes, tuple[Remark, ...]]:
    """Return what must stand last: no assistant may, since hosts do not agree what it would ask."""
    if ending != "assistant":
        return b"", ()
    bridge = loss("bridged_turn", None, f"the user says {forms.CONTINUE} at the end")
    return encoded({"role": "user", "content": forms.CONTINUE}), (bridge,)


def _settings(request: ModelRequest, profile: Profile) -> tuple[Part, list[Remark]]:
    body: Part = {"model": profile.model}
    dropped = list[Remark]()
    if profile.streams:
        body["stream"] = True
        if profile.streams_usage:
            body["stream_options"] = {"include_usage": True}
    body[profile.output_limit_field] = request.max_output_tokens
    if profile.effort is not None:
        body["reasoning_effort"] = profile.effort
    thinks = profile.thinking or profile.effort not in {None, "none"}
    if profile.temperature is not None and thinks:
        dropped.append(loss("setting_dropped", None, "a model that thinks takes no temperature"))
    elif profile.temperature is not None:
        body["temperature"] = profile.temperature
    return body, dropped


@lru_cache(maxsize=16)
def _tools(specs: tuple[ToolSpec, ...], profile: Profile) -> tuple[Raw, tuple[Remark, ...]]:
    tools, losses = list[Json](), list[Remark]()
    for spec in specs:
        name = fit_name(spec.name)
        if name != spec.name:
            losses.append(loss("tool_name_changed", None, f"the tool {spec.name} is {name}"))
        function: Body = {"name": name}
        if spec.description.strip():
            function["description"] = sendable(spec.description)
        strict = fit_strict(spec.parameters) if profile.strict_schemas else None
        if strict is None:
            function["parameters"], simplified = fit_schema(spec.parameters, "openai")
            losses += simplified
        else:
            function |= {"parameters": strict, "strict": True}
        tools.append({"type": "function", "function": function})
    return raw_json(tools), tuple(losses)
