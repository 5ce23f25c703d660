"""The seven endpoints of the matrix: dialect, profiles, and everybody who judges what is sent."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Any

from models import judges_anthropic, judges_gemini, judges_openai, judges_responses
from models.anthropic.message_rules import breaches
from models.anthropic.own_histories import ADAPTIVE, BUDGETED
from models.gemini.gemini_histories import THREE
from models.openai_responses.responses_histories import SEEING
from models.profiles import DEEPSEEK, LLAMA_CPP, MISTRAL, OPENAI
from msgspec.structs import replace
from simulators import anthropic_thoughts as anthropic
from simulators import chat_hosts, gemini, openai_responses
from simulators.chat_hosts import Host
from simulators.door import Vendor
from simulators.gateway import Facts

from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import Dialect, Profile
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.models.openai_responses.dialect import ResponsesDialect


def chat_judge(body: Any, profile: Profile) -> Iterator[str | None]:
    yield judges_openai.type_refusal(body, profile)
    yield judges_openai.host_refusal(body, profile)


def responses_judge(body: Any, profile: Profile) -> Iterator[str | None]:
    del profile
    yield judges_responses.type_refusal(body)
    yield judges_responses.host_refusal(body)


def anthropic_judge(body: Any, profile: Profile) -> Iterator[str | None]:
    del profile
    yield judges_anthropic.refusal(body)
    yield from breaches(body)


def gemini_judge(body: Any, profile: Profile) -> Iterator[str | None]:
    yield from judges_gemini.refusals(body, requires_signatures=profile.requires_signatures)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One of the seven."""

    name: str
    dialect: Callable[[], Dialect]
    profiles: tuple[Profile, ...]
    """The first one reads; all of them write."""
    vendor: Vendor
    judges: Callable[[Any, Profile], Iterator[str | None]]
    host: Host = chat_hosts.PLAIN
    gives_ids: bool = True
    gives_bad_arguments: bool = True
    speaks_json_text: bool = False
    """Whether it is a plain chat model that is offered no tools and asked for JSON text."""


DOUBTS = Facts(
    responses=openai_responses.Facts(demands_strict=True),
    anthropic=anthropic.Facts(
        doubts=frozenset({"ANT-10", "ANT-11", "ANT-12", "ANT-27", "ANT-37"}),
    ),
    gemini=gemini.Facts(doubts=frozenset({"GEM-33"})),
)
"""Every rule is held, the unconfirmed ones too."""

CHAT_DOUBTS = frozenset[chat_hosts.Doubt]({"OAI-12", "OAI-14", "OAI-28"})


def strict(host: Host) -> Host:
    """Return the host with the unconfirmed rules held; OpenAI's own knows no foreign field."""
    own: set[chat_hosts.Doubt] = {"OAI-17"} if host is chat_hosts.OPENAI else set()
    return changed(host, doubts=CHAT_DOUBTS | own)


OPENAI_CHAT = Endpoint(
    name="OpenAI Chat",
    dialect=ChatDialect,
    profiles=(OPENAI,),
    vendor="chat",
    judges=chat_judge,
    host=chat_hosts.OPENAI,
)
ENDPOINTS = (
    OPENAI_CHAT,
    Endpoint(
        name="OpenAI Responses",
        dialect=ResponsesDialect,
        profiles=(SEEING, replace(SEEING, strict_schemas=True)),
        vendor="responses",
        judges=responses_judge,
    ),
    Endpoint(
        name="Anthropic",
        dialect=AnthropicDialect,
        profiles=(BUDGETED, ADAPTIVE),
        vendor="anthropic",
        judges=anthropic_judge,
    ),
    Endpoint(
        name="Gemini 3",
        dialect=GeminiDialect,
        profiles=(THREE,),
        vendor="gemini",
        judges=gemini_judge,
        gives_ids=False,
        gives_bad_arguments=False,
    ),
    Endpoint(
        name="Mistral",
        dialect=ChatDialect,
        profiles=(MISTRAL,),
        vendor="chat",
        judges=chat_judge,
        host=chat_hosts.MISTRAL,
    ),
    Endpoint(
        name="DeepSeek thinking",
        dialect=ChatDialect,
        profiles=(DEEPSEEK,),
        vendor="chat",
        judges=chat_judge,
        host=chat_hosts.DEEPSEEK,
    ),
    Endpoint(
        name="JSON text",
        dialect=ChatDialect,
        profiles=(LLAMA_CPP,),
        vendor="chat",
        judges=chat_judge,
        host=chat_hosts.LLAMA_CPP,
        gives_bad_arguments=False,
        speaks_json_text=True,
    ),
)
PAIRS = tuple((one, other) for one in ENDPOINTS for other in ENDPOINTS if one is not other)
