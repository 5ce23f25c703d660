"""The generateContent protocol as a dialect: all of it under one name."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from goldseam.kernel.conversation import HistoryItem
from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.request import ModelRequest
from goldseam.models.dialect import Body, Dialect, FailedReply, Profile, Written
from goldseam.models.gemini.failures import explain_failure
from goldseam.models.gemini.read import GeminiReader
from goldseam.models.gemini.read_back import read_back
from goldseam.models.gemini.write import RequestWriter


class GeminiDialect:
    """Speaks `generateContent`; fits `goldseam.models.dialect.Dialect`."""

    def path(self, profile: Profile) -> str:
        """Return `/models/…` below a URL that ends in the version (GEM-2) or the publisher."""
        model = profile.model if "/" in profile.model else f"models/{profile.model}"
        verb = "streamGenerateContent?alt=sse" if profile.streams else "generateContent"
        return f"/{quote(model)}:{verb}"

    def writer(self, profile: Profile) -> RequestWriter:
        """Return a writer for the requests of one run (GEM-6 to GEM-33)."""
        return RequestWriter(profile)

    def write(self, request: ModelRequest, profile: Profile) -> Written:
        """Return the body for `request`, as a new writer does."""
        return self.writer(profile).write(request)

    def reader(self, profile: Profile) -> GeminiReader:
        """Return a reader for one reply, streamed or whole (GEM-3, GEM-34 to GEM-38)."""
        return GeminiReader(profile)

    def read_back(self, body: Body, profile: Profile) -> tuple[HistoryItem, ...]:
        """Return the history that `body` expresses."""
        return read_back(body, profile)

    def explain_failure(self, reply: FailedReply, profile: Profile) -> ModelProviderError:
        """Return what a refused request means (GEM-39 to GEM-44)."""
        return explain_failure(reply, profile)


if TYPE_CHECKING:
    _fits: Dialect = GeminiDialect()
