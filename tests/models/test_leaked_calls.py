"""Calls in a model's words: found in each known form, for tools on offer, outside code fences."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.kernel.conversation import Arguments, Message, Reasoning, ToolCall
from goldseam.kernel.json_text import read_json, write_json
from goldseam.kernel.request import (
    ModelResponse,
    Remark,
    ReplyItem,
    StopReason,
    TokenUsage,
    ToolSpec,
)
from goldseam.models.leaked_calls import lift_leaked_calls

READ = ToolSpec(
    name="read_file",
    description="Reads.",
    parameters=write_json({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "first": {"type": "integer"},
            "tags": {"type": "array"},
        },
    }),
)
PATH: dict[str, Any] = {"path": "a.py"}
BAR = "\uff5c"


def reply(*items: ReplyItem, stop: StopReason = "end") -> ModelResponse:
    return ModelResponse(items=items, stop=stop, usage=TokenUsage(), model="m")


def said(text: str) -> Message:
    return Message(role="assistant", text=text)


def call(arguments: dict[str, Any]) -> ToolCall:
    text = write_json(arguments)
    return ToolCall(call_id="", tool_name="read_file", arguments=Arguments(text=text))


def lifted(text: str) -> ModelResponse:
    return lift_leaked_calls(reply(said(text)), (READ,))


JSON = '{"name": "read_file", "arguments": {"path": "a.py"}}'
TAGS = "<parameter=path>\na.py\n</parameter>\n<parameter=first>3</parameter>"
INVOKE = '<invoke name="read_file"><parameter name="path">a.py</parameter></invoke>'

KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0"
    '<|tool_call_argument_begin|>{"path": "a.py"}<|tool_call_end|><|tool_calls_section_end|>'
)
DEEPSEEK = (
    f"<{BAR}tool▁calls▁begin{BAR}><{BAR}tool▁call▁begin{BAR}>function<{BAR}tool▁sep{BAR}>"
    f'read_file\n```json\n{{"path": "a.py"}}\n```<{BAR}tool▁call▁end{BAR}>'
    f"<{BAR}tool▁calls▁end{BAR}>"
)
DEEPSEEK_SHORT = (
    f'<{BAR}tool▁call▁begin{BAR}>read_file<{BAR}tool▁sep{BAR}>{{"path": "a.py"}}'
    f"<{BAR}tool▁call▁end{BAR}>"
)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (f"<tool_call>\n{JSON}\n</tool_call>", [PATH]),
        (f"<tool_call>{JSON}</tool_call>\n<tool_call>{JSON}</tool_call>", [PATH, PATH]),
        (
            f"<tool_call>\n<function=read_file>\n{TAGS}\n</function>\n</tool_call>",
            [{**PATH, "first": 3}],
        ),
        (f"<function=read_file>{TAGS}</function>", [{**PATH, "first": 3}]),
        ('<function=read_file>{"path": "a.py"}</function>', [PATH]),
        ("<function=read_file></function>", [{}]),
        (f"<function_calls>\n{INVOKE}\n</function_calls>", [PATH]),
        (f"[TOOL_CALLS][{JSON}]", [PATH]),
        ('[TOOL_CALLS]read_file[ARGS]{"path": "a.py"}', [PATH]),
        ('<|python_tag|>{"name": "read_file", "parameters": {"path": "a.py"}}<|eom_id|>', [PATH]),
        (
            '<tool_call>{"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}</tool_call>',
            [PATH],
        ),
        (KIMI, [PATH]),
        (DEEPSEEK, [PATH]),
        (DEEPSEEK_SHORT, [PATH]),
    ],
)
def test_a_call_in_a_known_form_becomes_a_call(
    text: str, calls: list[dict[str, Any]]
) -> None:  # case 106
    names = ", ".join("read_file" for _ in calls)
    assert lifted(text) == ModelResponse(
        items=tuple(map(call, calls)),
        stop="tool_calls",
        usage=TokenUsage(),
        model="m",
        remarks=(Remark(code="leaked_call", text=f"calls were found in the words: {names}"),),
    )


def test_the_words_around_a_call_are_kept() -> None:
    found = lift_leaked_calls(
        reply(Reasoning(text="hm"), said(f"I look.\n<tool_call>{JSON}</tool_call>\nNow.")), (READ,)
    )
    assert found.items == (Reasoning(text="hm"), said("I look.\n\nNow."), call(PATH))


@pytest.mark.parametrize(
    "text",
    [
        "Done.",
        f"Write it so:\n```xml\n<tool_call>{JSON}</tool_call>\n```\nThat is all.",
        f"~~~\n<tool_call>{JSON}</tool_call>",
        '<tool_call>{"name": "other", "arguments": {}}</tool_call>',
        "The markup <tool_call> opens a call.",
        "<tool_call>?</tool_call>",
        '<invoke name="other"><parameter name="x">1</parameter></invoke>',
    ],
)
def test_an_example_or_a_strange_tool_stays_what_it_is(text: str) -> None:  # case 109
    assert lifted(text) == reply(said(text))


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "read_file", "arguments": {"path": "a.p',
        '<tool_call>{"name": "read_file", "arguments": {]}</tool_call>',
        '<tool_call>{"name": "read_file", "argumente": {}}</tool_call>',
        f'[TOOL_CALLS][{JSON}, {{"name": "other", "arguments": {{}}}}]',
        "<function=read_file>",
    ],
)
def test_a_call_that_cannot_be_read_is_refused_aloud(text: str) -> None:  # cases 107, 116
    found = lifted(text)
    assert found.stop == "malformed_call"
    assert [remark.code for remark in found.remarks] == ["leaked_call"]


def test_a_reply_with_calls_or_cut_short_is_left_alone() -> None:
    text = said(f"<tool_call>{JSON}</tool_call>")
    for whole in (reply(text, call(PATH)), reply(text, stop="length"), reply(text, stop="filter")):
        assert lift_leaked_calls(whole, (READ,)) == whole
    assert lift_leaked_calls(reply(text), ()) == reply(text)


def test_an_argument_between_tags_is_text_unless_the_schema_says_otherwise() -> None:
    tags = "".join(
        f"<parameter={name}>{text}</parameter>"
        for name, text in [("path", "7"), ("first", "seven"), ("tags", "[1]"), ("new", "8")]
    )
    (found,) = lifted(f"<function=read_file>{tags}</function>").items
    assert found == call({"path": "7", "first": "seven", "tags": [1], "new": "8"})


@given(st.text(), st.text())
def test_text_without_markup_is_never_touched(before: str, after: str) -> None:
    text = f"{before} read_file {after}"
    if not any(mark in text for mark in ("<", "[TOOL_CALLS]")):
        assert lifted(text) == reply(said(text))


@given(st.dictionaries(st.text(), st.text() | st.integers(-9, 9) | st.booleans(), max_size=3))
def test_arguments_are_lifted_as_they_were_written(arguments: dict[str, Any]) -> None:
    written = write_json({"name": "read_file", "arguments": arguments})
    (found,) = lifted(f"<tool_call>{written}</tool_call>").items
    assert isinstance(found, ToolCall)
    assert isinstance(found.arguments, Arguments)
    assert read_json(found.arguments.text) == arguments
