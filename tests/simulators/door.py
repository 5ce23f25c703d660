"""What each vendor refuses before it reads a request: its key, its version, its model.

Knows nothing of what is asked.
"""

import re
from typing import Any, Literal, TypeAlias

from simulators import anthropic_thoughts as anthropic
from simulators import gemini_tools as gemini
from simulators.chat_hosts import openai_voice
from simulators.refusal import Refusal

KEY = "sk-simulated-key"
MODEL = "simulated-1"
Vendor: TypeAlias = Literal["chat", "responses", "anthropic", "gemini"]
_GEMINI = re.compile(r"/v1(?:beta)?/models/([^:/]+):(generateContent|streamGenerateContent)")


def vendor_of(path: str) -> Vendor | None:
    """Return whose path it is, `None` where it is nobody's."""
    bare = path.partition("?")[0]
    match bare.rsplit("/", 1)[-1]:
        case "completions" if bare.endswith("/chat/completions"):
            return "chat"
        case "responses":
            return "responses"
        case "messages":
            return "anthropic"
        case _:
            return "gemini" if _GEMINI.search(bare) else None


def refusal_at_the_door(
    vendor: Vendor, path: str, headers: dict[str, str], body: Any
) -> Refusal | None:
    """Return how the key, the version or the model is refused, before anything is read."""
    key = headers.get("authorization", "").removeprefix("Bearer ")
    model = body.get("model") if isinstance(body, dict) else None
    match vendor:
        case "chat" | "responses":
            if key != KEY:  # OAI-29
                text = "Incorrect API key provided."
                return openai_voice(401, text, "invalid_request_error", "invalid_api_key", None)
            return _unknown_model(vendor, model) if model not in {MODEL, None} else None
        case "anthropic":
            return _anthropic_door(headers, headers.get("x-api-key", key), model)
        case "gemini":
            return _gemini_door(path, headers)


def _unknown_model(vendor: Vendor, model: Any) -> Refusal:
    text = f"The model '{model}' does not exist or you do not have access to it."
    status, param = (404, None) if vendor == "chat" else (400, "model")  # OAI-30
    return openai_voice(status, text, "invalid_request_error", "model_not_found", param)


def _anthropic_door(headers: dict[str, str], key: str, model: Any) -> Refusal | None:
    if key != KEY:  # ANT-1, ANT-34
        return anthropic.refuse("invalid x-api-key", status=401, kind="authentication_error")
    if headers.get("anthropic-version") not in {anthropic.CLASSIC, anthropic.NEWER}:  # ANT-1
        return anthropic.refuse("anthropic-version: header is required")
    if model not in {MODEL, None}:  # ANT-35
        return anthropic.refuse(f"model: {model}", status=404, kind="not_found_error")
    return None


def _gemini_door(path: str, headers: dict[str, str]) -> Refusal | None:
    if headers.get("x-goog-api-key") != KEY and f"key={KEY}" not in path:  # GEM-1, GEM-40
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        details = [{"@type": kind, "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]
        text = "API key not valid. Please pass a valid API key."
        return gemini.refuse(text, details=details)
    found = _GEMINI.search(path)
    model = found.group(1) if found else ""
    if model != MODEL:  # GEM-41
        text = (
            f"models/{model} is not found for API version v1beta, or is not supported for"
            " generateContent. Call ModelService.ListModels to see the list of available models."
        )
        return gemini.refuse(text, status=404, kind="NOT_FOUND")
    return None
