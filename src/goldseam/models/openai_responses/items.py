"""Render turns as input items: flat, in the order of the history, each by itself for good.

An item is written the same in every later request, so what a host caches stays good. Thoughts go
back only to the model that had them, whole and right before what they led to, or not at all
(RSP-8, cases 131-134). No other item has an id of its own (RSP-3, RSP-9).
"""

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    Image,
    Message,
    Reasoning,
    Seal,
    ToolCall,
)
from goldseam.kernel.json_text import BadJsonError, Json, read_json
from goldseam.kernel.request import ReplyItem
from goldseam.models.dialect import Profile
from goldseam.models.fitting import (
    Losses,
    WireIds,
    fit_name,
    result_text,
    sendable_json,
    shown_arguments,
    write_json_text,
)
from goldseam.models.openai_responses.forms import (
    ENCRYPTED,
    ITEM_ID,
    PHASE,
    SUMMARY,
    images_of,
    summary_of,
    user_text,
)
from goldseam.models.turn_cache import Rendered
from goldseam.models.turns import Answered, AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn

_Item: TypeAlias = dict[str, Json]


class ItemWriter:
    """Renders the turns of one run for one model. In it, `at` is a place in the history."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._origin = profile.origin
        self._ids = WireIds(profile.ids)
        self._losses = Losses()

    def hides(self, thought: Reasoning) -> bool:
        """Whether `thought` cannot go back: not of this model, or without its sealed form."""
        own = self._own(thought.seals)
        return ITEM_ID not in own or ENCRYPTED not in own

    def render(self, turn: Turn) -> Rendered:
        """Return the input items of `turn`, and every loss that writing them brought."""
        self._losses = Losses(turn.losses)
        match turn:
            case SystemTurn() | UserTurn():
                items = [self._told(at, item) for at, item in turn.items]
            case AssistantTurn():
                items = self._said(turn.items)
            case ResultsTurn():
                items = self._answered(turn.pairs)
            case _:
                assert_never(turn)
        return Rendered(parts=tuple(items), losses=self._losses.found)

    def _told(self, at: int, item: Message | Feedback) -> _Item:
        if not isinstance(item, Message):
            return _message("user", self._losses.text(at, user_text(item)))
        self._losses.seals(at, item.seals)
        if item.role == "system":
            text = self._losses.images(at, self._losses.text(at, item.text), item.images)
            return _message(self._profile.system_role, text)
        text = self._losses.text(at, user_text(item))
        if item.images and self._profile.takes_images:
            return _message("user", [{"type": "input_text", "text": text}, *_shown(item.images)])
        return _message("user", self._losses.images(at, text, item.images))

    def _said(self, items: Sequence[tuple[int, ReplyItem]]) -> list[_Item]:
        kept = set[int]()
        for at, item in reversed(items):
            # A thought stands only before the very item that it stood before in the reply.
            if not isinstance(item, Reasoning) or at + 1 in kept:
                kept.add(at)
        written = list[_Item]()
        for at, item in items:
            match item:
                case Reasoning() if at not in kept:
                    self._losses.note("reasoning_not_shown", at, "what it led to is not there")
                case Reasoning():
                    written.append(self._thought(at, item))
                case Message():
                    written.append(self._words(at, item))
                case ToolCall():
                    written.append(self._call(at, item))
                case _:
                    assert_never(item)
        return written

    def _answered(self, pairs: Sequence[Answered]) -> list[_Item]:
        written, pictures = list[_Item](), list[Json]()
        for pair in pairs:
            at, result, call_id = pair.at, pair.result, self._ids.of(pair.call.call_id)
            text = self._losses.text(at, result_text(result))
            if result.kind not in {"done", "failed"}:
                self._losses.note("result_kind_not_shown", at, f"{result.kind} is told as an error")
            if result.images and self._profile.takes_images:
                words: Json = {"type": "input_text", "text": images_of(call_id)}
                pictures += [words, *_shown(result.images)]
            else:
                text = self._losses.images(at, text, result.images)
            written.append({"type": "function_call_output", "call_id": call_id, "output": text})
        return [*written, _message("user", pictures)] if pictures else written

    def _thought(self, at: int, thought: Reasoning) -> _Item:
        own = self._own(thought.seals)
        self._note_seals(at, thought.seals, (ITEM_ID, ENCRYPTED, SUMMARY))
        summary = _unsealed(own.get(SUMMARY))
        if summary is None:
            text = thought.text
            summary = summary_of(None if text is None else self._losses.text(at, text))
        return {
            "type": "reasoning",
            "id": own[ITEM_ID],
            "summary": summary,
            "encrypted_content": own[ENCRYPTED],
        }

    def _words(self, at: int, message: Message) -> _Item:
        self._note_seals(at, message.seals, (PHASE,))
        text = self._losses.images(at, self._losses.text(at, message.text), message.images)
        written = _message("assistant", text)
        own = self._own(message.seals)
        return {**written, "phase": own[PHASE]} if PHASE in own else written

    def _call(self, at: int, call: ToolCall) -> _Item:
        self._losses.seals(at, call.seals)
        call_id, name = self._ids.of(call.call_id), fit_name(call.tool_name)
        if call_id != call.call_id:
            self._losses.note("call_id_changed", at, f"its call id is {call_id} here")
        if name != call.tool_name:
            self._losses.note("tool_name_changed", at, f"its tool is called {name} here")
        match call.arguments:
            case Arguments(text=text) if "\\u" not in text:
                arguments = text
            case other:
                arguments = write_json_text(shown_arguments(other, at, self._losses))
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}

    def _own(self, seals: Sequence[Seal]) -> dict[str, str]:
        """Return the seals that this model made, byte for byte (XLT-3)."""
        return {seal.name: seal.value for seal in seals if seal.origin == self._origin}

    def _note_seals(self, at: int, seals: Sequence[Seal], names: Sequence[str]) -> None:
        shown = [s for s in seals if s.name in names and s.origin == self._origin]
        if len(shown) < len(seals):
            self._losses.seals(at, seals)


def _message(role: str, content: Json) -> _Item:
    return {"type": "message", "role": role, "content": content}


def _shown(images: Sequence[Image]) -> list[Json]:
    return [
        {
            "type": "input_image",
            "detail": "auto",
            "image_url": f"data:{image.media_type};base64,{image.data}",
        }
        for image in images
    ]


def _unsealed(summary: str | None) -> list[Json] | None:
    """Return the summary as it was sealed, where it was and nobody broke it since."""
    try:
        value = None if summary is None else sendable_json(read_json(summary))
    except BadJsonError:
        return None
    return value if isinstance(value, list) else None
