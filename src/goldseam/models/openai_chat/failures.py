"""What an error of a host means, whatever shape of body it chose (OAI-29 to 33, and section 5)."""

from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.json_text import Json
from goldseam.models.dialect import FailedReply, Profile
from goldseam.models.failure_bodies import refusal_in
from goldseam.models.failure_words import provider_error, read_body, retry_after_s


def explain_failure(reply: FailedReply, profile: Profile) -> ModelProviderError:
    """Return what a reply that is no answer means; a filter may show as a completion (case 122)."""
    body = read_body(reply.body)
    wait = retry_after_s(reply.headers, body)
    return provider_error(refusal_in(body, status=reply.status, wait_s=wait), profile.host)


def explain_error(body: Json, profile: Profile) -> ModelProviderError:
    """Return what an error that came inside a reply means; what it cost is unknown (case 137)."""
    return provider_error(refusal_in(body, status=None), profile.host)
