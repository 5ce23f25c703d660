"""The Messages simulator refuses what the rulebook lists, and takes the rest."""

from typing import Any

import pytest
from simulators import anthropic
from simulators.anthropic_thoughts import Facts
from simulators.refusal import Handed, print_of
from simulators.telling import USER, told


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call_id: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "read_file", "input": {}, **more}


def answer(call_id: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok", **more}


def ant(*turns: Any, **more: Any) -> dict[str, Any]:
    """Return a request of turns by turns: the user's, the assistant's, the user's …."""
    roles = ["user", "assistant"] * len(turns)
    messages = [{"role": r, "content": c} for r, c in zip(roles, turns, strict=False)]
    return {"model": "m", "max_tokens": 4096, "messages": messages, **more}


SIGNED: dict[str, Any] = {"type": "thinking", "thinking": "so", "signature": "c2ln"}
SEALED: dict[str, Any] = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
ANT_KNOWING = Facts(
    issued={
        "c2ln": Handed(number=0, on=print_of(SIGNED), before="call of read_file"),
        "ZGF0YQ==": Handed(number=1, on=print_of(SEALED), before="call of read_file"),
    }
)
THINKS = {"type": "enabled", "budget_tokens": 1024}
ANT_SCHEMA = {"name": "t", "input_schema": {"type": "object"}}

ANTHROPIC_REFUSED = [
    ("ANT-3", {"model": "m", "messages": [USER]}, "max_tokens: Field required"),
    ("ANT-4", {**ant(), "messages": [USER, {"role": "tool", "content": "x"}]}, "messages.1.role"),
    ("ANT-6", ant([{"type": "input_text", "text": "x"}]), "Input tag 'input_text' found"),
    ("ANT-7", ant("a", [use(input="{}")], [answer()]), "tool_use.input"),
    ("ANT-8", ant("a", [use()], "b"), "without 'tool_result' blocks immediately after: toolu_1."),
    ("ANT-8", ant("a", [use(), use("b")], [answer()]), "immediately after: b."),
    ("ANT-9", ant([answer()]), "unexpected 'tool_use_id' found in 'tool_result' blocks: toolu_1"),
    ("ANT-13", ant([text("")]), "text content blocks must be non-empty"),
    ("ANT-13", ant("a", [text(" \n")], "b"), "must contain non-whitespace text"),
    ("ANT-15", ant("a", "b"), "does not support assistant message prefill"),
    ("ANT-16", ant([{**text("a"), "x": 1}]), "Extra inputs are not permitted"),
    (
        "ANT-17",
        ant("a", tools=[{"name": "t", "input_schema": {"type": "object", "anyOf": []}}]),
        "oneOf, allOf, or anyOf",
    ),
    ("ANT-18", ant("a", tool_choice="auto"), "tool_choice"),
    ("ANT-18", ant("a", tool_choice={"type": "none", "disable_parallel_tool_use": True}), "Extra"),
    ("ANT-19", ant("a", [use()], [answer(is_error="yes")]), "is_error"),
    ("ANT-20", ant([{**text("a"), "cache_control": {"type": "ephemeral"}}] * 6), "Found 6."),
    (
        "ANT-20",
        ant("a", [{**SIGNED, "cache_control": {"type": "ephemeral"}}, use()], [answer()]),
        "Extra inputs",
    ),
    ("ANT-21", ant("a", thinking={"type": "enabled", "budget_tokens": 9}), "budget_tokens"),
    ("ANT-21", ant("a", thinking={**THINKS, "budget_tokens": 4096}), "must be greater than"),
    (
        "ANT-21",
        ant("a", output_config={"effort": "xhigh"}),
        "does not support effort level 'xhigh'",
    ),
    (
        "ANT-22",
        ant("a", [{"type": "thinking", "thinking": "so"}, use()], [answer()]),
        "signature: Field required",
    ),
    ("ANT-23", ant("a", [use()], [answer()], thinking=THINKS), "but found 'tool_use'. When"),
    ("ANT-24", ant("a", [{**SIGNED, "thinking": "no"}, use()], [answer()]), "cannot be modified"),
    ("ANT-24", ant("a", [{**SIGNED, "signature": "x"}, use()], [answer()]), "Invalid 'signature'"),
    ("ANT-24", ant("a", [{**SEALED, "data": "x"}, use()], [answer()]), "Invalid 'signature'"),
    ("ANT-25", ant("a", [{**SIGNED, "thinking": ""}, use()], [answer()]), "cannot be modified"),
    ("ANT-24", ant("a", [SIGNED, text("x"), use()], [answer()]), "cannot be modified"),
    ("ANT-24", ant("a", [SEALED, use(), SIGNED, use("b")], [answer(), answer("b")]), "modified"),
    ("ANT-27", ant("a", thinking=THINKS, tool_choice={"type": "any"}), "forces tool use."),
]

ANTHROPIC_TAKEN = [
    ("ANT-3", {**ant("a"), "max_tokens": 0}),
    ("ANT-5", {**ant(), "messages": [USER, USER]}),
    ("ANT-8", ant("a", [use(), use("b")], [answer("b"), answer()])),
    ("ANT-10", ant("a", [use()], [answer(), text("and")])),
    ("ANT-18", ant("a", tools=[ANT_SCHEMA], tool_choice={"type": "none"})),
    ("ANT-19", ant("a", [use()], [{"type": "tool_result", "tool_use_id": "toolu_1"}])),
    ("ANT-22", ant("a", [SIGNED, use()], [answer()], thinking=THINKS)),
    ("ANT-23", ant("a", [SIGNED, use()], [answer()], [use("b")], [answer("b")], thinking=THINKS)),
    ("ANT-23", ant("a", [use()], [answer()], thinking={"type": "adaptive"})),
    ("ANT-23", ant("a", [use()], [answer(), text("b")], thinking=THINKS)),
    ("ANT-25", ant("a", [SIGNED, use(), SEALED, use("b")], [answer(), answer("b")])),
    ("ANT-26", ant("a", [use()], [answer()], "done", "b", thinking=THINKS)),
    ("ANT-37", ant("a", temperature=0.5)),
]


@pytest.mark.parametrize(("rule", "body", "words"), ANTHROPIC_REFUSED)
def test_anthropic_refuses_as_the_rule_says(rule: str, body: dict[str, Any], words: str) -> None:
    refusal = anthropic.judge(body, ANT_KNOWING)
    assert words in told(refusal), rule
    assert refusal is not None
    assert (refusal.status, refusal.body["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize(("rule", "body"), ANTHROPIC_TAKEN)
def test_anthropic_takes_what_the_rule_accepts(rule: str, body: dict[str, Any]) -> None:
    assert told(anthropic.judge(body, ANT_KNOWING)) == "", rule


def test_a_trailing_blank_is_refused_where_prefill_is_taken() -> None:  # ANT-14
    facts = Facts(takes_prefill=True)
    assert anthropic.judge(ant("a", "b"), facts) is None
    assert "trailing whitespace" in told(anthropic.judge(ant("a", "b "), facts))


@pytest.mark.parametrize(
    ("doubt", "body"),
    [
        ("ANT-10", ant("a", [use()], [text("b"), answer()])),
        ("ANT-11", ant("a", [use()], [answer()], [use()], [answer()])),
        ("ANT-11", ant("a", [use("a.b")], [answer("a.b")])),
        ("ANT-12", ant("a", [use(name="a b")], [answer()])),
        ("ANT-27", ant("a", thinking={"type": "adaptive"}, temperature=0.5)),
        ("ANT-37", ant("a", temperature=0.5)),
    ],
)
def test_an_unconfirmed_anthropic_rule_holds_behind_its_switch_alone(
    doubt: Any, body: dict[str, Any]
) -> None:
    assert anthropic.judge(body) is None
    assert anthropic.judge(body, Facts(doubts=frozenset([doubt]))) is not None
