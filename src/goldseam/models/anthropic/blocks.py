"""One turn as content blocks, with what that loses. Knows no message, no setting, no cache mark."""

from collections.abc import Iterator
from typing import assert_never

from goldseam.kernel.conversation import Feedback, Image, Message, Reasoning, ToolCall
from goldseam.kernel.request import ReplyItem
from goldseam.models.anthropic.forms import IMAGE_TYPES, REDACTED, SIGNATURE, THINKING_TYPES
from goldseam.models.dialect import Profile
from goldseam.models.encoding import Part, raw_text
from goldseam.models.fitting import (
    EMPTY,
    USER_MARK,
    Losses,
    WireIds,
    fit_name,
    image_note,
    own_seals,
    shown_arguments,
    told_text,
)
from goldseam.models.turns import Answered, AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn


class BlockWriter:
    """Renders the turns of one conversation, in their order; a call's wire id is made once."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._origin = profile.origin
        self._ids = WireIds(profile.ids)

    def render(self, turn: Turn, losses: Losses) -> tuple[Part, ...]:
        """Return `turn` as blocks, none where all of it is left out."""
        match turn:
            case AssistantTurn(items=said):
                return tuple(self._said(said, losses))
            case ResultsTurn(pairs=pairs):
                return tuple([self._result(pair, losses) for pair in pairs])
            case UserTurn(items=told):
                return tuple(block for at, item in told for block in self._told(at, item, losses))
            case SystemTurn(items=messages):
                return tuple(_system(at, message, losses) for at, message in messages)
            case _:
                assert_never(turn)

    def _told(self, at: int, item: Message | Feedback, losses: Losses) -> Iterator[Part]:
        images = item.images if isinstance(item, Message) else ()
        if isinstance(item, Message):
            losses.seals(at, item.seals)
            if item.role == "system":
                losses.note("system_hoisted", at, "a later system text is sent as marked user text")
        # Pictures belong to the text before them: those without any get a mark for theirs.
        words = told_text(item) or (USER_MARK if images else "")
        yield text_block(losses.filled(at, words))
        yield from (self._image(at, image, losses) for image in images)

    def _said(self, said: tuple[tuple[int, ReplyItem], ...], losses: Losses) -> list[Part]:
        blocks: list[Part] = []
        last_at = -1
        for at, item in said:
            block = self._reply_item(at, item, losses)
            if block is not None:
                blocks.append(block)
                last_at = at
        if said:
            _close(blocks, last_at if blocks else said[-1][0], losses)
        return blocks

    def _reply_item(self, at: int, item: ReplyItem, losses: Losses) -> Part | None:
        match item:
            case Reasoning():
                return self._thought(at, item, losses)
            case ToolCall():
                return self._call(at, item, losses)
            case Message(text=text):
                _note_all_but_words(at, item, losses)
                if text.strip():
                    return text_block(losses.text(at, text))
                losses.note("empty_text_filled", at, "a blank text is left out")  # case 77
                return None
            case _:
                assert_never(item)

    def _thought(self, at: int, thought: Reasoning, losses: Losses) -> Part:
        """Return a thought of the model's own, byte for byte as it came (ANT-22, case 74)."""
        own = own_seals(thought.seals, self._origin)
        losses.seals(at, thought.seals, shown=1)
        if SIGNATURE in own:
            words = thought.text or ""
            return {"type": "thinking", "thinking": words, "signature": own[SIGNATURE]}
        if thought.text:
            losses.note("reasoning_not_shown", at, "the text beside a thought kept unreadable")
        return {"type": "redacted_thinking", "data": own[REDACTED]}

    def _call(self, at: int, call: ToolCall, losses: Losses) -> Part:
        losses.seals(at, call.seals)
        wire_id, name = self._ids.of(call.call_id), fit_name(call.tool_name)
        if wire_id != call.call_id:
            losses.note("call_id_changed", at, f"its call id is sent as {wire_id}")
        if name != call.tool_name:
            losses.note("tool_name_changed", at, f"its tool name is sent as {name}")
        arguments = shown_arguments(call.arguments, at, losses)
        return {"type": "tool_use", "id": wire_id, "name": name, "input": raw_text(arguments)}

    def _result(self, pair: Answered, losses: Losses) -> Part:
        at, result = pair.at, pair.result
        block: Part = {"type": "tool_result", "tool_use_id": self._ids.of(result.call_id)}
        if result.kind not in {"done", "failed"}:
            losses.note("result_kind_not_shown", at, f"that it is {result.kind} is sent as error")
        # An error that says nothing is refused; a success that says nothing is not (ANT-19).
        text = losses.filled(at, result.content) if result.content or result.is_error else ""
        if result.images:
            # Within their own result: between results they would part the calls from it (case 76).
            images = [self._image(at, image, losses) for image in result.images]
            block["content"] = [*([text_block(text)] if text else []), *images]
        elif text:
            block["content"] = text
        if result.is_error:
            block["is_error"] = True
        return block

    def _image(self, at: int, image: Image, losses: Losses) -> Part:
        if self._profile.takes_images and image.media_type in IMAGE_TYPES:
            source: Part = {"type": "base64", "media_type": image.media_type, "data": image.data}
            return {"type": "image", "source": source}
        losses.note("image_not_shown", at, "a picture that the model does not take")
        return text_block(losses.text(at, image_note(image)))


def text_block(text: str) -> Part:
    """Return the block of a text, which must not be blank (ANT-13)."""
    return {"type": "text", "text": text}


def _system(at: int, message: Message, losses: Losses) -> Part:
    _note_all_but_words(at, message, losses)
    return text_block(losses.filled(at, message.text))


def _note_all_but_words(at: int, message: Message, losses: Losses) -> None:
    losses.seals(at, message.seals)
    if message.images:
        losses.note("image_not_shown", at, "only the user shows pictures")


def _close(blocks: list[Part], at: int, losses: Losses) -> None:
    """Let the turn end in a way that is taken: not on nothing, a thought, or white space."""
    last = blocks[-1] if blocks else None
    if last is None or last["type"] in THINKING_TYPES:
        losses.note("bridged_turn", at, f"its turn is closed by the text {EMPTY}")
        blocks.append(text_block(EMPTY))
    elif isinstance(text := last.get("text"), str) and text != (bare := text.rstrip()):
        losses.note("text_replaced", at, "white space at the end is left out")  # ANT-14
        blocks[-1] = text_block(bare)
