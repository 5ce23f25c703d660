"""The vendor-free conversation and its one law: each call has exactly one result.

Values are frozen. A `Conversation` only grows; growing gives a new one that shares what is common,
so an append costs the same at any length. Knows nothing of how a vendor writes any of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, assert_never, overload

from msgspec import Struct

from goldseam.kernel.json_text import BadJsonError, Json, read_json, write_json

_IMAGE_WEIGHT = 3_000
"""A picture counts as about a thousand tokens, whatever its bytes."""


class Seal(Struct, frozen=True, kw_only=True):
    """An opaque token of one vendor, kept byte for byte and shown to its origin alone."""

    origin: str
    name: str
    value: str


class Image(Struct, frozen=True, kw_only=True):
    """A picture: its media type (`image/png`) and its bytes in base64."""

    media_type: str
    data: str


class Message(Struct, frozen=True, kw_only=True, tag="message"):
    """Words of the system, the user or the assistant."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()
    seals: tuple[Seal, ...] = ()


class Reasoning(Struct, frozen=True, kw_only=True, tag="reasoning"):
    """A thought of the model; never shown to another vendor as that model's own words."""

    text: str | None = None
    seals: tuple[Seal, ...] = ()


class Arguments(Struct, frozen=True, kw_only=True, tag="arguments"):
    """The arguments of a call: `text` is a JSON object, compact, keys sorted, ASCII."""

    text: str

    def value(self) -> dict[str, Json]:
        """Return the arguments as a fresh mapping, which the caller may keep or change."""
        value = read_json(self.text)
        if not isinstance(value, dict):
            raise BadJsonError("arguments hold no object")
        return value


class Malformed(Struct, frozen=True, kw_only=True, tag="malformed"):
    """Arguments that are no JSON object: what the model wrote, and why it cannot be used."""

    raw: str
    why: str


class ToolCall(Struct, frozen=True, kw_only=True, tag="tool_call"):
    """A call the model proposes. `call_id` is unique in the run and never changes."""

    call_id: str
    tool_name: str
    arguments: Arguments | Malformed
    seals: tuple[Seal, ...] = ()


ResultKind: TypeAlias = Literal["done", "failed", "denied", "interrupted", "unknown", "cut_off"]
"""done · failed (ran and says so) · denied (never ran) · interrupted (may have partly run) ·
unknown (may have run) · cut_off (never ran)."""


class ToolResult(Struct, frozen=True, kw_only=True, tag="tool_result"):
    """The one result of the call `call_id`: the observation that the model is shown."""

    call_id: str
    content: str
    kind: ResultKind = "done"
    images: tuple[Image, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether the model should read it as an error."""
        return self.kind != "done"


class Feedback(Struct, frozen=True, kw_only=True, tag="feedback"):
    """Told to the model after a reply that could not be used; gone once a usable one has come."""

    text: str


HistoryItem: TypeAlias = Message | Reasoning | ToolCall | ToolResult | Feedback


class PairingError(Exception):
    """Our defect: an item would leave a call without its one result."""


def arguments_from_text(raw: str) -> Arguments | Malformed:
    """Return the object that `raw` writes, blank text being the empty one; else what is wrong."""
    if not raw.strip():
        return Arguments(text="{}")
    try:
        value = read_json(raw)
    except BadJsonError as error:
        return Malformed(raw=raw, why=str(error))
    if not isinstance(value, dict):
        return Malformed(raw=raw, why=f"expected a JSON object, got {json_kind(value)}")
    return Arguments(text=write_json(value))


def arguments_of(value: Mapping[str, Json]) -> Arguments:
    """Return the arguments that `value` holds."""
    return Arguments(text=write_json(value))


def json_kind(value: Json) -> str:
    """Return the JSON name of the type of `value`, with its article where it needs one."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            assert_never(value)


class Conversation(Sequence[HistoryItem]):
    """The history of a run: append only, and never with a call open behind a later reply.

    Two conversations that grew from one share their storage until they part; an append is O(1).
    """

    __slots__ = ("_ids", "_items", "_length", "_open", "_weight", "root")

    root: object
    """The very same in all that share their storage: these agree as far as both reach."""

    def __init__(self, items: Iterable[HistoryItem] = ()) -> None:
        self.root = object()
        self._items: list[HistoryItem] = []
        self._ids: dict[str, int] = {}
        self._length = 0
        self._open: tuple[str, ...] = ()
        self._weight = 0
        for item in items:
            self._admit(item)

    def append(self, item: HistoryItem) -> "Conversation":
        """Return the conversation with `item` at its end.

        Raises:
            PairingError: a call id is used twice, a result has no open call, results are out of
                call order, or a call is still open where the next message would stand.
        """
        if len(self._items) > self._length:
            return Conversation((*self, item))
        twin = Conversation()
        twin.root, twin._items, twin._ids = self.root, self._items, self._ids
        twin._length, twin._open, twin._weight = self._length, self._open, self._weight
        twin._admit(item)
        return twin

    def extend(self, items: Iterable[HistoryItem]) -> "Conversation":
        """Return the conversation with `items` at its end, as repeated `append` would."""
        grown = self
        for item in items:
            grown = grown.append(item)
        return grown

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the calls that wait for their result, in call order."""
        return self._open

    @property
    def weight(self) -> int:
        """The UTF-8 bytes of text in it: the ground of token estimates."""
        return self._weight

    def has_call(self, call_id: str) -> bool:
        """Whether a call of this id stands in the conversation."""
        return self._ids.get(call_id, self._length) < self._length

    def _admit(self, item: HistoryItem) -> None:
        match item:
            case ToolCall(call_id=call_id):
                self._open_call(call_id)
            case ToolResult(call_id=call_id):
                self._close_call(call_id)
            case Message(role="assistant") | Reasoning():
                self._refuse_answered_reply()
            case Message() | Feedback():
                self._refuse_open_calls()
            case _:
                assert_never(item)
        self._items.append(item)
        self._length += 1
        self._weight += _weight_of(item)

    def _open_call(self, call_id: str) -> None:
        if not call_id or self.has_call(call_id):
            raise PairingError(f"call id {call_id!r} is empty or used before")
        self._refuse_answered_reply()
        self._ids[call_id] = self._length
        self._open = (*self._open, call_id)

    def _close_call(self, call_id: str) -> None:
        if not self._open or self._open[0] != call_id:
            raise PairingError(f"result for {call_id!r}, but open in call order: {self._open}")
        self._open = self._open[1:]

    def _refuse_answered_reply(self) -> None:
        """Within one reply, items may stand beside open calls, but not after the first result."""
        if self._open and isinstance(self._items[self._length - 1], ToolResult):
            self._refuse_open_calls()

    def _refuse_open_calls(self) -> None:
        if self._open:
            raise PairingError(f"calls without a result: {self._open}")

    @overload
    def __getitem__(self, index: int) -> HistoryItem: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[HistoryItem, ...]: ...
    def __getitem__(self, index: int | slice) -> HistoryItem | tuple[HistoryItem, ...]:
        if isinstance(index, slice):
            places = range(*index.indices(self._length))
            return tuple(map(self._items.__getitem__, places))
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._items[index % self._length]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[HistoryItem]:
        return (self._items[i] for i in range(self._length))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Conversation) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Conversation({list(self)!r})"


def _weight_of(item: HistoryItem) -> int:
    match item:
        case Message(text=text, images=images) | ToolResult(content=text, images=images):
            return _bytes(text) + len(images) * _IMAGE_WEIGHT
        case Feedback(text=text):
            return _bytes(text)
        case Reasoning(text=text):
            return _bytes(text or "")
        case ToolCall(tool_name=name, arguments=arguments):
            written = arguments.text if isinstance(arguments, Arguments) else arguments.raw
            return _bytes(name) + _bytes(written)
        case _:
            assert_never(item)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
