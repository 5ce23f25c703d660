"""The Chat Completions simulator refuses what the rulebook lists, and takes the rest."""

from dataclasses import replace
from typing import Any

import pytest
from simulators import chat_hosts, openai_chat
from simulators.chat_hosts import OPENAI, PLAIN, Host
from simulators.refusal import Handed
from simulators.telling import USER, told


def fc(call_id: str = "call_1", **function: Any) -> dict[str, Any]:
    whole = {"name": "read_file", "arguments": "{}", **function}
    return {"id": call_id, "type": "function", "function": whole}


def says(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [*calls], **more}


def result(call_id: str = "call_1", content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def chat(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [*messages], **more}


def tool(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "t", **function}}


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
MISTRALS = fc("abcDEF123")
GOOGLES = {**fc(), "extra_content": {"google": {"thought_signature": "c2ln"}}}

CHAT_REFUSED: list[tuple[str, dict[str, Any], Host, str]] = [
    ("OAI-1", chat(), OPENAI, "'messages'"),
    ("OAI-1", {"messages": [USER]}, OPENAI, "model"),
    ("OAI-2", chat({"role": "robot", "content": ""}), OPENAI, "unsupported_value"),
    (
        "OAI-2",
        chat({"role": "developer", "content": ""}),
        replace(PLAIN, refused_role="developer"),
        "messages[0].role",
    ),
    ("OAI-4", chat({"role": "user", "content": None}), OPENAI, "messages.[0].content"),
    ("OAI-4", chat(USER, says(fc()), result(content=None)), OPENAI, "expected a string, got null"),
    ("OAI-5", chat(USER, {"role": "assistant", "content": None}), OPENAI, "got null"),
    ("OAI-6", chat({**USER, "content": [{"type": "video"}]}), OPENAI, "Content blocks are"),
    (
        "OAI-6",
        chat(USER, says(fc()), result(content=[{"type": "image_url"}])),
        OPENAI,
        "Invalid 'messages[2]'",
    ),
    ("OAI-7", chat(USER, says({**fc(), "type": None}), result()), OPENAI, "tool_calls[0].type"),
    ("OAI-7", chat(USER, says(fc(arguments={})), result()), OPENAI, "expected a string"),
    ("XLT-2", chat(USER, says(fc(arguments="{")), result()), OPENAI, "not valid JSON"),
    ("OAI-10", chat(USER, says(fc(name="a b")), result()), OPENAI, "does not match pattern"),
    ("OAI-11", chat(USER, says(fc("c" * 43)), result("c" * 43)), OPENAI, "with length 43 instead"),
    ("OAI-13", chat(USER, tool_choice="any"), OPENAI, "'any'"),
    (
        "OAI-15",
        chat(USER, tools=[tool(parameters=OPEN, strict=True)]),
        OPENAI,
        "'additionalProperties' is required to be supplied and to be false",
    ),
    (
        "OAI-16",
        chat(USER, tools=[tool(parameters={"type": "object"})]),
        OPENAI,
        "object schema missing properties.",
    ),
    ("OAI-18", chat(USER, max_tokens=9), OPENAI, "Use 'max_completion_tokens' instead."),
    ("OAI-19", chat(USER, temperature=1), OPENAI, "'temperature' is not supported"),
    ("OAI-21", chat(USER, says(fc())), OPENAI, "must be followed by tool messages"),
    ("OAI-21", chat(USER, says(fc(), fc("b")), result()), OPENAI, "response messages: b"),
    ("OAI-21", chat(USER, says(fc()), USER, result()), OPENAI, "messages.[2].role"),
    ("OAI-22", chat(USER, result()), OPENAI, "must be a response to a preceeding message"),
    ("DSK-1", chat(USER, says(fc()), result()), chat_hosts.DEEPSEEK, "must be passed back"),
    ("KIM-1", chat(USER, says(fc()), result()), chat_hosts.KIMI, "message at index 1"),
    ("DSK-4", chat(USER, tool_choice="required"), chat_hosts.DEEPSEEK, "tool_choice"),
    ("QWN-1", chat(USER, tool_choice="required"), chat_hosts.QWEN, "in thinking mode"),
    ("MIS-1", chat(USER, says(fc()), result()), chat_hosts.MISTRAL, "with a length of 9."),
    (
        "MIS-2",
        chat(USER, says(MISTRALS), result("abcDEF123"), USER),
        chat_hosts.MISTRAL,
        "Unexpected role 'user' after role 'tool'",
    ),
    (
        "MIS-2",
        chat(USER, {"role": "assistant", "content": "x"}),
        chat_hosts.MISTRAL,
        "invalid_request_message_order",
    ),
    ("GLM-1", chat(USER, result()), chat_hosts.GLM, "'1214'"),
    ("XAI-1", chat(USER, presence_penalty=0), chat_hosts.XAI, "invalid-argument"),
    ("GRQ-1", chat(USER, says(fc()), result()), chat_hosts.GROQ, "requested tool does not exist"),
    ("VLM-1", chat(USER, result()), chat_hosts.VLLM, "'object': 'error'"),
    ("LCP-1", chat(USER, USER), chat_hosts.LLAMA_CPP, "500"),
    (
        "LCP-1",
        chat(USER, *[{"role": "assistant", "content": "x"}] * 2),
        chat_hosts.LLAMA_CPP,
        "Cannot have 2 or more assistant messages",
    ),
    ("GOC-1", chat(USER, says(fc()), result()), chat_hosts.GEMINI, "missing a thought_signature"),
    (
        "GOC-2",
        chat(USER, says(GOOGLES), result()),
        replace(chat_hosts.GEMINI, issued={}),
        "[{'error': {'code': 400, 'message': 'Corrupted thought signature.'",
    ),
    (
        "ORT-2",
        chat(USER, says(fc()), result()),
        replace(chat_hosts.OPENROUTER, issued={"{}": Handed(number=0, on="call_1")}),
        "Provider returned error",
    ),
]

CHAT_TAKEN: list[tuple[str, dict[str, Any], Host]] = [
    ("OAI-3", chat({"role": "system", "content": "x"}, USER), OPENAI),
    ("OAI-5", chat(USER, says(fc()), result()), OPENAI),
    ("OAI-9", chat(USER, tools=[tool()]), OPENAI),
    ("OAI-15", chat(USER, tools=[tool(parameters=OPEN)]), OPENAI),
    ("OAI-17", chat(USER, says(fc(), reasoning_content=""), result()), OPENAI),
    ("OAI-23", chat(USER, says(fc("a"), fc("b")), result("b"), result("a")), OPENAI),
    ("OAI-24", chat(USER, USER, *[{"role": "assistant", "content": "x"}] * 2), OPENAI),
    ("OAI-18", chat(USER, max_tokens=9, temperature=0.5), PLAIN),
    ("DSK-2", chat(USER, says(fc(), reasoning_content=""), result()), chat_hosts.DEEPSEEK),
    ("DSK-3", chat(USER, {"role": "assistant", "content": "x"}, USER), chat_hosts.DEEPSEEK),
    (
        "MIS-3",
        chat(USER, says(MISTRALS), {**result("abcDEF123"), "name": "read_file"}, tool_choice="any"),
        chat_hosts.MISTRAL,
    ),
    ("GOC-1", chat(USER, says(GOOGLES, fc("b")), result(), result("b")), chat_hosts.GEMINI),
    ("GEM-21", chat(USER, says(fc()), result(), USER), chat_hosts.GEMINI),
]


@pytest.mark.parametrize(("rule", "body", "host", "words"), CHAT_REFUSED)
def test_chat_refuses_as_the_rule_says(
    rule: str, body: dict[str, Any], host: Host, words: str
) -> None:
    assert words in told(openai_chat.judge(body, host)), rule


@pytest.mark.parametrize(("rule", "body", "host"), CHAT_TAKEN)
def test_chat_takes_what_the_rule_accepts(rule: str, body: dict[str, Any], host: Host) -> None:
    assert told(openai_chat.judge(body, host)) == "", rule


@pytest.mark.parametrize(
    ("doubt", "body"),
    [
        ("OAI-12", chat(USER, tools=[tool()] * 129)),
        ("OAI-14", chat(USER, tool_choice="auto")),
        ("OAI-17", chat({**USER, "cache_control": {}})),
        ("OAI-28", chat(USER, stream_options={})),
    ],
)
def test_an_unconfirmed_chat_rule_holds_behind_its_switch_alone(
    doubt: Any, body: dict[str, Any]
) -> None:
    assert openai_chat.judge(body) is None
    refusal = openai_chat.judge(body, replace(OPENAI, doubts=frozenset([doubt])))
    assert refusal is not None
    assert (refusal.status, {*refusal.body["error"]}) == (400, {"message", "type", "param", "code"})


def test_ids_of_64_are_taken_where_the_switch_is_set_so() -> None:  # OAI-11
    body = chat(USER, says(fc("c" * 64)), result("c" * 64))
    assert openai_chat.judge(body, replace(OPENAI, longest_id=64)) is None
