"""Put the pieces of one reply together: calls by index, id and completeness, the rest by kind.

Knows the fields of one choice, and nothing of why a reply ended.
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
from goldseam.kernel.request import ReplyItem
from goldseam.models.dialect import Body, Profile
from goldseam.models.json_paths import inner_text, objects_in
from goldseam.models.leaks import is_unclosed, split_thought
from goldseam.models.openai_chat import forms

_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
_GROWING = ("text", "summary")


class _Call:
    """One call under way."""

    def __init__(self, call_id: str) -> None:
        self.call_id = call_id
        self.name = ""
        self.pieces: list[str] = []
        self.extra: Body = {}

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def add(self, piece: Body) -> None:
        self.call_id = self.call_id or inner_text(piece, "id")
        self.name = self.name or inner_text(piece, "function", "name")
        self.pieces.append(_arguments_piece(piece))
        extra = piece.get(forms.EXTRA_CONTENT)
        self.extra |= extra if isinstance(extra, dict) else {}

    def is_over(self, piece: Body) -> bool:
        """Whether `piece` begins another call: it names a tool, and this one is whole (case 94)."""
        if not (inner_text(piece, "function", "name") and _arguments_piece(piece).strip()):
            return False
        # The end tells first: reading all of it for each piece would cost its square.
        ended = bool(self.pieces) and self.pieces[-1].rstrip().endswith("}")
        return ended and isinstance(arguments_from_text(self.text), Arguments)

    def arguments(self) -> Arguments | Malformed:
        """Return what came; nothing and `null` are the empty object (cases 100, 103)."""
        text = self.text
        return arguments_from_text("{}" if text.strip() == "null" else text)


class Calls:
    """The calls of one reply, however a host numbers them."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def add(self, piece: Body) -> tuple[Delta, ...]:
        """Take one piece of a call; return what the eye may see of it."""
        index, name = piece.get("index"), inner_text(piece, "function", "name")
        call = self._find(piece)
        if call is None or call.is_over(piece):
            call = _Call(inner_text(piece, "id"))
            self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        is_new = bool(name) and not call.name
        call.add(piece)
        return (Delta(kind="tool_call", text=name),) if is_new else ()

    def _find(self, piece: Body) -> _Call | None:
        """Return the call that `piece` goes on with, where it begins no other."""
        index, call_id = piece.get("index"), inner_text(piece, "id")
        if isinstance(index, int):
            found = self._by_index.get(index)
            # One index may be used for several calls; their ids tell them apart (cases 94, 97).
            is_other = found and call_id and found.call_id and found.call_id != call_id
            return None if is_other else found
        # No index is not index 0 (case 95): the id tells, else a name begins a call.
        if call_id:
            return next((c for c in reversed(self._calls) if c.call_id == call_id), None)
        if inner_text(piece, "function", "name") or not self._calls:
            return None
        return self._calls[-1]

    @property
    def has_cut(self) -> bool:
        """Whether the arguments of a call were never closed."""
        return any(is_unclosed(call.text) for call in self._calls)

    def items(self, origin: str) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which they began."""
        return tuple(
            ToolCall(
                call_id=call.call_id,
                tool_name=call.name,
                arguments=call.arguments(),
                seals=forms.sealed(origin, forms.EXTRA_CONTENT, call.extra),
            )
            for call in self._calls
        )


class _Details:
    """Structured thoughts under way: what is streamed in pieces becomes one entry again (ORT-2)."""

    def __init__(self) -> None:
        self._entries: list[tuple[Body, dict[str, list[str]]]] = []

    def add(self, entries: list[Body], *, is_whole: bool) -> None:
        for entry in entries:
            if is_whole or not self._entries or not _goes_on(self._entries[-1][0], entry):
                self._entries.append(({}, {}))
            known, growing = self._entries[-1]
            for name, value in entry.items():
                if name in _GROWING and isinstance(value, str):
                    growing.setdefault(name, []).append(value)
                if value is not None or name not in known:
                    known[name] = value

    def whole(self) -> list[Json]:
        return [
            known | {name: "".join(pieces) for name, pieces in growing.items()}
            for known, growing in self._entries
        ]


def _goes_on(last: Body, entry: Body) -> bool:
    """Whether `entry` is a further piece of `last`: the same readable kind, place and id."""
    same = all(last.get(name) == entry.get(name) for name in ("type", "index"))
    ids = {last.get("id"), entry.get("id")} - {None}
    return same and len(ids) < 2 and any(name in entry for name in _GROWING)  # noqa: PLR2004


class Words:
    """The words and thoughts of one reply."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._thoughts: list[str] = []
        self._texts: list[str] = []
        self._details = _Details()
        self._extra: Body = {}

    def add(self, delta: Body, *, is_whole: bool) -> tuple[Delta, ...]:
        """Take a piece, or the whole message; return what the eye may see of it."""
        details = delta.get(forms.REASONING_DETAILS)
        self._details.add(list(objects_in(details)), is_whole=is_whole)
        extra = delta.get(forms.EXTRA_CONTENT)
        self._extra |= extra if isinstance(extra, dict) else {}
        thought = self._thought_in(delta)
        text = forms.text_in(delta.get("content")) + inner_text(delta, "refusal")
        self._thoughts.append(thought)
        self._texts.append(text)
        shown = (Delta(kind="thought", text=thought), Delta(kind="text", text=text))
        return tuple(piece for piece in shown if piece.text)

    def _thought_in(self, delta: Body) -> str:
        """Return the thought of a piece, once, whichever field it is in, or in both (case 110)."""
        own = self._profile.reasoning_field
        fields = (*([own] if own else []), *_THOUGHT_FIELDS)
        found = next((text for name in fields if (text := inner_text(delta, name))), "")
        blocks = (forms.text_in(part.get("thinking")) for part in objects_in(delta.get("content")))
        return found + "".join(blocks)

    def items(self) -> tuple[ReplyItem, ...]:
        """Return the thought and the words; blank words are none (case 77)."""
        tagged, text = split_thought("".join(self._texts))
        origin, details = self._profile.origin, self._details.whole()
        field = self._profile.reasoning_field
        thought = "".join([*self._thoughts, tagged])
        seals = forms.sealed(origin, forms.REASONING_DETAILS, details)
        if details:
            thought = forms.text_of_details(details) or ""
        elif thought and field and not tagged:
            seals = (Seal(origin=origin, name=forms.REASONING_FIELD, value=field),)
        said = forms.sealed(origin, forms.EXTRA_CONTENT, self._extra)
        return (
            *([Reasoning(text=thought or None, seals=seals)] if thought or seals else []),
            *([Message(role="assistant", text=text, seals=said)] if text.strip() else []),
        )


def _arguments_piece(piece: Body) -> str:
    """Return the text of the arguments in a piece; some hosts give an object instead (OLL-1)."""
    function = piece.get("function")
    given = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(given, str):
        return given
    return "" if given is None else write_json(given)
