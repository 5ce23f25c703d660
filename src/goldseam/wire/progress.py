"""How far one exchange has come, until when it must have come further, and what went wrong if not.

Each stage of the exchange runs in a scope of its own; its deadline moves as the exchange goes on.
"""

import socket
import ssl
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, assert_never

import anyio

from goldseam.wire.message import TimeLimits, TransportError

Stage: TypeAlias = Literal["connect", "first_byte", "idle"]


class Progress:
    """One exchange with `host`, from now on."""

    def __init__(self, host: str, limits: TimeLimits) -> None:
        self._host = host
        self._limits = limits
        self._sent = False
        self._in_tls = False
        self._ends_at = anyio.current_time() + limits.total_s
        self._scope = anyio.CancelScope()
        self._expect("connect", within_s=limits.connect_s)

    def scope(self) -> anyio.CancelScope:
        """Return the scope for the next stage; what it cuts short is `overdue`."""
        self._scope = anyio.CancelScope(deadline=self._deadline)
        return self._scope

    async def trace(self, event: str, known: Mapping[str, Any]) -> None:
        """Hear from the connection how far it is."""
        match event.partition(".")[2]:
            case "connect_tcp.complete":
                self._socket = known["return_value"]
            case "start_tls.started":
                self._in_tls = True
            case "start_tls.complete":
                self._in_tls = False
            case "start_tls.failed":
                # httpcore2 leaves the socket open where a handshake is cancelled.
                with anyio.CancelScope(shield=True):
                    await self._socket.aclose()
            case "send_request_headers.started" if known["request"].method != b"CONNECT":
                self._sent = True
                self._expect("first_byte", within_s=self._limits.first_byte_s)
            case _:
                pass  # the rest tells nothing about time or loss

    def came(self) -> None:
        """Say that a piece of the reply came: the next one has the whole of its time again."""
        self._expect("idle", within_s=self._limits.idle_s)

    def overdue(self) -> TransportError:
        """Return the error of the limit that has passed."""
        host, limits = self._host, self._limits
        if self._deadline == self._ends_at:
            text = f"{host} did not end its reply within {limits.total_s:g} s"
            return TransportError("total", text, sent=self._sent)
        match self._stage:
            case "connect":
                text = f"no connection to {host} within {limits.connect_s:g} s"
            case "first_byte":
                text = f"{host} did not begin its reply within {limits.first_byte_s:g} s"
            case "idle":
                text = f"{host} fell silent for {limits.idle_s:g} s in the middle of its reply"
            case _:
                assert_never(self._stage)
        return TransportError(self._stage, text, sent=self._sent)

    def broken(self, error: Exception) -> TransportError:
        """Return what `error` of the connection means at this stage."""
        if not self._sent:
            text = f"no connection to {self._host}: {_reason(error)}"
            return TransportError("tls" if self._in_tls else "connect", text, sent=False)
        when = "in the middle of" if self._stage == "idle" else "before"
        text = f"the connection to {self._host} broke {when} its reply, or that is not HTTP"
        return TransportError("broken", text, sent=True)

    def _expect(self, stage: Stage, *, within_s: float) -> None:
        self._stage: Stage = stage
        self._deadline = min(self._ends_at, anyio.current_time() + within_s)
        self._scope.deadline = self._deadline


def _reason(error: BaseException) -> str:
    """Return the root of `error` in our words: those of others may hold what was sent."""
    link: BaseException | None = error
    while link is not None:
        match link:
            case ssl.SSLCertVerificationError():
                return f"its certificate is not trusted ({link.verify_message})"
            case ssl.SSLError():
                return "it does not speak TLS"
            case socket.gaierror():
                return "its name is not known"
            case ConnectionRefusedError():
                return "it was refused"
            case BaseExceptionGroup():
                link = link.exceptions[0]
            case _:
                # The connection pool clears `__cause__`, and leaves `__context__`.
                link = link.__cause__ or link.__context__
    return "it was closed"
