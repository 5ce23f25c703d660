"""The names and fixed texts that writing, reading and reading back share. Knows no order."""

from goldseam.kernel.conversation import Reasoning
from goldseam.models.dialect import Profile
from goldseam.models.fitting import own_seals, sendable

SIGNATURE = "signature"
"""The seal of a thinking block: proves that its text is the model's own (ANT-22)."""

REDACTED = "redacted_thinking"
"""The seal that is a thought the host keeps unreadable."""

BRIDGE = "(continue)"
"""What the user says where the protocol wants a user turn and nobody spoke (ANT-15, case 65)."""

CLASSIC_VERSION = "2023-06-01"
"""The last version under which sampling settings are known to be taken (ANT-37)."""

THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def thinks(profile: Profile) -> bool:
    """Whether the model is asked to think, and so is shown its thoughts again (ANT-26)."""
    return profile.thinking and profile.effort != "none"


def is_whole(thought: Reasoning, origin: str) -> bool:
    """Whether `thought` can go back to the model: its own, signed, and sendable byte for byte.

    An unsigned thought never does (case 71), a signed one without text does (case 70, ANT-25).
    """
    own = own_seals(thought.seals, origin)
    text = thought.text or ""
    return (SIGNATURE in own or REDACTED in own) and sendable(text) is text
