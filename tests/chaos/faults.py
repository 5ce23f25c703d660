"""Each kind of failure as each vendor shows it: what comes in place of a reply, for ever after."""

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from models.endpoints import Endpoint
from msgspec import Struct
from simulators import anthropic_thoughts as anthropic
from simulators import gemini_tools as gemini
from simulators.gateway import Fault, Step
from simulators.saying import Say

from goldseam.kernel.errors import FailureKind

CUT_AT = 200
"""Within the body of any streamed reply, behind its first words."""


class Kind(Struct, frozen=True, kw_only=True):
    """One kind of failure."""

    name: str
    means: FailureKind | Literal["invalid_output"]
    step: Callable[[Endpoint, Say], Step]
    """How an endpoint fails that would have said this."""


Words: TypeAlias = tuple[int, str, str]
"""A refusal: its status, its code and its words."""


def _refused(
    openai: Words, claude: Words, google: Words, *, wait_s: int | None = None, quota: str = ""
) -> Callable[[Endpoint, Say], Step]:
    """Return how each vendor refuses; Google names waits and quotas in its body (GEM-42)."""

    def step(endpoint: Endpoint, say: Say) -> Step:
        del say
        headers = [("Content-Type", "application/json")]
        match endpoint.vendor:
            case "chat" | "responses":
                status, code, text = openai
                refusal = endpoint.host.voice(status, text, code, code, None)
            case "anthropic":
                status, code, text = claude
                refusal = anthropic.refuse(text, status=status, kind=code)
            case "gemini":
                status, code, text = google
                details = [*_details(wait_s, quota)]
                refusal = gemini.refuse(text, status=status, kind=code, details=details)
        if wait_s is not None and endpoint.vendor != "gemini":
            headers.append(("Retry-After", str(wait_s)))
        body = json.dumps(refusal.body).encode()
        return Fault(status=refusal.status, body=body, headers=tuple(headers))

    return step


def _details(wait_s: int | None, quota: str) -> Iterator[dict[str, Any]]:
    kind = "type.googleapis.com/google.rpc"
    if quota:
        yield {"@type": f"{kind}.QuotaFailure", "violations": [{"quotaId": quota}]}
    if wait_s is not None:
        yield {"@type": f"{kind}.RetryInfo", "retryDelay": f"{wait_s}.000000001s"}


_BUSY = (
    (429, "rate_limit_exceeded", "Rate limit reached for requests."),
    (429, "rate_limit_error", "This request would exceed your rate limit."),
    (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
)


def _filtered(endpoint: Endpoint, say: Say) -> Step:
    del say
    body: Any
    match endpoint.vendor:
        case "chat" | "responses":
            refusal = endpoint.host.voice(
                400, "The response was filtered.", "content_filter", "content_filter", None
            )
            return Fault(status=400, body=json.dumps(refusal.body).encode())
        case "anthropic":
            usage = {"input_tokens": 40, "output_tokens": 20, "cache_read_input_tokens": 60}
            body = {
                "type": "message",
                "role": "assistant",
                "content": [],
                "stop_reason": "refusal",
                "usage": usage,
            }
        case "gemini":
            counts = {"promptTokenCount": 100, "cachedContentTokenCount": 60}
            counts |= {"candidatesTokenCount": 20, "totalTokenCount": 120}
            body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": counts}
    return Fault(body=json.dumps(body).encode())


def _useless(endpoint: Endpoint, say: Say) -> Step:
    del say
    return Say(text="I would rather talk.") if endpoint.speaks_json_text else Say()


KINDS = (
    Kind(
        name="auth",
        means="auth",
        step=_refused(
            (401, "invalid_api_key", "Incorrect API key provided."),
            (401, "authentication_error", "invalid x-api-key"),
            (403, "PERMISSION_DENIED", "The caller does not have permission"),
        ),
    ),
    Kind(
        name="quota",
        means="quota",
        step=_refused(
            (429, "insufficient_quota", "You exceeded your current quota."),
            (400, "invalid_request_error", "Your credit balance is too low."),
            (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
            quota="GenerateRequestsPerDayPerProjectPerModel",
        ),
    ),
    Kind(name="busy, names 600 s", means="rate_limited", step=_refused(*_BUSY, wait_s=600)),
    Kind(name="busy, names 2 s", means="rate_limited", step=_refused(*_BUSY, wait_s=2)),
    Kind(name="busy", means="rate_limited", step=_refused(*_BUSY)),
    Kind(
        name="overloaded",
        means="overloaded",
        step=_refused(
            (503, "server_is_overloaded", "The server is overloaded."),
            (529, "overloaded_error", "Overloaded"),
            (503, "UNAVAILABLE", "The model is overloaded."),
        ),
    ),
    Kind(
        name="no first byte",
        means="timeout",
        step=lambda _, say: (say, Fault(cut_at=0, cut_by="falling silent")),
    ),
    Kind(
        name="falls silent",
        means="timeout",
        step=lambda _, say: (say, Fault(cut_at=CUT_AT, cut_by="falling silent")),
    ),
    Kind(
        name="resets",
        means="transport",
        step=lambda _, say: (say, Fault(cut_at=0, cut_by="resetting")),
    ),
    Kind(name="cut", means="transport", step=lambda _, say: (say, Fault(cut_at=CUT_AT))),
    Kind(
        name="server",
        means="server",
        step=_refused(
            (500, "server_error", "The server had an error."),
            (500, "api_error", "Internal server error"),
            (500, "INTERNAL", "An internal error has occurred."),
        ),
    ),
    Kind(
        name="overflow",
        means="context_overflow",
        step=_refused(
            (400, "context_length_exceeded", "This model's maximum context length is 8 tokens."),
            (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            (400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum (8)."),
        ),
    ),
    Kind(name="filter", means="refused", step=_filtered),
    Kind(name="useless", means="invalid_output", step=_useless),
    Kind(
        name="structural",
        means="structural",
        step=_refused(
            (400, "invalid_value", "Invalid value: 'messages[3].content'."),
            (400, "invalid_request_error", "messages.3.content: Field required"),
            (400, "INVALID_ARGUMENT", "Unknown name at 'contents[3]': Cannot find field."),
        ),
    ),
)
