"""What is sent and what comes back, as values; and the one error of an exchange that failed."""

import ipaddress
import re
from collections.abc import Callable
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from msgspec import Struct

from goldseam.wire.secret import Secret

KEY_HEADERS = frozenset({
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
})
"""Headers whose value must be a `Secret`."""

_KEY_PARAMETERS = re.compile(
    r"(?:.*(?:key|token|secret|password|signature|credential)|auth|authorization|sig|code)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?|[0-9a-f:.]*:[0-9a-f:.]*")
_URL = re.compile(r"[!-~]+")

HeaderValue: TypeAlias = str | Secret

Heard: TypeAlias = Callable[[bytes], None]
"""What takes the pieces of a body as they come."""


class RequestRefusedError(ValueError):
    """The request may not be sent as it is; one line that says why and holds no secret."""


class HttpRequest(Struct, frozen=True, kw_only=True):
    """One request. Building it refuses what must never be sent.

    Raises:
        RequestRefusedError: plain HTTP to another machine, a key in the URL or outside a
            `Secret`, or a URL or header that HTTP cannot carry.
    """

    method: str
    url: str
    headers: tuple[tuple[str, HeaderValue], ...] = ()
    body: bytes = b""

    def __post_init__(self) -> None:
        """Refuse what must never be sent."""
        _refuse_url(self.url)
        for name, value in self.headers:
            _refuse_header(name, value)
        # The URL is shown in errors.
        if any(form in self.url for secret in self.secrets for form in secret.spellings()):
            raise RequestRefusedError("the URL holds the key: a key is sent in a header only")

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets among the headers."""
        return tuple(value for _, value in self.headers if isinstance(value, Secret))

    @property
    def host(self) -> str:
        """Host and port as the URL writes them, for messages."""
        return urlsplit(self.url).netloc

    def __repr__(self) -> str:
        names = ", ".join(name for name, _ in self.headers)
        return f"HttpRequest({self.method} {self.url}, [{names}], {len(self.body)} bytes)"


class HttpReply(Struct, frozen=True, kw_only=True):
    """A reply. `body` is empty where the status is 2xx: its body was heard as it came."""

    status: int
    headers: dict[str, str]
    """Names in lower case; equal names joined by a comma."""
    body: bytes = b""
    body_cut: bool = False
    """Whether the body went on, or broke off."""


class TimeLimits(Struct, frozen=True, kw_only=True):
    """How long to wait, in seconds, each to be met exactly."""

    connect_s: float
    """To be connected: name, TCP, proxy, TLS."""
    first_byte_s: float
    """From being connected to the first byte of the reply's body."""
    idle_s: float
    """Between two pieces of a body; also for the whole body of a reply that is not 2xx."""
    total_s: float
    """For all of it."""


FailedAt: TypeAlias = Literal[
    "connect", "tls", "first_byte", "idle", "total", "broken", "too_large"
]


class TransportError(Exception):
    """No whole reply came. `text` is one line, fit for the person, and holds no secret.

    `sent` says whether the request may have reached the server: then it may have cost something.
    """

    def __init__(self, kind: FailedAt, text: str, *, sent: bool) -> None:
        super().__init__(text)
        self.kind: FailedAt = kind
        self.text = text
        self.sent = sent


def is_loopback(host: str) -> bool:
    """Return whether `host` is this very machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _refuse_url(url: str) -> None:
    if not _URL.fullmatch(url):
        raise RequestRefusedError("the URL is empty, or holds a blank or a character beyond ASCII")
    parts, host = _split(url)
    if "@" in parts.netloc:
        raise RequestRefusedError("the URL holds a user name: a key is sent in a header only")
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _KEY_PARAMETERS.fullmatch(name):
            raise RequestRefusedError(
                f"the URL has the parameter {name!r}: a key is sent in a header only"
            )
    if parts.scheme == "http" and not is_loopback(host):
        raise RequestRefusedError(
            f"plain http:// is for this machine alone: use https:// for {host}"
        )


def _split(url: str) -> tuple[SplitResult, str]:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise RequestRefusedError("the URL has no valid host and port") from error
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise RequestRefusedError("the URL must begin with https:// and a host")
    return parts, host


def _refuse_header(name: str, value: HeaderValue) -> None:
    if not _NAME.fullmatch(name):
        raise RequestRefusedError("a header's name holds a character that HTTP cannot carry")
    if isinstance(value, str) and name.lower() in KEY_HEADERS:
        raise RequestRefusedError(f"the header {name} holds a key: its value must be a Secret")
    if not _VALUE.fullmatch(value.header if isinstance(value, Secret) else value):
        # A key with the line end of its file is the usual case; the value itself is never shown.
        raise RequestRefusedError(
            f"the value of the header {name} has a blank at its end, or a character beyond ASCII"
        )
