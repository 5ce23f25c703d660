"""What an error body says, whatever shape a host chose: its codes and words, the innermost first.

Pure. What they mean is in `failure_words`.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from goldseam.kernel.json_text import BadJsonError, Json, read_json, write_json
from goldseam.models.failure_words import Refusal

_Piece: TypeAlias = tuple[Literal["code", "text", "status"], str | int]

_WITHIN = ("error", "details", "metadata", "violations", "choices")
_CODES = ("code", "type", "status", "reason", "quotaId", "finish_reason")
_TEXTS = ("message", "error", "detail", "msg", "raw")
_STATUSES = range(400, 600)


def refusal_in(body: Json, *, status: int | None, wait_s: float | None = None) -> Refusal:
    """Return the parts of an error body; `status` is `None` where it came inside a reply.

    A status in the body stands for a failed one where the reply's own is none (ORT-1).
    """
    pieces = list(_pieces(body))
    inner = (piece for kind, piece in pieces if kind == "status" and isinstance(piece, int))
    texts = dict.fromkeys(str(piece) for kind, piece in pieces if kind == "text")
    return Refusal(
        status=status if status in _STATUSES else next(inner, status),
        codes=tuple(str(piece) for kind, piece in pieces if kind == "code"),
        text=": ".join(texts) or (write_json(body) if body else ""),
        retry_after_s=wait_s,
        began=status is None,
    )


def _pieces(body: Json) -> Iterator[_Piece]:
    """Yield what an error body says, the innermost first: hosts wrap what their upstream said."""
    match body:
        case str() if body:
            yield "text", body
        case list():
            for inner in body:
                yield from _pieces(inner)
        case dict():
            yield from _pieces([v for k in _WITHIN if isinstance(v := body.get(k), dict | list)])
            for name in _CODES:
                yield from _code(body.get(name))
            for name in _TEXTS:
                yield from _text(body.get(name))
        case _:
            pass


def _code(value: Json) -> Iterator[_Piece]:
    match value:
        case str():
            yield "code", value
        case int() if value in _STATUSES:
            yield "status", value
        case _:
            pass


def _text(value: Json) -> Iterator[_Piece]:
    """Yield words; where they are themselves an error body of an upstream, what it says."""
    match value:
        case str():
            yield from _pieces(_unwrapped(value))
        case list():
            yield "text", write_json(value)
        case _:
            pass


def _unwrapped(text: str) -> Json:
    try:
        inner = read_json(text)
    except BadJsonError:
        return text
    return inner if isinstance(inner, dict | list) else text
