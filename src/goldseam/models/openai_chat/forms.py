"""The words and small forms that this dialect puts on the wire, and the way back.

Knows no order of messages and no reply.
"""

import re
from collections.abc import Mapping, Sequence

from goldseam.kernel.conversation import Image, Seal
from goldseam.kernel.json_text import BadJsonError, Json, read_json, write_json
from goldseam.models.dialect import Body
from goldseam.models.encoding import Part
from goldseam.models.json_paths import inner_text, objects_in

REASONING_FIELD = "reasoning_field"
"""The seal of a plain thought: it came in the field that its value names (DSK-1, KIM-1)."""

REASONING_DETAILS = "reasoning_details"
"""The seal of structured thoughts: the list as JSON text (ORT-2)."""

EXTRA_CONTENT = "extra_content"
"""The seal of what a host hangs on a call or message, as JSON text (GOC-1, case 58)."""

PLACEHOLDER: dict[str, Json] = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Stands for the signature of a call that another model made; Vertex takes no other (GEM-24)."""

NOTED = "(noted)"
"""What the assistant says between a result and a user message where they may not meet (MIS-2)."""

CONTINUE = "(continue)"
"""What the user says where the history ends with words of the assistant."""

JOINT = "\n\n"
"""Stands between texts that become one."""

_PICTURES = re.compile(r"\[images of the result ([^\]]*)\]")
_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)


def text_part(text: str) -> Part:
    """Return a part of text."""
    return {"type": "text", "text": text}


def image_part(image: Image) -> Part:
    """Return a part that shows `image`."""
    url = f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def images_in(content: Json) -> tuple[Image, ...]:
    """Return the pictures among the parts of a content."""
    urls = (inner_text(part, "image_url", "url") for part in objects_in(content))
    found = (match for url in urls if (match := _DATA_URL.fullmatch(url)))
    return tuple(Image(media_type=match[1], data=match[2]) for match in found)


def text_in(content: Json) -> str:
    """Return the text of a content, which is text itself or parts."""
    if isinstance(content, str):
        return content
    return "".join(inner_text(part, "text") for part in objects_in(content))


def pictures_part(wire_id: str) -> Part:
    """Return the part in front of the pictures that the result of the call `wire_id` holds."""
    return text_part(f"[images of the result {wire_id}]")


def pictures_of(part: Body) -> str | None:
    """Return the call whose pictures follow `part`, where it is one of `pictures_part`."""
    found = _PICTURES.fullmatch(inner_text(part, "text"))
    return found[1] if found else None


def sealed(origin: str, name: str, value: Json) -> tuple[Seal, ...]:
    """Return a seal that holds `value` as JSON text, none where it is empty."""
    return (Seal(origin=origin, name=name, value=write_json(value)),) if value else ()


def unsealed(text: str | None) -> Json:
    """Return the value that a seal holds as `text`, `None` where there is none to be read."""
    try:
        return read_json(text) if text else None
    except BadJsonError:
        return None


def details_in(own: Mapping[str, str]) -> list[Json]:
    """Return the structured thoughts among a thought's `own` seals, none where there are none."""
    details = unsealed(own.get(REASONING_DETAILS))
    return details if isinstance(details, list) else []


def text_of_details(details: Sequence[Json]) -> str | None:
    """Return the readable words of structured thoughts, where there are any."""
    if not details:
        return None
    words = [inner_text(entry, "text") or inner_text(entry, "summary") for entry in details]
    return "".join(words) or None
