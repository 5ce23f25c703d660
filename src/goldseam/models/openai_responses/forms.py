"""What both directions of this protocol need alike: names of seals, and forms of text."""

from goldseam.kernel.conversation import Feedback, Message, Reasoning, Seal
from goldseam.kernel.json_text import Json, write_json
from goldseam.models.fitting import USER_MARK, told_text
from goldseam.models.json_paths import inner_text, objects_in

ITEM_ID = "item_id"
ENCRYPTED = "encrypted_content"
SUMMARY = "summary"
"""The parts of a thought's summary as JSON text, where its text does not give them back."""
PHASE = "phase"
"""Whether words of the model are commentary or its answer."""

IMAGES_OF = "[images of the result of "
"""Begins the text before the pictures of a result, which has no place for them itself."""


def summary_of(text: str | None) -> list[Json]:
    """Return the summary that a thought of the words `text` has."""
    return [] if text is None else [{"type": "summary_text", "text": text}]


def user_text(item: Message | Feedback) -> str:
    """Return `item` as text of a user that is never taken for the words before pictures."""
    text = told_text(item)
    return USER_MARK + text if text.startswith(IMAGES_OF) else text


def images_of(call_id: str) -> str:
    """Return the words before the pictures of the result of `call_id`."""
    return f"{IMAGES_OF}{call_id}]"


def thought_of(item: dict[str, Json], origin: str) -> Reasoning:
    """Return the thought that a reasoning item is, sealed for the replay to `origin` (RSP-4)."""
    summary = item.get("summary")
    summary = summary if isinstance(summary, list) else []
    words = [*_texts(summary), *_texts(item.get("content"))]
    text = "\n\n".join(words) if words else None
    odd = None if summary == summary_of(text) else write_json(summary)
    sealed: dict[str, Json] = {**item, ITEM_ID: item.get("id"), SUMMARY: odd}
    return Reasoning(text=text, seals=seals_of(origin, sealed, ITEM_ID, ENCRYPTED, SUMMARY))


def seals_of(origin: str, item: dict[str, Json], *names: str) -> tuple[Seal, ...]:
    """Return a seal for each field of `item` among `names` that holds text."""
    return tuple(
        Seal(origin=origin, name=name, value=value)
        for name in names
        if (value := inner_text(item, name))
    )


def _texts(parts: Json) -> list[str]:
    texts = (part.get("text") for part in objects_in(parts))
    return [text for text in texts if isinstance(text, str)]
