"""A growing history as messages: user and assistant in turn, the user first and last.

What stands between two replies is one user message, results first (ANT-10). Each history item has
the same block in every later request (the prefix law); only the bridge at the end goes again once
somebody has spoken. Knows no setting and no cache mark.
"""

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import HistoryItem
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import Remark
from goldseam.models.anthropic.blocks import Block, BlockWriter, text_block
from goldseam.models.anthropic.forms import BRIDGE, THINKING_TYPES, is_shown
from goldseam.models.dialect import Profile
from goldseam.models.fitting import Losses, loss
from goldseam.models.turn_cache import Rendered, TurnCache
from goldseam.models.turns import AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn


class Thread(Struct, frozen=True, kw_only=True):
    """What a history comes to: `messages` end with the user's."""

    system: tuple[Block, ...]
    messages: list[Block]
    losses: tuple[Remark, ...]
    begins_with_thought: bool
    """Whether the reply that opened the tool loop under way begins with a thought (ANT-23); true
    where no loop is under way."""


class _State(Struct, frozen=True, kw_only=True):
    system: tuple[Block, ...] = ()
    told: tuple[Block, ...] = ()
    """What the user has said since the last reply."""
    began_with_thought: bool | None = None
    """How the tool loop under way began; `None` where none is."""


class ThreadWriter:
    """Writes the histories of one run for one profile, each at the cost of what is new."""

    def __init__(self, profile: Profile) -> None:
        self._blocks = BlockWriter(profile)
        self._state = _State()
        self._cache = TurnCache(_State(), self._render, hides=lambda it: not is_shown(it, profile))

    def write(self, history: Sequence[HistoryItem]) -> Thread:
        """Return `history` as messages."""
        self._state = _State()
        written = self._cache.write(history)
        state, losses = self._state, written.losses
        ends_with_reply = not state.told
        if ends_with_reply:
            losses += (loss("bridged_turn", None, f"the user says {BRIDGE} at the end"),)
        told = state.told or (text_block(BRIDGE),)
        return Thread(
            system=state.system,
            messages=[*written.parts, _message("user", told)],
            losses=losses,
            begins_with_thought=ends_with_reply or state.began_with_thought is not False,
        )

    def _render(self, state: _State, turn: Turn) -> tuple[_State, Rendered]:
        losses = Losses(turn.losses)
        blocks = self._blocks.render(turn, losses)
        parts = tuple[Block, ...]()
        match turn:
            case SystemTurn():
                state = replace(state, system=blocks)
            case UserTurn():
                state = replace(state, told=(*state.told, *blocks), began_with_thought=None)
            case ResultsTurn():
                state = replace(state, told=(*state.told, *blocks))
            case AssistantTurn():
                if blocks and not state.told:
                    losses.note("bridged_turn", turn.start, f"the user says {BRIDGE} before it")
                state, parts = _replied(state, blocks)
            case _:
                assert_never(turn)
        # The last turn is always rendered, so this is where the history ends.
        self._state = state
        return state, Rendered(parts=parts, losses=losses.found)


def _replied(state: _State, blocks: Sequence[Block]) -> tuple[_State, tuple[Block, ...]]:
    """Return the state after a reply of `blocks`, and the messages that it completes."""
    if not blocks:
        return state, ()
    told = state.told or (text_block(BRIDGE),)
    began = state.began_with_thought
    if began is None:
        began = blocks[0]["type"] in THINKING_TYPES
    after = replace(state, told=(), began_with_thought=began)
    return after, (_message("user", told), _message("assistant", blocks))


def _message(role: str, blocks: Sequence[Block]) -> Block:
    return {"role": role, "content": list[Json](blocks)}
