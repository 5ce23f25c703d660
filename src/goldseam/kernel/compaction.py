"""Make room in the model's context: old tool outputs leave it. Pure; the record keeps them.

Never touches messages, calls, or the latest outputs; a call always keeps its result.
"""

from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from goldseam.kernel.conversation import Conversation, HistoryItem, ToolResult

KEEP_RECENT_RESULTS = 6
SMALL = 400
"""Outputs of fewer characters stay: dropping them gains nothing."""
MINIMUM_GAIN = 0.2
"""A compaction that frees less than this share is not made (agents 30)."""


def outputs_to_drop(conversation: Conversation) -> tuple[str, ...]:
    """Return the calls whose outputs should leave the context; empty where too little is gained."""
    results = [item for item in conversation if isinstance(item, ToolResult)]
    old = [result for result in results[:-KEEP_RECENT_RESULTS] if len(result.content) > SMALL]
    call_ids = tuple(result.call_id for result in old)
    gain = sum(len(result.content) - SMALL for result in old)
    return call_ids if gain >= MINIMUM_GAIN * conversation.weight else ()


def without_outputs(conversation: Conversation, call_ids: AbstractSet[str]) -> Conversation:
    """Return the conversation with the outputs of `call_ids` replaced by a line that says so."""

    def shortened(item: HistoryItem) -> HistoryItem:
        if not isinstance(item, ToolResult) or item.call_id not in call_ids:
            return item
        dropped = (
            f"[{len(item.content)} characters of this output were dropped to make room; "
            "make the call again to see them]"
        )
        return replace(item, content=dropped)

    return Conversation(shortened(item) for item in conversation)
