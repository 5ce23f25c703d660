"""Look into JSON that a stranger sent, where anything may be missing or of another type. Pure."""

from collections.abc import Iterator

from goldseam.kernel.json_text import Json


def inner_text(value: Json, *path: str) -> str:
    """Return the text at `path` within `value`, the empty one where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def inner_count(value: Json, *path: str) -> int | None:
    """Return the whole number from 0 on at `path` within `value`, where there is one."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if isinstance(value, int) and is_count else None


def objects_in(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the objects of an array, none where there is no array."""
    if isinstance(value, list):
        yield from (inner for inner in value if isinstance(inner, dict))
