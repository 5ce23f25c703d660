"""A plain chat model out of any model: text in, text out. What JSON text stands on.

The model is offered no tools, so whatever it would call is in its words. Knows no host.
"""

from typing import TYPE_CHECKING

from goldseam.kernel.conversation import Message
from goldseam.kernel.ports import Listener, ModelAdapter
from goldseam.kernel.request import ModelRequest
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse, TextProvider


class PlainTextProvider:
    """Asks `model` for text alone; its thoughts are not part of what it says."""

    def __init__(self, model: ModelAdapter) -> None:
        self._model = model

    async def complete(
        self,
        messages: tuple[ProviderMessage, ...],
        *,
        max_output_tokens: int,
        listener: Listener,
    ) -> ProviderResponse:
        """Return the words of one reply; see `TextProvider.complete`."""
        history = tuple(Message(role=said.role, text=said.content) for said in messages)
        request = ModelRequest(history=history, tools=(), max_output_tokens=max_output_tokens)
        reply = await self._model.complete(request, listener)
        return ProviderResponse(
            text="".join(item.text for item in reply.items if isinstance(item, Message)),
            usage=reply.usage,
            stop=reply.stop,
            model=reply.model,
        )


if TYPE_CHECKING:
    _fits: type[TextProvider] = PlainTextProvider
