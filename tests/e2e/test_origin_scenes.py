"""The origin's own scenes in each protocol, over real sockets, streamed and whole (A1.4, F1 to F5).

Files are read by the program's own tools in the program's own loop; the simulators judge.
"""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from e2e.stage import EVERYONE, FILES, HOSTS, TASK, Named, answering, kinds_of, play, reading
from simulators.gateway import Asked, Gateway
from simulators.refusal import Refusal

from goldseam.kernel.conversation import Message, ToolCall, ToolResult
from goldseam.kernel.outcome import Completed

pytestmark = pytest.mark.anyio

STREAMED = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
SAID = "Buy milk, then sleep."
NOTES = ("call_1", "notes.txt")
BOTH = (NOTES, ("call_2", "todo.txt"))


# Who said what in a body --------------------------------------------------------------------------


def told(named: Named, body: Any) -> list[tuple[str, str]]:
    """Return who says what in `body` behind the system text: user, call or result, and about what.

    Of a call it is the path that it reads, of a result all its text.
    """
    match named:
        case "openai":
            return list(_chat(body["messages"]))
        case "openai-responses":
            return list(_responses(body["input"]))
        case "anthropic":
            return list(_anthropic(body["messages"]))
        case "gemini":
            return list(_gemini(body["contents"]))
        case "json:openai":
            return list(_json_text(body["messages"]))


def _chat(messages: list[Any]) -> Iterator[tuple[str, str]]:
    for message in messages[1:]:
        calls = message.get("tool_calls", ())
        yield from (("call", json.loads(c["function"]["arguments"])["path"]) for c in calls)
        if not calls:
            yield {"tool": "result"}.get(message["role"], message["role"]), str(message["content"])


def _responses(items: list[Any]) -> Iterator[tuple[str, str]]:
    for item in items:
        match item:
            case {"type": "function_call", "arguments": arguments}:
                yield "call", json.loads(arguments)["path"]
            case {"type": "function_call_output", "output": output}:
                yield "result", str(output)
            case {"role": "user" as role, "content": content}:
                yield role, json.dumps(content)
            case _:
                continue


def _anthropic(messages: list[Any]) -> Iterator[tuple[str, str]]:
    for message in messages:
        for block in message["content"]:
            match block:
                case {"type": "tool_use", "input": given}:
                    yield "call", given["path"]
                case {"type": "tool_result", "content": content}:
                    yield "result", json.dumps(content)
                case {"type": "text", "text": text}:
                    yield message["role"], text
                case _:
                    continue


def _gemini(contents: list[Any]) -> Iterator[tuple[str, str]]:
    for content in contents:
        for part in content["parts"]:
            match part:
                case {"functionCall": {"args": given}}:
                    yield "call", given["path"]
                case {"functionResponse": {"response": response}}:
                    yield "result", json.dumps(response)
                case {"text": text} if not part.get("thought"):
                    yield content["role"], text
                case _:
                    continue


def _json_text(messages: list[Any]) -> Iterator[tuple[str, str]]:
    for message in messages[1:]:
        text = str(message["content"])
        if message["role"] == "assistant":
            actions = json.loads(text)
            actions = actions if isinstance(actions, list) else [actions]
            yield from (("call", action["arguments"]["path"]) for action in actions)
        elif text.startswith('{"call_id"'):
            yield from (("result", line) for line in text.splitlines())
        else:
            yield "user", text


def told_shortly(named: Named, body: Any) -> list[tuple[str, str]]:
    """Return what `told` does; of a result just the file that is in it."""
    contents = {text: path for path, text in FILES.items()} | {TASK: "task"}
    return [
        (who, what if who == "call" else next(contents[text] for text in contents if text in what))
        for who, what in told(named, body)
    ]


# The scenes ---------------------------------------------------------------------------------------


@STREAMED
@pytest.mark.parametrize("named", EVERYONE)
async def test_reading_a_file_gives_user_call_result_answer(
    named: Named, streamed: bool, tmp_path: Path
) -> None:
    with Gateway(reading(named, NOTES), answering(named, SAID)) as gateway:
        played = await play(named, gateway, tmp_path, streamed=streamed)
    assert (gateway.refusals, gateway.script) == ([], [])
    assert played.state.outcome == Completed(answer=SAID)
    history = played.state.conversation
    assert kinds_of(history) == ["system", "user", "call", "result", "assistant"]
    assert [item.text for item in history if isinstance(item, Message)][-1] == SAID
    (result,) = (item for item in history if isinstance(item, ToolResult))
    assert FILES["notes.txt"] in result.content
    first, second = (told_shortly(named, asked.body) for asked in gateway.asked)
    assert first == [("user", "task")]
    assert second == [("user", "task"), ("call", "notes.txt"), ("result", "notes.txt")]


@STREAMED
@pytest.mark.parametrize("ends", [("notes.txt", "todo.txt"), ("todo.txt", "notes.txt")])
@pytest.mark.parametrize("named", EVERYONE)
async def test_two_files_read_in_parallel_come_back_paired_whatever_order_they_end_in(
    named: Named, ends: tuple[str, str], streamed: bool, tmp_path: Path
) -> None:  # 59, 61, F3, F4
    with Gateway(reading(named, *BOTH), answering(named, SAID)) as gateway:
        played = await play(named, gateway, tmp_path, streamed=streamed, order=ends)
    assert (gateway.refusals, gateway.script) == ([], [])
    assert played.tools_ended == ends
    assert told_shortly(named, gateway.asked[-1].body) == [
        ("user", "task"),
        ("call", "notes.txt"),
        ("call", "todo.txt"),
        ("result", "notes.txt"),
        ("result", "todo.txt"),
    ]


@STREAMED
@pytest.mark.parametrize("native", ["", "fc"], ids=["without ids", "with ids"])
async def test_gemini_takes_both_results_in_one_content_by_name_and_by_its_own_ids_if_any(
    native: str, streamed: bool, tmp_path: Path
) -> None:  # F2, F3, F4, GEM-10, GEM-14
    files = [(f"{native}{n}" if native else "", path) for n, path in enumerate(FILES)]
    ends = ("todo.txt", "notes.txt")
    with Gateway(reading("gemini", *files), answering("gemini", SAID)) as gateway:
        played = await play("gemini", gateway, tmp_path, streamed=streamed, order=ends)
    assert gateway.refusals == []
    ours = [item.call_id for item in played.items if isinstance(item, ToolCall)]
    assert len({*ours}) == 2
    assert "" not in ours
    _, calls, results = gateway.asked[-1].body["contents"]
    ids = [part["functionCall"].get("id") for part in calls["parts"]]
    assert ids == [part["functionResponse"].get("id") for part in results["parts"]]
    assert ids == ([name for name, _ in files] if native else [None, None])
    assert [part["functionResponse"]["name"] for part in results["parts"]] == ["read_file"] * 2
    if not native:
        assert not any(call_id in json.dumps(gateway.asked[-1].body) for call_id in ours)


@STREAMED
async def test_calls_that_came_without_ids_get_ours_and_each_its_own_result(
    streamed: bool, tmp_path: Path
) -> None:  # 38, 44, F16
    nameless = (("", "notes.txt"), ("", "todo.txt"))
    ends = ("todo.txt", "notes.txt")
    with Gateway(reading("openai", *nameless), answering("openai", SAID)) as gateway:
        await play("openai", gateway, tmp_path, streamed=streamed, order=ends)
    assert gateway.refusals == []
    said, *results = gateway.asked[-1].body["messages"][-3:]
    paths = {c["id"]: json.loads(c["function"]["arguments"])["path"] for c in said["tool_calls"]}
    assert len(paths) == 2
    assert "" not in paths
    for one, path in zip(results, FILES, strict=True):
        assert paths[one["tool_call_id"]] == path
        assert FILES[path] in one["content"]


def without_call(named: Named, body: Any) -> Any:
    """Return `body` with the call left out, its result kept."""
    name = {"openai-responses": "input", "gemini": "contents"}.get(named, "messages")
    return {**body, name: [one for one in body[name] if not _holds_call(one)]}


def _holds_call(one: Any) -> bool:
    spoken = one.get("role") in {"assistant", "model"}
    return spoken or one.get("type") == "function_call"


WORDS = {  # OAI-21, RSP-6, ANT-9, GEM-16
    "openai": (
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
    ),
    "openai-responses": "No tool call found for function call output with call_id call_1.",
    "anthropic": "unexpected 'tool_use_id' found in 'tool_result' blocks: call_1",
    "gemini": (
        "Please ensure that function response turn comes immediately after a function call turn."
    ),
}


@STREAMED
@pytest.mark.parametrize("named", HOSTS)
async def test_leaving_the_call_out_is_refused_in_the_vendors_words(
    named: Named, streamed: bool, tmp_path: Path
) -> None:
    with Gateway(reading(named, NOTES), answering(named, SAID)) as gateway:
        await play(named, gateway, tmp_path, streamed=streamed)
        asked = gateway.asked[-1]
        refusal = post(gateway, asked, without_call(named, asked.body))
    assert refusal.status == 400
    assert WORDS[named] in refusal.body["error"]["message"]


def post(gateway: Gateway, asked: Asked, body: Any) -> Refusal:
    connection = http.client.HTTPConnection(urlsplit(gateway.url).netloc, timeout=10)
    kept = {"authorization", "x-api-key", "x-goog-api-key", "anthropic-version"}
    headers = {name: value for name, value in asked.headers.items() if name in kept}
    try:
        connection.request("POST", asked.path, json.dumps(body).encode(), headers)
        answer = connection.getresponse()
        return Refusal(status=answer.status, body=json.loads(answer.read()))
    finally:
        connection.close()


def sealed_parts(body: Any, seal: str) -> list[Any]:
    """Return each item, block or part of `body` in which `seal` stands."""
    outer = body.get("input") or body.get("messages") or body["contents"]
    parts = [part for one in outer for part in one.get("parts") or one.get("content") or [one]]
    return [part for part in parts if seal in json.dumps(part)]


def place_of(part: Any) -> str:
    """Return where a signature stands: on a thought, or on the call of a path."""
    match part:
        case {"type": "thinking", "thinking": thought, "signature": _}:
            return str(thought)
        case {"type": "reasoning", "summary": [{"text": thought}], "encrypted_content": _}:
            return str(thought)
        case {"functionCall": {"args": {"path": path}}, "thoughtSignature": _}:
            return str(path)
        case _:
            return f"nowhere: {part}"


@STREAMED
@pytest.mark.parametrize("named", ["openai-responses", "anthropic", "gemini"])
async def test_each_signature_returns_on_its_own_part_and_no_other(
    named: Named, streamed: bool, tmp_path: Path
) -> None:  # 55, F1, GEM-19 to GEM-27, ANT-22, RSP-3
    script = (
        reading(named, *BOTH, thought="both at once"),
        reading(named, ("call_3", "notes.txt"), thought="the notes again"),
        answering(named, SAID),
    )
    with Gateway(*script) as gateway:
        played = await play(named, gateway, tmp_path, streamed=streamed)
    assert (gateway.refusals, gateway.script) == ([], [])
    assert played.state.outcome == Completed(answer=SAID)
    seals = list(gateway.memory.issued)[:2]
    found = [sealed_parts(gateway.asked[-1].body, seal) for seal in seals]
    on_calls = named == "gemini"  # Of a parallel reply, the first call alone (GEM-20).
    expected = ["notes.txt", "notes.txt"] if on_calls else ["both at once", "the notes again"]
    assert [list(map(place_of, parts)) for parts in found] == [[place] for place in expected]
