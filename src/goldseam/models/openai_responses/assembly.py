"""Put a streamed reply together: events go in, the body of the same reply, unstreamed, comes out.

So one reader serves both, and streamed and whole replies agree. Items are told apart by their id,
then by `output_index`; neither is trusted alone, since gateways change the one and repeat the
other (cases 94-97). Knows nothing of what an item means.
"""

from typing import TypeAlias

from msgspec import Struct, field

from goldseam.kernel.json_text import Json
from goldseam.kernel.ports import Delta
from goldseam.models.json_paths import inner_text

Item: TypeAlias = dict[str, Json]


class _Piece(Struct, frozen=True):
    """What the events of one name carry: part of which item, and where it stands in that item."""

    item: str
    shown_as: str | None
    field: str
    part: str
    key: str


_PIECES = {
    "response.output_text": _Piece("message", "text", "content", "output_text", "text"),
    "response.refusal": _Piece("message", "text", "content", "refusal", "refusal"),
    "response.reasoning_summary_text": _Piece(
        "reasoning", "thought", "summary", "summary_text", "text"
    ),
    "response.reasoning_text": _Piece("reasoning", "thought", "content", "reasoning_text", "text"),
    "response.function_call_arguments": _Piece(
        "function_call", None, "arguments", "arguments", "arguments"
    ),
}

_ENDS = {"response.completed", "response.incomplete", "response.failed"}

_SAID_ELSEWHERE = {
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.content_part.added",
    "response.content_part.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.output_text.annotation.added",
    "keepalive",
}
"""Events that hold nothing which others do not bring as well."""


class _Slot(Struct, kw_only=True):
    """One output item under way: what is known of it, and the pieces that came for it."""

    index: int | None
    item: Item
    ended: bool = False
    parts: dict[tuple[_Piece, int | None], list[str]] = field(default_factory=dict)


class Assembly:
    """Takes the events of one stream, in their order (RSP-14)."""

    def __init__(self) -> None:
        self.body: Item | None = None
        """The body of the reply, once the stream has told its end."""
        self.unknown: dict[str, None] = {}
        """The names of the events that nobody here knows, each once."""
        self._slots: list[_Slot] = []

    def take(self, name: str, event: Item) -> tuple[Delta, ...]:
        """Take one event and return what the eye may see of it."""
        stem, _, last = name.rpartition(".")
        if stem in _PIECES and last in {"delta", "done"}:
            return self._take_piece(_PIECES[stem], event, whole=last == "done")
        if name == "response.output_item.added":
            # What is sealed may be incomplete here; the item's end brings it whole (RSP-10).
            item = {key: value for key, value in _item(event).items() if key != "encrypted_content"}
            self._open(item, event)
            return _announced(item)
        if name == "response.output_item.done":
            return self._end_item(_item(event), event)
        if name in _ENDS:
            self._end(last, event)
        elif name not in _SAID_ELSEWHERE:
            self.unknown[name] = None
        return ()

    def _open(self, item: Item, event: Item) -> _Slot:
        slot = _Slot(index=_whole_number(event.get("output_index")), item=item)
        self._slots.append(slot)
        return slot

    def _take_piece(self, piece: _Piece, event: Item, *, whole: bool) -> tuple[Delta, ...]:
        item: Item = {"type": piece.item, "id": event.get("item_id")}
        slot = self._find(item, event) or self._open(item, event)
        place = event.get("content_index", event.get("summary_index"))
        pieces = slot.parts.setdefault((piece, _whole_number(place)), [])
        text = inner_text(event, piece.key if whole else "delta")
        if whole:
            pieces[:] = [text or "".join(pieces)]
            return ()
        pieces.append(text)
        return (Delta(kind=piece.shown_as, text=text),) if piece.shown_as and text else ()

    def _end_item(self, item: Item, event: Item) -> tuple[Delta, ...]:
        slot = self._find(item, event)
        deltas = () if slot else _announced(item)
        slot = slot or self._open(item, event)
        slot.item, slot.ended = {**slot.item, **item}, True
        return deltas

    def _find(self, item: Item, event: Item) -> _Slot | None:
        """Return the slot of `item`: the one of its id, else the last under way at its index."""
        alike = [slot for slot in self._slots if slot.item.get("type") == item.get("type")]
        same = [slot for slot in alike if item.get("id") and slot.item.get("id") == item["id"]]
        index = _whole_number(event.get("output_index"))
        # An index that is absent is no zero: it stands for whatever is under way (case 95).
        at_index = [slot for slot in alike if None in {index, slot.index} or slot.index == index]
        found = same or [slot for slot in at_index if not slot.ended]
        return found[-1] if found else None

    def _end(self, status: str, event: Item) -> None:
        body = event.get("response")
        body = body if isinstance(body, dict) else {}
        told = body.get("output")
        told = told if isinstance(told, list) else []
        seen = self._items()
        # Some hosts tell nothing at the end, others only there; what is told there has ended.
        better = (len(told), True) > (len(seen), all(slot.ended for slot in self._slots))
        self.body = {**body, "status": status, "output": told if better else seen}

    def _items(self) -> list[Json]:
        slots = self._slots
        if all(slot.index is not None for slot in slots):
            slots = sorted(slots, key=lambda slot: slot.index or 0)
        return [_built(slot) for slot in slots]


def _built(slot: _Slot) -> Item:
    """Return the item: what its end said, and from the pieces what no end has said."""
    built: Item = {}
    for (piece, _), pieces in slot.parts.items():
        text = _joined("".join(pieces))
        if piece.field == piece.key:
            built[piece.field] = text
        else:
            part: Json = {"type": piece.part, piece.key: text}
            others = built.get(piece.field)
            built[piece.field] = [*others, part] if isinstance(others, list) else [part]
    unsaid = (name for name in built if not (slot.ended and slot.item.get(name)))
    return {**slot.item, **{name: built[name] for name in unsaid if built[name]}}


def _announced(item: Item) -> tuple[Delta, ...]:
    """Return the name of the tool that a call begins with: the eye need not see its arguments."""
    name = inner_text(item, "name") if item.get("type") == "function_call" else ""
    return (Delta(kind="tool_call", text=name),) if name else ()


def _item(event: Item) -> Item:
    item = event.get("item")
    return item if isinstance(item, dict) else {}


def _whole_number(value: Json) -> int | None:
    return value if isinstance(value, int) else None


def _joined(text: str) -> str:
    """Return `text` with halves of one character that came in two pieces made whole (case 152)."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
