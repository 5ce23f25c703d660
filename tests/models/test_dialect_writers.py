"""The laws of writing that are about bytes, for every dialect alike."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from models.anthropic.own_histories import ADAPTIVE
from models.gemini.gemini_histories import THREE
from models.openai_responses.responses_histories import SEEING
from models.profiles import LLAMA_CPP, OPENAI
from msgspec import Struct
from strategies import joined, turns

from goldseam.kernel.conversation import Conversation, HistoryItem, Message
from goldseam.kernel.json_text import write_json
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import Dialect, Profile
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.models.openai_responses.dialect import ResponsesDialect

CACHE_MARK = b',"cache_control":{"type":"ephemeral"}'
HUGE = 10**300
TOOL = ToolSpec(
    name="count",
    description="Zählt.",
    parameters=write_json({
        "type": "object",
        "properties": {"to": {"type": "integer", "maximum": HUGE}},
    }),
)


class Case(Struct, frozen=True, kw_only=True):
    """A dialect, and what it says for the user where a history ends with the model's words."""

    dialect: Dialect
    profile: Profile
    bridge: bytes = b""


CASES = {
    "openai_chat": Case(
        dialect=ChatDialect(),
        profile=OPENAI,
        bridge=b'{"role":"user","content":"(continue)"}',
    ),
    "openai_chat, roles merged": Case(
        dialect=ChatDialect(),
        profile=LLAMA_CPP,
        bridge=b'{"role":"user","content":"(continue)"}',
    ),
    "openai_responses": Case(dialect=ResponsesDialect(), profile=SEEING),
    "anthropic": Case(
        dialect=AnthropicDialect(),
        profile=ADAPTIVE,
        bridge=b'{"role":"user","content":[{"type":"text","text":"(continue)"}]}',
    ),
    "gemini": Case(
        dialect=GeminiDialect(),
        profile=THREE,
        bridge=b'{"role":"user","parts":[{"text":"[user]\\nGo on."}]}',
    ),
}
every_dialect = pytest.mark.parametrize("name", CASES)


def asked(history: Conversation) -> ModelRequest:
    return ModelRequest(history=history, tools=(TOOL,), max_output_tokens=4096)


def lasting(body: bytes, bridge: bytes) -> bytes:
    """Return `body` without what moves on (cache marks) or goes again (bridge, closing marks)."""
    body = body.replace(CACHE_MARK, b"").removesuffix(b"]}")
    return body.removesuffix(bridge).rstrip(b'",}]')


@every_dialect
@given(parts=turns())
@settings(max_examples=30)
def test_the_bytes_of_a_request_begin_with_those_of_the_one_before(  # design law 5
    name: str, parts: list[list[HistoryItem]]
) -> None:
    case = CASES[name]
    writer = case.dialect.writer(case.profile)
    opening = Message(role="user", text="Mend it.")
    histories = [Conversation([opening, *joined(parts[:n])]) for n in range(len(parts) + 1)]
    bodies = [writer.write(asked(history)).encoded for history in histories]
    for sooner, later in pairwise(bodies):
        assert later.replace(CACHE_MARK, b"").startswith(lasting(sooner, case.bridge))


@every_dialect
@given(parts=turns())
@settings(max_examples=30)
def test_a_body_is_compact_utf_8_that_says_what_is_read_of_it(
    name: str, parts: list[list[HistoryItem]]
) -> None:
    case = CASES[name]
    written = case.dialect.write(asked(joined(parts)), case.profile)
    compact = json.dumps(written.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    assert written.encoded == compact.encode()


@every_dialect
def test_a_number_that_fits_no_machine_word_is_sent_as_it_is(name: str) -> None:
    case = CASES[name]
    history = Conversation([Message(role="user", text="Mend it.")])
    assert str(HUGE).encode() in case.dialect.write(asked(history), case.profile).encoded
