"""Write what stands beside the contents: the tools on offer and how to generate.

There is no tool config, whose default is what is wanted and which no request without tools may
carry (GEM-32). Knows nothing of a history.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Raw

from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.dialect import Body, Effort, Profile
from goldseam.models.encoding import raw_json
from goldseam.models.fitting import Losses, fit_name, sendable
from goldseam.models.schemas import Target, fit_schema

_EFFORTS: Mapping[Effort, tuple[str, int]] = {
    "none": ("MINIMAL", 0),
    "minimal": ("MINIMAL", 512),
    "low": ("LOW", 2048),
    "medium": ("MEDIUM", 8192),
    "high": ("HIGH", 24576),
    "xhigh": ("HIGH", 24576),
    "max": ("HIGH", 24576),
}
"""The thinking level from version 3 on, and the budget of thought tokens before it (GEM-33): those
that every model of its time takes."""

_TARGETS: Mapping[str, Target] = {
    "parameters": "gemini_openapi",
    "parametersJsonSchema": "gemini_json",
}


@lru_cache(maxsize=16)
def tools_of(tools: tuple[ToolSpec, ...], profile: Profile) -> tuple[Raw, tuple[Remark, ...]]:
    """Return the one tool that declares all `tools` on offer."""
    losses = Losses()
    declared = [_declaration(tool, profile, losses) for tool in tools]
    return raw_json([{"functionDeclarations": [*declared]}]), tuple(losses.found)


def generation_of(request: ModelRequest, profile: Profile) -> tuple[Body, tuple[Remark, ...]]:
    """Return how a reply to `request` is to be made, and which settings could not be kept."""
    losses = Losses()
    generation: Body = {"maxOutputTokens": request.max_output_tokens}
    if profile.temperature is not None:
        generation["temperature"] = profile.temperature
    if thinking := _thinking(profile, losses):
        generation["thinkingConfig"] = thinking
    return generation, tuple(losses.found)


def _declaration(tool: ToolSpec, profile: Profile, losses: Losses) -> Body:
    name = fit_name(tool.name)
    if name != tool.name:
        losses.note("tool_name_changed", None, f"the tool {tool.name} is offered as {name}")
    schema, simplified = fit_schema(tool.parameters, _TARGETS[profile.schema_field])
    for remark in simplified:
        losses.note(remark.code, None, f"the arguments of {name}: {remark.text}")
    description = sendable(tool.description)
    if description != tool.description:
        losses.note("text_replaced", None, f"characters in the description of {name} were replaced")
    declared: Body = {"name": name, "description": description}
    # An object schema without properties is refused; no schema says that there are no arguments.
    if schema.get("properties"):
        declared[profile.schema_field] = schema
    return declared


def _thinking(profile: Profile, losses: Losses) -> Body:
    effort = profile.effort
    if not profile.thinking:
        if effort not in {None, "none"}:
            losses.note("setting_dropped", None, f"effort {effort}: the model does not think")
        return {}
    config: Body = {"includeThoughts": effort != "none"}
    if effort is None:
        return config
    level, budget = _EFFORTS[effort]
    if profile.requires_signatures:
        config["thinkingLevel"], is_kept = level, level.lower() == effort
    else:
        config["thinkingBudget"], is_kept = budget, effort not in {"xhigh", "max"}
    if not is_kept:
        losses.note("setting_dropped", None, f"effort {effort} is sent as the nearest there is")
    return config
