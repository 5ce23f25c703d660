"""What a refused request means: telling codes first, in every shape Google gives them."""

import json

import pytest
from models.gemini.gemini_histories import THREE

from goldseam.kernel.errors import (
    FailureKind,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.json_text import Json
from goldseam.models.dialect import Body, FailedReply
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.gemini.forms import within

ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


def explained(status: int, body: Json | bytes, **headers: str) -> ModelProviderError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = FailedReply(status=status, headers=named, body=raw)
    return GeminiDialect().explain_failure(reply, THREE)


def refused(code: int, status: str, message: str, *details: Body) -> Body:
    error: Body = {"code": code, "message": message, "status": status}
    return {"error": {**error, "details": [*details]} if details else error}


def used_up(quota: str) -> Body:
    violation: Body = {"quotaMetric": "requests", "quotaId": quota, "quotaValue": "15"}
    return {"@type": QUOTA_FAILURE, "violations": [violation]}


BAD_KEY = refused(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    {"@type": ERROR_INFO, "reason": "API_KEY_INVALID", "domain": "googleapis.com"},
)
TOO_LONG = refused(
    400,
    "INVALID_ARGUMENT",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
)


@pytest.mark.parametrize(
    ("body", "kind", "retryable"),
    [
        (BAD_KEY, "auth", False),  # GEM-40
        (refused(400, "INVALID_ARGUMENT", "API key not valid. Please pass…"), "auth", False),
        (refused(401, "UNAUTHENTICATED", "No credentials."), "auth", False),
        (refused(403, "PERMISSION_DENIED", "Not yours."), "auth", False),
        (refused(404, "NOT_FOUND", "models/x is not found for API v1beta."), "structural", False),
        (TOO_LONG, "context_overflow", False),  # GEM-43, cases 148, 151
        (refused(400, "INVALID_ARGUMENT", "Corrupted thought signature."), "structural", False),
        (
            refused(400, "INVALID_ARGUMENT", "Please ensure that function call turn comes…"),
            "structural",  # case 64
            False,
        ),
        (refused(429, "RESOURCE_EXHAUSTED", "Quota."), "rate_limited", True),  # GEM-42
        (
            refused(429, "RESOURCE_EXHAUSTED", "Q.", used_up("RequestsPerMinutePerProject")),
            "rate_limited",
            True,
        ),
        (
            refused(429, "RESOURCE_EXHAUSTED", "Q.", used_up("RequestsPerDayPerProject-FreeTier")),
            "quota",  # XLT-7
            False,
        ),
        (refused(500, "INTERNAL", "An internal error."), "server", True),  # GEM-44
        (refused(503, "UNAVAILABLE", "The model is overloaded."), "overloaded", True),
        (refused(504, "DEADLINE_EXCEEDED", "Too slow."), "timeout", True),
    ],
)
def test_a_refusal_is_told_by_its_codes(body: Body, kind: FailureKind, retryable: bool) -> None:
    code = within(body, "error", "code")
    assert isinstance(code, int)
    shapes: tuple[Json, ...] = (body, [body])
    for shape in shapes:  # GEM-18, GOC-2
        error = explained(code, shape)
        assert (error.kind, error.retryable) == (kind, retryable)
        paid = UnknownConsumption() if code >= 500 else NoConsumption()
        assert error.consumption == paid
        assert "\n" not in error.text
        assert len(error.text) <= 300


def test_the_wait_that_the_host_asks_for_is_kept() -> None:  # GEM-42, case 143
    delay: Body = {"@type": RETRY_INFO, "retryDelay": "47.434392449s"}
    body = refused(429, "RESOURCE_EXHAUSTED", "Quota.", used_up("PerMinute"), delay)
    assert explained(429, [body]).retry_after_s == 47.434392449
    assert explained(429, body, retry_after="3").retry_after_s == 3.0
    assert explained(429, refused(429, "RESOURCE_EXHAUSTED", "Quota.")).retry_after_s is None


def test_an_old_form_of_an_error_is_read_too() -> None:  # GEM-18
    error: Body = {
        "code": 400,
        "message": "Please ensure that the number of function response parts is equal.",
        "errors": [{"message": "…", "domain": "global", "reason": "badRequest"}],
        "status": "INVALID_ARGUMENT",
    }
    found = explained(400, [{"error": error}])
    assert found.kind == "structural"
    assert "number of function response parts" in found.text


@pytest.mark.parametrize(
    ("status", "body", "kind", "word"),
    [
        (502, b"<html><title>Bad gateway</title></html>", "server", "Bad gateway"),
        (400, b"", "structural", "400"),
        (400, b"[]", "structural", "400"),
        (503, b"x" * 10_000_000, "overloaded", "503"),
        (500, b'{"error": {"code": 500, "mess', "server", "500"),
        (429, b'{"error": "Slow down."}', "rate_limited", "Slow down."),
        (400, b'{"error": {"details": [1, {"violations": [2]}]}}', "structural", "400"),
        (400, b'{"promptFeedback": {"blockReason": "SAFETY"}}', "refused", "SAFETY"),  # case 122
    ],
)
def test_a_body_of_any_kind_gives_one_readable_line(
    status: int, body: bytes, kind: FailureKind, word: str
) -> None:
    error = explained(status, body)
    assert error.kind == kind
    assert word in error.text
    assert len(error.text) <= 300


def test_a_key_in_a_refusal_is_not_repeated() -> None:  # F14
    key = "AIzaSyA1234567890abcdefghijklmnopqrstuv"
    error = explained(400, refused(400, "INVALID_ARGUMENT", f"API key {key} not valid."))
    assert key not in error.text
