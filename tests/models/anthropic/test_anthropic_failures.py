"""What the host's errors mean, status by status (ANT-2, ANT-33 to ANT-36)."""

import json
from typing import Any

import pytest
from models.anthropic.own_histories import ADAPTIVE

from goldseam.kernel.errors import ModelProviderError, NoConsumption, UnknownConsumption
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import FailedReply


def explained(status: int, body: Any, **headers: str) -> ModelProviderError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = FailedReply(status=status, headers=named, body=data)
    return AnthropicDialect().explain_failure(reply, ADAPTIVE)


def error(kind: str, message: str, **fields: Any) -> dict[str, Any]:
    told = {"type": kind, "message": message, **fields}
    return {"type": "error", "error": told, "request_id": "req_1"}


SPENT = {"error_code": "enforced_spend_limit_reached"}
HTML = b"<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>"


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, error("invalid_request_error", "messages.2: `tool_use` ids"), "structural", False),
        (
            400,
            error("invalid_request_error", "messages.1.content.0: Invalid `signature`"),
            "structural",
            False,
        ),
        (
            400,
            error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            "context_overflow",
            False,
        ),
        (
            400,
            error("invalid_request_error", "You have reached your specified API usage limits."),
            "quota",
            False,
        ),
        (400, error("invalid_request_error", "Your credit balance is too low"), "quota", False),
        (429, error("rate_limit_error", "no more", details=SPENT), "quota", False),
        (401, error("authentication_error", "invalid x-api-key"), "auth", False),
        (402, error("billing_error", "unpaid"), "quota", False),
        (403, error("permission_error", "not yours"), "auth", False),
        (404, error("not_found_error", "model: claude-does-not-exist"), "structural", False),
        (409, error("conflict_error", "again"), "server", True),
        (413, error("request_too_large", "too large"), "context_overflow", False),
        (413, HTML, "context_overflow", False),  # agents 151
        (
            429,
            error("rate_limit_error", "too many tokens, wait"),
            "rate_limited",
            True,
        ),  # agents 149
        (500, error("api_error", "oops"), "server", True),
        (502, HTML, "server", True),
        (504, error("timeout_error", "slow"), "timeout", True),
        (529, error("overloaded_error", "Overloaded"), "overloaded", True),  # agents 145
        (529, b"", "overloaded", True),
        (500, {"error": "plain words"}, "server", True),
        (500, ["odd"], "server", True),
    ],
)
def test_each_refusal_has_its_meaning(status: int, body: Any, kind: str, retryable: bool) -> None:
    told = explained(status, body)
    assert (told.kind, told.retryable) == (kind, retryable)
    expected = NoConsumption() if status < 500 else UnknownConsumption()
    assert told.consumption == expected
    assert "\n" not in told.text
    assert len(told.text) <= 300


def test_the_wait_that_the_host_asks_for_is_carried() -> None:  # agents 143
    told = explained(429, error("rate_limit_error", "slow"), retry_after="600")
    assert told.retry_after_s == 600.0


def test_what_the_host_says_is_shown_and_no_key_is() -> None:
    told = explained(401, error("authentication_error", "invalid key sk-ant-api03-abcdefgh1234"))
    assert "invalid key" in told.text
    assert "abcdefgh1234" not in told.text
