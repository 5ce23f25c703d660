"""Replies of the Responses protocol as test data: whole bodies, and the streams that tell the same.

Hand-written after the recorded order of events (RSP-14); no recording is copied.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st
from strategies import texts

from goldseam.kernel.json_text import write_json
from goldseam.models.dialect import Profile, WireEvent

PROFILE = Profile(host="openai", model="m-1", seal_scope="openai")
THINKING = msgspec.structs.replace(PROFILE, thinking=True)

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 8},
    "total_tokens": 120,
}


def body(*output: dict[str, Any], status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": status,
        "model": "m-1-2026",
        "error": None,
        "incomplete_details": None,
        "output": list(output),
        "usage": USAGE,
        **fields,
    }


def message(*parts: str, item_id: str = "msg_1", **fields: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": part, "annotations": []} for part in parts]
    return {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "status": "completed",
        "content": content,
        **fields,
    }


def call(
    call_id: str = "call_1",
    arguments: str = '{"path":"a"}',
    *,
    item_id: str = "fc_1",
    **fields: Any,
) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": item_id,
        "call_id": call_id,
        "name": "read_file",
        "arguments": arguments,
        "status": "completed",
        **fields,
    }


def thought(
    *summary: str, item_id: str = "rs_1", sealed: str | None = "gAAA=", **fields: Any
) -> dict[str, Any]:
    return {
        "type": "reasoning",
        "id": item_id,
        "summary": [{"type": "summary_text", "text": text} for text in summary],
        "encrypted_content": sealed,
        **fields,
    }


def whole(value: Any) -> WireEvent:
    return WireEvent(data=write_json(value))


def event(name: str, **fields: Any) -> WireEvent:
    return WireEvent(name=name, data=write_json({"type": name, **fields}))


def stream(value: dict[str, Any], *, size: int = 3, ends: bool = True) -> Iterator[WireEvent]:
    """Tell `value` event by event, texts in pieces of `size`; without `ends`, no item is ended."""
    opened = {**value, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=opened)
    yield event("response.in_progress", response=opened)
    for index, item in enumerate(value["output"]):
        yield from item_events(item, index, size=size, ends=ends)
    last = value if ends else {**value, "output": []}
    yield event(f"response.{value['status']}", response=last)


def item_events(
    item: dict[str, Any], index: int, *, size: int, ends: bool = True
) -> Iterator[WireEvent]:
    where = {"output_index": index, "item_id": item["id"]}
    begun = {"content": [], "summary": [], "arguments": "", "encrypted_content": "cut"}
    opened = {**item, **{name: begun[name] for name in begun if name in item}}
    yield event("response.output_item.added", output_index=index, item=opened)
    for place, part in enumerate(item.get("content", ())):
        spot = {**where, "content_index": place}
        yield event("response.content_part.added", **spot, part={**part, "text": ""})
        name, key = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
        yield from pieces(f"response.{name}", key, part[key], size=size, **spot)
        yield event("response.content_part.done", **spot, part=part)
    for place, part in enumerate(item.get("summary", ())):
        spot = {**where, "summary_index": place}
        yield event("response.reasoning_summary_part.added", **spot, part={**part, "text": ""})
        yield from pieces(
            "response.reasoning_summary_text", "text", part["text"], size=size, **spot
        )
    if "arguments" in item:
        name = "response.function_call_arguments"
        yield from pieces(name, "arguments", item["arguments"], size=size, **where)
    if ends:
        yield event("response.output_item.done", output_index=index, item=item)


def pieces(name: str, key: str, text: str, *, size: int, **where: Any) -> Iterator[WireEvent]:
    for start in range(0, len(text), size):
        yield event(f"{name}.delta", **where, delta=text[start : start + size])
    yield event(f"{name}.done", **where, **{key: text})


@st.composite
def outputs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Output items as a model gives them: thoughts before what they led to, ids all different."""
    kinds: Sequence[str] = draw(
        st.lists(st.sampled_from(["message", "call", "thought"]), max_size=5)
    )
    sound = st.dictionaries(texts(), texts(), max_size=2).map(write_json)
    items = list[dict[str, Any]]()
    for place, kind in enumerate(kinds):
        match kind:
            case "message":
                parts = draw(st.lists(texts(), max_size=2))
                phase = draw(st.sampled_from([None, "commentary", "final_answer"]))
                items.append(message(*parts, item_id=f"msg_{place}", phase=phase))
            case "call":
                arguments = draw(sound | texts())
                items.append(call(f"call_{place}", arguments, item_id=f"fc_{place}"))
            case _:
                summary = draw(st.lists(texts(), max_size=2))
                sealed = draw(st.none() | st.text("abcXYZ09=", min_size=1, max_size=9))
                items.append(thought(*summary, item_id=f"rs_{place}", sealed=sealed))
    return items
