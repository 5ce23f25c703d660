"""What Anthropic refuses of thinking and of the thoughts that come back (ANT-21 to ANT-27).

Holds the facts of the model, too: both halves of the judge need them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from simulators.refusal import Handed, Issued, Refusal, print_of

Doubt: TypeAlias = Literal["ANT-10", "ANT-11", "ANT-12", "ANT-27", "ANT-37"]
"""The rules that nobody has confirmed."""

CLASSIC, NEWER = "2023-06-01", "2026-10-21"
THOUGHTS = {"thinking", "redacted_thinking"}
LEAST_BUDGET = 1024


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of the model, the version and the signatures that were handed out."""

    version: str = NEWER
    takes_prefill: bool = False
    takes_system_turns: bool = False
    """Whether system messages may stand in the conversation (ANT-4)."""
    efforts: tuple[str, ...] = ("low", "medium", "high", "max")
    issued: Issued | None = None
    doubts: frozenset[Doubt] = field(default_factory=frozenset)
    """The unconfirmed rules that are held all the same."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A turn as the vendor sees it: neighbours of one role merged (ANT-5)."""

    at: int
    role: str
    blocks: list[dict[str, Any]]


def refuse(message: str, *, status: int = 400, kind: str = "invalid_request_error") -> Refusal:
    """Return the refusal in the vendor's body (ANT-33)."""
    error = {"type": kind, "message": message}
    return Refusal(status=status, body={"type": "error", "error": error, "request_id": "req_1"})


def blocks_of(turn: Turn | None, kind: str) -> list[dict[str, Any]]:
    """Return the blocks of one kind in a turn."""
    return [block for block in turn.blocks if block["type"] == kind] if turn else []


def refused_thinking(body: dict[str, Any], turns: list[Turn], facts: Facts) -> Iterator[Refusal]:
    """Yield what is wrong with how `body` asks the model to think."""
    thinking = body.get("thinking") or {"type": "disabled"}
    kind = thinking.get("type")
    if kind not in {"enabled", "disabled", "adaptive", "between_tools"}:  # ANT-21
        yield refuse(f"thinking: Input tag '{kind}' found using 'type' does not match any")
    if kind == "disabled":
        return
    if kind == "enabled":
        budget = thinking.get("budget_tokens", 0)
        if budget < LEAST_BUDGET:
            yield refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to")
        if budget >= body["max_tokens"]:
            yield refuse("`max_tokens` must be greater than `thinking.budget_tokens`.")
        yield from _loop_start(turns)
    if (body.get("tool_choice") or {}).get("type") in {"any", "tool"}:  # ANT-27
        yield refuse("Thinking may not be enabled when tool_choice forces tool use.")
    if "ANT-27" in facts.doubts and body.get("temperature", 1) != 1:
        yield refuse("`temperature` may only be set to 1 when thinking is enabled.")


def _loop_start(turns: list[Turn]) -> Iterator[Refusal]:
    """Refuse a loop under way whose last assistant turn does not start with a thought (ANT-23)."""
    if len(turns) < 2 or any(block["type"] != "tool_result" for block in turns[-1].blocks):
        return  # Ordinary words of the user end the loop.
    opened = _opening_of_loop(turns)
    if opened.blocks[0]["type"] not in THOUGHTS:
        yield refuse(
            f"messages.{opened.at}.content.0.type: Expected 'thinking' or 'redacted_thinking', but"
            f" found '{opened.blocks[0]['type']}'. When 'thinking' is enabled, a final 'assistant'"
            " message must start with a thinking block (preceeding the lastmost set of 'tool_use'"
            " and 'tool_result' blocks)"
        )


def _opening_of_loop(turns: list[Turn]) -> Turn:
    """Return the assistant turn that opened the loop: interleaved ones may go on without one."""
    opened = turns[-2]
    for turn in reversed(turns):
        if turn.role == "assistant":
            opened = turn
        elif any(block["type"] != "tool_result" for block in turn.blocks):
            break
    return opened


def refused_signatures(turns: list[Turn], facts: Facts) -> Iterator[Refusal]:
    """Yield what is wrong with the thoughts that came back, where anybody remembers them."""
    if facts.issued is None:
        return
    for turn in turns:
        numbers = list[int]()
        for place, block in enumerate(turn.blocks):
            if block["type"] not in THOUGHTS:
                continue
            handed = facts.issued.get(block.get("signature") or block.get("data") or "")
            path = f"messages.{turn.at}.content.{place}"
            if handed is None:  # ANT-24: foreign or damaged
                yield refuse(f"{path}: Invalid 'signature' in 'thinking' block")
                continue
            numbers.append(handed.number)
            if _is_altered(block, turn.blocks[place + 1 :], handed) or numbers != sorted(numbers):
                yield refuse(  # ANT-22, ANT-24, ANT-25
                    f"{path}: 'thinking' or 'redacted_thinking' blocks in the latest assistant"
                    " message cannot be modified. These blocks must remain as they were in the"
                    " original response."
                )


def _is_altered(block: dict[str, Any], behind: list[dict[str, Any]], handed: Handed) -> bool:
    return handed.on != print_of(block) or handed.before != following(behind)


def following(blocks: list[dict[str, Any]]) -> str:
    """Return by what the first block behind a thought is known again."""
    match blocks:
        case [{"type": "tool_use", "name": str(name)}, *_]:
            return f"call of {name}"
        case [{"type": "text", "text": str(text)}, *_]:
            return text.strip()
        case [first, *_]:
            return print_of(first)
        case _:
            return ""
