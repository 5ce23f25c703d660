"""Put the blocks of one reply together as history items: by block index, in one pass.

A block is whole only once its stop has come, and a call only once its arguments are: what is not
is cut, whatever reason the reply gives (case 116).
"""

from goldseam.kernel.conversation import (
    Arguments,
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    arguments_from_text,
)
from goldseam.kernel.json_text import Json, write_json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import Remark, ReplyItem
from goldseam.models.anthropic.forms import REDACTED, SIGNATURE
from goldseam.models.json_paths import inner_text
from goldseam.models.leaks import is_unclosed

_KNOWN = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
_PIECES = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
_SHOWN_AS = {"text": "text", "thinking": "thought"}


class Block:
    """One block under way: its start, and the pieces that came after, by field."""

    def __init__(self, start: dict[str, Json]) -> None:
        self.start = start
        self.kind = inner_text(start, "type")
        self.is_closed = False
        self._pieces: dict[str, list[str]] = {}

    def add(self, field: str, piece: str) -> None:
        """Take one more piece of `field`."""
        self._pieces.setdefault(field, []).append(piece)

    def whole(self, field: str) -> str:
        """Return all of `field`: what the start held, then every piece."""
        return inner_text(self.start, field) + "".join(self._pieces.get(field, ()))


class Assembler:
    """Takes the blocks of one reply however they are cut; `origin` is written on its seals."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._blocks: dict[int, Block] = {}
        self._strange: dict[str, None] = {}

    def start(self, index: int, start: dict[str, Json]) -> tuple[Delta, ...]:
        """Open the block `index`; return what the eye may see of it."""
        block = self._blocks[index] = Block(start)
        if block.kind == "tool_use":
            return (Delta(kind="tool_call", text=block.whole("name")),)
        if block.kind not in _KNOWN:
            self._remark_once(f"a block of the kind {block.kind[:60]!r}")
        return _shown(block.kind, block.whole(block.kind))

    def add(self, index: int, delta: dict[str, Json]) -> tuple[Delta, ...]:
        """Add one delta to the block `index`, which is open."""
        kind = inner_text(delta, "type")
        field = _PIECES.get(kind)
        if field is None:
            self._remark_once(f"a delta of the kind {kind[:60]!r}")
            return ()
        piece = inner_text(delta, field)
        self._blocks[index].add(field, piece)
        return _shown(field, piece)

    def close(self, index: int) -> None:
        """Note that nothing more comes for the block `index`."""
        self._blocks[index].is_closed = True

    def has(self, index: int) -> bool:
        """Whether the block `index` was opened."""
        return index in self._blocks

    @property
    def has_cut_call(self) -> bool:
        """Whether a call came that is not whole."""
        calls = (block for block in self._blocks.values() if block.kind == "tool_use")
        return any(not call.is_closed or is_unclosed(call.whole("partial_json")) for call in calls)

    def items(self) -> tuple[ReplyItem, ...]:
        """Return what came as history items, in the order of the reply (ANT-25)."""
        ordered = (self._blocks[index] for index in sorted(self._blocks))
        return tuple(item for block in ordered if (item := self._item(block)) is not None)

    def remarks(self) -> tuple[Remark, ...]:
        """Return what must be said of them: each strange kind once."""
        return tuple(
            Remark(code="block_not_kept", text=f"{what} in the reply is not known and not kept")
            for what in self._strange
        )

    def _item(self, block: Block) -> ReplyItem | None:
        match block.kind:
            case "text":
                text = block.whole("text")
                return Message(role="assistant", text=text) if text else None
            case "thinking":
                return self._thought(block)
            case "redacted_thinking":
                return Reasoning(seals=self._seals(REDACTED, block.whole("data")))
            case "tool_use":
                return ToolCall(
                    call_id=block.whole("id"),
                    tool_name=block.whole("name"),
                    arguments=_arguments(block),
                )
            case _:
                return None

    def _thought(self, block: Block) -> Reasoning:
        seals = self._seals(SIGNATURE, block.whole("signature"))
        return Reasoning(text=block.whole("thinking"), seals=seals)

    def _seals(self, name: str, value: str) -> tuple[Seal, ...]:
        return (Seal(origin=self._origin, name=name, value=value),) if value else ()

    def _remark_once(self, what: str) -> None:
        self._strange[what] = None


def _shown(field: str, text: str) -> tuple[Delta, ...]:
    return (Delta(kind=_SHOWN_AS[field], text=text),) if text and field in _SHOWN_AS else ()


def _arguments(block: Block) -> Arguments | Malformed:
    """Return the arguments: the pieces where there are any, else what the start held (case 100).

    No piece, empty pieces (ANT-31) and `null` (case 103) are the empty object.
    """
    text = block.whole("partial_json").strip() or write_json(block.start.get("input"))
    return arguments_from_text("{}" if text == "null" else text)
