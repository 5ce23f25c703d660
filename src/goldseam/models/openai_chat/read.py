"""Read one reply, streamed or whole: the same pieces in any cutting give the same reply.

Calls are found by what is there, never by the reason the reply ended (XLT-8). Knows no HTTP.
"""

from collections.abc import Mapping

from goldseam.kernel.errors import ActualConsumption, FailureKind, ModelProviderError
from goldseam.kernel.json_text import BadJsonError, Json, read_json
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem, StopReason
from goldseam.models.dialect import Body, Profile, WireEvent
from goldseam.models.failure_words import one_line
from goldseam.models.json_paths import inner_text, objects_in
from goldseam.models.openai_chat.assembly import Calls, Words
from goldseam.models.openai_chat.failures import explain_error
from goldseam.models.openai_chat.usage import usage_of

_STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "eos": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "model_length": "length",
    "content_filter": "filter",
    "sensitive": "filter",
}
"""OAI-25, and what hosts add to it; a reason that is not here is `unknown` (case 121)."""

_BROKEN: Mapping[str, FailureKind] = {
    "error": "server",
    "network_error": "transport",
    "insufficient_system_resource": "overloaded",
}
"""Reasons that are failures of the host: what came before them is no reply."""

_DONE = "[DONE]"


class ChatReader:
    """Eats the events of one reply; fits `goldseam.models.dialect.Reader`."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._model = profile.model
        self._words = Words(profile)
        self._calls = Calls()
        self._counts: Body = {}
        self._reason = ""
        self._is_done = False
        self._is_refusal = False

    def feed(self, event: WireEvent) -> tuple[Delta, ...]:
        """Take one event; see `goldseam.models.dialect.Reader.feed`.

        What is no JSON is a fault of the way, not of the model: it is asked again.
        """
        if event.data.strip() == _DONE:
            self._is_done = True
            return ()
        try:
            value = read_json(event.data)
        except BadJsonError as error:
            words = one_line(event.data, 120)
            raise self._failure(f"sent what is {error}: {words}", "transport") from error
        if event.name == "error" or not isinstance(value, dict) or _is_error(value):
            raise explain_error(value, self._profile)  # case 137, ORT-1
        return self._take(value)

    def finish(self) -> ModelResponse:
        """Return the whole reply; see `goldseam.models.dialect.Reader.finish`."""
        if not (self._is_done or self._reason):
            raise self._failure("ended its stream before the reply did", "transport")
        if self._reason in _BROKEN:
            why = f"broke the reply off ({self._reason})"
            raise self._failure(why, _BROKEN[self._reason])
        calls = self._calls.items(self._profile.origin)
        items: tuple[ReplyItem, ...] = (*self._words.items(), *calls)
        known = self._reason in _STOPS
        told = one_line(f"the reply ended for the reason {self._reason or 'none given'}", 100)
        return ModelResponse(
            items=items,
            stop=self._stop(has_calls=bool(calls)),
            usage=usage_of(self._counts),
            model=self._model,
            remarks=() if known else (Remark(code="reply_noted", text=told),),
        )

    def _take(self, value: Body) -> tuple[Delta, ...]:
        self._model = inner_text(value, "model") or self._model
        self._count(value.get("usage"))
        shown = list[Delta]()
        for choice in objects_in(value.get("choices")):
            if choice.get("index", 0) == 0:
                shown += self._take_choice(choice)
        return tuple(shown)

    def _take_choice(self, choice: Body) -> list[Delta]:
        if choice.get("error"):
            raise explain_error(choice, self._profile)
        self._count(choice.get("usage"))
        self._reason = inner_text(choice, "finish_reason") or self._reason
        shown = list[Delta]()
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict):
            shown += self._take_piece(delta, is_whole=False)
        if isinstance(message, dict):
            self._is_done = True
            shown += self._take_piece(message, is_whole=True)
        return shown

    def _take_piece(self, piece: Body, *, is_whole: bool) -> tuple[Delta, ...]:
        self._is_refusal |= bool(piece.get("refusal"))
        shown = list(self._words.add(piece, is_whole=is_whole))
        for number, call in enumerate(objects_in(piece.get("tool_calls"))):
            # In a whole message the place of a call tells it apart, whatever else it says.
            shown += self._calls.add({**call, "index": number} if is_whole else call)
        return tuple(shown)

    def _count(self, counts: Json) -> None:
        """A later count takes the place of an earlier one, whatever chunk it is on (case 124)."""
        self._counts |= counts if isinstance(counts, dict) else {}

    def _stop(self, *, has_calls: bool) -> StopReason:
        stop = _STOPS.get(self._reason, "unknown")
        if self._is_refusal or stop == "filter":
            return "filter"
        if self._calls.has_cut:
            return "length"
        return "tool_calls" if has_calls and stop == "end" else stop

    def _failure(self, what: str, kind: FailureKind) -> ModelProviderError:
        usage = usage_of(self._counts)
        return ModelProviderError(
            f"{self._profile.host} {what}; it is asked again",
            kind=kind,
            retryable=True,
            consumption=ActualConsumption(usage=usage) if usage.total is not None else None,
        )


def _is_error(value: Body) -> bool:
    """Whether an object is an error, or at least no part of a reply."""
    if value.get("error") or value.get("object") == "error":
        return True
    return "choices" not in value and bool(value.get("message") or value.get("detail"))
