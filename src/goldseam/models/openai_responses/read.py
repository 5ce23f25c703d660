"""Read one reply, streamed or whole, into what the kernel knows.

A reply that was cut, filtered or refused says so by its stop reason, whatever its items look like.
What cannot be read is remarked, never dropped in silence.
"""

from collections.abc import Iterator
from typing import assert_never

from goldseam.kernel.conversation import Message, Reasoning, ToolCall, arguments_from_text
from goldseam.kernel.errors import ActualConsumption, FailureKind, ModelProviderError
from goldseam.kernel.json_text import BadJsonError, Json, read_json, write_json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem, StopReason, TokenUsage
from goldseam.models.dialect import Profile, WireEvent
from goldseam.models.failure_words import one_line
from goldseam.models.json_paths import inner_count, inner_text
from goldseam.models.leaks import is_unclosed
from goldseam.models.openai_responses.assembly import Assembly, Item
from goldseam.models.openai_responses.failures import explain_error
from goldseam.models.openai_responses.forms import PHASE, seals_of, thought_of

_LONGEST_QUOTE = 120
_UNKNOWN = TokenUsage()


class ResponsesReader:
    """Reads one reply of the model that `profile` describes (RSP-14 to RSP-16)."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._assembly = Assembly()
        self._reply: ModelResponse | None = None

    def feed(self, event: WireEvent) -> tuple[Delta, ...]:
        """Take one event, or the whole body; see `goldseam.models.dialect.Reader.feed`.

        What is no JSON is a fault of the way, not of the model: it is asked again.
        """
        if self._reply is not None or event.data.strip() == "[DONE]":
            return ()
        try:
            value = read_json(event.data)
        except BadJsonError as error:
            quote = one_line(event.data, _LONGEST_QUOTE)
            raise self._failure(f"sent what is {error}: {quote}", "transport") from error
        name = inner_text(value, "type") or event.name
        if not isinstance(value, dict) or name == "error":
            raise explain_error(value, self._profile)
        if not name:
            self._reply = self._read(value)
            return tuple(_shown(self._reply))
        deltas = self._assembly.take(name, value)
        if self._assembly.body is not None:
            self._reply = self._read(self._assembly.body)
        return deltas

    def finish(self) -> ModelResponse:
        """Return the whole reply; see `goldseam.models.dialect.Reader.finish`."""
        if self._reply is None:
            raise self._failure("ended its stream before the reply did", "transport")
        return self._reply

    def _read(self, body: Item) -> ModelResponse:
        error, output = body.get("error"), body.get("output")
        usage = _usage(body.get("usage"))
        if error:
            raise explain_error(body, self._profile)
        if not isinstance(output, list):
            raise self._failure("sent what is no reply", "server", usage)
        if inner_text(body, "status") in {"failed", "cancelled"}:
            raise self._failure("gave up the reply", "server", usage)
        reading = _Reading(self._profile.origin)
        for place, item in enumerate(output, start=1):
            reading.take(item, f"output item {place}")
        for name in self._assembly.unknown:
            reading.remark("unknown_event", f"events {name!r} were left out")
        return ModelResponse(
            items=tuple(reading.items),
            stop=_stop(body, reading),
            usage=usage,
            model=inner_text(body, "model") or self._profile.model,
            remarks=tuple(reading.remarks),
        )

    def _failure(
        self, what: str, kind: FailureKind, usage: TokenUsage = _UNKNOWN
    ) -> ModelProviderError:
        return ModelProviderError(
            f"{self._profile.host} {what}; it is asked again",
            kind=kind,
            retryable=True,
            consumption=None if usage.total is None else ActualConsumption(usage=usage),
        )


class _Reading:
    """What the output items of one reply come to."""

    def __init__(self, origin: str) -> None:
        self.items: list[ReplyItem] = []
        self.remarks: list[Remark] = []
        self.is_refused = False
        self.is_cut = False
        self._origin = origin

    def remark(self, code: str, text: str) -> None:
        self.remarks.append(Remark(code=code, text=one_line(text)))

    def take(self, item: Json, where: str) -> None:
        item = item if isinstance(item, dict) else {}
        match item:
            case {"type": "message", "content": list(content)}:
                text = "".join(self._words(part, where) for part in content)
                seals = seals_of(self._origin, item, PHASE)
                self.items.append(Message(role="assistant", text=text, seals=seals))
            case {"type": "function_call", "name": str(name)}:
                self.items.append(self._call(name, item))
            case {"type": "reasoning"}:
                self.items.append(thought_of(item, self._origin))
            case {"type": str(kind)}:
                self.remark("unknown_item", f"{where} of type {kind!r} was left out")
            case _:
                self.remark("unknown_item", f"{where} has no type that is known")

    def _words(self, part: Json, where: str) -> str:
        match part:
            case {"type": "output_text", "text": str(text)}:
                return text
            case {"type": "refusal", "refusal": str(text)}:
                self.is_refused = True
                return text
            case _:
                self.remark("unknown_part", f"a part of {where} is no text and was left out")
                return ""

    def _call(self, name: str, item: Item) -> ToolCall:
        arguments = item.get("arguments")
        raw = arguments if isinstance(arguments, str) else write_json(arguments)
        raw = "" if raw == "null" else raw  # case 103
        self.is_cut |= is_unclosed(raw) or item.get("status") == "incomplete"
        return ToolCall(
            call_id=inner_text(item, "call_id"),
            tool_name=name,
            arguments=arguments_from_text(raw),
        )


def _stop(body: Item, reading: _Reading) -> StopReason:
    reason = inner_text(body, "incomplete_details", "reason")
    if reading.is_refused or reason == "content_filter":
        return "filter"
    if reading.is_cut or reason == "max_output_tokens":
        return "length"
    if reason or inner_text(body, "status") not in {"completed", ""}:
        return "unknown"
    return "tool_calls" if any(isinstance(item, ToolCall) for item in reading.items) else "end"


def _usage(value: Json) -> TokenUsage:
    """Return the tokens; what the cache gave or took is within the input as reported (RSP-16)."""
    whole = inner_count(value, "input_tokens")
    read = inner_count(value, "input_tokens_details", "cached_tokens")
    written = inner_count(value, "input_tokens_details", "cache_write_tokens")
    return TokenUsage(
        input=None if whole is None else max(whole - (read or 0) - (written or 0), 0),
        output=inner_count(value, "output_tokens"),
        cache_read=read,
        cache_write=written,
        reasoning=inner_count(value, "output_tokens_details", "reasoning_tokens"),
    )


def _shown(reply: ModelResponse) -> Iterator[Delta]:
    for item in reply.items:
        match item:
            case Message(text=text):
                yield Delta(kind="text", text=text)
            case Reasoning(text=str(text)):
                yield Delta(kind="thought", text=text)
            case ToolCall(tool_name=name):
                yield Delta(kind="tool_call", text=name)
            case Reasoning():
                continue
            case _:
                assert_never(item)
