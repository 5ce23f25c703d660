"""Write one history item as the parts that show it, and note what they do not show.

A part holds exactly one kind of data, and a text part may be empty (GEM-7). Knows no turns.
"""

import re
import sys

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    Image,
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
)
from goldseam.kernel.json_text import MAX_DEPTH, BadJsonError, Json, read_json
from goldseam.models.dialect import Profile
from goldseam.models.fitting import (
    Losses,
    fit_name,
    image_note,
    own_seal,
    sendable,
    shown_arguments,
    told_text,
)
from goldseam.models.gemini.forms import (
    NATIVE_ID,
    PLACEHOLDER,
    SIGNATURE,
    SIGNED_FROM,
    signature_of,
    signed_from,
)
from goldseam.models.turns import Answered

_DEEPEST_ARGUMENTS = 30
"""Arguments become a protobuf Struct: three messages a level, of the hundred that are taken."""

_LARGEST = int(sys.float_info.max)
_LONG_DIGITS = re.compile("[0-9]{309}")
"""Without these no number is beyond a double, which is all that a Struct holds."""


class PartWriter:
    """Writes items as parts for the model that `profile` describes, in the order of a history."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def told(self, at: int, item: Message | Feedback, losses: Losses) -> list[Json]:
        """Return the parts of what the model is told beside results."""
        if isinstance(item, Feedback):
            return [{"text": losses.filled(at, told_text(item))}]
        if item.role == "system":
            losses.note("system_hoisted", at, "a later system message is told as user text")
        self._note_seals(at, item.seals, losses)
        text = "\n".join([told_text(item), *_lost(at, self._unshown(item.images), losses)])
        return [{"text": losses.filled(at, text)}, *self._pictures(item.images)]

    def opening(self, at: int, item: Message, losses: Losses) -> Json:
        """Return the part of a system message that opens the history (GEM-13)."""
        self._note_seals(at, item.seals, losses)
        text = "\n".join([item.text, *_lost(at, item.images, losses)])
        return {"text": losses.filled(at, text)}

    def words(self, at: int, item: Message, losses: Losses) -> list[Json]:
        """Return the parts of the model's words: a signed part stays apart (GEM-27)."""
        _lost(at, item.images, losses)
        signature = signature_of(item.seals, self._profile)
        if signature is None:
            self._note_seals(at, item.seals, losses)
            return [{"text": losses.text(at, item.text)}]
        self._note_seals(at, item.seals, losses, shown=(SIGNATURE, SIGNED_FROM))
        begin = signed_from(item.seals, self._profile)
        before, signed = item.text[:begin], item.text[begin:]
        unsigned: list[Json] = [{"text": losses.text(at, before)}] if before else []
        return [*unsigned, {"text": losses.text(at, signed), "thoughtSignature": signature}]

    def thought(self, at: int, item: Reasoning, losses: Losses) -> Json:
        """Return the part of a thought that this model signed."""
        self._note_seals(at, item.seals, losses, shown=(SIGNATURE,))
        return {
            "text": losses.text(at, item.text or ""),
            "thought": True,
            "thoughtSignature": signature_of(item.seals, self._profile),
        }

    def call(self, at: int, item: ToolCall, losses: Losses, *, opens_step: bool) -> Json:
        """Return the part of a call; one that `opens_step` needs a signature (GEM-21, GEM-24)."""
        self._note_seals(at, item.seals, losses, shown=(SIGNATURE, NATIVE_ID))
        name = fit_name(item.tool_name)
        if name != item.tool_name:
            losses.note("tool_name_changed", at, f"the tool's name is sent as {name}")
        call: dict[str, Json] = {"name": name, "args": _arguments(at, item.arguments, losses)}
        if native := self._native_id(item):
            call["id"] = native
        elif own_seal(item.seals, NATIVE_ID, self._profile):
            losses.note("call_id_changed", at, "its own id is another call's too and is left out")
        part: dict[str, Json] = {"functionCall": call}
        if signature := signature_of(item.seals, self._profile):
            part["thoughtSignature"] = signature
        elif opens_step and self._profile.requires_signatures:
            losses.note("seal_placeholder", at, "a call made elsewhere has a placeholder signature")
            part["thoughtSignature"] = PLACEHOLDER
        return part

    def result(self, answered: Answered, losses: Losses) -> Json:
        """Return the part of a result; pictures of it are counted, and stand behind all results."""
        at, call, result = answered.at, answered.call, answered.result
        if result.kind not in {"done", "failed"}:
            losses.note("result_kind_not_shown", at, f"{result.kind} is shown as an error")
        text = "\n".join([result.content, *_lost(at, self._unshown(result.images), losses)])
        key = "error" if result.is_error else "output"
        response: dict[str, Json] = {key: losses.text(at, text)}
        if pictures := self._pictures(result.images):
            response["images"] = len(pictures)
        told: dict[str, Json] = {"name": fit_name(call.tool_name), "response": response}
        if native := self._native_id(call):
            told["id"] = native
        return {"functionResponse": told}

    def pictures_of(self, pairs: tuple[Answered, ...]) -> list[Json]:
        """Return the parts of all pictures that came with results, in the order of the results."""
        return [part for pair in pairs for part in self._pictures(pair.result.images)]

    def _native_id(self, call: ToolCall) -> str:
        """Return the id that the call came with (GEM-10), unless two would go out (case 43).

        It is the call's id in the run too where no call of the run had it before.
        """
        native = own_seal(call.seals, NATIVE_ID, self._profile)
        return native if native == call.call_id == sendable(call.call_id) else ""

    def _pictures(self, images: tuple[Image, ...]) -> list[Json]:
        shown = images if self._profile.takes_images else ()
        return [{"inlineData": {"mimeType": i.media_type, "data": i.data}} for i in shown]

    def _unshown(self, images: tuple[Image, ...]) -> tuple[Image, ...]:
        return () if self._profile.takes_images else images

    def _note_seals(
        self, at: int, seals: tuple[Seal, ...], losses: Losses, *, shown: tuple[str, ...] = ()
    ) -> None:
        kept = sum(bool(own_seal(seals, name, self._profile)) for name in shown)
        if kept < len(seals):
            losses.note("seal_not_shown", at, "a seal means nothing outside its vendor and model")


def _lost(at: int, images: tuple[Image, ...], losses: Losses) -> list[str]:
    """Note that `images` are not shown, and return what the model may be told instead."""
    notes = [image_note(image) for image in images]
    for note in notes:
        losses.note("image_not_shown", at, note)
    return notes


def _arguments(at: int, arguments: Arguments | Malformed, losses: Losses) -> dict[str, Json]:
    if isinstance(arguments, Arguments) and _is_too_deep(arguments.text):
        arguments = Malformed(raw=arguments.text, why="nested too deeply")
    shown = shown_arguments(arguments, at, losses)
    if isinstance(arguments, Malformed) or not _LONG_DIGITS.search(arguments.text):
        return shown
    fitted = {name: _as_doubles(value) for name, value in shown.items()}
    if fitted != shown:
        losses.note("text_replaced", at, "a number that no double holds is sent as text")
    return fitted


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
