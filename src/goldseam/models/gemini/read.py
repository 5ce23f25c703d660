"""Read one reply, streamed or whole: the same events in any cutting give the same reply.

A call is found by its part, never by the reason the reply ended (GEM-34). Knows no HTTP.
"""

from collections.abc import Iterable, Mapping

from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.errors import ActualConsumption, InvalidModelOutputError, ModelProviderError
from goldseam.kernel.json_text import BadJsonError, Json, read_json, write_json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem, StopReason, TokenUsage
from goldseam.models.dialect import Profile, WireEvent
from goldseam.models.failure_words import one_line
from goldseam.models.gemini.assemble import Assembler
from goldseam.models.gemini.failures import explain_error
from goldseam.models.gemini.forms import list_in, text_in, within

_REASONS: Mapping[StopReason, str] = {
    "end": "STOP",
    "length": "MAX_TOKENS CONTINUATION",
    "filter": "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII ESCALATION"
    " PUP_LIMITED_DISABLED MODEL_ARMOR IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION",
    "malformed_call": "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS",
}
_STOPS = {reason: stop for stop, reasons in _REASONS.items() for reason in reasons.split()}
"""GEM-35; a reason that is not here is `unknown`, and its name goes on record."""

_MAX_EXCERPT = 300


class GeminiReader:
    """Eats the events of one reply; fits `goldseam.models.dialect.Reader`."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._assembler = Assembler(profile.origin)
        self._model = profile.model
        self._counts: dict[str, Json] = {}
        self._has_parts = False
        self._blocked = ""
        self._reason = ""
        self._reason_text = ""

    def feed(self, event: WireEvent) -> tuple[Delta, ...]:
        """Take one event; see `goldseam.models.dialect.Reader.feed`."""
        try:
            value = read_json(event.data)
        except BadJsonError as error:
            raise self._no_reply(f"what the host sent is {error}", event.data) from error
        # A body may come whole as an array: of the streamed replies, or of one error (GEM-18).
        found = list[Delta]()
        for body in value if isinstance(value, list) else [value]:
            if not isinstance(body, dict):
                raise self._no_reply("what the host sent is no JSON object", event.data)
            found += self._take(body)
        return tuple(found)

    def finish(self) -> ModelResponse:
        """Return the whole reply; see `goldseam.models.dialect.Reader.finish`."""
        if not self._reason:
            raise self._unfinished()
        if self._reason == "MISSING_THOUGHT_SIGNATURE":
            raise ModelProviderError(
                f"{self._profile.host} misses a thought signature in the request",
                kind="structural",
                consumption=ActualConsumption(usage=usage_of(self._counts)),
            )
        items, remarks = self._assembler.whole()
        return ModelResponse(
            items=items,
            stop=_stop(self._reason, items),
            usage=usage_of(self._counts),
            model=self._model,
            remarks=(*remarks, *self._reason_remarks()),
        )

    def _take(self, body: dict[str, Json]) -> Iterable[Delta]:
        if body.get("error"):
            raise explain_error(body, self._profile, began=self._has_parts)
        # Counts are of the reply so far: what a later event says takes the place (case 124).
        counts = within(body, "usageMetadata")
        self._counts |= counts if isinstance(counts, dict) else {}
        self._model = text_in(body, "modelVersion") or self._model
        self._blocked = text_in(body, "promptFeedback", "blockReason") or self._blocked
        candidate = within(body, "candidates", 0)
        self._reason = text_in(candidate, "finishReason") or self._reason
        self._reason_text = text_in(candidate, "finishMessage") or self._reason_text
        parts = list_in(candidate, "content", "parts")
        return [delta for part in parts for delta in self._take_part(part)]

    def _take_part(self, part: Json) -> tuple[Delta, ...]:
        self._has_parts = True
        match part:
            # GEM-45: better a clear failure than a call with half its arguments.
            case {"functionCall": {"partialArgs": _} | {"willContinue": True}}:
                raise ModelProviderError(
                    f"{self._profile.host} streams the arguments of a call in pieces, which is not "
                    "read: streamFunctionCallArguments must be off",
                    kind="structural",
                )
            case dict():
                return self._assembler.add(part)
            case _:
                raise self._no_reply("a part of the reply is no JSON object", write_json(part))

    def _unfinished(self) -> ModelProviderError:
        host, counts = self._profile.host, self._counts
        if not self._blocked:
            return ModelProviderError(
                f"the reply of {host} broke off before its end", kind="transport", retryable=True
            )
        return ModelProviderError(
            f"{host} refused the prompt ({one_line(self._blocked)}); asking the same again will "
            "not help",
            kind="refused",
            consumption=ActualConsumption(usage=usage_of(counts)),
        )

    def _reason_remarks(self) -> tuple[Remark, ...]:
        if self._reason in {"STOP", "MAX_TOKENS"}:
            return ()
        return (Remark(code="stop_reason", text=one_line(f"{self._reason} {self._reason_text}")),)

    def _no_reply(self, why: str, excerpt: str) -> InvalidModelOutputError:
        usage = usage_of(self._counts)
        return InvalidModelOutputError(why, excerpt=excerpt[:_MAX_EXCERPT], usage=usage)


def usage_of(counts: Mapping[str, Json]) -> TokenUsage:
    """Return what `usageMetadata` counts: its input includes the cached, its output lacks thoughts.

    Where the answer's own count is missing it is what the total leaves over (GEM-38).
    """
    prompt, cached, thoughts = (
        _count(counts, f"{name}TokenCount") for name in ("prompt", "cachedContent", "thoughts")
    )
    answer, total = _count(counts, "candidatesTokenCount"), _count(counts, "totalTokenCount")
    tools = _count(counts, "toolUsePromptTokenCount")
    asked = None if prompt is None else prompt + (tools or 0)
    if answer is not None:
        output: int | None = answer + (thoughts or 0)
    elif total is not None and asked is not None:
        output = max(total - asked, 0)
    else:
        output = None
    return TokenUsage(
        input=None if asked is None else max(asked - (cached or 0), 0),
        output=output,
        cache_read=cached,
        reasoning=thoughts,
    )


def _count(counts: Mapping[str, Json], name: str) -> int | None:
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _stop(reason: str, items: tuple[ReplyItem, ...]) -> StopReason:
    if reason == "STOP" and any(isinstance(item, ToolCall) for item in items):
        return "tool_calls"
    return _STOPS.get(reason, "unknown")
