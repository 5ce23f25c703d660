"""What the model said in one go, as its one assistant message: thoughts, words, then calls."""

from goldseam.kernel.conversation import Arguments, Message, Reasoning, Seal, ToolCall
from goldseam.kernel.json_text import Json
from goldseam.models.dialect import Body, Profile
from goldseam.models.fitting import (
    EMPTY,
    Losses,
    WireIds,
    fit_name,
    is_ours,
    shown_arguments,
    write_json_text,
)
from goldseam.models.openai_chat import forms
from goldseam.models.turns import AssistantTurn

_RANKS = {Reasoning: 0, Message: 1, ToolCall: 2}
"""The order in which a message of this protocol shows what was said."""


class SaidWriter:
    """Writes assistant messages for one host; `ids` are those of the conversation."""

    def __init__(self, profile: Profile, ids: WireIds) -> None:
        self._profile = profile
        self._ids = ids

    def write(self, turn: AssistantTurn, losses: Losses) -> list[Body]:
        """Return the message for `turn`, none where nothing of it can be shown."""
        if not turn.items:
            return []
        words = [(at, item) for at, item in turn.items if isinstance(item, Message)]
        calls = [(at, item) for at, item in turn.items if isinstance(item, ToolCall)]
        thoughts = [(at, item) for at, item in turn.items if isinstance(item, Reasoning)]
        _note_order(turn, losses)
        message: Body = {"role": "assistant", "content": None}
        if words:
            message |= self._words(words, losses)
        elif not calls:
            losses.note("empty_text_filled", turn.items[0][0], "a thought alone makes no message")
            message["content"] = EMPTY
        message |= self._thoughts(thoughts, losses, has_calls=bool(calls))
        if calls:
            message["tool_calls"] = [
                self._call(at, call, losses, is_first=n == 0) for n, (at, call) in enumerate(calls)
            ]
        return [message]

    def _words(self, words: list[tuple[int, Message]], losses: Losses) -> Body:
        said, extra = list[str](), Body()
        for at, message in words:
            said.append(losses.images(at, losses.text(at, message.text), message.images))
            if extra:
                losses.seals(at, message.seals)
            else:
                extra = self._extra(at, message.seals, losses)
        _note_joined([at for at, _ in words], losses)
        return {"content": forms.JOINT.join(said), **extra}

    def _extra(self, at: int, seals: tuple[Seal, ...], losses: Losses) -> Body:
        """Return what this host hung on the item before, to be hung there again."""
        if not seals:
            return {}
        extra = forms.unsealed(seals, forms.EXTRA_CONTENT, self._profile)
        losses.seals(at, seals, self._shown(seals, forms.EXTRA_CONTENT) if extra else ())
        return {forms.EXTRA_CONTENT: extra} if extra else {}

    def _shown(self, seals: tuple[Seal, ...], *names: str) -> list[Seal]:
        return [seal for seal in seals if is_ours(seal, self._profile) and seal.name in names]

    def _thoughts(
        self, thoughts: list[tuple[int, Reasoning]], losses: Losses, *, has_calls: bool
    ) -> Body:
        """Return the fields of own thoughts; the plain one is there even when empty (DSK-2)."""
        profile = self._profile
        field, when = profile.reasoning_field, profile.echoes_reasoning
        echoes = field is not None and (when == "always" or (when == "with_calls" and has_calls))
        if not thoughts:
            return {field: ""} if field is not None and echoes else {}
        plain, details, shown = list[str](), list[Json](), list[int]()
        for at, thought in thoughts:
            words = forms.plain_thought(thought, profile) if echoes else ""
            own = forms.details_of(thought, profile)
            plain += [losses.text(at, words)] if words else []
            details += own
            shown += [at] if words or own else []
            if (words or forms.text_of_details(own)) != (thought.text or None):
                losses.note("reasoning_not_shown", at, "a thought that has no place here")
            field_seal = forms.REASONING_FIELD if words else ""
            details_seal = forms.REASONING_DETAILS if own else ""
            losses.seals(at, thought.seals, self._shown(thought.seals, field_seal, details_seal))
        _note_joined(shown, losses)
        return {
            **({field: forms.JOINT.join(plain)} if field is not None and echoes else {}),
            **({forms.REASONING_DETAILS: details} if details else {}),
        }

    def _call(self, at: int, call: ToolCall, losses: Losses, *, is_first: bool) -> Body:
        wire_id, name = self._ids.of(call.call_id), fit_name(call.tool_name)
        if wire_id != call.call_id:
            losses.note("call_id_changed", at, f"the call is {wire_id} on the wire")
        if name != call.tool_name:
            losses.note("tool_name_changed", at, f"the tool is {name} on the wire")
        extra = self._extra(at, call.seals, losses)
        if not extra and is_first and self._profile.requires_signatures:
            # GOC-1: only the first call of a reply is signed, and must be (case 52).
            losses.note("seal_placeholder", at, "the call of another model has no signature here")
            extra = {forms.EXTRA_CONTENT: forms.PLACEHOLDER}
        function: Body = {"name": name, "arguments": _arguments(at, call, losses)}
        return {"id": wire_id, "type": "function", "function": function, **extra}


def _arguments(at: int, call: ToolCall, losses: Losses) -> str:
    match call.arguments:
        case Arguments(text=text) if "\\u" not in text:
            return text
        case arguments:
            return write_json_text(shown_arguments(arguments, at, losses))


def _note_order(turn: AssistantTurn, losses: Losses) -> None:
    reached = 0
    for at, item in turn.items:
        if _RANKS[type(item)] < reached:
            losses.note("order_changed", at, "it is shown in front of what was said before it")
        reached = max(reached, _RANKS[type(item)])


def _note_joined(places: list[int], losses: Losses) -> None:
    for at in places[1:]:
        losses.note("texts_joined", at, "it shares one text with what is before it")
