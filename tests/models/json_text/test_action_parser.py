"""What is taken for an action, what is refused, and what the refusal says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_objects, texts

from goldseam.kernel.conversation import Message, Reasoning, ToolCall, arguments_of
from goldseam.kernel.request import Remark
from goldseam.models.json_text.action_parser import (
    BadActionError,
    ParsedReply,
    parse_json_action,
)
from goldseam.models.json_text.forms import UNSENDABLE, said_line

CALL = '{"type":"tool_call","call_id":"c1","tool_name":"ls","arguments":{"path":"."}}'
OTHER = '{"type":"tool_call","call_id":"c2","tool_name":"ls","arguments":{}}'
ANSWER = '{"type":"final_answer","content":"Done."}'
WORDS = '{"type":"message","content":"Look."}'

CALL_ITEM = ToolCall(call_id="c1", tool_name="ls", arguments=arguments_of({"path": "."}))
OTHER_ITEM = ToolCall(call_id="c2", tool_name="ls", arguments=arguments_of({}))
ANSWER_ITEM = Message(role="assistant", text="Done.")

CALL_FORM = 'Right form: {"type":"tool_call","call_id":"c1","tool_name":"NAME","arguments":{}}'
ANSWER_FORM = 'Right form: {"type":"final_answer","content":"TEXT"}'
EITHER_FORM = f'{CALL_FORM} or {{"type":"final_answer","content":"TEXT"}}'

FENCED = Remark(code="json_found_in_fence", text="the action stood in a code fence")
AFTER_THOUGHT = Remark(
    code="json_found_after_thought", text="the action stood after a <think> block"
)


def around(text: str) -> Remark:
    return Remark(code="words_around_fence", text=f"left out: {text}")


def refusal_of(text: str, *, several_calls: bool = True) -> str:
    with pytest.raises(BadActionError) as caught:
        parse_json_action(text, several_calls=several_calls)
    return str(caught.value)


def call_with(**changes: object) -> str:
    fields = {"type": "tool_call", "call_id": "c1", "tool_name": "ls", "arguments": {}}
    return json.dumps(fields | changes)


# --- Laws -------------------------------------------------------------------------------------


def replies() -> st.SearchStrategy[str]:
    pieces = st.sampled_from([
        CALL,
        OTHER,
        ANSWER,
        WORDS,
        "```json\n",
        "\n```\n",
        "<think>",
        "</think>",
        "[",
        "]",
        ",",
    ])
    return st.lists(pieces | texts(), max_size=6).map("".join)


@given(replies(), st.booleans())
def test_any_text_is_an_action_or_refused(text: str, several: bool) -> None:  # M3-M5
    try:
        parsed = parse_json_action(text, several_calls=several)
    except BadActionError:
        return
    assert parsed.items


@given(
    st.builds(
        ToolCall,
        call_id=texts().filter(lambda text: text.strip() and not UNSENDABLE.search(text)),
        tool_name=st.just("ls"),
        arguments=json_objects().map(arguments_of),
    )
)
def test_what_the_model_is_shown_of_itself_is_a_valid_reply(call: ToolCall) -> None:  # B1.7
    assert parse_json_action(said_line(call, alone=True)).items == (call,)
    assert parse_json_action(f"[{said_line(call, alone=False)},{OTHER}]").items == (
        call,
        OTHER_ITEM,
    )


@given(replies())
def test_nothing_is_taken_from_a_text_with_two_fences(text: str) -> None:  # J 109
    two = f"For example:\n```json\n{CALL}\n```\nor\n```json\n{ANSWER}\n```\n{text}"
    assert "several code fences" in refusal_of(two)


# --- Taken ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (CALL, ParsedReply(items=(CALL_ITEM,))),
        (f"\n {ANSWER}\n", ParsedReply(items=(ANSWER_ITEM,))),
        (f"[{CALL},{OTHER}]", ParsedReply(items=(CALL_ITEM, OTHER_ITEM))),
        (f"[{CALL}]", ParsedReply(items=(CALL_ITEM,))),
        (f"[{CALL},{CALL}]", ParsedReply(items=(CALL_ITEM, CALL_ITEM))),
        (
            f"[{WORDS},{CALL}]",
            ParsedReply(items=(Message(role="assistant", text="Look."), CALL_ITEM)),
        ),
        (f"```json\n{CALL}\n```", ParsedReply(items=(CALL_ITEM,), remarks=(FENCED,))),
        (f"````\r\n{CALL}\r\n````\r\n", ParsedReply(items=(CALL_ITEM,), remarks=(FENCED,))),
        (
            f"I list it.\n\n```JSON\n{CALL}\n```\nThen I read.",
            ParsedReply(items=(CALL_ITEM,), remarks=(FENCED, around("I list it.\n\nThen I read."))),
        ),
        (
            f"<think>\nFirst look.\n</think>\n{CALL}",
            ParsedReply(items=(Reasoning(text="First look."), CALL_ITEM), remarks=(AFTER_THOUGHT,)),
        ),
        (
            f"<think></think>```\n{ANSWER}\n```",
            ParsedReply(items=(ANSWER_ITEM,), remarks=(AFTER_THOUGHT, FENCED)),
        ),
        (
            f"<think>say {ANSWER}?</think>{CALL}",
            ParsedReply(
                items=(Reasoning(text=f"say {ANSWER}?"), CALL_ITEM), remarks=(AFTER_THOUGHT,)
            ),
        ),
    ],
)
def test_an_action_is_found(text: str, parsed: ParsedReply) -> None:
    assert parse_json_action(text) == parsed


def test_a_fence_within_a_string_is_only_text() -> None:
    text = '{"type":"final_answer","content":"```json\\n{}\\n```"}'
    assert parse_json_action(text).items == (Message(role="assistant", text="```json\n{}\n```"),)


def test_half_a_character_in_arguments_is_kept_for_the_tool_to_judge() -> None:  # M4
    text = CALL.replace(".", "\\ud800")
    [item] = parse_json_action(text).items
    assert item == ToolCall(
        call_id="c1", tool_name="ls", arguments=arguments_of({"path": "\ud800"})
    )


# --- Refused ----------------------------------------------------------------------------------

NO_JSON = "not valid JSON:"
ENDS = "at line 1, column 77, where the reply ends before its JSON does"
ESCAPES = r"write \n or \t"
AFTER_QUOTE = 'after {"type":"final_answer","content":"say "'
UNQUOTED = "expecting property name enclosed in double quotes"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no action in the reply"),
        ("<think>hm</think> ", "no action in the reply"),
        ("<think>hm", "the <think> block is never closed, so no action follows it"),
        ("I am done.", "expected one JSON object, got plain text: I am done."),
        (f"Next: {CALL}", f"expected one JSON object, got plain text: Next: {CALL[:74]}…"),
        (f"```json\n{CALL}", "the code fence is never closed on a line of its own"),
        (f"```json {CALL} ```", "the code fence is never closed on a line of its own"),
        (f"```\n{CALL}\n```x", "the code fence is never closed on a line of its own"),
        (
            f"```a\n```\n```\n{CALL}\n```",
            "several code fences, so it is not clear which is the action",
        ),
        (f"```python\n{CALL}\n```", "the code fence holds python, not json"),
        (
            f"Not {ANSWER} but\n```\n{CALL}\n```",
            "an action stands in the code fence and another outside it",
        ),
        (
            f"{CALL}\n{OTHER}",
            f"text stands after the JSON, from line 2, column 1 on: {OTHER}",
        ),
        (CALL[:-1], f"{NO_JSON} expecting ',' delimiter {ENDS}"),
        (
            '{"type":"final_answer","content":"Do',
            f"{NO_JSON} the reply ends within the string that starts at line 1, column 34",
        ),
        (
            '{"type":"final_answer","content":"a\nb"}',
            f"{NO_JSON} a bare line break or tab in a string, line 1, column 36; {ESCAPES}",
        ),
        (
            '{"type":"final_answer","content":"say "hi""}',
            f"{NO_JSON} expecting ',' delimiter at line 1, column 40, {AFTER_QUOTE}",
        ),
        (
            CALL.replace('"call_id"', "'call_id'"),
            f"{NO_JSON} {UNQUOTED} at line 1, column 21, after {CALL[:20]}",
        ),
        (call_with(arguments={"n": float("nan")}), "NaN is not a JSON number"),
        (
            '{"type":"final_answer","content":"a","content":"b"}',
            'the key "content" stands twice in one object',
        ),
        ("[" * 100_000, "nested deeper than 64 levels"),
        (CALL.replace('"."', "1" * 401), "an integer of 401 digits is too long"),
        ("[]", "the array holds no tool_call"),
        (f"[{WORDS}]", "the array holds no tool_call"),
    ],
)
def test_a_reply_without_one_clear_action_is_refused(text: str, why: str) -> None:  # M3-M5, M16
    assert refusal_of(text) == f"{why}. {EITHER_FORM}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (call_with(arguments=None), '"arguments" must be an object, got null'),
        (call_with(arguments=[]), '"arguments" must be an object, got an array'),
        (call_with(arguments="{}"), '"arguments" must be an object, got a string'),
    ],
)
def test_arguments_are_an_object(text: str, why: str) -> None:  # F8, K1, I 103
    said = f"the object: {why}; where there are none, write {{}}. {CALL_FORM}"
    assert refusal_of(text) == said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (call_with(call_id=1), 'the object: "call_id" must be a string, got a number'),
        (call_with(call_id=" "), 'the object: "call_id" must not be blank'),
        (call_with(tool_name=""), 'the object: "tool_name" must not be blank'),
        (
            call_with(tool_name="l\x00s"),
            'the object: "tool_name" holds what is no text: "\\u0000" at character 2',
        ),
        (call_with(why="so"), 'the object, a tool_call, has unknown "why"'),
        (
            '{"type":"tool_call","call_id":"c"}',
            'the object, a tool_call, lacks "arguments", "tool_name"',
        ),
        (f"[{CALL},1]", "action 2 of 2 must be an object, got a number"),
        (
            f"[{CALL},{call_with(call_id=None)}]",
            'action 2 of 2: "call_id" must be a string, got null',
        ),
    ],
)
def test_a_call_has_exactly_its_fields(text: str, why: str) -> None:  # B1.8
    assert refusal_of(text) == f"{why}. {CALL_FORM}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"type":"final_answer"}', 'the object, a final_answer, lacks "content"'),
        (
            '{"type":"final_answer","content":"a","arguments":{}}',
            'the object, a final_answer, has unknown "arguments"',
        ),
        (
            '{"type":"final_answer","content":["a"]}',
            'the object: "content" must be a string, got an array',
        ),
        ('{"type":"final_answer","content":"\\n"}', 'the object: "content" must not be blank'),
        (
            '{"type":"final_answer","content":"\\udc00"}',
            'the object: "content" holds what is no text: "\\udc00" at character 1',
        ),
        (f"[{CALL},{ANSWER}]", "action 2 of 2 is a final_answer, which stands alone"),
    ],
)
def test_an_answer_has_exactly_its_fields(text: str, why: str) -> None:  # B1.8
    assert refusal_of(text) == f"{why}. {ANSWER_FORM}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", 'the object has no "type"'),
        ('{"type":null}', 'the object has an unknown "type": null'),
        ('{"type":"finalanswer"}', 'the object has an unknown "type": "finalanswer"'),
        (WORDS, 'the object has an unknown "type": "message"'),
    ],
)
def test_an_action_has_a_known_type(text: str, why: str) -> None:  # B1.8
    assert refusal_of(text) == f"{why}. {EITHER_FORM}"


def test_an_array_is_refused_where_it_was_not_offered() -> None:
    said = f"an array of actions is not offered; one object is. {EITHER_FORM}"
    assert refusal_of(f"[{CALL}]", several_calls=False) == said


def test_a_fence_may_hold_a_scalar_which_is_no_action() -> None:
    said = f"expected one JSON object, got a string. {EITHER_FORM}"
    assert refusal_of('```\n"tool_call"\n```') == said


def test_a_refusal_stays_short_however_long_the_reply_is() -> None:
    assert len(refusal_of("x" * 1_000_000)) < 500
    assert (
        len(refusal_of(json.dumps({"type": "tool_call"} | {f"k{n}": n for n in range(9999)}))) < 500
    )
