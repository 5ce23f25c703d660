"""How a test reads a refusal."""

from typing import Any

from simulators.refusal import Refusal

USER: dict[str, Any] = {"role": "user", "content": "Read both."}


def told(refusal: Refusal | None) -> str:
    """Return status and body as one text, empty where nothing is refused."""
    return f"{refusal.status} {refusal.body}" if refusal else ""
