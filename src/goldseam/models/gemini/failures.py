"""Find the parts of an error in each shape that Google gives it; what they mean is common.

A body is `{"error": {code, message, status, details}}`, alone or in an array of one (GEM-18,
GEM-39); the telling codes are deep in `details`.
"""

from collections.abc import Iterator

from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.json_text import Json
from goldseam.models.dialect import FailedReply, Profile
from goldseam.models.failure_words import Refusal, provider_error, read_body, retry_after_s
from goldseam.models.gemini.forms import list_in, text_in, within


def explain_failure(reply: FailedReply, profile: Profile) -> ModelProviderError:
    """Return what a reply that is no answer means (GEM-40 to GEM-44)."""
    body = read_body(reply.body)
    refusal = _refusal(body, status=reply.status, wait_s=retry_after_s(reply.headers, body))
    return provider_error(refusal, profile.host)


def explain_error(body: Json, profile: Profile, *, began: bool) -> ModelProviderError:
    """Return what an error within a reply means (case 137); `began` if parts came before it."""
    code = within(body, "error", "code")
    status = code if isinstance(code, int) and not began else None
    refusal = _refusal(body, status=status, wait_s=retry_after_s({}, body))
    return provider_error(refusal, profile.host)


def _refusal(body: Json, *, status: int | None, wait_s: float | None) -> Refusal:
    only = body[0] if isinstance(body, list) and body else body
    blocked = text_in(only, "promptFeedback", "blockReason")
    # A refused request may hold a reply that the filter ended (case 122).
    codes = ("content_filter",) if blocked else tuple(_codes(within(only, "error")))
    words = (text_in(only, "error", "message"), text_in(only, "error"), text_in(only), blocked)
    text = next(filter(None, words), "")
    return Refusal(status=status, codes=codes, text=text, retry_after_s=wait_s)


def _codes(error: Json) -> Iterator[str]:
    """Yield the reason of an `ErrorInfo`, the quotas used up, the status (GEM-40, GEM-42)."""
    for detail in list_in(error, "details"):
        yield text_in(detail, "reason")
        for violation in list_in(detail, "violations"):
            yield text_in(violation, "quotaId")
    yield text_in(error, "status")
