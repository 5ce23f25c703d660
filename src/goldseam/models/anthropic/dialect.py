"""The dialect itself: what the router holds of Anthropic Messages."""

from typing import TYPE_CHECKING

from goldseam.kernel.conversation import HistoryItem
from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.request import ModelRequest
from goldseam.models.anthropic.failures import explain_failure
from goldseam.models.anthropic.read import AnthropicReader
from goldseam.models.anthropic.read_back import read_back
from goldseam.models.anthropic.write import BodyWriter
from goldseam.models.dialect import Body, Dialect, FailedReply, Profile, Written


class AnthropicDialect:
    """Anthropic Messages; fits `goldseam.models.dialect.Dialect`."""

    def path(self, profile: Profile) -> str:
        """Return the path below the host's URL, the same for every profile."""
        del profile
        return "/messages"

    def writer(self, profile: Profile) -> BodyWriter:
        """Return a writer for the requests of one run; see `goldseam.models.anthropic.write`."""
        return BodyWriter(profile)

    def write(self, request: ModelRequest, profile: Profile) -> Written:
        """Return the body for `request`, as a new writer does."""
        return self.writer(profile).write(request)

    def reader(self, profile: Profile) -> AnthropicReader:
        """Return a reader for one reply, streamed or whole."""
        return AnthropicReader(profile)

    def read_back(self, body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
        """Return the history that `body` expresses."""
        return read_back(body, profile)

    def explain_failure(self, reply: FailedReply, profile: Profile) -> ModelProviderError:
        """Return what a reply that is no answer means."""
        return explain_failure(reply, profile)


if TYPE_CHECKING:
    _fits: type[Dialect] = AnthropicDialect
