"""Write a request: one content for each turn, so that a longer history only adds at the end.

The calls of one reply stand in one model content and all their results, in call order, in the user
content right after it (GEM-14 to GEM-17); they pair by position, and by id where the call came
with one (GEM-10).

A call made elsewhere has the placeholder in every turn, though only the current one is checked
(GEM-21): so no content changes when the current turn becomes an old one.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from goldseam.kernel.conversation import Message, Reasoning, ToolCall
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, Remark, ToolSpec
from goldseam.models.dialect import Body, Profile, Written
from goldseam.models.fitting import Losses, loss
from goldseam.models.gemini.forms import BRIDGE, signature_of
from goldseam.models.gemini.parts import PartWriter
from goldseam.models.gemini.setup import generation_of, tools_of
from goldseam.models.turn_cache import Rendered, TurnCache
from goldseam.models.turns import AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn


class RequestWriter:
    """Writes the requests of one run for the model that `profile` describes.

    A request costs what it adds to the one before; what it gives is what a fresh writer gives.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._parts = PartWriter(profile)
        self._turns = TurnCache(None, self._render, hides=self._hides)
        self._specs: tuple[ToolSpec, ...] = ()
        self._tools = tools_of((), profile)

    def write(self, request: ModelRequest) -> Written:
        """Return the body that asks `request`; see `goldseam.models.dialect.Dialect.write`."""
        if request.tools != self._specs:
            self._specs, self._tools = request.tools, tools_of(request.tools, self.profile)
        generation, dropped = generation_of(request, self.profile)
        turns = self._turns.write(request.history)
        system = [part for part in turns.parts[:1] if "role" not in part]
        contents, bridged = _bridged(turns.parts[len(system) :])
        body: Body = {
            **({"systemInstruction": system[0]} if system else {}),
            **({"tools": list[Json](self._tools.parts)} if self._specs else {}),
            "generationConfig": generation,
            # Last: the text of a request then begins with all but the end of the one before it.
            "contents": contents,
        }
        return Written(body=body, losses=(*self._tools.losses, *dropped, *turns.losses, *bridged))

    def _hides(self, thought: Reasoning) -> bool:
        return signature_of(thought.seals, self.profile) is None

    def _render(self, state: None, turn: Turn) -> tuple[None, Rendered]:
        losses = Losses(turn.losses)
        content: dict[str, Json] = {"parts": list(_parts(turn, self._parts, losses))}
        if not isinstance(turn, SystemTurn):
            role = "model" if isinstance(turn, AssistantTurn) else "user"
            content = {"role": role, **content}
        # A turn whose thoughts are all hidden has no content, which may not be empty (GEM-11).
        shown = (content,) if content["parts"] else ()
        return state, Rendered(parts=shown, losses=losses.found)


def _parts(turn: Turn, writer: PartWriter, losses: Losses) -> Iterator[Json]:
    match turn:
        case SystemTurn(items=items):
            for at, item in items:
                yield writer.opening(at, item, losses)
        case UserTurn(items=items):
            for at, told in items:
                yield from writer.told(at, told, losses)
        case AssistantTurn():
            yield from _said(turn, writer, losses)
        case ResultsTurn(pairs=pairs):
            for pair in pairs:
                yield writer.result(pair, losses)
            yield from writer.pictures_of(pairs)
        case _:
            assert_never(turn)


def _said(turn: AssistantTurn, writer: PartWriter, losses: Losses) -> Iterator[Json]:
    opens_step = True
    for at, item in turn.items:
        match item:
            case Message():
                yield from writer.words(at, item, losses)
            case Reasoning():
                yield writer.thought(at, item, losses)
            case ToolCall():
                # Later calls of a batch are rightly unsigned (GEM-20, case 52).
                yield writer.call(at, item, losses, opens_step=opens_step)
                opens_step = False
            case _:
                assert_never(item)


def _bridged(contents: Sequence[Body]) -> tuple[list[Json], tuple[Remark, ...]]:
    """Return `contents`, a user's turn at either end where a model's stood (GEM-15, case 65)."""
    bridge: Json = {"role": "user", "parts": [{"text": BRIDGE}]}
    lacks_opening = not contents or contents[0]["role"] == "model"
    lacks_question = bool(contents) and contents[-1]["role"] == "model"
    ends = [
        *(["opens with no word of a user"] if lacks_opening else []),
        *(["ends with the model's words"] if lacks_question else []),
    ]
    bridged = [bridge] * lacks_opening + [*contents] + [bridge] * lacks_question
    losses = (loss("bridged_turn", None, f"it {end}, so {BRIDGE!r} stands there") for end in ends)
    return bridged, tuple(losses)
