"""Render turns as input items: flat, in the order of the history, each by itself for good.

An item is written the same in every later request, so what a host caches stays good. Thoughts go
back only to the model that had them, whole and right before what they led to, or not at all
(RSP-8, cases 131-134). No other item has an id of its own (RSP-3, RSP-9).
"""

from collections.abc import Sequence
from typing import assert_never

from msgspec import Raw

from goldseam.kernel.conversation import (
    Feedback,
    Image,
    Message,
    Reasoning,
    ToolCall,
)
from goldseam.kernel.json_text import BadJsonError, Json, read_json
from goldseam.kernel.request import ReplyItem
from goldseam.models.dialect import Profile
from goldseam.models.encoding import Part, raw_json
from goldseam.models.fitting import (
    Losses,
    WireIds,
    fit_name,
    own_seals,
    result_text,
    sendable_json,
    shown_arguments,
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
from goldseam.models.turns import Answered, AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn

_OF_A_THOUGHT = {ITEM_ID, ENCRYPTED, SUMMARY}


class ItemWriter:
    """Renders the turns of one run for one model. In it, `at` is a place in the history."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._origin = profile.origin
        self._ids = WireIds(profile.ids)

    def hides(self, thought: Reasoning) -> bool:
        """Whether `thought` cannot go back: not of this model, or without its sealed form."""
        own = own_seals(thought.seals, self._origin)
        return ITEM_ID not in own or ENCRYPTED not in own

    def render(self, turn: Turn, losses: Losses) -> list[Part]:
        """Return the input items of `turn`, and note every loss that writing them brings."""
        match turn:
            case AssistantTurn():
                return self._said(turn.items, losses)
            case ResultsTurn():
                return self._answered(turn.pairs, losses)
            case UserTurn() | SystemTurn():
                return [self._told(at, item, losses) for at, item in turn.items]
            case _:
                assert_never(turn)

    def _told(self, at: int, item: Message | Feedback, losses: Losses) -> Part:
        if not isinstance(item, Message):
            return _message("user", losses.text(at, user_text(item)))
        losses.seals(at, item.seals)
        if item.role == "system":
            text = losses.images(at, losses.text(at, item.text), item.images)
            return _message(self._profile.system_role, text)
        text = losses.text(at, user_text(item))
        if item.images and self._profile.takes_images:
            return _message("user", [{"type": "input_text", "text": text}, *_shown(item.images)])
        return _message("user", losses.images(at, text, item.images))

    def _said(self, items: Sequence[tuple[int, ReplyItem]], losses: Losses) -> list[Part]:
        written: list[Part] = []
        waiting: list[tuple[int, Reasoning]] = []
        for at, item in items:
            # A thought stands only before the very item that it stood before in the reply.
            if waiting and waiting[-1][0] + 1 != at:
                _leave_out(waiting, losses)
            match item:
                case Reasoning():
                    waiting.append((at, item))
                    continue
                case Message():
                    shown = self._words(at, item, losses)
                case ToolCall():
                    shown = self._call(at, item, losses)
                case _:
                    assert_never(item)
            written += [*(self._thought(*thought, losses) for thought in waiting), shown]
            waiting.clear()
        _leave_out(waiting, losses)
        return written

    def _answered(self, pairs: Sequence[Answered], losses: Losses) -> list[Part]:
        written: list[Part] = []
        pictures: list[Json] = []
        for pair in pairs:
            at, result, call_id = pair.at, pair.result, self._ids.of(pair.call.call_id)
            text = losses.text(at, result_text(result))
            if result.kind not in {"done", "failed"}:
                losses.note("result_kind_not_shown", at, f"{result.kind} is told as an error")
            if result.images and self._profile.takes_images:
                words: Json = {"type": "input_text", "text": images_of(call_id)}
                pictures += [words, *_shown(result.images)]
            elif result.images:
                text = losses.images(at, text, result.images)
            written.append({"type": "function_call_output", "call_id": call_id, "output": text})
        return [*written, _message("user", pictures)] if pictures else written

    def _thought(self, at: int, thought: Reasoning, losses: Losses) -> Part:
        own = own_seals(thought.seals, self._origin)
        losses.seals(at, thought.seals, shown=len(own.keys() & _OF_A_THOUGHT))
        summary: Raw | list[Json] | None = _unsealed(own[SUMMARY]) if SUMMARY in own else None
        if summary is None:
            text = thought.text
            summary = summary_of(None if text is None else losses.text(at, text))
        return {
            "type": "reasoning",
            "id": own[ITEM_ID],
            "summary": summary,
            "encrypted_content": own[ENCRYPTED],
        }

    def _words(self, at: int, message: Message, losses: Losses) -> Part:
        text = losses.images(at, losses.text(at, message.text), message.images)
        written = _message("assistant", text)
        if message.seals:
            own = own_seals(message.seals, self._origin)
            losses.seals(at, message.seals, shown=PHASE in own)
            if PHASE in own:
                written["phase"] = own[PHASE]
        return written

    def _call(self, at: int, call: ToolCall, losses: Losses) -> Part:
        losses.seals(at, call.seals)
        call_id, name = self._ids.of(call.call_id), fit_name(call.tool_name)
        if call_id != call.call_id:
            losses.note("call_id_changed", at, f"its call id is {call_id} here")
        if name != call.tool_name:
            losses.note("tool_name_changed", at, f"its tool is called {name} here")
        arguments = shown_arguments(call.arguments, at, losses)
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def _leave_out(thoughts: list[tuple[int, Reasoning]], losses: Losses) -> None:
    for at, _ in thoughts:
        losses.note("reasoning_not_shown", at, "what it led to is not there")
    thoughts.clear()


def _message(role: str, content: Json) -> Part:
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


def _unsealed(summary: str) -> Raw | None:
    """Return the summary as it was sealed, where nobody broke it since."""
    try:
        value = sendable_json(read_json(summary))
    except BadJsonError:
        return None
    return raw_json(value) if isinstance(value, list) else None
