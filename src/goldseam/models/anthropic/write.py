"""A request as a body: settings, tools, system text, then messages that only grow at the end.

The cache marks move along with what grows: they stand on the last tool, the last system text, what
the user said last, and what the user said the time before, which is where the cache is read.
"""

from functools import lru_cache

from msgspec import Raw
from msgspec.structs import replace

from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.anthropic.settings import settings_of
from goldseam.models.anthropic.thread import Message, ThreadWriter
from goldseam.models.dialect import Body, Profile, Written
from goldseam.models.encoding import Part, body_of, encoded, raw_json
from goldseam.models.fitting import fit_name, loss, sendable_json
from goldseam.models.schemas import fit_schema

_MARK: Body = {"cache_control": {"type": "ephemeral"}}


class BodyWriter:
    """Writes the bodies of one run for one profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._thread = ThreadWriter(profile)

    def write(self, request: ModelRequest) -> Written:
        """Return the body for `request`; see `goldseam.models.dialect.Writer`."""
        profile, thread = self._profile, self._thread.write(request.history)
        tools, tool_losses = _tools(request.tools, is_marked=profile.caches)
        settings, setting_losses = settings_of(
            profile,
            max_tokens=request.max_output_tokens,
            may_think=thread.begins_with_thought,
        )
        head: Part = {"model": profile.model, "max_tokens": request.max_output_tokens, **settings}
        if profile.streams:
            head["stream"] = True
        if request.tools:
            head["tools"] = tools
        if thread.system:
            head["system"] = self._marked(thread.system)
        latest = [encoded(self._marked_message(message)) for message in thread.latest]
        return Written(
            encoded=body_of(head, "messages", thread.settled, *latest),
            losses=(*setting_losses, *tool_losses, *thread.losses),
        )

    def _marked_message(self, message: Message) -> Message:
        if message.role != "user":
            return message
        return replace(message, content=self._marked(message.content))

    def _marked(self, blocks: tuple[Part, ...]) -> tuple[Part, ...]:
        """Return `blocks`, a cache mark on the last where the profile wants them (ANT-20)."""
        return (*blocks[:-1], blocks[-1] | _MARK) if self._profile.caches else blocks


@lru_cache(maxsize=16)
def _tools(specs: tuple[ToolSpec, ...], *, is_marked: bool) -> tuple[Raw, tuple[Remark, ...]]:
    tools, losses = list[Json](), list[Remark]()
    for spec in specs:
        schema, simplified = fit_schema(spec.parameters, "anthropic")
        losses += simplified
        tool: Body = {"name": fit_name(spec.name), "input_schema": schema}
        if spec.description.strip():
            tool["description"] = spec.description
        sent = sendable_json(tool)
        if sent != tool:
            what = f"characters that cannot be sent were replaced in the tool {tool['name']}"
            losses.append(loss("text_replaced", None, what))
        tools.append(sent)
    match tools:
        case [*_, dict(last)] if is_marked:
            last |= _MARK
        case _:
            pass
    return raw_json(tools), tuple(losses)
