"""What a dialect is: one vendor's wire protocol, written and read. All of it pure.

A dialect sees a neutral request and a `Profile`, which is data from the catalog; it never sees a
socket, a clock, a key, or another dialect. What several need alike is in `fitting` and `schemas`.
"""

import json
from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from goldseam.kernel.conversation import HistoryItem
from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.json_text import Json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelRequest, ModelResponse, Remark

Body: TypeAlias = dict[str, Json]

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class IdRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which call ids a host takes: characters of `alphabet` (a regular expression class)."""

    alphabet: str = "[A-Za-z0-9_-]"
    longest: int = 40
    exactly: int | None = None


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of one model at one host. Every field is a fact of data, none is guessed."""

    host: str
    model: str
    seal_scope: str
    """Seals of this scope and this model are replayed here; all others stay out (XLT-3)."""
    ids: IdRule = IdRule()
    system_role: Literal["system", "developer"] = "system"
    output_limit_field: str = "max_completion_tokens"
    reasoning_field: str | None = None
    """The field of plain reasoning that the host gives and wants back (DSK-1, KIM-1)."""
    echoes_reasoning: Literal["never", "with_calls", "always"] = "never"
    bridges_user_after_tool: bool = False
    """Whether a user message may not follow a tool message (MIS-2)."""
    merges_same_role: bool = False
    names_tool_in_result: bool = False
    strict_schemas: bool = False
    schema_field: Literal["parameters", "parametersJsonSchema"] = "parameters"
    streams: bool = True
    streams_usage: bool = True
    takes_images: bool = False
    requires_signatures: bool = False
    """Whether the first call of each step needs a thought signature (GEM-21)."""
    thinking: bool = False
    effort: Effort | None = None
    temperature: float | None = None
    caches: bool = False
    """Whether the request carries cache marks, or a cache key."""
    version: str = ""
    """The protocol version that is announced, where there is one (ANT-1)."""

    @property
    def origin(self) -> str:
        """The origin written on seals that come from here."""
        return f"{self.seal_scope}:{self.model}"


class Written(Struct, frozen=True, kw_only=True):
    """A body as it goes out, UTF-8 JSON, and every loss that writing it brought."""

    encoded: bytes
    losses: tuple[Remark, ...] = ()

    @property
    def body(self) -> Body:
        """The body as who gets it reads it, read anew each time."""
        body: Body = json.loads(self.encoded)
        return body


class Writer(Protocol):
    """Writes the requests of one run, each at the cost of what is new in it."""

    def write(self, request: ModelRequest) -> Written:
        """Return the body for `request`, which is the same whatever was written before it.

        Raises nothing for what a history can hold.
        """
        ...


class WireEvent(Struct, frozen=True, kw_only=True):
    """One server-sent event, one element of a streamed array, or one whole body (`name` empty)."""

    data: str
    name: str = ""


class FailedReply(Struct, frozen=True, kw_only=True):
    """A reply of the host that is no answer: status, headers in lower case, body (may be cut)."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Reader(Protocol):
    """Eats the events of one reply."""

    def feed(self, event: WireEvent) -> tuple[Delta, ...]:
        """Take one event and return what the eye may see of it.

        Raises:
            ModelProviderError: the event is an error of the host.
            InvalidModelOutputError: the event breaks the protocol.
        """
        ...

    def finish(self) -> ModelResponse:
        """Return the whole reply, once its stream has ended.

        Raises:
            ModelProviderError: the stream ended before the reply did (kind `transport`).
            InvalidModelOutputError: what came is no reply.
        """
        ...


class Dialect(Protocol):
    """One wire protocol."""

    def path(self, profile: Profile) -> str:
        """Return the path and query below the host's URL."""
        ...

    def writer(self, profile: Profile) -> Writer:
        """Return a writer for the requests of one run."""
        ...

    def write(self, request: ModelRequest, profile: Profile) -> Written:
        """Return the body for `request`, as a new writer does."""
        ...

    def reader(self, profile: Profile) -> Reader:
        """Return a reader for one reply, streamed or whole."""
        ...

    def read_back(self, body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
        """Return the history that `body` expresses, ids as they stand in it."""
        ...

    def explain_failure(self, reply: FailedReply, profile: Profile) -> ModelProviderError:
        """Return what a reply that is no answer means; structured codes first, text last."""
        ...
