"""A small Chat Completions server that refuses what the hosts refuse, and plays a script.

It runs in threads of its own, so that a whole process may talk to it. Refusals are those of rules
OAI-1, OAI-11, OAI-21 and OAI-22.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

KNOWN_FIELDS = {
    *("model", "messages", "tools", "stream", "stream_options", "max_tokens", "temperature"),
    *("max_completion_tokens", "reasoning_effort", "prompt_cache_key"),
}
LONGEST_ID = 40


class StrictChatServer(ThreadingHTTPServer):
    """Answers the n-th good request with the n-th message of `script`, streamed where asked for."""

    def __init__(self, key: str, script: list[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.key = key
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.refusals: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving(key: str, *script: dict[str, Any]) -> Iterator[StrictChatServer]:
    server = StrictChatServer(key, list(script))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def calls(*pairs: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{name}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(pairs)
        ],
    }


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def fault_in(body: dict[str, Any]) -> str | None:
    """Return what a host would refuse in `body`."""
    if unknown := set(body) - KNOWN_FIELDS:
        return f"Unrecognized request argument supplied: {min(unknown)}"
    if not body.get("model") or not body.get("messages"):
        return "you must provide a model and messages"
    waiting: list[str] = []
    for place, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"messages.[{place}].role: 'tool' must be a response to 'tool_calls'"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"tool_call_ids did not have response messages: {', '.join(waiting)}"
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        if any(len(call_id) > LONGEST_ID for call_id in waiting):
            return f"messages[{place}].tool_calls[0].id: string too long"
    return f"no response messages for {', '.join(waiting)}" if waiting else None


class _Handler(BaseHTTPRequestHandler):
    server: StrictChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given = self.headers.get("Authorization", "")
        if self.path != "/v1/chat/completions":
            return self._refuse(404, "no such path")
        if given != (f"Bearer {self.server.key}" if self.server.key else ""):
            # Some hosts quote what they were given.
            return self._refuse(401, f"Incorrect API key provided: {given}")
        if fault := fault_in(body):
            return self._refuse(400, fault)
        self.server.bodies.append(body)
        if len(self.server.bodies) > len(self.server.script):
            return self._refuse(503, "the script is at its end")
        message = self.server.script[len(self.server.bodies) - 1]
        return self._stream(message) if body.get("stream") else self._whole(message)

    def _refuse(self, status: int, text: str) -> None:
        self.server.refusals.append(text)
        self._send(status, "application/json", json.dumps({"error": {"message": text}}).encode())

    def _whole(self, message: dict[str, Any]) -> None:
        choice = {"index": 0, "message": message, "finish_reason": _reason(message)}
        body = {"model": "strict-1", "choices": [choice], "usage": _USAGE}
        self._send(200, "application/json", json.dumps(body).encode())

    def _stream(self, message: dict[str, Any]) -> None:
        chunks: list[dict[str, Any]] = [{"role": "assistant", "content": message["content"]}]
        for index, call in enumerate(message.get("tool_calls", [])):
            text = call["function"]["arguments"]
            begun = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            chunks.append({"tool_calls": [begun]})
            chunks += [
                {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + 9]}}]}
                for at in range(0, len(text), 9)
            ]
        events: list[Any] = [
            {"model": "strict-1", "choices": [{"index": 0, "delta": delta}]} for delta in chunks
        ]
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": _reason(message)}]})
        events.append({"choices": [], "usage": _USAGE})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        self._send(200, "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


_USAGE = {"prompt_tokens": 30, "completion_tokens": 5}


def _reason(message: dict[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"
