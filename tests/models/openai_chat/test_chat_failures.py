"""Refusals of Chat hosts, as they come over the wire."""

import json
from typing import Any

from models.profiles import DEEPSEEK, GEMINI, LLAMA_CPP, MISTRAL, OPENAI

from goldseam.kernel.errors import ModelProviderError, NoConsumption
from goldseam.models.dialect import FailedReply, Profile
from goldseam.models.openai_chat.dialect import ChatDialect


def explained(profile: Profile, status: int, body: Any, **headers: str) -> ModelProviderError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = FailedReply(status=status, headers=named, body=json.dumps(body).encode())
    return ChatDialect().explain_failure(reply, profile)


def test_a_refusal_is_explained_with_its_wait_and_its_cost() -> None:  # OAI-31, 143, 146
    body = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
    error = explained(OPENAI, 429, body, retry_after="20")
    assert error.text == "openai answered 429: Rate limit reached (wait, or choose another model)"
    assert (error.kind, error.retryable, error.retry_after_s) == ("rate_limited", True, 20.0)
    assert error.consumption == NoConsumption()


def test_hosts_refuse_in_their_own_shapes() -> None:
    flat = {
        "object": "error",
        "message": "Unexpected role 'user' after role 'tool'",
        "code": "3230",
    }
    assert explained(MISTRAL, 400, flat).kind == "structural"  # MIS-2
    wanted = "The reasoning_content in the thinking mode must be passed back to the API."
    body = {"error": {"message": wanted, "type": "invalid_request_error", "param": None}}
    assert explained(DEEPSEEK, 400, body).kind == "structural"  # DSK-1
    template = {"error": {"code": 500, "message": "roles must alternate", "type": "server_error"}}
    error = explained(LLAMA_CPP, 500, template)
    assert (error.kind, error.retryable) == ("structural", False)  # LCP-1
    google = [{"error": {"code": 400, "message": "API key not valid.", "status": "X"}}]
    assert explained(GEMINI, 400, google).kind == "auth"  # GOC-2


def test_a_page_that_is_no_json_is_still_one_line() -> None:
    page = b"<html><title>502 Bad Gateway</title>" + b"x" * (10 << 20)
    reply = FailedReply(status=502, headers={}, body=page)
    error = ChatDialect().explain_failure(reply, OPENAI)
    assert (error.kind, error.retryable) == ("server", True)
    assert error.text.startswith("openai answered 502: 502 Bad Gateway (")
