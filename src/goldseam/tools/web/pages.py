"""Have an HTML page turned into Markdown by a program of its own, for a bounded time."""

import json
import sys
from pathlib import Path

from msgspec import Struct

from goldseam.tools.web.reading import seen, text_of
from goldseam.tools.web.reply import Fetched
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.process import run_process

MAX_PAGE_BYTES = 4 * 2**20
"""Bytes of a page that are read."""

_KEEP_BYTES = 64 * 2**20
_WORKER = Path(__file__).with_name("page_worker.py")


class Page(Struct, frozen=True, kw_only=True):
    """A page as a reader sees it."""

    title: str
    text: str


async def read_page(fetched: Fetched, *, limit_s: float) -> Page | None:
    """Return the page, its first `MAX_PAGE_BYTES` at most; `None` where it cannot be read."""
    html = text_of(fetched.content_type, fetched.body[:MAX_PAGE_BYTES])
    question = f"{fetched.target.url}\n{html}".encode("utf-8", "replace")
    try:
        # Isolated and by path: nothing of the environment or of this folder is imported.
        done = await run_process(
            (sys.executable, "-I", str(_WORKER)),
            cwd=Path("/"),
            env={},
            limit_s=limit_s,
            keep_bytes=_KEEP_BYTES,
            stdin=question,
        )
        answer = json.loads(done.output.head + done.output.tail)
    except (WorkspaceError, ValueError):
        return None  # it could not be started, was not done in time, or fell over the page
    return Page(title=" ".join(seen(answer["title"]).split()), text=seen(answer["text"]))
