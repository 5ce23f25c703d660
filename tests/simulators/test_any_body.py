"""Whatever a body holds, a simulator judges it: it answers, and never breaks itself."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulators import anthropic, gemini, openai_chat, openai_responses
from simulators.refusal import Refusal

NAMES = st.sampled_from([
    *("role", "content", "tool_calls", "type", "id", "name", "function", "arguments", "input"),
    *("parts", "text", "functionCall", "functionResponse", "call_id", "thinking", "signature"),
])
WORDS = st.sampled_from([
    *("user", "assistant", "tool", "model", "function", "function_call", "reasoning", "text"),
    *("tool_use", "tool_result", "message", "", "{}", "x"),
])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
TOP = ("model", "max_tokens", "messages", "input", "contents", "tools")
BODIES = VALUES | st.fixed_dictionaries({
    "model": st.just("m"),
    "max_tokens": st.just(9),
    **{name: st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=3) for name in TOP[2:]},
})
Judge = Callable[[Any], Refusal | None]


@pytest.mark.parametrize(
    "judge", [openai_chat.judge, openai_responses.judge, anthropic.judge, gemini.judge]
)
@settings(max_examples=150)
@given(body=BODIES)
def test_every_body_is_refused_or_taken(judge: Judge, body: Any) -> None:
    refusal = judge(body)
    assert refusal is None or 400 <= refusal.status < 600
