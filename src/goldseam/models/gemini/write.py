"""Write a request: one content for each turn, so that a longer history only adds at the end.

The calls of one reply stand in one model content and all their results, in call order, in the user
content right after it (GEM-14 to GEM-17); they pair by position, and by id where the call came
with one (GEM-10).

A call made elsewhere has the placeholder in every turn, though only the current one is checked
(GEM-21): so no content changes when the current turn becomes an old one.
"""

from typing import Literal, TypeAlias, assert_never

from msgspec import Raw, Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import Message, Reasoning, ToolCall
from goldseam.kernel.request import ModelRequest, Remark
from goldseam.models.dialect import Profile, Written
from goldseam.models.encoding import Part, body_of, encoded
from goldseam.models.fitting import Losses, loss, own_seals
from goldseam.models.gemini.forms import BRIDGE, SIGNATURE
from goldseam.models.gemini.parts import PartWriter
from goldseam.models.gemini.setup import generation_of, tools_of
from goldseam.models.turn_cache import TurnCache
from goldseam.models.turns import AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn

_Speaker: TypeAlias = Literal["user", "model"]


class _State(Struct, frozen=True, kw_only=True):
    system: Raw | None = None
    last: _Speaker | None = None
    """Whose content is the last one so far."""


class RequestWriter:
    """Writes the requests of one run for the model that `profile` describes."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._origin = profile.origin
        self._parts = PartWriter(profile)
        self._turns = TurnCache(_State(), self._render, hides=self._hides)

    def write(self, request: ModelRequest) -> Written:
        """Return the body that asks `request`; see `goldseam.models.dialect.Writer`."""
        tools, tool_losses = tools_of(request.tools, self._profile)
        generation, dropped = generation_of(request, self._profile)
        turns = self._turns.write(request.history)
        closing, bridged = _closing(turns.state.last)
        head: Part = {"systemInstruction": turns.state.system} if turns.state.system else {}
        head |= {"tools": tools} if request.tools else {}
        head["generationConfig"] = generation
        return Written(
            encoded=body_of(head, "contents", turns.text, closing),
            losses=(*tool_losses, *dropped, *turns.losses, *bridged),
        )

    def _hides(self, thought: Reasoning) -> bool:
        return SIGNATURE not in own_seals(thought.seals, self._origin)

    def _render(self, state: _State, turn: Turn, losses: Losses) -> tuple[_State, list[Part]]:
        parts = _parts(turn, self._parts, losses)
        if type(turn) is SystemTurn:
            return replace(state, system=Raw(encoded({"parts": parts}))), []
        if not parts:
            # A turn whose thoughts are all hidden has no content, which may not be empty (GEM-11).
            return state, []
        role: _Speaker = "model" if type(turn) is AssistantTurn else "user"
        content: Part = {"role": role, "parts": parts}
        if role == "user" or state.last is not None:
            return replace(state, last=role), [content]
        losses.note("bridged_turn", None, _OPENS_WITHOUT_USER)
        return replace(state, last=role), [_BRIDGE, content]


_BRIDGE: Part = {"role": "user", "parts": [{"text": BRIDGE}]}
"""Stands at either end where no user's turn does (GEM-15, case 65)."""

_OPENS_WITHOUT_USER = f"it opens with no word of a user, so {BRIDGE!r} stands there"
_ENDS_WITHOUT_USER = f"it ends with the model's words, so {BRIDGE!r} stands there"


def _closing(last: _Speaker | None) -> tuple[bytes, tuple[Remark, ...]]:
    if last == "user":
        return b"", ()
    why = _ENDS_WITHOUT_USER if last else _OPENS_WITHOUT_USER
    return encoded(_BRIDGE), (loss("bridged_turn", None, why),)


def _parts(turn: Turn, writer: PartWriter, losses: Losses) -> list[Part]:
    match turn:
        case AssistantTurn():
            return _said(turn, writer, losses)
        case ResultsTurn(pairs=pairs):
            return [*[writer.result(pair, losses) for pair in pairs], *writer.pictures_of(pairs)]
        case UserTurn(items=items):
            return [part for at, told in items for part in writer.told(at, told, losses)]
        case SystemTurn(items=items):
            return [writer.opening(at, item, losses) for at, item in items]
        case _:
            assert_never(turn)


def _said(turn: AssistantTurn, writer: PartWriter, losses: Losses) -> list[Part]:
    parts: list[Part] = []
    opens_step = True
    for at, item in turn.items:
        match item:
            case Reasoning():
                parts.append(writer.thought(at, item, losses))
            case ToolCall():
                # Later calls of a batch are rightly unsigned (GEM-20, case 52).
                parts.append(writer.call(at, item, losses, opens_step=opens_step))
                opens_step = False
            case Message():
                parts += writer.words(at, item, losses)
            case _:
                assert_never(item)
    return parts
