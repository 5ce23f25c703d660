"""The Responses simulator refuses what the rulebook lists, and takes the rest."""

from dataclasses import replace
from typing import Any

import pytest
from simulators import openai_responses
from simulators.refusal import Handed, print_of
from simulators.telling import USER, told


def rsp(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": [USER, *items], "store": False, **more}


def call(call_id: str = "call_1", **more: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": "read_file",
        "arguments": "{}",
        **more,
    }


def output(call_id: str = "call_1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "ok"}


THOUGHT: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "gAAA",
}
ISSUED = {"gAAA": Handed(number=0, on=print_of(["rs_1", []]), before="call of read_file")}
FLAT: dict[str, Any] = {
    "type": "function",
    "name": "t",
    "parameters": {"type": "object", "properties": {}},
}
KNOWING = openai_responses.Facts(issued=ISSUED)

RESPONSES_REFUSED = [
    ("RSP-1", rsp({"role": "tool", "content": "x"}), "'tool'"),
    ("RSP-1", rsp({"type": "tool_result"}), "'tool_result'"),
    ("RSP-2", rsp(tools=[{"type": "function", "function": {"name": "t"}}]), "tools[0].name"),
    ("RSP-3", rsp(call(id="call_1"), output()), "Expected an ID that begins with 'fc'."),
    ("RSP-4", rsp(call(id=""), output()), "letters, numbers, underscores, or dashes"),
    ("RSP-4", rsp({"type": "reasoning", "summary": []}, call(), output()), "input[1].id"),
    ("RSP-5", rsp(call("c" * 65), output("c" * 65)), "input[1].call_id"),
    ("RSP-6", rsp(call()), "No tool output found for function call call_1."),
    ("RSP-7", rsp(output()), "No tool call found for function call output with call_id call_1."),
    ("RSP-8", rsp(THOUGHT, USER), "without its required following item."),
    ("RSP-8", rsp(THOUGHT, call(name="other"), output()), "its required following item."),
    ("RSP-9", rsp({**THOUGHT, "encrypted_content": None}, call(), output()), "404"),
    (
        "XLT-3",
        rsp({**THOUGHT, "encrypted_content": "gAAB"}, call(), output()),
        "invalid_encrypted_content",
    ),
    ("RSP-11", rsp(previous_response_id="r", conversation="c"), "Mutually exclusive"),
    ("RSP-12", rsp(max_output_tokens=15), "max_output_tokens"),
    ("OAI-15", rsp(tools=[{**FLAT, "strict": True}]), "tools[0].parameters"),
    ("OAI-19", rsp(temperature=0.5), "'temperature' is not supported"),
]

RESPONSES_TAKEN = [
    ("RSP-1", {"model": "m", "input": "Hi"}),
    ("RSP-3", rsp(call(), output())),
    ("RSP-8", rsp(THOUGHT, call(), output())),
    ("RSP-8", rsp(call(), output())),
    ("RSP-12", rsp(max_output_tokens=16)),
    ("RSP-17", rsp(call(status=None, id=None), output())),
    ("RSP-2", rsp(tools=[{**FLAT, "strict": False}])),
]


@pytest.mark.parametrize(("rule", "body", "words"), RESPONSES_REFUSED)
def test_responses_refuses_as_the_rule_says(rule: str, body: dict[str, Any], words: str) -> None:
    assert words in told(openai_responses.judge(body, KNOWING)), rule


@pytest.mark.parametrize(("rule", "body"), RESPONSES_TAKEN)
def test_responses_takes_what_the_rule_accepts(rule: str, body: dict[str, Any]) -> None:
    assert told(openai_responses.judge(body, KNOWING)) == "", rule


def test_unconfirmed_responses_rules_hold_behind_their_switches_alone() -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    bare, unled = rsp(tools=[{**FLAT, "parameters": closed}]), rsp(call(), output())
    assert [told(openai_responses.judge(body, KNOWING)) for body in (bare, unled)] == ["", ""]
    demanding = replace(KNOWING, demands_strict=True, pairs_calls_with_reasoning=True)
    assert "strict" in told(openai_responses.judge(bare, demanding))
    assert "required 'reasoning' item" in told(openai_responses.judge(unled, demanding))
