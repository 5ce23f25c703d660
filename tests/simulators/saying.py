"""What a scripted model says, before any vendor's form."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call: `arguments` is the text that the model wrote, an object or not."""

    call_id: str = ""
    name: str = "read_file"
    arguments: str = "{}"


@dataclass(frozen=True, kw_only=True)
class Say:
    """One reply: a thought (or a redacted one), then words, then calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thought: str | None = None
    redacted: bool = False


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A reply in a vendor's form: the whole body, and the events of its stream."""

    whole: Any
    events: tuple[tuple[str, str], ...]
    """Each event's name (empty where it has none) and data."""

    def frames(self) -> Iterator[bytes]:
        """Yield the events as server-sent ones."""
        for name, data in self.events:
            yield (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def event(data: Any, name: str = "") -> tuple[str, str]:
    """Return an event of JSON data."""
    return name, json.dumps(data)


def halves(text: str) -> tuple[str, str]:
    """Return `text` cut in two, as a stream may cut it anywhere."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
