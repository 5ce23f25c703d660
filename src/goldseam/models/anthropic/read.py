"""Read one reply, streamed or whole: the same events in any cutting give the same reply (ANT-31).

Calls are found by their blocks, never by the reason the reply ended for. Knows no HTTP.
"""

from collections.abc import Mapping

from goldseam.kernel.errors import ActualConsumption, InvalidModelOutputError, ModelProviderError
from goldseam.kernel.json_text import BadJsonError, Json, read_json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, Remark, StopReason, TokenUsage
from goldseam.models.anthropic.assemble import Assembler
from goldseam.models.anthropic.failures import explain_error
from goldseam.models.dialect import Profile, WireEvent
from goldseam.models.json_paths import inner_count, inner_text

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "pause_turn": "pause",
    "refusal": "filter",
}
"""ANT-28; a reason that is not here is `unknown`, and its name goes on record (case 121)."""

_WINDOW_FULL = "model_context_window_exceeded"
_MAX_EXCERPT = 300


class AnthropicReader:
    """Eats the events of one reply; fits `goldseam.models.dialect.Reader`."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._assembler = Assembler(profile.origin)
        self._model = profile.model
        self._counts: dict[str, Json] = {}
        self._reason: str | None = None
        self._is_complete = False
        self._strange: dict[str, None] = {}

    def feed(self, event: WireEvent) -> tuple[Delta, ...]:
        """Take one event; see `goldseam.models.dialect.Reader.feed`."""
        try:
            value = read_json(event.data)
        except BadJsonError as error:
            raise self._breach(f"the host sent what is {error}", event.data) from error
        if not isinstance(value, dict):
            raise self._breach("the host sent what is no JSON object", event.data)
        kind = value.get("type")
        if kind == "error" or (kind is None and "error" in value):
            raise explain_error(value, self._profile)  # ANT-32, case 137
        if kind == "message":
            return self._take_whole(value)
        if kind in {"content_block_start", "content_block_delta", "content_block_stop"}:
            return self._take_block(value, event)
        self._take_rest(value)
        return ()

    def finish(self) -> ModelResponse:
        """Return the whole reply; see `goldseam.models.dialect.Reader.finish`."""
        if not self._is_complete:
            raise ModelProviderError(
                f"{self._profile.host} ended its stream before the reply did",
                kind="transport",
                retryable=True,
            )
        usage = usage_of(self._counts)
        if self._reason == _WINDOW_FULL:
            raise ModelProviderError(
                f"{self._profile.host}: the conversation filled the model's context window; "
                "make it shorter or choose a model with a larger one",
                kind="context_overflow",
                consumption=ActualConsumption(usage=usage),
            )
        stop = _STOPS.get(self._reason or "", "unknown")
        if self._assembler.has_cut_call and stop != "filter":
            stop = "length"
        return ModelResponse(
            items=self._assembler.items(),
            stop=stop,
            usage=usage,
            model=self._model,
            remarks=self._remarks(),
        )

    def _take_rest(self, value: dict[str, Json]) -> None:
        match value.get("type"):
            case "message_start":
                message = _object(value.get("message"))
                self._model = inner_text(message, "model") or self._model
                # The output it counts is what was there at the start, which is no total.
                self._take_counts(_object(message.get("usage")), leave_out="output")
            case "message_delta":
                self._take_end(_object(value.get("delta")))
                self._take_counts(_object(value.get("usage")))
            case "message_stop":
                self._is_complete = True
            case "ping":
                pass
            case other:
                self._strange[f"an event of the type {str(other)[:60]!r} is not known"] = None

    def _take_whole(self, body: dict[str, Json]) -> tuple[Delta, ...]:
        self._model = inner_text(body, "model") or self._model
        self._take_counts(_object(body.get("usage")))
        self._take_end(body)
        self._is_complete = True
        shown = list[Delta]()
        blocks = body.get("content")
        for index, block in enumerate(blocks if isinstance(blocks, list) else []):
            shown += self._assembler.start(index, _object(block))
            self._assembler.close(index)
        return tuple(shown)

    def _take_block(self, value: dict[str, Json], event: WireEvent) -> tuple[Delta, ...]:
        match value:
            case {"type": "content_block_start", "index": int(index), "content_block": dict(start)}:
                return self._assembler.start(index, start)
            case {"index": int(index)} if not self._assembler.has(index):
                raise self._breach("a piece came for a block that was never opened", event.data)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                return self._assembler.add(index, delta)
            case {"type": "content_block_stop", "index": int(index)}:
                self._assembler.close(index)
                return ()
            case _:
                raise self._breach("an event for a block lacks a part", event.data)

    def _take_end(self, delta: dict[str, Json]) -> None:
        self._reason = inner_text(delta, "stop_reason") or self._reason
        if category := inner_text(delta, "stop_details", "category"):
            self._strange[f"refused as {category[:60]!r}"] = None

    def _take_counts(self, counts: dict[str, Json], *, leave_out: str | None = None) -> None:
        """A later count replaces an earlier one: they grow over the stream (ANT-30)."""
        for name, count in counts.items():
            if count is not None and not (leave_out and name.startswith(leave_out)):
                self._counts[name] = count

    def _remarks(self) -> tuple[Remark, ...]:
        strange = dict(self._strange)
        if self._reason not in _STOPS:
            strange[f"the reply ended for the reason {(self._reason or 'none given')[:60]!r}"] = (
                None
            )
        told = tuple(Remark(code="reply_noted", text=text) for text in strange)
        return (*self._assembler.remarks(), *told)

    def _breach(self, why: str, excerpt: str) -> InvalidModelOutputError:
        return InvalidModelOutputError(
            f"{self._profile.host}: {why}",
            excerpt=excerpt[:_MAX_EXCERPT],
            usage=usage_of(self._counts),
        )


def usage_of(counts: dict[str, Json]) -> TokenUsage:
    """Return the counts of one reply; what is not given is unknown, never 0 (ANT-30, case 125)."""
    return TokenUsage(
        input=inner_count(counts, "input_tokens"),
        output=inner_count(counts, "output_tokens"),
        cache_read=inner_count(counts, "cache_read_input_tokens"),
        cache_write=inner_count(counts, "cache_creation_input_tokens"),
        reasoning=inner_count(counts, "output_tokens_details", "thinking_tokens"),
    )


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
