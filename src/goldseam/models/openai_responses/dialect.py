"""The dialect itself: what the router holds of the Responses protocol."""

from typing import TYPE_CHECKING

from goldseam.kernel.conversation import HistoryItem
from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.request import ModelRequest
from goldseam.models.dialect import Body, Dialect, FailedReply, Profile, Written
from goldseam.models.openai_responses.failures import explain_failure
from goldseam.models.openai_responses.read import ResponsesReader
from goldseam.models.openai_responses.read_back import read_back
from goldseam.models.openai_responses.write import RequestWriter


class ResponsesDialect:
    """OpenAI Responses; fits `goldseam.models.dialect.Dialect`."""

    def path(self, profile: Profile) -> str:
        """Return the path below the host's URL, the same for every profile."""
        del profile
        return "/responses"

    def writer(self, profile: Profile) -> RequestWriter:
        """Return a writer for the requests of one run."""
        return RequestWriter(profile)

    def write(self, request: ModelRequest, profile: Profile) -> Written:
        """Return the body for `request`, as a new writer does."""
        return self.writer(profile).write(request)

    def reader(self, profile: Profile) -> ResponsesReader:
        """Return a reader for one reply, streamed or whole."""
        return ResponsesReader(profile)

    def read_back(self, body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
        """Return the history that `body` expresses."""
        return read_back(body, profile)

    def explain_failure(self, reply: FailedReply, profile: Profile) -> ModelProviderError:
        """Return what a reply that is no answer means."""
        return explain_failure(reply, profile)


if TYPE_CHECKING:
    _fits: type[Dialect] = ResponsesDialect
