"""What the host's errors mean: a status with a body, or an error inside a stream (ANT-32 to 36)."""

import re

from msgspec.structs import replace

from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.json_text import Json
from goldseam.models.dialect import FailedReply, Profile
from goldseam.models.failure_bodies import refusal_in
from goldseam.models.failure_words import provider_error, read_body, retry_after_s
from goldseam.models.json_paths import inner_text

_SPENT = re.compile(r"spend_limit|spend limit|usage limits", re.IGNORECASE)
"""A spent limit comes as an invalid request (ANT-34): only its code or its words tell it."""


def explain_failure(reply: FailedReply, profile: Profile) -> ModelProviderError:
    """Return what a reply that is no answer means; its body may be of any kind (ANT-2)."""
    body = read_body(reply.body)
    wait_s = retry_after_s(reply.headers, body)
    return explain_error(body, profile, status=reply.status, wait_s=wait_s)


def explain_error(
    body: Json, profile: Profile, *, status: int | None = None, wait_s: float | None = None
) -> ModelProviderError:
    """Return what an error body means; `status` is `None` where it came inside a stream."""
    refusal = refusal_in(body, status=status, wait_s=wait_s)
    # The stable code names the cause; the type beside it only its class (ANT-33).
    codes = (inner_text(body, "error", "details", "error_code"), *refusal.codes)
    if any(_SPENT.search(part) for part in (*codes, refusal.text)):
        codes = ("billing_error", *codes)
    return provider_error(replace(refusal, codes=codes), profile.host)
