"""Put the parts of one reply together as history items, in order and in one pass."""

from goldseam.kernel.conversation import (
    Arguments,
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    arguments_from_text,
    arguments_of,
)
from goldseam.kernel.json_text import Json, write_json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import Remark, ReplyItem
from goldseam.models.gemini.forms import NATIVE_ID, SIGNATURE, SIGNED_FROM


class Assembler:
    """Takes the parts of one reply however they are cut; `origin` is written on its seals."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._items: list[ReplyItem] = []
        self._remarks: list[Remark] = []
        self._pieces: list[str] = []
        self._thought = False

    def add(self, part: dict[str, Json]) -> tuple[Delta, ...]:
        """Take one part and return what the eye may see of it."""
        match part.get("thoughtSignature"):
            case str(signature) if signature:
                seals: tuple[Seal, ...] = (self._seal(SIGNATURE, signature),)
            case _:
                seals = ()
        match part:
            case {"functionCall": dict(call)}:
                return self._add_call(call, seals)
            case {"text": str(text)}:
                return self._add_text(text, seals, thought=part.get("thought") is True)
            case {"thoughtSignature": str(), **rest} if not rest.keys() - {"thought"}:
                return self._add_text("", seals, thought=part.get("thought") is True)
            case _:
                kinds = ", ".join(sorted(part.keys() - {"thought", "thoughtSignature"}))
                text = f"a part of the reply is of a kind that is not kept: {kinds[:100]}"
                self._remarks.append(Remark(code="part_not_kept", text=text))
                return ()

    def whole(self) -> tuple[tuple[ReplyItem, ...], tuple[Remark, ...]]:
        """Return the items and what must be said of them."""
        self._close_text()
        return tuple(self._items), tuple(self._remarks)

    def _add_text(self, text: str, seals: tuple[Seal, ...], *, thought: bool) -> tuple[Delta, ...]:
        if not text and not seals:
            return ()  # It says nothing, so it parts no text either.
        if thought is not self._thought:
            self._close_text()
            self._thought = thought
        if not seals:
            self._pieces.append(text)
        elif thought:
            self._close_text()
            self._items.append(Reasoning(text=text, seals=seals))
        else:
            before = "".join(self._pieces)
            self._pieces.clear()
            if before:
                seals = (*seals, self._seal(SIGNED_FROM, str(len(before))))
            self._items.append(Message(role="assistant", text=before + text, seals=seals))
        return (Delta(kind="reasoning" if thought else "text", text=text),) if text else ()

    def _close_text(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        if text and self._thought:
            self._items.append(Reasoning(text=text))
        elif text:
            self._items.append(Message(role="assistant", text=text))

    def _add_call(self, call: dict[str, Json], seals: tuple[Seal, ...]) -> tuple[Delta, ...]:
        self._close_text()
        name, call_id = _text(call.get("name")), _text(call.get("id"))
        if call_id:
            seals = (*seals, self._seal(NATIVE_ID, call_id))
        arguments = _arguments(call.get("args"))
        self._items.append(
            ToolCall(call_id=call_id, tool_name=name, arguments=arguments, seals=seals)
        )
        return (Delta(kind="tool_call", text=name),)

    def _seal(self, name: str, value: str) -> Seal:
        return Seal(origin=self._origin, name=name, value=value)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _arguments(args: Json) -> Arguments | Malformed:
    match args:
        case None:
            return arguments_of({})
        case dict():
            return arguments_of(args)
        case str():
            return arguments_from_text(args)
        case _:
            return arguments_from_text(write_json(args))
