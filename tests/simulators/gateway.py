"""A gateway on loopback that serves the simulators over real sockets, and fails on demand.

Each request is judged; one that is taken gets the next step of the script. What was asked and how
it was refused is kept for the test to read.
"""

import json
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import SO_LINGER, SOL_SOCKET
from typing import Any, Literal, Self, TypeAlias

from simulators import anthropic, gemini, openai_chat, openai_responses
from simulators.anthropic_thoughts import Facts as AnthropicFacts
from simulators.chat_hosts import OPENAI, Host
from simulators.door import Vendor, refusal_at_the_door, vendor_of
from simulators.gemini import Facts as GeminiFacts
from simulators.openai_responses import Facts as ResponsesFacts
from simulators.refusal import Memory, Refusal
from simulators.saying import Say, Spoken
from simulators.voices_openai import chat_reply, responses_reply
from simulators.voices_others import anthropic_reply, gemini_reply


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong with one answer; every field does its part alone or with others."""

    status: int | None = None
    body: bytes | None = None
    """Sent in place of the reply, as it is."""
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0
    cut_at: int | None = None
    """Break off after this many bytes of the body."""
    cut_by: Literal["hanging up", "falling silent", "resetting"] = "hanging up"
    """At byte 0, those who do not hang up do not even send the head; silence lasts until the
    client leaves."""
    drip_s: float | None = None
    """Seconds to wait after each byte of the body."""


Step: TypeAlias = Say | Fault | tuple[Say, Fault]

SCRIPT_ENDED = Fault(status=500, body=b"script ended")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts by which each simulator judges; the seals are the gateway's own."""

    chat: Host = OPENAI
    responses: ResponsesFacts = field(default_factory=ResponsesFacts)
    anthropic: AnthropicFacts = field(default_factory=AnthropicFacts)
    gemini: GeminiFacts = field(default_factory=GeminiFacts)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came, and how it was refused."""

    vendor: Vendor | None
    path: str
    headers: dict[str, str]
    body: Any
    refusal: Refusal | None


class Gateway:
    """Serves all four protocols at one port, answering from one script."""

    def __init__(
        self, *script: Step, facts: Facts | None = None, ever_after: Step = SCRIPT_ENDED
    ) -> None:
        self.facts = facts or Facts()
        self.lock = threading.Lock()
        self.while_silent: Callable[[], object] = lambda: None
        """Called time and again, by another thread, while an answer keeps silent."""
        self.begin(*script, ever_after=ever_after)

    def begin(self, *script: Step, ever_after: Step = SCRIPT_ENDED) -> None:
        """Forget all that was, and answer from `script`; once it has ended, by `ever_after`."""
        self.script = list(script)
        self.ever_after = ever_after
        self.memory = Memory()
        self.asked: list[Asked] = []

    def __enter__(self) -> Self:
        bound = type("Bound", (_Exchange,), {"served_by": self})
        self._server = _Server(("127.0.0.1", 0), bound)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The root of the gateway, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def refusals(self) -> list[Refusal]:
        """Every refusal so far."""
        return [asked.refusal for asked in self.asked if asked.refusal]

    def next_step(self, body: Any) -> tuple[Say | None, Fault]:
        """Return what is said in answer to `body`, and what goes wrong with it."""
        del body  # here the script alone decides
        match self.script.pop(0) if self.script else self.ever_after:
            case Fault() as fault:
                return None, fault
            case Say() as say:
                return say, Fault()
            case (say, fault):
                return say, fault

    def pause(self, seconds: float) -> bool:
        """Wait, and say whether the gateway still serves."""
        return not self._stopping.wait(seconds)

    def judge(self, vendor: Vendor, body: Any) -> Refusal | None:
        """Return how the simulator of `vendor` refuses `body`."""
        issued = self.memory.issued
        match vendor:
            case "chat":
                return openai_chat.judge(body, replace(self.facts.chat, issued=issued))
            case "responses":
                facts = replace(self.facts.responses, issued=issued)
                return openai_responses.judge(body, facts)
            case "anthropic":
                return anthropic.judge(body, replace(self.facts.anthropic, issued=issued))
            case "gemini":
                return gemini.judge(body, replace(self.facts.gemini, issued=issued))

    def speak(self, vendor: Vendor, say: Say) -> Spoken:
        """Return `say` in the form of `vendor`, its seals remembered."""
        match vendor:
            case "chat":
                return chat_reply(say, self.facts.chat, self.memory)
            case "responses":
                return responses_reply(say, self.memory)
            case "anthropic":
                return anthropic_reply(say, self.memory)
            case "gemini":
                return gemini_reply(say, self.memory)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 256
    """So many may come at once."""


class _Exchange(BaseHTTPRequestHandler):
    served_by: Gateway
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        with suppress(ConnectionError):
            self._serve(raw)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing: the test reads `asked`."""

    def _serve(self, raw: bytes) -> None:
        gateway, vendor = self.served_by, vendor_of(self.path)
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        with gateway.lock:
            refusal = self._refusal(vendor, body)
            if vendor and not refusal:
                say, fault = gateway.next_step(body)
                spoken = gateway.speak(vendor, say) if say else None
        if refusal:
            self._whole(refusal.status, json.dumps(refusal.body).encode())
        elif vendor:
            self._answer(vendor, body, spoken, fault)

    def _refusal(self, vendor: Vendor | None, body: Any) -> Refusal | None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        refusal: Refusal | None = Refusal(status=404, body={"error": "no such path"})
        if vendor:
            refused = refusal_at_the_door(vendor, self.path, headers, body)
            refusal = refused or self.served_by.judge(vendor, body)
        self.served_by.asked.append(
            Asked(vendor=vendor, path=self.path, headers=headers, body=body, refusal=refusal)
        )
        return refusal

    def _answer(self, vendor: Vendor, body: Any, spoken: Spoken | None, fault: Fault) -> None:
        if fault.delay_s:
            self.served_by.pause(fault.delay_s)
        if fault.cut_at == 0 and fault.cut_by != "hanging up":
            self._break_off(fault)
        elif spoken is None or fault.body is not None or fault.status is not None:
            self._faulty(fault.status or 200, fault.body or b"", fault)
        else:
            self._streamed(*_pieces(vendor, self.path, body, spoken), fault)

    def _whole(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _faulty(self, status: int, body: bytes, fault: Fault) -> None:
        self.send_response(status)
        for name, value in fault.headers or (("Content-Type", "application/json"),):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self._send([body], fault, chunked=False)

    def _streamed(self, kind: str, pieces: Iterable[bytes], fault: Fault) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self._send(pieces, fault, chunked=True):
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, pieces: Iterable[bytes], fault: Fault, *, chunked: bool) -> bool:
        """Send `pieces` as the fault would have it; say whether all of it went."""
        left = fault.cut_at
        for piece in _dripping(pieces, fault):
            sent = piece if left is None else piece[:left]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(sent), sent) if chunked and sent else sent)
            self.wfile.flush()
            if left is not None and len(sent) < len(piece):
                self._break_off(fault)
                return False
            left = left if left is None else left - len(sent)
            if fault.drip_s is not None and not self.served_by.pause(fault.drip_s):
                self.close_connection = True
                return False
        if left == 0 and chunked:
            # All has come but the word that this was all.
            self._break_off(fault)
        return left != 0

    def _break_off(self, fault: Fault) -> None:
        self.close_connection = True
        match fault.cut_by:
            case "hanging up":
                pass
            case "falling silent":
                while self.served_by.pause(0.005) and not select([self.connection], [], [], 0)[0]:
                    self.served_by.while_silent()
            case "resetting":
                self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
                self.rfile.close()
                self.connection.close()


def _dripping(pieces: Iterable[bytes], fault: Fault) -> Iterator[bytes]:
    for piece in pieces:
        if fault.drip_s is None:
            yield piece
        else:
            yield from (piece[at : at + 1] for at in range(len(piece)))


def _pieces(vendor: Vendor, path: str, body: Any, spoken: Spoken) -> tuple[str, Iterable[bytes]]:
    """Return the content type and the body in pieces: whole, events, or an array (GEM-3)."""
    streamed = "streamGenerateContent" in path if vendor == "gemini" else body.get("stream")
    if not streamed:
        return "application/json", [json.dumps(spoken.whole).encode()]
    if vendor == "gemini" and "alt=sse" not in path:
        datas = [data for _, data in spoken.events]
        return "application/json", [
            (("[" if at == 0 else ",\r\n") + data).encode() for at, data in enumerate(datas)
        ] + [b"]"]
    return "text/event-stream", spoken.frames()
