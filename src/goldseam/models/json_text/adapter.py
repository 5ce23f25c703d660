"""A `ModelAdapter` over a plain chat model: write the history, ask, read the action.

Keeps what was written of the run so far, so that a turn costs what is new. Knows no vendor.
"""

from typing import TYPE_CHECKING

from goldseam.kernel.conversation import Message
from goldseam.kernel.errors import InvalidModelOutputError, ModelProviderError
from goldseam.kernel.ports import Listener, ModelAdapter
from goldseam.kernel.request import ModelRequest, ModelResponse, Remark, ReplyItem, ToolSpec
from goldseam.models.json_text.action_parser import BadActionError, parse_json_action
from goldseam.models.json_text.forms import UNSENDABLE
from goldseam.models.json_text.messages import MessageWriter
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse, TextProvider

_HELD_TO_THE_CONTRACT = {"end", "tool_calls", "pause"}
"""Replies that may enter the run. Any other may be cut anywhere, and nothing of it ever runs."""

_MAX_EXCERPT = 600
_HEAD = 380
_TAIL = 180


class JsonTextModelAdapter:
    """Makes an agent's model of `provider`; `several_calls` is what the contract offers it."""

    def __init__(self, provider: TextProvider, *, several_calls: bool = True) -> None:
        self._provider = provider
        self._several_calls = several_calls
        self._tools: tuple[ToolSpec, ...] = ()
        self._writer = MessageWriter((), several_calls=several_calls)
        self._owed: tuple[Remark, ...] = ()

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        """Return the action of one whole reply; `listener` is given its raw text as it comes.

        A reply that was cut short keeps its stop reason: its items are the action where a whole
        one came, and otherwise the bare text.

        Raises:
            ModelProviderError: as the provider says, or it could not be reached.
            InvalidModelOutputError: the reply ended by itself and breaks the contract.
        """
        messages = self._write(request)
        try:
            response = await self._provider.complete(
                messages, max_output_tokens=request.max_output_tokens, listener=listener
            )
        except OSError as error:
            raise ModelProviderError(
                "the model's provider could not be reached", kind="transport", retryable=True
            ) from error
        items, remarks = self._read(response)
        owed, self._owed = self._owed, ()
        return ModelResponse(
            items=items,
            stop=response.stop,
            usage=response.usage,
            model=response.model,
            remarks=(*owed, *remarks),
        )

    def _write(self, request: ModelRequest) -> tuple[ProviderMessage, ...]:
        if request.tools != self._tools:
            self._tools = request.tools
            self._writer = MessageWriter(request.tools, several_calls=self._several_calls)
        written = self._writer.write(request.history)
        # What was not shown is said once, with the first reply that comes of it.
        self._owed += written.remarks
        return written.messages

    def _read(self, response: ProviderResponse) -> tuple[tuple[ReplyItem, ...], tuple[Remark, ...]]:
        text, replaced = UNSENDABLE.subn("\ufffd", response.text)
        strays = f"{replaced} characters of the reply that are no text were replaced"
        repairs = (Remark(code="reply_repaired", text=strays),) if replaced else ()
        try:
            parsed = parse_json_action(text, several_calls=self._several_calls)
        except BadActionError as error:
            if response.stop in _HELD_TO_THE_CONTRACT:
                raise InvalidModelOutputError(
                    str(error), excerpt=excerpt_of(text), usage=response.usage
                ) from error
            bare = (Message(role="assistant", text=text),) if text.strip() else ()
            return bare, repairs
        return parsed.items, (*repairs, *parsed.remarks)


def excerpt_of(text: str) -> str:
    """Return `text`, or its head and tail with the count of what is left out: 600 characters."""
    if len(text) <= _MAX_EXCERPT:
        return text
    left_out = len(text) - _HEAD - _TAIL
    return f"{text[:_HEAD]}\n… {left_out} characters …\n{text[-_TAIL:]}"


if TYPE_CHECKING:
    _fits: type[ModelAdapter] = JsonTextModelAdapter
