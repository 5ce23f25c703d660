"""What every dialect fits alike before each render: ids, names, text, marks, arguments, losses.

It runs for each request, never once at load (case 26), and sees facts of data alone: no vendor, no
wire shape. What is changed or left out is a `Remark` with a code that all dialects share.
"""

import json
import re
from collections.abc import Container, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from itertools import count
from string import ascii_letters, digits
from typing import assert_never

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    HistoryItem,
    Image,
    Malformed,
    Message,
    Seal,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import Remark
from goldseam.models.dialect import IdRule

EMPTY = "(empty)"
"""Stands for a blank text where a host takes none."""


def loss(code: str, at: int | None, what: str) -> Remark:
    """Return the loss `code`; `at` is the place of its item, `None` where it is the request's."""
    where = "the request" if at is None else f"history item {at + 1}"
    return Remark(code=code, text=f"{where}: {what}")


def sendable(text: str) -> str:
    """Return `text` as any host takes it: split pairs joined, lone surrogates U+FFFD, NUL U+2400.

    What is not this very `text` differs: the loss `text_replaced` (cases 152 to 155).
    """
    if text.isascii() and "\x00" not in text:
        return text
    try:
        # A byte is found much sooner than a character that may be wide.
        if b"\x00" not in text.encode():
            return text
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "\u2400")


def sendable_json(value: Json) -> Json:
    """Return `value` with every string in it sendable, keys included."""
    match value:
        case str():
            return sendable(value)
        case list():
            return [sendable_json(inner) for inner in value]
        case dict():
            return {sendable(name): sendable_json(inner) for name, inner in value.items()}
        case _:
            return value


class Losses:
    """Collects what rendering loses, in the order of noting."""

    def __init__(self) -> None:
        self.found: list[Remark] = []

    def note(self, code: str, at: int | None, what: str) -> None:
        """Add the loss `code` of the item at place `at`."""
        self.found.append(loss(code, at, what))

    def text(self, at: int, text: str) -> str:
        """Return `text` sendable, and note it where it had to change."""
        if text.isascii() and "\x00" not in text:
            return text  # as `sendable` would find too, but most texts are such
        sent = sendable(text)
        if sent is not text:
            self.note("text_replaced", at, "characters that cannot be sent were replaced")
        return sent

    def filled(self, at: int, text: str) -> str:
        """Return `text` sendable, with `EMPTY` for a blank one, which is noted (ANT-13, XLT-6)."""
        if text and not text.isspace():
            return self.text(at, text)
        self.note("empty_text_filled", at, f"a blank text is sent as {EMPTY}")
        return EMPTY

    def images(self, at: int, text: str, images: Sequence[Image]) -> str:
        """Return `text` with a line for each picture that is not shown, which is noted."""
        if not images:
            return text
        for image in images:
            self.note("image_not_shown", at, f"a picture ({image.media_type}) is only named")
        return "\n".join([*([text] if text else []), *map(image_note, images)])

    def seals(self, at: int, seals: Sequence[Seal], *, shown: int = 0) -> None:
        """Note it where there are more of `seals` than are `shown`."""
        if len(seals) > shown:
            self.note("seal_not_shown", at, "a seal that means nothing here")


# Ids and names ------------------------------------------------------------------------------------

_ALPHANUMERICS = ascii_letters + digits
_HASH_LENGTH = 24
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_NAME_STRANGERS = re.compile(r"[^A-Za-z0-9_-]")
_NAME_STEM = 50


def fit_id(call_id: str, rule: IdRule, taken: Container[str] = ()) -> str:
    """Return `call_id` where `rule` takes it and it is not `taken`, else a hash of all of it.

    A collision takes the next hash, so the same ids asked in the same order give the same answer.
    Every alphabet is taken to hold letters and digits.
    """
    if call_id not in taken and _legal_id(rule).fullmatch(call_id):
        return call_id
    length = rule.exactly or min(rule.longest, _HASH_LENGTH)
    return next(name for n in count() if (name := _hash(call_id, n, length)) not in taken)


@cache
def _legal_id(rule: IdRule) -> re.Pattern[str]:
    least, most = (1, rule.longest) if rule.exactly is None else (rule.exactly, rule.exactly)
    return re.compile(f"{rule.alphabet}{{{least},{most}}}")


class WireIds:
    """The wire ids of one conversation: each call's is made once, and no two are the same."""

    def __init__(self, rule: IdRule) -> None:
        self._rule = rule
        self._is_legal = _legal_id(rule).fullmatch
        self._ids: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, call_id: str) -> str:
        """Return the wire id of the call `call_id`."""
        known = self._ids.get(call_id)
        if known is None:
            is_kept = call_id not in self._taken and self._is_legal(call_id)
            known = call_id if is_kept else fit_id(call_id, self._rule, self._taken)
            self._ids[call_id] = known
            self._taken.add(known)
        return known


@lru_cache(maxsize=256)
def fit_name(name: str) -> str:
    """Return `name` where every vendor takes it as a tool's (OAI-10, ANT-12, GEM-31), else alike.

    Two names never become the same one: a changed name ends in a hash of the whole.
    """
    if _NAME.fullmatch(name):
        return name
    stem = _NAME_STRANGERS.sub("_", name)[:_NAME_STEM]
    return f"_{stem}_{_hash(name, 0, 8)}"


def _hash(text: str, attempt: int, length: int) -> str:
    seed = f"{attempt}:{text}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(sha256(seed).digest())
    made = list[str]()
    for _ in range(length):
        number, place = divmod(number, len(_ALPHANUMERICS))
        made.append(_ALPHANUMERICS[place])
    return "".join(made)


def cache_key(history: Sequence[HistoryItem]) -> str:
    """Return a key that all requests of a run share: how its history opens, which never changes."""
    digest = sha256()
    for item in history:
        if not isinstance(item, Message) or item.role == "assistant":
            break
        digest.update(f"{item.role}\0{item.text}\0".encode("utf-8", "surrogatepass"))
        if item.role == "user":
            break
    return f"goldseam-{digest.hexdigest()[:32]}"


# Seals --------------------------------------------------------------------------------------------


def own_seals(seals: Sequence[Seal], origin: str) -> dict[str, str]:
    """Return those of `seals` that this model made at this scope, by name, byte for byte.

    Only they may be shown to it (XLT-3), and only where they hold something that can be sent.
    """
    return {
        seal.name: seal.value
        for seal in seals
        if seal.origin == origin
        and seal.value
        and (seal.value.isascii() or sendable(seal.value) is seal.value)
    }


# Marks and forms ----------------------------------------------------------------------------------

ERROR_MARK, DONE_MARK = "[error]\n", "[done]\n"
SYSTEM_MARK, FEEDBACK_MARK, USER_MARK = "[system]\n", "[feedback]\n", "[user]\n"
_TOLD_MARKS = (SYSTEM_MARK, FEEDBACK_MARK, USER_MARK)
_MALFORMED = "_malformed"


def result_text(result: ToolResult) -> str:
    """Return the result as text that itself says whether it is an error; see `read_result`."""
    if result.is_error:
        return ERROR_MARK + result.content
    looks_marked = result.content.startswith((ERROR_MARK, DONE_MARK))
    return DONE_MARK + result.content if looks_marked else result.content


def read_result(call_id: str, text: str) -> ToolResult:
    """Return the result that `result_text` wrote, its kind `done` or `failed`."""
    if text.startswith(ERROR_MARK):
        return ToolResult(call_id=call_id, content=text.removeprefix(ERROR_MARK), kind="failed")
    return ToolResult(call_id=call_id, content=text.removeprefix(DONE_MARK))


def told_text(item: Message | Feedback) -> str:
    """Return user text for `item` in which a later system message or feedback is marked."""
    match item:
        case Message(role="system", text=text):
            return SYSTEM_MARK + text
        case Message(text=text):
            return USER_MARK + text if text.startswith(_TOLD_MARKS) else text
        case Feedback(text=text):
            return FEEDBACK_MARK + text
        case _:
            assert_never(item)


def read_told(text: str) -> Message | Feedback:
    """Return the item that `told_text` wrote."""
    if text.startswith(FEEDBACK_MARK):
        return Feedback(text=text.removeprefix(FEEDBACK_MARK))
    if text.startswith(SYSTEM_MARK):
        return Message(role="system", text=text.removeprefix(SYSTEM_MARK))
    return Message(role="user", text=text.removeprefix(USER_MARK))


def image_note(image: Image) -> str:
    """Return the line that stands for a picture that is not shown."""
    padding = image.data[-2:].count("=")
    size = len(image.data) * 3 // 4 - padding
    return f"[image not shown: {image.media_type}, {size} bytes]"


def shown_arguments(arguments: Arguments | Malformed, at: int, losses: Losses) -> str:
    """Return JSON text of the object that shows `arguments`, sendable; notes what differs.

    Malformed ones are `{"_malformed": raw}`, so that a bad call never stops a later request
    (XLT-2, case 101); see `read_arguments`.
    """
    match arguments:
        case Arguments(text=text) if "\\u" not in text:
            return text
        case Arguments():
            value = arguments.value()
            sent = sendable_json(value)
            if sent != value:
                losses.note("text_replaced", at, "characters that cannot be sent were replaced")
            return write_json_text(sent)
        case Malformed(raw=raw):
            losses.note("arguments_malformed", at, "arguments that are no object, sent as raw text")
            return write_json_text({_MALFORMED: losses.text(at, raw)})
        case _:
            assert_never(arguments)


def read_arguments(value: dict[str, Json]) -> Arguments | Malformed:
    """Return the arguments that `shown_arguments` showed."""
    match value:
        case {"_malformed": str(raw), **rest} if not rest:
            return Malformed(raw=raw, why="it was malformed when it was written")
        case _:
            return arguments_of(value)


def write_json_text(value: Json) -> str:
    """Return compact JSON text, keys sorted, non-ASCII kept: what a model reads best."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
