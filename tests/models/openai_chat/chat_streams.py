"""Replies of Chat Completions, whole and in chunks, with invented words."""

import json
from collections.abc import Iterable
from typing import Any

from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse
from goldseam.models.dialect import Profile, WireEvent
from goldseam.models.openai_chat.dialect import ChatDialect

DONE = WireEvent(data="[DONE]")


def event(value: Any, name: str = "") -> WireEvent:
    return WireEvent(data=json.dumps(value), name=name)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **rest: Any) -> WireEvent:
    """Return one chunk; `rest` is what stands beside its choices."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return event({"object": "chat.completion.chunk", "choices": [choice], "model": "m-1", **rest})


def piece(
    index: int | None = None, call_id: str | None = None, name: str | None = None, **rest: Any
) -> dict[str, Any]:
    """Return one piece of a call; `arguments` of `rest` goes into its function."""
    function = {"name": name, "arguments": rest.pop("arguments", None)}
    found = {"index": index, "id": call_id, "function": function, **rest}
    return {key: value for key, value in found.items() if value is not None}


def calls(*pieces: dict[str, Any]) -> WireEvent:
    return chunk({"tool_calls": list(pieces)})


def whole(message: dict[str, Any], finish: str | None = "stop", **rest: Any) -> WireEvent:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return event({"object": "chat.completion", "choices": [choice], "model": "m-1", **rest})


def read(profile: Profile, *events: WireEvent) -> ModelResponse:
    return read_all(profile, events)[0]


def read_all(profile: Profile, events: Iterable[WireEvent]) -> tuple[ModelResponse, list[Delta]]:
    reader = ChatDialect().reader(profile)
    shown = [delta for one in events for delta in reader.feed(one)]
    return reader.finish(), shown
