"""A request as a body: settings and tools first, then messages that only ever grow at the end."""

from hashlib import sha256

from goldseam.kernel.json_text import Json, write_json
from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.dialect import Body, Profile, Written
from goldseam.models.fitting import fit_name, loss, sendable
from goldseam.models.openai_chat import forms
from goldseam.models.openai_chat.messages import Ending, MessageWriter
from goldseam.models.schemas import fit_schema, fit_strict
from goldseam.models.turn_cache import TurnCache


class ChatWriter:
    """Writes the requests of one run to one host, each at the cost of what is new in it."""

    def __init__(self, profile: Profile) -> None:
        writer = MessageWriter(profile)
        self._profile = profile
        self._turns = TurnCache[Ending]("other", writer.step, hides=writer.hides)
        self._specs: tuple[ToolSpec, ...] = ()
        self._tools: tuple[list[Json], tuple[Remark, ...]] = ([], ())

    def write(self, request: ModelRequest) -> Written:
        """Return the body for `request`, which is the same whatever was written before it.

        The parts that stay the same from body to body are shared by them: none may be changed.
        """
        if request.tools != self._specs:
            self._specs = request.tools
            self._tools = _tools(request.tools, self._profile)
        tools, tool_losses = self._tools
        rendered = self._turns.write(request.history)
        messages, bridges = _closed(rendered.parts)
        settings, setting_losses = _settings(request, self._profile)
        body = settings
        if self._profile.caches:
            body["prompt_cache_key"] = _cache_key(messages)
        if tools:
            body["tools"] = tools
        body["messages"] = messages
        return Written(
            body=body, losses=(*setting_losses, *tool_losses, *rendered.losses, *bridges)
        )


def write(request: ModelRequest, profile: Profile) -> Written:
    """Return the body for `request`; raises nothing for what a history can hold."""
    return ChatWriter(profile).write(request)


def _closed(parts: tuple[Body, ...]) -> tuple[list[Json], list[Remark]]:
    """Return the messages, the last not the assistant's: hosts do not agree what that would ask."""
    messages = list[Json](parts)
    if parts and parts[-1]["role"] != "assistant":
        return messages, []
    bridge = loss("bridged_turn", None, f"the user says {forms.CONTINUE} at the end")
    return [*messages, {"role": "user", "content": forms.CONTINUE}], [bridge]


def _settings(request: ModelRequest, profile: Profile) -> tuple[Body, list[Remark]]:
    body: Body = {"model": profile.model}
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


def _tools(specs: tuple[ToolSpec, ...], profile: Profile) -> tuple[list[Json], tuple[Remark, ...]]:
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
    return tools, tuple(losses)


def _cache_key(messages: list[Json]) -> str:
    """Return a key that all requests of one run share: its opening, which never changes."""
    opening = write_json(messages[:2])
    return f"goldseam-{sha256(opening.encode()).hexdigest()[:32]}"
