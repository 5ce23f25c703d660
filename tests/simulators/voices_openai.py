"""A scripted reply in the two forms of OpenAI, and of the hosts that speak its first protocol."""

from typing import Any

from simulators.chat_hosts import Host
from simulators.openai_responses import following
from simulators.refusal import Memory, print_of
from simulators.saying import Call, Say, Spoken, event, halves

MODEL = "simulated-1"
CHAT_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 8},
}
RESPONSES_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 8},
    "total_tokens": 120,
}


# Chat Completions ---------------------------------------------------------------------------------


def chat_reply(say: Say, host: Host, memory: Memory) -> Spoken:
    """Return `say` as a chat completion (OAI-25 to OAI-28)."""
    message = _chat_message(say, host, memory)
    reason = "tool_calls" if say.calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    whole = {
        **_chat_head("chat.completion"),
        "choices": [choice],
        "usage": CHAT_USAGE,
    }
    deltas = [*_chat_deltas(message, host)]
    chunks = [_chunk(delta) for delta in deltas]
    last = {**_chat_head("chat.completion.chunk"), "choices": [], "usage": CHAT_USAGE}
    events = (*map(event, [*chunks, _chunk({}, reason), last]), ("", "[DONE]"))
    return Spoken(whole=whole, events=events)


def _chat_head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": MODEL}


def _chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {**_chat_head("chat.completion.chunk"), "choices": [choice], "usage": None}


def _chat_message(say: Say, host: Host, memory: Memory) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
    if host.reasoning_words and say.thought is not None:
        message["reasoning_content"] = say.thought
    if say.calls:
        message["tool_calls"] = [_chat_call(call) for call in say.calls]
        first = message["tool_calls"][0]
        number = memory.next_number
        if host.signs_calls:  # GOC-1
            signature = memory.hand_out(f"c2lnbmVk{number:04}", print_of(first["function"]))
            first["extra_content"] = {"google": {"thought_signature": signature}}
        if host.wants_details:  # ORT-2
            entry = {"type": "reasoning.encrypted", "data": f"enc{number}", "id": first["id"]}
            memory.hand_out(print_of(entry), first["id"])
            message["reasoning_details"] = [entry]
    return message


def _chat_call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _chat_deltas(message: dict[str, Any], host: Host) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "content"):
        deltas += [{name: half} for half in halves(message.get(name) or "")]
    if "reasoning_details" in message:
        deltas.append({"reasoning_details": message["reasoning_details"]})
    for index, call in enumerate(message.get("tool_calls", ())):
        if host.bridges_tool_to_user:  # MIS-3: whole, in one chunk, without a type
            whole = {name: value for name, value in call.items() if name != "type"}
            deltas.append({"tool_calls": [{"index": index, **whole}]})
            continue
        first, second = halves(call["function"]["arguments"])
        opening = {**call, "function": {**call["function"], "arguments": first}}
        deltas.append({"tool_calls": [{"index": index, **opening}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    return deltas


# Responses ----------------------------------------------------------------------------------------


def responses_reply(say: Say, memory: Memory) -> Spoken:
    """Return `say` as a response (RSP-14, RSP-16)."""
    output = _output(say, memory)
    whole = _response("completed", output)
    events = [
        {"type": "response.created", "response": _response("in_progress", [])},
        {"type": "response.in_progress", "response": _response("in_progress", [])},
    ]
    for index, item in enumerate(output):
        events += _item_events(item, index)
    events.append({"type": "response.completed", "response": whole})
    numbered = [{**one, "sequence_number": number} for number, one in enumerate(events)]
    return Spoken(whole=whole, events=tuple(event(one, str(one["type"])) for one in numbered))


def _response(status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    done = status == "completed"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": MODEL,
        "error": None,
        "incomplete_details": None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": RESPONSES_USAGE if done else None,
    }


def _output(say: Say, memory: Memory) -> list[dict[str, Any]]:
    number = memory.next_number
    items = list[dict[str, Any]]()
    if say.text:
        part = {"type": "output_text", "text": say.text, "annotations": []}
        items.append({
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        })
    for place, call in enumerate(say.calls):
        items.append({
            "type": "function_call",
            "id": f"fc_{number}_{place}",
            "status": "completed",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": call.arguments,
        })
    if say.thought is not None or say.redacted:
        item_id = f"rs_{number}"
        summary = [{"type": "summary_text", "text": say.thought}] if say.thought else []
        on = print_of([item_id, summary])
        secret = memory.hand_out(f"gAAAsealed{number}==", on, following(items[0]))
        thought = {"type": "reasoning", "id": item_id, "summary": summary}
        items.insert(0, {**thought, "encrypted_content": secret})
    return items


def _item_events(item: dict[str, Any], index: int) -> list[dict[str, Any]]:
    place = {"output_index": index, "item_id": item["id"]}
    emptied: dict[str, dict[str, Any]] = {
        "function_call": {"arguments": ""},
        "message": {"content": []},
    }
    opened = {**item, **emptied.get(item["type"], {})}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": opened},
        *_inner_events(item, place),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _inner_events(item: dict[str, Any], place: dict[str, Any]) -> list[dict[str, Any]]:
    if item["type"] == "function_call":
        kind = "response.function_call_arguments"
        arguments = item["arguments"]
        return [
            *({"type": f"{kind}.delta", **place, "delta": half} for half in halves(arguments)),
            {"type": f"{kind}.done", **place, "name": item["name"], "arguments": arguments},
        ]
    if item["type"] == "message":
        part = item["content"][0]
        at, kind = {**place, "content_index": 0}, "response.output_text"
        return [
            {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
            *(
                {"type": f"{kind}.delta", **at, "delta": half, "logprobs": []}
                for half in halves(part["text"])
            ),
            {"type": f"{kind}.done", **at, "text": part["text"], "logprobs": []},
            {"type": "response.content_part.done", **at, "part": part},
        ]
    return []
