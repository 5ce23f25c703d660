"""Requests, written for each kind of Chat host: the exact body, and each loss by its name."""

import json
from typing import Any

import pytest
from models.openai_chat.chat_histories import IMAGE, NOTE, ask, own
from models.openai_chat.chat_streams import calls, chunk, piece, read, whole
from models.profiles import (
    CHAT_PROFILES,
    DASHSCOPE,
    DEEPSEEK,
    GEMINI,
    LLAMA_CPP,
    MISTRAL,
    MOONSHOT,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    TOGETHER,
    XAI,
)
from msgspec.structs import replace

from goldseam.kernel.conversation import (
    Feedback,
    HistoryItem,
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.dialect import Profile
from goldseam.models.openai_chat.dialect import ChatDialect

DIALECT = ChatDialect()
SYSTEM = Message(role="system", text="Mend it.")
TASK = Message(role="user", text="It fails.")
WORDS = Message(role="assistant", text="I look.")
SCHEMA = '{"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"}'
TOOL = ToolSpec(name="read_file", description="Read.", parameters=SCHEMA)


def call(call_id: str = "call_1", name: str = "read_file", **rest: Any) -> ToolCall:
    return ToolCall(**{
        "call_id": call_id,
        "tool_name": name,
        "arguments": arguments_of({"path": "a"}),
        **rest,
    })


def result(call_id: str = "call_1", content: str = "text", **rest: Any) -> ToolResult:
    return ToolResult(call_id=call_id, content=content, **rest)


def body_of(profile: Profile, *history: HistoryItem, **rest: Any) -> dict[str, Any]:
    return DIALECT.write(ask(*history, **rest), profile).body


def messages_of(profile: Profile, *history: HistoryItem) -> list[Any]:
    found: list[Any] = body_of(profile, *history)["messages"]
    return found


def codes(profile: Profile, *history: HistoryItem, **rest: Any) -> list[str]:
    return [remark.code for remark in DIALECT.write(ask(*history, **rest), profile).losses]


def said(content: Json, *tool_calls: Any, **rest: Any) -> dict[str, Any]:
    more = {"tool_calls": list(tool_calls)} if tool_calls else {}
    return {"role": "assistant", "content": content, **rest, **more}


def asked(call_id: str = "call_1", arguments: str = '{"path":"a"}', **rest: Any) -> dict[str, Any]:
    function = {"name": "read_file", "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **rest}


def answered(content: str = "text", call_id: str = "call_1", **rest: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **rest}


# The whole body


def test_the_body_for_openai_is_exactly_this() -> None:  # OAI-1 to OAI-9, OAI-15, OAI-20, OAI-28
    written = DIALECT.write(ask(SYSTEM, TASK, WORDS, call(), result(), tools=(TOOL,)), OPENAI)
    key = written.body["prompt_cache_key"]
    assert written.losses == ()
    assert written.body == {
        "model": "gpt-5.2",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 1000,
        "reasoning_effort": "high",
        "prompt_cache_key": key,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Read.",
                    "parameters": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}},
                        "required": ["path"],
                        "additionalProperties": False,
                    },
                    "strict": True,
                },
            }
        ],
        "messages": [
            {"role": "developer", "content": "Mend it."},
            {"role": "user", "content": "It fails."},
            said("I look.", asked()),
            answered(),
        ],
    }
    assert list(written.body)[-1] == "messages"  # what grows stands last: prompts stay cached


def test_a_plain_host_is_sent_what_it_knows_and_nothing_else() -> None:  # OAI-13, OAI-14, VLM-2
    assert body_of(OLLAMA, TASK, tools=(replace(TOOL, description=" "),)) == {
        "model": "gpt-oss",
        "max_tokens": 1000,
        "tools": [
            {
                "type": "function",
                "function": {"name": "read_file", "parameters": json.loads(SCHEMA)},
            }
        ],
        "messages": [{"role": "user", "content": "It fails."}],
    }


def test_usage_is_asked_for_in_a_stream_where_the_host_takes_that() -> None:  # 125
    assert "stream_options" not in body_of(replace(TOGETHER, streams_usage=False), TASK)
    assert body_of(TOGETHER, TASK)["stream_options"] == {"include_usage": True}


def test_the_cache_key_is_that_of_the_run() -> None:
    key = body_of(OPENAI, SYSTEM, TASK)["prompt_cache_key"]
    assert isinstance(key, str)
    assert len(key) <= 64
    assert body_of(OPENAI, SYSTEM, TASK, WORDS, TASK)["prompt_cache_key"] == key
    assert body_of(OPENAI, SYSTEM, WORDS)["prompt_cache_key"] != key
    assert "prompt_cache_key" not in body_of(XAI, SYSTEM, TASK)


def test_a_model_that_thinks_takes_no_temperature() -> None:  # OAI-19, KIM-2
    warm = {"temperature": 0.5}
    assert body_of(MISTRAL, TASK)["temperature"] == 0.5
    for profile in (
        replace(MISTRAL, thinking=True),
        replace(MISTRAL, effort="low"),
    ):
        assert "temperature" not in body_of(profile, TASK)
        assert codes(profile, TASK) == ["setting_dropped"]
    assert body_of(replace(XAI, effort="none", **warm), TASK)["temperature"] == 0.5


def test_a_tool_is_told_strictly_only_where_that_says_the_same() -> None:  # 92
    free = '{"properties":{"env":{"type":"object"}},"type":"object"}'
    [tool] = body_of(OPENAI, TASK, tools=(replace(TOOL, parameters=free),))["tools"]
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {"env": {"type": "object", "properties": {}}},
    }
    assert "strict" not in tool["function"]


def test_what_a_tool_cannot_be_told_is_named() -> None:
    odd = ToolSpec(name="fs.read", description="\ud800", parameters='{"oneOf":[{}]}')
    [tool] = body_of(XAI, TASK, tools=(odd,))["tools"]
    assert tool["function"]["name"].startswith("_fs_read_")
    assert tool["function"]["description"] == "\ufffd"
    assert codes(XAI, TASK, tools=(odd,)) == ["tool_name_changed", "schema_simplified"]


def test_the_path_is_the_same_for_every_host() -> None:
    assert {DIALECT.path(profile) for profile in CHAT_PROFILES} == {"/chat/completions"}


# What is told


def test_later_system_words_and_feedback_are_told_in_their_place() -> None:
    later, forged = Message(role="system", text="Be quick."), Message(role="user", text="[user]\n")
    assert messages_of(XAI, SYSTEM, TASK, later, Feedback(text="Again."), forged) == [
        {"role": "system", "content": "Mend it."},
        {"role": "user", "content": "It fails."},
        {"role": "system", "content": "Be quick."},
        {"role": "user", "content": "[feedback]\nAgain."},
        {"role": "user", "content": "[user]\n[user]\n"},
    ]
    assert codes(XAI, SYSTEM, TASK, later) == []


def test_a_host_that_is_strict_about_roles_hears_each_side_once() -> None:  # 80, 83, LCP-1
    later = Message(role="system", text="Be quick.")
    assert messages_of(LLAMA_CPP, SYSTEM, SYSTEM, TASK, later, TASK) == [
        {"role": "system", "content": "Mend it.\n\nMend it."},
        {"role": "user", "content": "It fails.\n\n[system]\nBe quick.\n\nIt fails."},
    ]
    assert codes(LLAMA_CPP, SYSTEM, SYSTEM, TASK, later, TASK) == [
        *["texts_joined", "system_hoisted", "texts_joined", "texts_joined"]
    ]


def test_a_user_message_never_follows_a_result_at_mistral() -> None:  # MIS-1, MIS-2, MIS-3, 82
    wire_id = "".join(body_of(MISTRAL, call(), result())["messages"][0]["tool_calls"][0]["id"])
    assert wire_id.isalnum()
    assert len(wire_id) == 9
    history: list[HistoryItem] = [TASK, call(), result(), TASK]
    assert messages_of(MISTRAL, *history) == [
        {"role": "user", "content": "It fails."},
        said(None, asked(wire_id)),
        answered(call_id=wire_id, name="read_file"),
        said("(noted)"),
        {"role": "user", "content": "It fails."},
    ]
    assert codes(MISTRAL, *history) == ["call_id_changed", "bridged_turn"]
    assert DIALECT.read_back(body_of(MISTRAL, *history), MISTRAL) == (
        *(TASK, call(wire_id), result(wire_id), TASK),
    )


def test_the_last_words_are_never_the_assistants() -> None:  # 136, LCP-1
    assert messages_of(XAI, TASK, WORDS)[-1] == {"role": "user", "content": "(continue)"}
    assert codes(XAI, TASK, WORDS) == ["bridged_turn"]
    assert DIALECT.read_back(body_of(XAI, TASK, WORDS), XAI) == (TASK, WORDS)
    for nothing in ((), (Reasoning(text="so"),)):
        asked_on = {"role": "user", "content": "(continue)"}
        assert messages_of(XAI, *nothing) == [asked_on]  # OAI-1
    assert DIALECT.read_back(body_of(XAI), XAI) == ()


def test_what_only_looks_like_a_bridge_is_read_back() -> None:
    noted = Message(role="assistant", text="(noted)")
    go_on = Message(role="user", text="(continue)")
    history = (TASK, noted, go_on, WORDS, TASK)
    assert DIALECT.read_back(body_of(XAI, *history), XAI) == history


def test_strange_messages_are_read_back_as_nothing() -> None:
    body: dict[str, Json] = {"messages": [{"role": "function", "content": "x"}, "x"]}
    assert DIALECT.read_back(body, XAI) == ()
    assert DIALECT.read_back({}, XAI) == ()


# Pictures, case 76


def test_pictures_are_shown_where_they_are_taken() -> None:
    url = {"url": "data:image/png;base64,aGVsbG8="}
    shown = {"type": "image_url", "image_url": url}
    history = (replace(TASK, images=(IMAGE,)), call(), result(images=(IMAGE, IMAGE)))
    assert messages_of(XAI, *history) == [
        {"role": "user", "content": [{"type": "text", "text": "It fails."}, shown]},
        said(None, asked()),
        answered(),
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[images of the result call_1]"},
                shown,
                shown,
            ],
        },
    ]
    assert codes(XAI, *history) == []
    assert DIALECT.read_back(body_of(XAI, *history), XAI) == history


def test_a_picture_alone_needs_no_words() -> None:
    picture = Message(role="user", text="", images=(IMAGE,))
    [message] = messages_of(XAI, picture)
    assert [part["type"] for part in message["content"]] == ["image_url"]
    assert DIALECT.read_back(body_of(XAI, picture), XAI) == (picture,)


def test_pictures_of_results_are_parted_from_what_the_user_says() -> None:
    history = (TASK, call(), result(images=(IMAGE,)), TASK)
    strict = replace(MISTRAL, takes_images=True)
    assert [m["role"] for m in messages_of(LLAMA_CPP, *history)][2:] == [
        *["tool", "user", "assistant", "user"]
    ]
    assert [m["role"] for m in messages_of(strict, *history)][2:] == [
        *["tool", "assistant", "user", "assistant", "user"]
    ]
    for profile in (LLAMA_CPP, strict):
        _, made, shown, last = DIALECT.read_back(body_of(profile, *history), profile)
        assert isinstance(made, ToolCall)
        assert (shown, last) == (result(made.call_id, images=(IMAGE,)), TASK)


def test_pictures_among_joined_words_keep_their_place() -> None:
    history: list[HistoryItem] = [TASK, replace(TASK, images=(IMAGE,)), Feedback(text="Again.")]
    [message] = messages_of(LLAMA_CPP, *history)
    assert [part.get("text") for part in message["content"]] == [
        *["It fails.\n\nIt fails.", None, "\n\n[feedback]\nAgain."]
    ]


def test_a_picture_that_is_not_taken_is_named() -> None:
    history: list[HistoryItem] = [
        replace(SYSTEM, images=(IMAGE,)),
        replace(TASK, text="", images=(IMAGE,)),
        replace(WORDS, images=(IMAGE,)),
        call(),
        result(content="no", kind="failed", images=(IMAGE,)),
    ]
    assert [message["content"] for message in messages_of(TOGETHER, *history)] == [
        *[f"Mend it.\n{NOTE}", NOTE, f"I look.\n{NOTE}", f"[error]\nno\n{NOTE}"]
    ]
    assert codes(TOGETHER, *history) == ["image_not_shown"] * 4


# What was said


def test_words_of_one_go_are_one_message_thoughts_first_calls_last() -> None:  # 53, OAI-21
    more = Message(role="assistant", text="And see.")
    history: list[HistoryItem] = [TASK, WORDS, call("a"), more, call("b"), result("a"), result("b")]
    assert messages_of(XAI, *history) == [
        {"role": "user", "content": "It fails."},
        said("I look.\n\nAnd see.", asked("a"), asked("b")),
        answered(call_id="a"),
        answered(call_id="b"),
    ]
    assert codes(XAI, *history) == ["order_changed", "texts_joined"]


def test_a_result_says_that_it_is_an_error() -> None:
    history: list[HistoryItem] = [
        *(call(c) for c in "abc"),
        *(result("a", kind="failed"), result("b", kind="denied"), result("c", "[error]\n")),
    ]
    assert [m["content"] for m in messages_of(XAI, *history)[1:]] == [
        *["[error]\ntext", "[error]\ntext", "[done]\n[error]\n"]
    ]
    assert codes(XAI, *history) == ["result_kind_not_shown"]


@pytest.mark.parametrize(
    ("arguments", "text", "lost"),
    [
        (arguments_of({}), "{}", []),  # 98
        (arguments_of({"b": 1, "a": "é 🍸"}), '{"a":"é 🍸","b":1}', []),  # 104
        (arguments_of({"a": "\ud83c"}), '{"a":"\ufffd"}', ["text_replaced"]),  # 155
        (
            Malformed(raw='{"a": 1', why="cut"),
            '{"_malformed":"{\\"a\\": 1"}',
            ["arguments_malformed"],
        ),
        (
            Malformed(raw="\x00", why="odd"),
            '{"_malformed":"\u2400"}',
            ["arguments_malformed", "text_replaced"],
        ),
    ],
)
def test_arguments_are_always_text_that_writes_an_object(
    arguments: Any, text: str, lost: list[str]
) -> None:  # OAI-7, XLT-2, 101
    history: list[HistoryItem] = [call(arguments=arguments), result()]
    assert messages_of(XAI, *history)[0] == said(None, asked(arguments=text))
    assert codes(XAI, *history) == lost


def test_foreign_ids_and_names_are_fitted_alike_on_both_sides() -> None:  # 23, 26, 29, OAI-10, 11
    long = "functions.read_file:" + "0" * 60
    [first, second] = messages_of(XAI, call(long, "fs.read"), result(long))
    [made] = first["tool_calls"]
    assert second["tool_call_id"] == made["id"]
    assert codes(XAI, call(long, "fs.read"), result(long)) == [
        *["call_id_changed", "tool_name_changed"]
    ]


# Thoughts and seals: XLT-3


def thought(profile: Profile, text: str = "so") -> Reasoning:
    seal = own(profile, "reasoning_field", profile.reasoning_field or "")
    return Reasoning(text=text, seals=(seal,))


def test_a_thought_goes_back_to_deepseek_with_its_calls() -> None:  # DSK-1, DSK-3, 127
    history: list[HistoryItem] = [
        TASK,
        thought(DEEPSEEK),
        WORDS,
        call(),
        result(),
        thought(DEEPSEEK),
        WORDS,
        TASK,
    ]
    assert messages_of(DEEPSEEK, *history)[1:4:2] == [
        said("I look.", asked(), reasoning_content="so"),
        said("I look."),
    ]
    assert codes(DEEPSEEK, *history) == ["reasoning_not_shown", "seal_not_shown"]


@pytest.mark.parametrize(
    "foreign",
    [
        (),
        (Reasoning(text="foreign"),),
        (replace(thought(DEEPSEEK), seals=(Seal(origin="x", name="reasoning_field", value=""),)),),
    ],
)
def test_calls_of_others_carry_an_empty_thought_at_deepseek(foreign: Any) -> None:  # DSK-2, 127
    [first, _] = messages_of(DEEPSEEK, *foreign, call(), result())
    assert first == said(None, asked(), reasoning_content="")
    assert codes(DEEPSEEK, *foreign, call(), result()) == ["reasoning_not_shown"] * len(foreign)


def test_every_message_carries_the_field_where_the_host_wants_that() -> None:  # KIM-1, 128
    history: list[HistoryItem] = [
        TASK,
        WORDS,
        TASK,
        thought(MOONSHOT),
        thought(MOONSHOT, "and so"),
        WORDS,
        TASK,
    ]
    assert messages_of(MOONSHOT, *history)[1:4:2] == [
        said("I look.", reasoning_content=""),
        said("I look.", reasoning_content="so\n\nand so"),
    ]
    assert codes(MOONSHOT, *history) == ["texts_joined"]


def test_a_thought_is_no_word_of_the_model_elsewhere() -> None:  # 68, 130
    history: list[HistoryItem] = [TASK, thought(DEEPSEEK), WORDS, call(), result()]
    for profile in (
        XAI,
        DASHSCOPE,
        replace(DEEPSEEK, model="other"),
        replace(DEEPSEEK, seal_scope="x"),
    ):
        assert '"so"' not in json.dumps(messages_of(profile, *history))
        assert "reasoning_not_shown" in codes(profile, *history)


def test_a_thought_alone_still_makes_a_turn() -> None:
    history: list[HistoryItem] = [TASK, thought(DEEPSEEK), TASK]
    assert messages_of(DEEPSEEK, *history)[1] == said("(empty)")
    assert codes(DEEPSEEK, *history) == [
        *["reasoning_not_shown", "seal_not_shown", "empty_text_filled"]
    ]
    assert messages_of(XAI, TASK, Reasoning(text="so"), TASK) == [
        {"role": "user", "content": "It fails."},
        {"role": "user", "content": "It fails."},
    ]


DETAILS: list[Any] = [
    {"type": "reasoning.text", "text": "so", "signature": "c2ln", "index": 0},
    {"type": "reasoning.encrypted", "data": "ZGF0YQ==", "id": "call_1", "index": 1},
]
EXTRA = {"google": {"thought_signature": "c2ln"}}


def test_structured_thoughts_come_back_byte_for_byte_through_another_vendor() -> None:  # ORT-2, 74
    message = {"content": "I look.", "reasoning": "so", "reasoning_details": DETAILS}
    replied = read(OPENROUTER, whole({**message, "tool_calls": [piece(0, "call_1", "read_file")]}))
    history = (TASK, *replied.items, result())
    assert "c2ln" not in json.dumps(messages_of(XAI, *history))
    [_, back, _] = messages_of(OPENROUTER, *history)
    assert back == said("I look.", asked(arguments="{}"), reasoning_details=DETAILS)
    assert codes(OPENROUTER, *history) == []
    assert DIALECT.read_back(body_of(OPENROUTER, *history), OPENROUTER) == history


def test_structured_thoughts_of_one_go_stand_together() -> None:
    sealed = [own(OPENROUTER, "reasoning_details", json.dumps([entry])) for entry in DETAILS]
    thoughts = [
        Reasoning(text="so", seals=(sealed[0],)),
        Reasoning(text="not theirs", seals=(sealed[1],)),
    ]
    assert messages_of(OPENROUTER, *thoughts, WORDS)[0]["reasoning_details"] == DETAILS
    assert codes(OPENROUTER, *thoughts, WORDS) == [
        *["reasoning_not_shown", "texts_joined", "bridged_turn"]
    ]


def test_a_signature_returns_on_its_own_part() -> None:  # GOC-1, GEM-20, 52, 55, F1
    signed = {"index": 0, "id": "a", "function": {"name": "read_file"}, "extra_content": EXTRA}
    replied = read(GEMINI, calls(signed, piece(1, "b", "read_file")), chunk(finish="stop"))
    history = (TASK, *replied.items, result("a"), result("b"))
    [_, back, *results] = messages_of(GEMINI, *history)
    assert back == said(None, asked("a", "{}", extra_content=EXTRA), asked("b", "{}"))
    assert results == [answered(call_id=c, name="read_file") for c in "ab"]
    assert codes(GEMINI, *history) == []
    assert DIALECT.read_back(body_of(GEMINI, *history), GEMINI) == history


def test_the_first_call_of_another_model_has_a_placeholder_at_gemini() -> (
    None
):  # GEM-24, 47, 52, 56
    foreign = Seal(origin="vertex:x", name="extra_content", value=json.dumps(EXTRA))
    history: list[HistoryItem] = [
        TASK,
        call("a", seals=(foreign,)),
        call("b"),
        result("a"),
        result("b"),
    ]
    [first, second] = messages_of(GEMINI, *history)[1]["tool_calls"]
    assert first["extra_content"] == {
        "google": {"thought_signature": "skip_thought_signature_validator"}
    }
    assert "extra_content" not in second
    assert codes(GEMINI, *history) == ["seal_not_shown", "seal_placeholder"]
    read_back = DIALECT.read_back(body_of(GEMINI, *history), GEMINI)
    assert read_back[1] == call("a")


def test_what_hung_on_words_hangs_there_again() -> None:
    sealed = own(GEMINI, "extra_content", json.dumps(EXTRA, separators=(",", ":")))
    signed = replace(WORDS, seals=(sealed,))
    history = (TASK, signed, TASK)
    assert messages_of(GEMINI, *history)[1] == said("I look.", extra_content=EXTRA)
    assert DIALECT.read_back(body_of(GEMINI, *history), GEMINI) == history
    assert codes(GEMINI, TASK, signed, signed, TASK) == ["texts_joined", "seal_not_shown"]


@pytest.mark.parametrize("value", ["", "not json", "null", "[]"])
def test_a_seal_that_cannot_be_read_is_named(value: str) -> None:
    seals = (own(GEMINI, "extra_content", value),)
    details = (own(GEMINI, "reasoning_details", value),)
    history: list[HistoryItem] = [Reasoning(text="x", seals=details), call(seals=seals), result()]
    assert codes(replace(GEMINI, requires_signatures=False), *history) == [
        *["reasoning_not_shown", "seal_not_shown"]
    ]


def test_seals_on_what_a_model_is_told_are_named() -> None:
    seal = Seal(origin=XAI.origin, name="x", value="y")
    history: list[HistoryItem] = [replace(SYSTEM, seals=(seal,)), replace(TASK, seals=(seal,))]
    assert codes(XAI, *history) == ["seal_not_shown"] * 2
    late = [TASK, replace(SYSTEM, seals=(seal,))]
    assert codes(LLAMA_CPP, *late) == ["system_hoisted", "seal_not_shown", "texts_joined"]


def test_hostile_text_is_sent_as_text() -> None:
    hostile = ModelRequest(
        history=[Message(role="user", text="x\ud83c\udf78\x00" * 4)], tools=(), max_output_tokens=1
    )
    written = DIALECT.write(hostile, XAI)
    assert written.body["messages"] == [{"role": "user", "content": "x🍸\u2400" * 4}]
    assert [remark.code for remark in written.losses] == ["text_replaced"]
