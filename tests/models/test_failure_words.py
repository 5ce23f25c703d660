"""What a host's refusal means: a table of codes, words and statuses, and bodies of any shape."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.kernel.errors import FailureKind, NoConsumption, UnknownConsumption
from goldseam.models.failure_bodies import refusal_in
from goldseam.models.failure_words import (
    Refusal,
    kind_of,
    one_line,
    provider_error,
    read_body,
    retry_after_s,
)


def openai(message: str = "", **rest: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": None, "param": None, "code": None, **rest}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        # OAI-29 to OAI-33
        (401, openai(type="invalid_request_error", code="invalid_api_key"), "auth", False),
        (401, openai("IP not authorized"), "auth", False),
        (403, openai("Country, region, or territory not supported"), "auth", False),
        (404, openai(type="invalid_request_error", code="model_not_found"), "structural", False),
        (429, openai(type="requests", code="rate_limit_exceeded"), "rate_limited", True),
        (429, openai(type="insufficient_quota", code="insufficient_quota"), "quota", False),
        (429, openai(type="insufficient_quota", code="credit_balance_exhausted"), "quota", False),
        (429, openai(code="slow_down"), "rate_limited", True),
        (503, openai(code="server_is_overloaded"), "overloaded", True),
        (400, openai(code="context_length_exceeded", param="messages"), "context_overflow", False),
        (408, {}, "timeout", True),
        (409, {}, "server", True),
        (500, openai(type="server_error"), "server", True),
        (503, {}, "overloaded", True),
        (504, {}, "timeout", True),
        (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", True),
        # Structural ones are never asked again (XLT-7, 25, 64)
        (
            400,
            openai(type="invalid_request_error", code="unsupported_parameter"),
            "structural",
            False,
        ),
        (400, openai("Invalid 'messages[2]'", type="invalid_request_error"), "structural", False),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "structural", False),
        (308, {}, "structural", False),
        # 37: an id that is too long is no overflow
        (
            400,
            openai("string too long. maximum length 40", code="string_above_max_length"),
            "structural",
            False,
        ),
        # 149: a limit in time is no overflow
        (400, openai("Too many tokens, please wait before trying again."), "rate_limited", True),
        (400, openai("Request was throttled"), "rate_limited", True),
        # 148, 151
        (400, openai("prompt size 12,345 exceeds configured size"), "context_overflow", False),
        (
            400,
            openai("This model's maximum context length is 8192 tokens"),
            "context_overflow",
            False,
        ),
        (413, {}, "context_overflow", False),
        (
            400,
            {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9}},
            "context_overflow",
            False,
        ),
        # 145, 146
        (529, {}, "overloaded", True),
        (429, {}, "rate_limited", True),
        # DeepSeek, Mistral, Kimi, Qwen, GLM, xAI, Groq, OpenRouter, vLLM, llama.cpp
        (402, openai("Insufficient Balance"), "quota", False),
        (400, openai("Insufficient Balance"), "quota", False),
        (
            400,
            openai("The reasoning_content in the thinking mode must be passed back"),
            "structural",
            False,
        ),
        (
            400,
            {"object": "error", "message": "Unexpected role", "type": "x", "code": "3230"},
            "structural",
            False,
        ),
        (429, openai(type="exceeded_current_quota_error"), "quota", False),
        (429, openai(type="engine_overloaded_error"), "overloaded", True),
        (400, openai(code="Arrearage"), "quota", False),
        (400, openai(code="data_inspection_failed"), "refused", False),
        (429, openai(code="1113"), "quota", False),
        (400, openai(code="1214"), "structural", False),
        (
            400,
            {"code": "invalid-argument", "error": "Model does not support x"},
            "structural",
            False,
        ),
        (400, {"code": "c", "error": "Incorrect API key provided: k***"}, "auth", False),
        (400, openai(code="tool_use_failed"), "server", True),
        (429, {"error": {"code": 429, "message": "Provider returned error"}}, "rate_limited", True),
        (
            400,
            {"object": "error", "message": "x", "type": "BadRequestError", "code": 400},
            "structural",
            False,
        ),
        (
            500,
            openai("Jinja Exception: roles must alternate", type="server_error"),
            "structural",
            False,
        ),
        (
            500,
            openai("Unable to apply the chat template", type="server_error"),
            "structural",
            False,
        ),
        # Google's bodies, in an array at the OpenAI endpoint (GOC-2, GEM-40, GEM-42)
        (429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}], "rate_limited", True),
        (
            429,
            [
                {
                    "error": {
                        "status": "RESOURCE_EXHAUSTED",
                        "details": [{"violations": [{"quotaId": "GenerateRequestsPerDay-Free"}]}],
                    }
                }
            ],
            "quota",
            False,
        ),
        (400, [{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}], "auth", False),
        (400, {"error": {"message": "API key not valid. Please pass a valid one"}}, "auth", False),
        # A filter that shows as an error, or as a completion (119, 122)
        (400, openai(code="content_filter"), "refused", False),
        (400, {"choices": [{"finish_reason": "content_filter"}]}, "refused", False),
        (400, openai("violates our content policy"), "refused", False),
        # Within a reply (137), and what nobody can read
        (None, openai("Overloaded"), "overloaded", True),
        (None, {"error": "boom"}, "server", True),
        (None, openai(type="invalid_request_error"), "structural", False),
        (
            None,
            {"error": {"code": 429, "message": "Provider returned error"}},
            "rate_limited",
            True,
        ),
        (200, "a login page", "server", True),
        (500, None, "server", True),
    ],
)
def test_a_refusal_means(status: int | None, body: Any, kind: FailureKind, retryable: bool) -> None:
    error = provider_error(refusal_in(body, status=status), "host")
    assert (error.kind, error.retryable) == (kind, retryable)


def test_codes_are_stronger_than_words_and_words_than_the_status() -> None:
    assert kind_of(Refusal(status=400, codes=("x", "slow_down"), text="overloaded")) == (
        "rate_limited"
    )
    assert kind_of(Refusal(status=401, text="The server is busy")) == "overloaded"
    assert kind_of(Refusal(status=500, codes=("invalid_argument",))) == "structural"
    assert kind_of(Refusal(status=400, codes=("server_error",))) == "structural"


def test_an_error_is_one_line_that_says_who_why_and_what_to_do() -> None:
    body = openai("You sent\n\ttoo  much.", code="rate_limit_exceeded")
    error = provider_error(refusal_in(body, status=429, wait_s=7.0), "openai")
    assert error.text == "openai answered 429: You sent too much. (wait, or choose another model)"
    assert (error.retry_after_s, error.consumption) == (7.0, NoConsumption())


def test_an_upstream_is_quoted_by_what_it_says_itself() -> None:  # ORT-1
    raw = json.dumps({"error": {"message": "Slow down", "code": "slow_down"}})
    metadata: Any = {"provider_name": "X", "raw": raw}
    body: Any = {"error": {"code": 502, "message": "Provider returned error", "metadata": metadata}}
    error = provider_error(refusal_in(body, status=None), "openrouter")
    assert error.kind == "rate_limited"
    assert error.text.startswith("openrouter answered 502: Slow down: Provider returned error (")
    assert error.consumption == UnknownConsumption()
    plain: Any = {"error": {"message": "no", "metadata": {"raw": "upstream said 7"}}}
    assert "upstream said 7: no" in provider_error(refusal_in(plain, status=502), "h").text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("words", "h answered 500: words ("),
        ({}, "h answered 500: server ("),
        ({"odd": 1}, 'h answered 500: {"odd":1} ('),
        (7, "h answered 500: 7 ("),
        ({"detail": ["x"]}, 'h answered 500: ["x"] ('),
        ({"error": True, "message": "m"}, "h answered 500: m ("),
    ],
)
def test_a_body_of_any_shape_is_quoted(body: Any, text: str) -> None:
    assert provider_error(refusal_in(body, status=500), "h").text.startswith(text)


def test_what_failed_within_a_reply_may_have_cost_something() -> None:  # 137
    error = provider_error(refusal_in(openai("x", code=400), status=None), "h")
    assert (error.kind, error.consumption) == ("structural", UnknownConsumption())
    error = provider_error(refusal_in(openai("x"), status=None), "h")
    assert error.text.startswith("h failed in its reply: x (")
    assert provider_error(Refusal(status=500), "h").consumption == UnknownConsumption()


@pytest.mark.parametrize(
    "secret",
    [
        "Incorrect API key provided: my-secret. Find yours",
        "https://host/v1?key=my-secret&alt=sse",
        "Authorization: Bearer my-secret",
        "key sk-proj-my-secret",
        "key AIzamy-secret000",
        "key gsk_my-secret",
        "token 0123456789abcdef-my-secret-0123456789",
    ],
)
def test_nothing_that_looks_like_a_key_is_shown(secret: str) -> None:
    error = provider_error(refusal_in(openai(secret), status=401), "h")
    assert "my-secret" not in error.text
    assert "…" in error.text


@given(st.text(), st.sampled_from([None, 200, 400, 500]))
def test_any_words_make_one_short_line(text: str, status: int | None) -> None:
    line = provider_error(Refusal(status=status, text=text * 20), "host").text
    assert len(line) <= 300
    assert line.isprintable()


def test_a_line_is_cut_where_it_is_too_long() -> None:
    assert one_line("a\x00 b" * 3, 5) == "a\ufffd b…"
    assert one_line("  x\n y ") == "x y"


# How long to wait


@pytest.mark.parametrize(
    ("headers", "body", "wait_s"),
    [
        ({"retry-after": "600"}, None, 600.0),  # 143
        ({"retry-after": "1.5", "retry-after-ms": "250"}, None, 0.25),
        ({"retry-after": "-3"}, None, 0.0),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": "inf"}, None, None),
        (
            {
                "retry-after": "Tue, 01 Dec 2026 10:00:30 GMT",
                "date": "Tue, 01 Dec 2026 10:00:00 GMT",
            },
            None,
            30.0,
        ),
        (
            {
                "retry-after": "Tue, 01 Dec 2026 10:00:00 GMT",
                "date": "Tue, 01 Dec 2026 10:00:30 GMT",
            },
            None,
            0.0,
        ),
        ({"retry-after": "Tue, 01 Dec 2026 10:00:30 GMT"}, None, None),
        (
            {
                "retry-after": "Tue, 01 Dec 2026 10:00:30 -0000",
                "date": "Tue, 01 Dec 2026 10:00:00 GMT",
            },
            None,
            None,
        ),
        ({}, [{"error": {"details": [{"retryDelay": "47.434392449s"}]}}], 47.434392449),  # GEM-42
        ({"retry-after": "3"}, {"retryDelay": "9s"}, 3.0),
        ({}, {"error": {"message": "x"}}, None),
        ({}, None, None),
    ],
)
def test_a_wait_is_read_from_headers_and_bodies(
    headers: dict[str, str], body: Any, wait_s: float | None
) -> None:
    assert retry_after_s(headers, body) == wait_s


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [
        ("Please try again in 1.5s.", 1.5),
        ("Please try again in 20ms.", 0.02),
        ("retry after 3 seconds", 3.0),
        ("Please wait 2 min", 120.0),
        ("Please try again in 1.2.3s", None),
        ("Please try again later", None),
    ],
)
def test_a_wait_in_words_is_the_last_resort(text: str, wait_s: float | None) -> None:
    limited = Refusal(status=429, text=text)
    assert provider_error(limited, "h").retry_after_s == wait_s
    assert provider_error(Refusal(status=400, text=text), "h").retry_after_s is None
    told = Refusal(status=429, text=text, retry_after_s=9.0)
    assert provider_error(told, "h").retry_after_s == 9.0


# Bodies


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"error": "x"}', {"error": "x"}),
        (b'\xef\xbb\xbf{"error": "x"}', {"error": "x"}),
        (b'data: {"error": "x"}\n\n', {"error": "x"}),
        (b"<html><head><title>502 Bad\n Gateway</title></head></html>", "502 Bad Gateway"),
        (b"<style>p {}</style><p>It is <b>down</b></p>", "It is down"),
        (b'{"error": "cut', '{"error": "cut'),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"", ""),
        (b"x" * (10 << 20), "x" * (1 << 16)),
    ],
)
def test_a_body_is_json_or_else_its_words(body: bytes, value: Any) -> None:
    assert read_body(body) == value
