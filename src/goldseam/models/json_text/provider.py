"""What the JSON text dialect asks of a plain chat model: text in, text out.

Knows nothing of tools, calls or histories; those exist only inside the text.
"""

from typing import Literal, Protocol

from msgspec import Struct

from goldseam.kernel.ports import Listener
from goldseam.kernel.request import StopReason, TokenUsage


class ProviderMessage(Struct, frozen=True, kw_only=True):
    """One message as a chat model takes it. `content` is never blank and always valid Unicode."""

    role: Literal["system", "user", "assistant"]
    content: str


class ProviderResponse(Struct, frozen=True, kw_only=True):
    """One whole reply of a chat model, before anybody has read an action out of it."""

    text: str
    usage: TokenUsage
    stop: StopReason
    model: str


class TextProvider(Protocol):
    """A chat model that knows text alone."""

    async def complete(
        self,
        messages: tuple[ProviderMessage, ...],
        *,
        max_output_tokens: int,
        listener: Listener,
    ) -> ProviderResponse:
        """Return one whole reply of at most `max_output_tokens` tokens.

        Raises:
            ModelProviderError: no reply; says what it may have cost and whether to try again.
        """
        ...
