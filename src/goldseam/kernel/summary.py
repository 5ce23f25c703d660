"""Say where a stopped run stands, from its state alone, without another model call. Pure."""

from goldseam.kernel.budget import LimitName
from goldseam.kernel.conversation import Message
from goldseam.kernel.state import RunState

_LONGEST_QUOTE = 600


def summary_of(state: RunState, limit: LimitName) -> str:
    """Return the summary of a run that `limit` stops."""
    ledger = state.ledger
    lines = [
        (
            f"Stopped at the limit {limit} after {ledger.model_calls} model calls, "
            f"{ledger.action_steps} action steps and {ledger.tokens} tokens."
        ),
    ]
    if state.calls:
        names = ", ".join(entry.call.tool_name for entry in state.calls)
        lines.append(f"Open when it stopped: {names}.")
    if words := _last_words(state):
        lines.append(f"The model said last: {_short(words)}")
    if state.proof is not None:
        lines.append(f"The last proof said: {_short(state.proof.text)}")
    return "\n".join(lines)


def _last_words(state: RunState) -> str:
    said = (
        item.text
        for item in reversed(state.conversation)
        if isinstance(item, Message) and item.role == "assistant" and item.text.strip()
    )
    return next(said, "")


def _short(text: str) -> str:
    if len(text) <= _LONGEST_QUOTE:
        return text
    return f"{text[:_LONGEST_QUOTE]} … ({len(text)} characters in all)"
