"""A request as a body: settings, tools, system text, then messages that only grow at the end.

The cache marks move along with what grows: they stand on the last tool, the last system text, what
the user said last, and what the user said the time before, which is where the cache is read.
"""

from collections.abc import Sequence

from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.anthropic.blocks import Block
from goldseam.models.anthropic.settings import settings_of
from goldseam.models.anthropic.thread import ThreadWriter
from goldseam.models.dialect import Body, Profile, Written
from goldseam.models.fitting import fit_name, loss, sendable_json
from goldseam.models.schemas import fit_schema


class BodyWriter:
    """Writes the bodies of one run for one profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._thread = ThreadWriter(profile)

    def write(self, request: ModelRequest) -> Written:
        """Return the body for `request`; raises nothing for what a history can hold."""
        profile, thread = self._profile, self._thread.write(request.history)
        tools, tool_losses = _tools(request.tools)
        settings, setting_losses = settings_of(
            profile,
            max_tokens=request.max_output_tokens,
            may_think=thread.begins_with_thought,
        )
        body: Body = {"model": profile.model, "max_tokens": request.max_output_tokens, **settings}
        if profile.streams:
            body["stream"] = True
        if tools:
            body["tools"] = self._marked(tools)
        if thread.system:
            body["system"] = self._marked(list(thread.system))
        body["messages"] = self._marked_messages(thread.messages)
        return Written(body=body, losses=(*setting_losses, *tool_losses, *thread.losses))

    def _marked_messages(self, messages: Sequence[Block]) -> list[Json]:
        marked = list[Json](messages)
        # User and assistant alternate, and the user has the last word.
        for place in range(len(messages) - 1, -1, -2)[:2]:
            message = messages[place]
            marked[place] = {**message, "content": self._marked(message["content"])}
        return marked

    def _marked(self, blocks: Json) -> Json:
        """Return `blocks`, a cache mark on the last where the profile wants them (ANT-20)."""
        match blocks:
            case [*others, dict(last)] if self._profile.caches:
                return [*others, {**last, "cache_control": {"type": "ephemeral"}}]
            case _:
                return blocks


def _tools(specs: tuple[ToolSpec, ...]) -> tuple[list[Json], list[Remark]]:
    tools, losses = list[Json](), list[Remark]()
    for spec in specs:
        schema, simplified = fit_schema(spec.parameters, "anthropic")
        losses += simplified
        tool: Block = {"name": fit_name(spec.name), "input_schema": schema}
        if spec.description.strip():
            tool["description"] = spec.description
        sent = sendable_json(tool)
        if sent != tool:
            what = f"characters that cannot be sent were replaced in the tool {tool['name']}"
            losses.append(loss("text_replaced", None, what))
        tools.append(sent)
    return tools, losses
