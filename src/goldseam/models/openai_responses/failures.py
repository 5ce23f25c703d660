"""What an error of the host means, in each shape this protocol gives it.

Shapes: `{"error": {…}}` of a refused request, the flat and the nested `error` event, and the
`error` of a failed reply (RSP-15).
"""

from msgspec.structs import replace

from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.json_text import Json
from goldseam.models.dialect import FailedReply, Profile
from goldseam.models.failure_bodies import refusal_in
from goldseam.models.failure_words import Refusal, provider_error, read_body, retry_after_s

_IN_COMMON_WORDS = {
    "invalid_prompt": "content_filter",
    "bio_policy": "content_filter",
    "misalignment_policy_violation": "content_filter",
    "image_content_policy_violation": "content_filter",
    "data_residency_mismatch": "invalid_value",
    "invalid_image": "invalid_value",
    "invalid_image_format": "invalid_value",
    "invalid_base64_image": "invalid_value",
    "image_too_large": "invalid_value",
    "image_parse_error": "invalid_value",
    "unsupported_image_media_type": "invalid_value",
}
"""Codes of this protocol alone, as the ones that all dialects share."""


def explain_failure(reply: FailedReply, profile: Profile) -> ModelProviderError:
    """Return what a reply that is no answer means."""
    body = read_body(reply.body)
    wait_s = retry_after_s(reply.headers, body)
    refusal = refusal_in(_with_its_reason(body), status=reply.status, wait_s=wait_s)
    return provider_error(_translated(refusal), profile.host)


def explain_error(error: Json, profile: Profile) -> ModelProviderError:
    """Return what an error means that came inside a reply; what it cost is unknown (case 137)."""
    return provider_error(_translated(refusal_in(error, status=None)), profile.host)


def _with_its_reason(body: Json) -> Json:
    """Return `body` with why it is incomplete: the filter may end a reply by a 400 (case 122)."""
    details = body.get("incomplete_details") if isinstance(body, dict) else None
    return {**body, **details} if isinstance(body, dict) and isinstance(details, dict) else body


def _translated(refusal: Refusal) -> Refusal:
    codes = tuple(_IN_COMMON_WORDS.get(code, code) for code in refusal.codes)
    return replace(refusal, codes=codes)
