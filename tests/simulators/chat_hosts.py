"""The hosts that speak Chat Completions: how each deviates, and in which body it refuses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from simulators.refusal import Issued, Refusal

Doubt: TypeAlias = Literal["OAI-12", "OAI-14", "OAI-17", "OAI-28"]
"""The rules that nobody has confirmed."""

Voice: TypeAlias = Callable[[int, str, str, str | None, str | None], Refusal]
"""Makes a refusal of status, message, type, code and param."""


def openai_voice(
    status: int, message: str, kind: str, code: str | None, param: str | None
) -> Refusal:
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Refusal(status=status, body={"error": error})


def flat_voice(
    status: int, message: str, kind: str, code: str | None, param: str | None
) -> Refusal:  # MIS-1, VLM-1
    error = {"object": "error", "message": message, "type": kind, "param": param, "code": code}
    return Refusal(status=status, body=error)


def _xai_voice(status: int, message: str, *_: Any) -> Refusal:  # XAI-1
    return Refusal(status=status, body={"code": "invalid-argument", "error": message})


def _glm_voice(status: int, message: str, *_: Any) -> Refusal:  # GLM-1
    error = {
        "code": "1214",
        "message": f"The messages parameter is illegal. Please check the documentation. {message}",
    }
    return Refusal(status=status, body={"error": error})


def _llama_voice(status: int, message: str, kind: str, *_: Any) -> Refusal:  # LCP-1
    return Refusal(
        status=status, body={"error": {"code": status, "message": message, "type": kind}}
    )


def _google_voice(status: int, message: str, *_: Any) -> Refusal:  # GOC-2
    error = {"code": status, "message": message, "status": "INVALID_ARGUMENT"}
    return Refusal(status=status, body=[{"error": error}])


def _openrouter_voice(status: int, message: str, *_: Any) -> Refusal:  # ORT-1
    metadata = {"provider_name": "Google", "raw": message}
    error = {"code": status, "message": "Provider returned error", "metadata": metadata}
    return Refusal(status=status, body={"error": error, "user_id": "user_1"})


@dataclass(frozen=True, kw_only=True)
class Host:
    """The facts of one host and model; `OPENAI` is the rule, all others deviate from it."""

    voice: Voice = openai_voice
    refused_role: str | None = None
    longest_id: int | None = 40
    id_pattern: str | None = None
    thinks: bool = False
    """OpenAI's own reasoning models: no temperature, no max_tokens (OAI-18, OAI-19)."""
    reasoning_words: str | None = None
    """How it refuses calls without `reasoning_content`; `None` where it does not (DSK-1, KIM-1)."""
    forced_choice_words: str | None = None
    """How it refuses a forced tool while thinking (DSK-4, QWN-1, KIM-2)."""
    signs_calls: bool = False
    """Whether it is Gemini's OpenAI endpoint (GOC-1)."""
    wants_details: bool = False
    """Whether reasoning_details must come back (ORT-2)."""
    bridges_tool_to_user: bool = False
    alternates: bool = False
    known_tools_only: bool = False
    penalties_refused: bool = False
    issued: Issued | None = None
    doubts: frozenset[Doubt] = field(default_factory=frozenset)
    """The unconfirmed rules that are held all the same."""


OPENAI = Host(thinks=True)
PLAIN = Host()
DEEPSEEK = Host(
    longest_id=None,
    reasoning_words="The reasoning_content in the thinking mode must be passed back to the API.",
    forced_choice_words="deepseek-reasoner does not support this tool_choice",
)
KIMI = Host(
    longest_id=None,
    reasoning_words="thinking is enabled but reasoning_content is missing in assistant tool call"
    " message at index {index}",
    forced_choice_words="tool_choice 'required' is incompatible with thinking enabled",
)
QWEN = Host(
    longest_id=None,
    forced_choice_words="<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does"
    " not support being set to required or object in thinking mode",
)
MISTRAL = Host(
    voice=flat_voice,
    longest_id=None,
    id_pattern="[a-zA-Z0-9]{9}",
    bridges_tool_to_user=True,
)
GLM = Host(voice=_glm_voice, longest_id=None)
XAI = Host(voice=_xai_voice, longest_id=None, penalties_refused=True)
GROQ = Host(longest_id=None, known_tools_only=True)
OPENROUTER = Host(voice=_openrouter_voice, longest_id=None, wants_details=True)
VLLM = Host(voice=flat_voice, longest_id=None)
LLAMA_CPP = Host(voice=_llama_voice, longest_id=None, alternates=True)
GEMINI = Host(voice=_google_voice, longest_id=None, signs_calls=True)
