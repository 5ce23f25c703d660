"""What a host's refusal means, in one table for all dialects: codes first, words next, status last.

Pure. A dialect finds the parts of an error body, which differ by vendor, and hands them in as a
`Refusal`; what they mean is the same everywhere (XLT-7). Words stand before the status only because
one status means many things: they are few, and a code is always stronger.
"""

import math
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime

from msgspec import Struct

from goldseam.kernel.errors import (
    FailureKind,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.json_text import BadJsonError, Json, read_json


class Refusal(Struct, frozen=True, kw_only=True):
    """The parts of one refusal, as the host gave them."""

    status: int | None
    """The HTTP status; `None` where the error came inside a stream that began well."""
    codes: tuple[str, ...] = ()
    """Every code, type, status word or reason in the body; the first that is known decides."""
    text: str = ""
    """What the host says in words."""
    retry_after_s: float | None = None
    began: bool = False
    """Whether a reply had begun, so that it may have cost something whatever the status."""


_RETRYABLE: frozenset[FailureKind] = frozenset({"rate_limited", "overloaded", "timeout", "server"})

_CODES: dict[FailureKind, str] = {
    "auth": """
        invalid_api_key authentication_error invalid_authentication_error permission_error
        permission_denied unauthenticated api_key_invalid unsupported_country_region_territory
    """,
    # Kimi's exceeded_current_quota_error, DashScope's Arrearage and GLM's 1113 say the same.
    "quota": """
        insufficient_quota credit_balance_exhausted billing_error billing_hard_limit_reached
        billing_not_active insufficient_balance exceeded_current_quota_error arrearage 1113
    """,
    "rate_limited": """
        rate_limit_exceeded rate_limit_error rate_limit_reached_error slow_down throttling
        too_many_requests resource_exhausted 1302 1303 1305
    """,
    "overloaded": """
        server_is_overloaded overloaded_error engine_overloaded_error unavailable
    """,
    "context_overflow": """
        context_length_exceeded exceed_context_size_error model_context_window_exceeded
        request_too_large
    """,
    "refused": "content_filter content_policy_violation data_inspection_failed",
    # The model's own call was unreadable for the host (GRQ-1): another reply may be sound.
    "server": "tool_use_failed",
    "structural": """
        model_not_found not_found_error not_found unsupported_parameter unsupported_value
        invalid_value string_above_max_length invalid_function_parameters invalid_id_prefix
        invalid_function_call invalid_request_message_order 3230 3280 1210 1214
    """,
    "timeout": "timeout_error deadline_exceeded",
}
_COARSE_CODES: dict[FailureKind, str] = {
    "server": "server_error api_error internal internal_error internal_server_error",
    "structural": "invalid_request_error invalid_argument failed_precondition",
}
"""Codes that say less than the words beside them: llama.cpp calls a bad template a server error."""

_WORDS: tuple[tuple[FailureKind, str], ...] = (
    # LCP-1: a template refuses the shape of the conversation, whatever the status says.
    ("structural", "chat template|jinja|roles must alternate"),
    ("quota", "insufficient (?:balance|quota|credit|funds)|exceeded your current quota"),
    ("quota", "credit balance|no balance|\\bper day\\b"),
    # Before overflow: "too many tokens, please wait" is a limit in time (case 149).
    ("rate_limited", "rate.?limit|too many requests|throttl|too many tokens.*wait|slow down"),
    ("overloaded", "overloaded|at capacity|server is busy"),
    ("context_overflow", "maximum context length|context (?:window|length|size)|prompt size"),
    ("context_overflow", "prompt (?:is )?too long|input token count|too many (?:input )?tokens"),
    ("auth", "(?:incorrect|invalid|missing|no) api.?key|api.?key (?:not valid|is invalid)"),
    ("refused", "content (?:policy|filter|management)|flagged (?:by|as)|inappropriate content"),
)

_STATUSES: dict[FailureKind, tuple[int, ...]] = {
    "auth": (401, 403),
    "quota": (402,),
    "timeout": (408, 504),
    "server": (409,),
    "context_overflow": (413,),
    "rate_limited": (429,),
    "overloaded": (503, 529),
}
_STATUS_CLASSES: dict[int, FailureKind] = {3: "structural", 4: "structural"}

_ADVICE: dict[FailureKind, str] = {
    "auth": "check the key and what it may use",
    "quota": "add credit, or choose another model",
    "rate_limited": "wait, or choose another model",
    "overloaded": "wait, or choose another model",
    "timeout": "try again, or choose another model",
    "context_overflow": "the conversation is too long for this model",
    "refused": "the host's filter stopped it; choose another model",
    "structural": "the host does not take this request; check the model's name and settings",
    "server": "try again, or choose another model",
}


def _by_word(table: dict[FailureKind, str]) -> dict[str, FailureKind]:
    return {word: kind for kind, words in table.items() for word in words.split()}


_KIND_OF_CODE = _by_word(_CODES)
_KIND_OF_COARSE_CODE = _by_word(_COARSE_CODES)
_KIND_OF_WORDS = [(re.compile(words, re.IGNORECASE), kind) for kind, words in _WORDS]
_KIND_OF_STATUS = {status: kind for kind, statuses in _STATUSES.items() for status in statuses}


def kind_of(refusal: Refusal) -> FailureKind:
    """Return what `refusal` means: by its codes, its words, its status, in that order."""
    codes = [code.lower() for code in refusal.codes]
    status = refusal.status or 0
    if any("perday" in code for code in codes):  # GEM-42
        return "quota"
    known = (_KIND_OF_CODE[code] for code in codes if code in _KIND_OF_CODE)
    said = (kind for words, kind in _KIND_OF_WORDS if words.search(refusal.text))
    by_status = _KIND_OF_STATUS.get(status) or _STATUS_CLASSES.get(status // 100)
    coarse = (_KIND_OF_COARSE_CODE[code] for code in codes if code in _KIND_OF_COARSE_CODE)
    meant = (*known, *said, *([by_status] if by_status else []), *coarse)
    return meant[0] if meant else "server"


def provider_error(refusal: Refusal, host: str) -> ModelProviderError:
    """Return the error to raise: one line that says who refused, why, and what to do about it.

    The line is at most 300 characters and holds nothing that looks like a key. A 4xx cost nothing;
    what anything else cost is unknown. How long to wait is the host's word, in figures or in text.
    """
    kind = kind_of(refusal)
    retryable = kind in _RETRYABLE
    answered = f" answered {refusal.status}" if refusal.status else " failed in its reply"
    before, after = f"{host}{answered}: ", f" ({_ADVICE[kind]})"
    words = one_line(refusal.text, _LONGEST - len(before) - len(after)) or kind
    wait_s = refusal.retry_after_s
    if wait_s is None and retryable:
        wait_s = _wait_in(refusal.text)
    refused = (refusal.status or 0) // 100 == _REFUSED and not refusal.began
    return ModelProviderError(
        before + words + after,
        kind=kind,
        retryable=retryable,
        consumption=NoConsumption() if refused else UnknownConsumption(),
        retry_after_s=wait_s,
    )


# Bodies -------------------------------------------------------------------------------------------

_LONGEST = 300
_REFUSED = 4
_MOST_BODY = 1 << 16
"""An error body is read this far: what a host has to say stands in front."""

_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(?:style|script).*?</(?:style|script)>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_KEY_SHAPED = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi|tgp|csk|fw|AIza|ya29)[-_.][\w*.-]{4,}|\bAIza[\w-]{8,}"
    r"|(?<=bearer )\S+|(?<=key=)[^&\s]+|(?<=key provided: )\S+"
    r"|\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{32,}",
    re.IGNORECASE,
)
_WAIT = re.compile(r"(?:again|retry|wait)\D{0,20}?([\d.]+) ?(ms|m|s)(?:ec|in|\b)", re.IGNORECASE)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def read_body(body: bytes) -> Json:
    """Return the JSON value that an error body holds, or its plain words where it holds none.

    HTML is reduced to its title, or its words; a body that was cut, or is broken, is still text.
    """
    text = body[:_MOST_BODY].decode("utf-8", "replace").strip().removeprefix("\ufeff")
    try:
        return read_json(text.removeprefix("data:"))
    except BadJsonError:
        title = _TITLE.search(text)
        return " ".join((title[1] if title else _TAG.sub(" ", text)).split())


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Return `text` as one line of at most `longest` characters, without what looks like a key."""
    line = _KEY_SHAPED.sub("…", " ".join(text[:_MOST_BODY].split()))
    clean = "".join(c if c.isprintable() else "\ufffd" for c in line)
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def retry_after_s(headers: Mapping[str, str], body: Json = None) -> float | None:
    """Return how long the host asks to wait, in seconds: by header, else by `retryDelay`.

    Header names are in lower case. A date is measured against the reply's own `date`;
    `retryDelay` stands in the body (GEM-42).
    """
    delays = (str(delay).removesuffix("s") for delay in _named(body, "retryDelay"))
    after, milliseconds = headers.get("retry-after"), _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    waits = (_number(after), *map(_number, delays), _until(after, headers.get("date")))
    return next((wait for wait in waits if wait is not None), None)


def _named(value: Json, name: str) -> Iterator[Json]:
    match value:
        case dict():
            yield from (inner for key, inner in value.items() if key == name)
            for inner in value.values():
                yield from _named(inner, name)
        case list():
            for inner in value:
                yield from _named(inner, name)
        case _:
            pass


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _until(then: str | None, now: str | None) -> float | None:
    try:
        left = parsedate_to_datetime(then or "") - parsedate_to_datetime(now or "")
    except (ValueError, TypeError):
        # One date without a zone and one with it have no distance.
        return None
    return max(left.total_seconds(), 0.0)


def _wait_in(text: str) -> float | None:
    found = _WAIT.search(text)
    number = _number(found[1]) if found else None
    return None if found is None or number is None else number * _UNITS[found[2].lower()]
