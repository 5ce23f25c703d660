"""Write one history item as the parts that show it, and note what they do not show.

A part holds exactly one kind of data, and a text part may be empty (GEM-7). Knows no turns.
"""

import re
import sys
from collections.abc import Sequence

from msgspec import Raw

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    Image,
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    arguments_of,
)
from goldseam.kernel.json_text import MAX_DEPTH, BadJsonError, Json, read_json
from goldseam.models.dialect import Profile
from goldseam.models.encoding import Part, raw_text
from goldseam.models.fitting import (
    Losses,
    fit_name,
    image_note,
    own_seals,
    shown_arguments,
    told_text,
)
from goldseam.models.gemini.forms import (
    NATIVE_ID,
    PLACEHOLDER,
    SIGNATURE,
    SIGNED_FROM,
    signed_from,
)
from goldseam.models.turns import Answered

_DEEPEST_ARGUMENTS = 30
"""Arguments become a protobuf Struct: three messages a level, of the hundred that are taken."""

_LARGEST = int(sys.float_info.max)
_LONG = 308
_LONG_DIGITS = re.compile(f"[0-9]{{{_LONG + 1}}}")
"""Without these no number is beyond a double, which is all that a Struct holds."""


class PartWriter:
    """Writes items as parts for the model that `profile` describes, in the order of a history."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._origin = profile.origin

    def told(self, at: int, item: Message | Feedback, losses: Losses) -> list[Part]:
        """Return the parts of what the model is told beside results."""
        if isinstance(item, Feedback):
            return [{"text": losses.filled(at, told_text(item))}]
        if item.role == "system":
            losses.note("system_hoisted", at, "a later system message is told as user text")
        losses.seals(at, item.seals)
        unshown = () if self._profile.takes_images else item.images
        text = "\n".join([told_text(item), *_lost(at, unshown, losses)])
        return [{"text": losses.filled(at, text)}, *self._pictures(item.images)]

    def opening(self, at: int, item: Message, losses: Losses) -> Part:
        """Return the part of a system message that opens the history (GEM-13)."""
        losses.seals(at, item.seals)
        text = "\n".join([item.text, *_lost(at, item.images, losses)])
        return {"text": losses.filled(at, text)}

    def words(self, at: int, item: Message, losses: Losses) -> list[Part]:
        """Return the parts of the model's words: a signed part stays apart (GEM-27)."""
        if item.images:
            _lost(at, item.images, losses)
        own = own_seals(item.seals, self._origin)
        if SIGNATURE not in own:
            losses.seals(at, item.seals)
            return [{"text": losses.text(at, item.text)}]
        losses.seals(at, item.seals, shown=len(own.keys() & {SIGNATURE, SIGNED_FROM}))
        begin = signed_from(own)
        before, signed = item.text[:begin], item.text[begin:]
        unsigned: list[Part] = [{"text": losses.text(at, before)}] if before else []
        return [*unsigned, {"text": losses.text(at, signed), "thoughtSignature": own[SIGNATURE]}]

    def thought(self, at: int, item: Reasoning, losses: Losses) -> Part:
        """Return the part of a thought that this model signed."""
        losses.seals(at, item.seals, shown=1)
        return {
            "text": losses.text(at, item.text or ""),
            "thought": True,
            "thoughtSignature": own_seals(item.seals, self._origin)[SIGNATURE],
        }

    def call(self, at: int, item: ToolCall, losses: Losses, *, opens_step: bool) -> Part:
        """Return the part of a call; one that `opens_step` needs a signature (GEM-21, GEM-24)."""
        own = own_seals(item.seals, self._origin)
        if item.seals:
            losses.seals(at, item.seals, shown=len(own.keys() & {SIGNATURE, NATIVE_ID}))
        name = fit_name(item.tool_name)
        if name != item.tool_name:
            losses.note("tool_name_changed", at, f"the tool's name is sent as {name}")
        call: Part = {"name": name, "args": _arguments(at, item.arguments, losses)}
        if native := self._native_id(item):
            call["id"] = native
        elif NATIVE_ID in own:
            losses.note("call_id_changed", at, "its own id is another call's too and is left out")
        part: Part = {"functionCall": call}
        if SIGNATURE in own:
            part["thoughtSignature"] = own[SIGNATURE]
        elif opens_step and self._profile.requires_signatures:
            losses.note("seal_placeholder", at, "a call made elsewhere has a placeholder signature")
            part["thoughtSignature"] = PLACEHOLDER
        return part

    def result(self, answered: Answered, losses: Losses) -> Part:
        """Return the part of a result; pictures of it are counted, and stand behind all results."""
        at, call, result = answered.at, answered.call, answered.result
        if result.kind not in {"done", "failed"}:
            losses.note("result_kind_not_shown", at, f"{result.kind} is shown as an error")
        text = result.content
        if result.images and not self._profile.takes_images:
            text = "\n".join([text, *_lost(at, result.images, losses)])
        key = "error" if result.is_error else "output"
        response: Part = {key: losses.text(at, text)}
        if result.images and self._profile.takes_images:
            response["images"] = len(result.images)
        told: Part = {"name": fit_name(call.tool_name), "response": response}
        if native := self._native_id(call):
            told["id"] = native
        return {"functionResponse": told}

    def pictures_of(self, pairs: tuple[Answered, ...]) -> list[Part]:
        """Return the parts of all pictures that came with results, in the order of the results."""
        images = [image for pair in pairs for image in pair.result.images]
        return self._pictures(images) if images else []

    def _native_id(self, call: ToolCall) -> str:
        """Return the id that the call came with (GEM-10), unless two would go out (case 43).

        It is the call's id in the run too where no call of the run had it before.
        """
        native = own_seals(call.seals, self._origin).get(NATIVE_ID, "")
        return native if native == call.call_id else ""

    def _pictures(self, images: Sequence[Image]) -> list[Part]:
        shown = images if self._profile.takes_images else ()
        return [{"inlineData": {"mimeType": i.media_type, "data": i.data}} for i in shown]


def _lost(at: int, images: tuple[Image, ...], losses: Losses) -> list[str]:
    """Note that `images` are not shown, and return what the model may be told instead."""
    notes = [image_note(image) for image in images]
    for note in notes:
        losses.note("image_not_shown", at, note)
    return notes


def _arguments(at: int, arguments: Arguments | Malformed, losses: Losses) -> Raw:
    match arguments:
        case Arguments(text=text) if _is_too_deep(text):
            arguments = Malformed(raw=text, why="nested too deeply")
        case Arguments(text=text) if len(text) > _LONG and _LONG_DIGITS.search(text):
            value = arguments.value()
            fitted = {name: _as_doubles(inner) for name, inner in value.items()}
            if fitted != value:
                losses.note("text_replaced", at, "a number that no double holds is sent as text")
            arguments = arguments_of(fitted)
        case _:
            pass
    return raw_text(shown_arguments(arguments, at, losses))


def _is_too_deep(text: str) -> bool:
    if text.count("{") + text.count("[") <= _DEEPEST_ARGUMENTS:
        return False
    padding = MAX_DEPTH - _DEEPEST_ARGUMENTS
    try:
        read_json("[" * padding + text + "]" * padding)
    except BadJsonError:
        return True
    return False


def _as_doubles(value: Json) -> Json:
    match value:
        case list():
            return [_as_doubles(inner) for inner in value]
        case dict():
            return {name: _as_doubles(inner) for name, inner in value.items()}
        case int() if abs(value) > _LARGEST:
            return str(value)
        case _:
            return value
