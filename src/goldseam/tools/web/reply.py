"""What fetching gives, and the port behind which it is done. Loads nothing that speaks HTTP."""

from typing import Protocol, TypeAlias

from msgspec import Struct

from goldseam.tools.web.addresses import Target


class FetchError(Exception):
    """No whole reply came; one sentence that says why."""


class Fetched(Struct, frozen=True, kw_only=True):
    """A reply: where it came from in the end, and its body, decoded."""

    target: Target
    status: int
    content_type: str
    body: bytes
    cut: bool = False
    """Whether there was more of it than is taken."""
    retry_after: str = ""


class Elsewhere(Struct, frozen=True, kw_only=True):
    """A redirect to another site, which was not followed."""

    target: Target
    to: Target


Reply: TypeAlias = Fetched | Elsewhere


class Fetching(Protocol):
    """Something that fetches."""

    async def fetch(self, url: str, *, limit_s: float) -> Reply:
        """Return what is at `url`, in at most `limit_s` seconds for all of it.

        Raises:
            RefusedError: the URL, or one it leads to, is not fetched.
            FetchError: no whole reply came.
        """
        ...
