"""The generateContent protocol as a dialect: five pure functions under one name."""

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
    """Speaks `generateContent`; fits `goldseam.models.dialect.Dialect`.

    It remembers what it wrote last, so that the next request of the same run costs what is new;
    no answer turns on it.
    """

    def __init__(self) -> None:
        self._writer: RequestWriter | None = None

    def path(self, profile: Profile) -> str:
        """Return `/models/…` below a URL that ends in the version (GEM-2) or the publisher."""
        model = profile.model if "/" in profile.model else f"models/{profile.model}"
        verb = "streamGenerateContent?alt=sse" if profile.streams else "generateContent"
        return f"/{quote(model)}:{verb}"

    def write(self, request: ModelRequest, profile: Profile) -> Written:
        """Return the body that asks `request` (GEM-6 to GEM-33)."""
        if self._writer is None or self._writer.profile != profile:
            self._writer = RequestWriter(profile)
        return self._writer.write(request)

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
