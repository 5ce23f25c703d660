"""What the model said in one go, as its one assistant message: thoughts, words, then calls."""

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Raw, Struct

from goldseam.kernel.conversation import Message, Reasoning, Seal, ToolCall
from goldseam.kernel.json_text import Json, write_json
from goldseam.models.dialect import Profile
from goldseam.models.encoding import Part, raw_text
from goldseam.models.fitting import EMPTY, Losses, WireIds, fit_name, own_seals, shown_arguments
from goldseam.models.openai_chat import forms
from goldseam.models.turns import AssistantTurn

_JOINED = "it shares one text with what is before it"
_MOVED = "it is shown in front of what was said before it"


class _Reply(Struct):
    """One message as it comes together; it shows thoughts, then words, then calls."""

    field: str | None
    """Where plain thoughts go; `None` where they do not go back."""
    thoughts: list[str] = []
    details: list[Json] = []
    words: list[str] = []
    extra: Raw | None = None
    calls: list[Part] = []


_Adder: TypeAlias = Callable[[_Reply, Any, Losses], None]
"""Puts an item of one type, with its place in the history, into a message."""


class SaidWriter:
    """Writes assistant messages for one host; `ids` are those of the conversation."""

    def __init__(self, profile: Profile, ids: WireIds) -> None:
        self._origin = profile.origin
        self._field = profile.reasoning_field
        self._echoes = profile.echoes_reasoning
        self._requires_signatures = profile.requires_signatures
        self._ids = ids
        self._adders: dict[type, _Adder] = {
            Reasoning: self._add_thought,
            Message: self._add_words,
            ToolCall: self._add_call,
        }

    def hides(self, thought: Reasoning) -> bool:
        """Whether `thought` has no place in any message here (XLT-3)."""
        own = own_seals(thought.seals, self._origin)
        can_echo = self._field is not None and self._echoes != "never"
        is_plain = can_echo and forms.REASONING_FIELD in own and bool(thought.text)
        return not (is_plain or forms.details_in(own))

    def write(self, turn: AssistantTurn, losses: Losses) -> list[Part]:
        """Return the message for `turn`, none where nothing of it can be shown."""
        if not turn.items:
            return []
        reply = _Reply(field=self._field if self._echoes_in(turn) else None)
        for said in turn.items:
            self._adders[type(said[1])](reply, said, losses)
        if not reply.words and not reply.calls:
            losses.note("empty_text_filled", turn.items[0][0], "a thought alone makes no message")
            reply.words.append(EMPTY)
        return [_message(reply)]

    def _echoes_in(self, turn: AssistantTurn) -> bool:
        """Whether the plain thoughts of `turn` go back (DSK-1, KIM-1)."""
        if self._echoes == "with_calls":
            return any(type(item) is ToolCall for _, item in turn.items)
        return self._echoes == "always"

    def _add_words(self, reply: _Reply, said: tuple[int, Message], losses: Losses) -> None:
        at, message = said
        if reply.calls:
            losses.note("order_changed", at, _MOVED)
        if reply.words:
            losses.note("texts_joined", at, _JOINED)
        text = losses.text(at, message.text)
        reply.words.append(losses.images(at, text, message.images) if message.images else text)
        if message.seals:
            extra = self._extra(message.seals) if reply.extra is None else None
            losses.seals(at, message.seals, shown=extra is not None)
            reply.extra = reply.extra or extra

    def _add_thought(self, reply: _Reply, said: tuple[int, Reasoning], losses: Losses) -> None:
        at, thought = said
        own = own_seals(thought.seals, self._origin)
        words = thought.text if reply.field and forms.REASONING_FIELD in own else None
        details = forms.details_in(own) if forms.REASONING_DETAILS in own else []
        if reply.words or reply.calls:
            losses.note("order_changed", at, _MOVED)
        if (words or forms.text_of_details(details)) != (thought.text or None):
            losses.note("reasoning_not_shown", at, "a thought that has no place here")
        losses.seals(at, thought.seals, shown=bool(words) + bool(details))
        if not (words or details):
            return
        if reply.thoughts or reply.details:
            losses.note("texts_joined", at, _JOINED)
        if words:
            reply.thoughts.append(losses.text(at, words))
        reply.details += details

    def _extra(self, seals: tuple[Seal, ...]) -> Raw | None:
        """Return what this host hung on the item before, to be hung there again."""
        extra = forms.unsealed(own_seals(seals, self._origin).get(forms.EXTRA_CONTENT))
        return raw_text(write_json(extra)) if extra else None

    def _add_call(self, reply: _Reply, said: tuple[int, ToolCall], losses: Losses) -> None:
        at, call = said
        wire_id, name = self._ids.of(call.call_id), fit_name(call.tool_name)
        if wire_id != call.call_id:
            losses.note("call_id_changed", at, f"the call is {wire_id} on the wire")
        if name != call.tool_name:
            losses.note("tool_name_changed", at, f"the tool is {name} on the wire")
        function = {"name": name, "arguments": shown_arguments(call.arguments, at, losses)}
        part: Part = {"id": wire_id, "type": "function", "function": function}
        if call.seals:
            extra = self._extra(call.seals)
            losses.seals(at, call.seals, shown=extra is not None)
            if extra is not None:
                part[forms.EXTRA_CONTENT] = extra
        if self._requires_signatures and not reply.calls and forms.EXTRA_CONTENT not in part:
            # GOC-1: only the first call of a reply is signed, and must be (case 52).
            losses.note("seal_placeholder", at, "the call of another model has no signature here")
            part[forms.EXTRA_CONTENT] = forms.PLACEHOLDER
        reply.calls.append(part)


def _message(reply: _Reply) -> Part:
    """Return `reply` as it goes out; its field of thoughts is there even when empty (DSK-2)."""
    words = forms.JOINT.join(reply.words) if reply.words else None
    message: Part = {"role": "assistant", "content": words}
    if reply.extra is not None:
        message[forms.EXTRA_CONTENT] = reply.extra
    if reply.field is not None:
        message[reply.field] = forms.JOINT.join(reply.thoughts)
    if reply.details:
        message[forms.REASONING_DETAILS] = raw_text(write_json(reply.details))
    if reply.calls:
        message["tool_calls"] = reply.calls
    return message
