"""What a refused request of the Responses protocol means, in each shape a refusal comes in."""

from typing import Any

import pytest
from models.openai_responses.responses_streams import PROFILE, body

from goldseam.kernel.errors import ModelProviderError, NoConsumption, UnknownConsumption
from goldseam.kernel.json_text import write_json
from goldseam.models.dialect import FailedReply
from goldseam.models.openai_responses.dialect import ResponsesDialect


def refused(status: int, value: Any, **headers: str) -> ModelProviderError:
    content = value if isinstance(value, bytes) else write_json(value).encode()
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    reply = FailedReply(status=status, headers=named, body=content)
    return ResponsesDialect().explain_failure(reply, PROFILE)


def error(message: str = "", **fields: Any) -> dict[str, Any]:
    given = {"type": "invalid_request_error", "param": None, "code": None, **fields}
    return {"error": {"message": message, **given}}


PAIRING = [
    "No tool output found for function call call_1.",  # RSP-6
    "No tool call found for function call output with call_id call_1.",  # RSP-7
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",  # RSP-8
    "Item with id 'rs_1' not found. Items are not persisted when 'store' is set to false.",  # RSP-9
]


@pytest.mark.parametrize("status", [400, 404])
@pytest.mark.parametrize("message", PAIRING)
def test_a_history_that_the_host_refuses_is_our_defect(status: int, message: str) -> None:
    failure = refused(status, error(message, param="input"))
    assert (failure.kind, failure.retryable) == ("structural", False)
    assert isinstance(failure.consumption, NoConsumption)


@pytest.mark.parametrize(
    ("status", "value", "kind"),
    [
        (400, error("The requested model 'm-1' does not exist.", param="model"), "structural"),
        (400, error(code="model_not_found", param="model"), "structural"),  # OAI-30
        (400, error("Invalid 'input[2].id'", code="invalid_value"), "structural"),  # RSP-3
        (400, error("string too long", code="string_above_max_length"), "structural"),  # case 37
        (400, error("Encrypted content is not supported with this model."), "structural"),  # RSP-10
        (400, error("Unsupported parameter: 'temperature'", param="temperature"), "structural"),
        (400, error(code="invalid_function_parameters"), "structural"),  # OAI-15
        (400, error(code="context_length_exceeded", param="input"), "context_overflow"),  # OAI-32
        (400, error(code="invalid_prompt"), "refused"),
        (400, error(code="image_too_large"), "structural"),
        (401, error(code="invalid_api_key"), "auth"),  # OAI-29
        (403, error(), "auth"),
        (429, error(code="rate_limit_exceeded", type="tokens"), "rate_limited"),  # OAI-31
        (429, error(code="insufficient_quota", type="insufficient_quota"), "quota"),
        (429, error(code="credit_balance_exhausted", type="insufficient_quota"), "quota"),
        (503, error(code="server_is_overloaded", type="server_error"), "overloaded"),
        (408, b"", "timeout"),
        (409, error(), "server"),  # OAI-33
        (500, error(code=None, type="server_error"), "server"),
        (502, b"<html><title>Bad gateway</title></html>", "server"),
        (400, [1], "structural"),
        (400, {"error": "busy"}, "structural"),
    ],
)
def test_codes_say_what_a_refusal_means(status: int, value: Any, kind: str) -> None:  # XLT-7
    failure = refused(status, value)
    assert failure.kind == kind
    assert failure.retryable == (kind in {"rate_limited", "overloaded", "timeout", "server"})
    assert len(failure.text) <= 300
    assert "\n" not in failure.text
    assert isinstance(failure.consumption, NoConsumption if status < 500 else UnknownConsumption)


def test_a_reply_that_the_filter_ended_is_found_within_a_refusal() -> None:  # case 122
    reply = body(status="incomplete", incomplete_details={"reason": "content_filter"})
    assert refused(400, reply).kind == "refused"


def test_how_long_to_wait_is_carried_typed() -> None:  # case 143
    limited = error(code="rate_limit_exceeded")
    assert refused(429, limited, retry_after="600").retry_after_s == 600.0
    assert refused(429, limited).retry_after_s is None


def test_an_error_page_of_any_size_is_one_readable_line() -> None:
    page = b"<html><title>Busy</title>" + b"x" * 10_000_000
    assert refused(502, page).text.startswith("openai answered 502: Busy (")
