"""A growing history as messages: user and assistant in turn, the user first and last.

What stands between two replies is one user message, results first (ANT-10). Each history item has
the same block in every later request (the prefix law); only the bridge at the end goes again once
somebody has spoken. Knows no setting and no cache mark, save that the marks may stand in the last
three messages.
"""

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import HistoryItem, Reasoning
from goldseam.kernel.request import Remark
from goldseam.models.anthropic.blocks import BlockWriter, text_block
from goldseam.models.anthropic.forms import BRIDGE, THINKING_TYPES, is_whole, thinks
from goldseam.models.dialect import Profile
from goldseam.models.encoding import Part
from goldseam.models.fitting import Losses, loss
from goldseam.models.turn_cache import TurnCache
from goldseam.models.turns import AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn


class Message(Struct, frozen=True, kw_only=True):
    """One message as it goes out."""

    role: str
    content: tuple[Part, ...]


class Thread(Struct, frozen=True, kw_only=True):
    """What a history comes to: messages, the last of them the user's."""

    system: tuple[Part, ...]
    settled: bytearray
    """The messages that no later request changes, encoded; good until the next one is written."""
    latest: tuple[Message, ...]
    """The messages after these: the last exchange, if any, and what the user says now."""
    losses: tuple[Remark, ...]
    begins_with_thought: bool
    """Whether the reply that opened the tool loop under way begins with a thought (ANT-23); true
    where no loop is under way."""


class _State(Struct, frozen=True, kw_only=True):
    system: tuple[Part, ...] = ()
    exchange: tuple[Message, ...] = ()
    """What the user said last, and the reply to it."""
    told: tuple[Part, ...] = ()
    """What the user has said since the last reply."""
    began_with_thought: bool | None = None
    """How the tool loop under way began; `None` where none is."""


class ThreadWriter:
    """Writes the histories of one run for one profile, each at the cost of what is new."""

    def __init__(self, profile: Profile) -> None:
        self._blocks = BlockWriter(profile)
        self._origin = profile.origin
        self._shows_thoughts = thinks(profile)
        self._cache = TurnCache(_State(), self._render, hides=self._hides)

    def write(self, history: Sequence[HistoryItem]) -> Thread:
        """Return `history` as messages."""
        written = self._cache.write(history)
        state, losses = written.state, written.losses
        ends_with_reply = not state.told
        if ends_with_reply:
            losses += (loss("bridged_turn", None, f"the user says {BRIDGE} at the end"),)
        return Thread(
            system=state.system,
            settled=written.text,
            latest=(*state.exchange, _said_by_user(state)),
            losses=losses,
            begins_with_thought=ends_with_reply or state.began_with_thought is not False,
        )

    def _hides(self, thought: Reasoning) -> bool:
        return not (self._shows_thoughts and is_whole(thought, self._origin))

    def _render(
        self, state: _State, turn: Turn, losses: Losses
    ) -> tuple[_State, tuple[Message, ...]]:
        blocks = self._blocks.render(turn, losses)
        settled: tuple[Message, ...] = ()
        match turn:
            case AssistantTurn() if blocks:
                if not state.told:
                    losses.note("bridged_turn", turn.start, f"the user says {BRIDGE} before it")
                settled, state = state.exchange, _replied(state, blocks)
            case AssistantTurn():
                pass
            case ResultsTurn():
                state = replace(state, told=(*state.told, *blocks))
            case UserTurn():
                state = replace(state, told=(*state.told, *blocks), began_with_thought=None)
            case SystemTurn():
                state = replace(state, system=blocks)
            case _:
                assert_never(turn)
        return state, settled


def _replied(state: _State, blocks: tuple[Part, ...]) -> _State:
    began = state.began_with_thought
    return replace(
        state,
        exchange=(_said_by_user(state), Message(role="assistant", content=blocks)),
        told=(),
        began_with_thought=blocks[0]["type"] in THINKING_TYPES if began is None else began,
    )


def _said_by_user(state: _State) -> Message:
    return Message(role="user", content=state.told or (text_block(BRIDGE),))
