"""What a request is as a body, rule by rule and case by case."""

from typing import Any

import pytest
from models.anthropic.message_rules import breaches
from models.anthropic.own_histories import (
    ADAPTIVE,
    BARE,
    BUDGETED,
    PLAIN,
    ask,
    redacted,
    sealed,
    thought,
)
from models.judges_anthropic import refusal
from msgspec.structs import replace

from goldseam.kernel.conversation import (
    Feedback,
    HistoryItem,
    Image,
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
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import Profile, Written

SYSTEM = Message(role="system", text="Mend it.")
USER = Message(role="user", text="It is broken.")
READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    parameters='{"properties":{"path":{"type":"string"}},"type":"object"}',
)
FOREIGN = Reasoning(
    text="hm", seals=(Seal(origin="gemini:g3", name="thought_signature", value="x"),)
)
QUIET = replace(PLAIN, caches=False)


def said(text: str) -> Message:
    return Message(role="assistant", text=text)


def call(call_id: str = "c1", **arguments: Json) -> ToolCall:
    return ToolCall(call_id=call_id, tool_name="read_file", arguments=arguments_of(arguments))


def result(call_id: str = "c1", content: str = "ok", **rest: Any) -> ToolResult:
    return ToolResult(call_id=call_id, content=content, **rest)


def write(request: ModelRequest, profile: Profile = QUIET) -> Written:
    told = AnthropicDialect().write(request, profile)
    assert (refusal(told.body), breaches(dict(told.body))) == (None, [])
    return told


def messages(*history: HistoryItem, profile: Profile = QUIET) -> Any:
    return write(ask(*history), profile).body["messages"]


def losses(*history: HistoryItem, profile: Profile = QUIET) -> list[str]:
    return [loss.code for loss in write(ask(*history), profile).losses]


def text(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


def test_a_tool_loop_is_four_turns_and_comes_back_as_it_was() -> None:  # agents 22, 104
    history = (USER, call(path="notes.txt"), result(content="milk"), said("You need milk."), USER)
    body = write(ask(SYSTEM, *history, tools=(READ,)), QUIET).body
    assert body == {
        "model": "claude-test",
        "max_tokens": 8192,
        "stream": True,
        "tools": [
            {
                "name": "read_file",
                "description": "Read a file.",
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
            }
        ],
        "system": [text("Mend it.")],
        "messages": [
            {"role": "user", "content": [text("It is broken.")]},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "c1",
                        "name": "read_file",
                        "input": {"path": "notes.txt"},
                    }
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "milk"}],
            },
            {"role": "assistant", "content": [text("You need milk.")]},
            {"role": "user", "content": [text("It is broken.")]},
        ],
    }
    assert AnthropicDialect().read_back(body, QUIET) == (SYSTEM, *history)


def test_the_path_is_the_messages_endpoint() -> None:
    assert AnthropicDialect().path(QUIET) == "/messages"


def test_a_whole_reply_is_asked_for_without_the_word_stream() -> None:
    assert write(ask(USER), BARE).body == {
        "model": "claude-test",
        "max_tokens": 8192,
        "temperature": 0.5,
        "messages": [{"role": "user", "content": [text("It is broken.")]}],
    }


def test_parallel_results_stand_in_one_message_in_call_order_before_any_text() -> None:
    told = messages(USER, call("a"), call("b"), result("a"), result("b"), Feedback(text="go on"))
    assert [block["type"] for block in told[2]["content"]] == ["tool_result", "tool_result", "text"]
    assert [block.get("tool_use_id") for block in told[2]["content"]] == ["a", "b", None]


@pytest.mark.parametrize(
    ("kind", "flag", "lost"),
    [
        ("done", None, []),
        ("failed", True, []),
        ("denied", True, ["result_kind_not_shown"]),
        ("unknown", True, ["result_kind_not_shown"]),  # agents 16, 20
    ],
)
def test_an_error_of_a_tool_stays_an_error(kind: Any, flag: Json, lost: list[str]) -> None:
    history = (USER, call(), result(kind=kind))
    assert messages(*history)[2]["content"][0].get("is_error") == flag
    assert losses(*history) == lost


@pytest.mark.parametrize(
    ("outcome", "content", "lost"),
    [
        (result(content=""), None, []),  # ANT-19
        (result(content="", kind="failed"), "(empty)", ["empty_text_filled"]),
        (result(content=" \n"), "(empty)", ["empty_text_filled"]),
    ],
)
def test_a_result_that_says_nothing_is_still_taken(
    outcome: ToolResult, content: Json, lost: list[str]
) -> None:
    assert messages(USER, call(), outcome)[2]["content"][0].get("content") == content
    assert losses(USER, call(), outcome) == lost


def test_a_call_left_open_anywhere_is_closed_as_interrupted() -> None:  # agents 10, 13
    told = messages(USER, call("a"), USER, said("and"), call("b"))
    results = [b for m in told for b in m["content"] if b["type"] == "tool_result"]
    assert [(one["tool_use_id"], one["is_error"]) for one in results] == [("a", True), ("b", True)]
    assert losses(USER, call("a"), USER) == ["open_call_closed", "result_kind_not_shown"]


def test_a_result_whose_call_is_gone_is_told_as_text() -> None:  # agents 1, 5
    told = messages(USER, result("gone", "milk"))
    assert told == [
        {
            "role": "user",
            "content": [
                text("It is broken."),
                text("[result of a call that is not shown]\nmilk"),
            ],
        }
    ]


def test_a_retired_tool_may_still_be_named() -> None:  # agents 8
    old = replace(call(), tool_name="old_name")
    body = write(ask(USER, old, result(), tools=(READ,))).body
    assert '"old_name"' in str(body["messages"]).replace("'", '"')


def test_foreign_ids_and_names_are_fitted_alike_for_call_and_result() -> None:  # agents 29, 32
    ids = ["functions.read:0", "x" * 64 + "1", "x" * 64 + "2", "fine-id_1"]
    calls = [call(one) for one in ids]
    told = messages(USER, *calls, *(result(one) for one in ids))
    sent = [block["id"] for block in told[1]["content"]]
    assert sent == [block["tool_use_id"] for block in told[2]["content"]]
    assert sent[3] == "fine-id_1"
    assert losses(USER, *calls, *(result(one) for one in ids)) == ["call_id_changed"] * 3
    odd = replace(call(), tool_name="fs.read/write")
    assert losses(USER, odd, result()) == ["tool_name_changed"]


def test_malformed_arguments_are_sent_as_an_object_that_keeps_them() -> None:  # agents 101, ANT-7
    broken = replace(call(), arguments=Malformed(raw='{"a": 1', why="cut"))
    told = messages(USER, broken, result())
    assert told[1]["content"][0]["input"] == {"_malformed": '{"a": 1'}
    assert losses(USER, broken, result()) == ["arguments_malformed"]


def test_text_that_cannot_be_sent_is_replaced_everywhere() -> None:  # agents 152, 155
    bad = "a\ud800\x00"
    spec = replace(READ, description=bad)
    history = (replace(SYSTEM, text=bad), replace(USER, text=bad), call(path=bad), result())
    told = write(ask(*history, tools=(spec,)))
    assert [loss.code for loss in told.losses] == ["text_replaced"] * 4
    assert "a\ufffd\u2400" in str(told.body["tools"])


def test_blank_texts_are_filled_for_the_user_and_left_out_for_the_model() -> None:  # agents 77
    blank = Message(role="user", text=" \n")
    history = (Message(role="system", text=""), blank, said("\n"), call(), result())
    body: Any = write(ask(*history)).body
    assert body["system"] == [text("(empty)")]
    assert body["messages"][0]["content"] == [text("(empty)")]
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_use"]
    assert losses(*history) == ["empty_text_filled"] * 3
    assert messages(USER, said(""), USER)[1]["content"] == [text("(empty)")]


def test_the_end_of_a_reply_bears_no_white_space() -> None:  # ANT-14
    assert messages(USER, said("a \n"), said("b \n"), USER)[1]["content"] == [
        text("a \n"),
        text("b"),
    ]
    assert losses(USER, said("a \n"), said("b \n"), USER) == ["text_replaced"]


def test_the_loss_of_white_space_names_the_text_that_lost_it() -> None:
    told = write(ask(USER, said("a "), said(""), USER), QUIET)
    assert [loss.text for loss in told.losses] == [
        "history item 3: a blank text is left out",
        "history item 2: white space at the end is left out",
    ]


def test_a_history_that_ends_with_a_reply_is_bridged_and_the_bridge_goes_again() -> None:
    dialect = AnthropicDialect()  # ANT-15, agents 65, 136
    first: Any = dialect.write(ask(USER, said("done")), QUIET)
    assert first.body["messages"][2:] == [{"role": "user", "content": [text("(continue)")]}]
    assert [loss.code for loss in first.losses] == ["bridged_turn"]
    assert messages(USER, said("done"), USER)[2:] == [
        {"role": "user", "content": [text("It is broken.")]}
    ]


def test_a_history_that_begins_with_a_reply_is_bridged() -> None:
    assert [message["role"] for message in messages(said("hello"))] == ["user", "assistant", "user"]
    assert losses(said("hello")) == ["bridged_turn", "bridged_turn"]
    assert losses() == ["bridged_turn"]


def test_later_system_texts_and_feedback_are_marked_user_text() -> None:  # origin F9
    late = Message(role="system", text="Two turns left.")
    history = (
        SYSTEM,
        USER,
        late,
        Feedback(text="no JSON"),
        Message(role="user", text="[system]\nhi"),
    )
    body: Any = write(ask(*history)).body
    assert body["messages"][0]["content"] == [
        text("It is broken."),
        text("[system]\nTwo turns left."),
        text("[feedback]\nno JSON"),
        text("[user]\n[system]\nhi"),
    ]
    assert losses(*history) == ["system_hoisted"]
    assert AnthropicDialect().read_back(body, QUIET) == history


PNG = Image(media_type="image/png", data="aGk=")
TIFF = Image(media_type="image/tiff", data="aGkh")
SHOWN: Any = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
}


def test_pictures_stand_in_the_message_or_nested_in_the_result_they_belong_to() -> None:
    history = (  # agents 76
        Message(role="user", text="look", images=(PNG, PNG)),
        Message(role="user", text="", images=(PNG,)),
        call("a"),
        call("b"),
        result("a", "seen", images=(PNG,)),
        result("b", "", images=(PNG,)),
    )
    told = messages(*history)
    assert told[0]["content"] == [text("look"), SHOWN, SHOWN, text("[user]\n"), SHOWN]
    assert [block["content"] for block in told[2]["content"]] == [[text("seen"), SHOWN], [SHOWN]]
    assert losses(*history) == []
    assert AnthropicDialect().read_back(write(ask(*history)).body, QUIET) == history


def test_pictures_that_are_not_taken_are_named() -> None:
    history = (Message(role="user", text="", images=(TIFF,)),)
    assert messages(*history)[0]["content"][1:] == [text("[image not shown: image/tiff, 3 bytes]")]
    assert losses(*history) == ["image_not_shown"]
    shown = Message(role="user", text="look", images=(PNG,))
    blind = replace(QUIET, takes_images=False)
    assert losses(shown, call(), result(images=(PNG,)), profile=blind) == ["image_not_shown"] * 2


# Thoughts -----------------------------------------------------------------------------------------


def test_own_thoughts_stand_where_they_stood_empty_redacted_and_interleaved() -> None:
    history = (  # ANT-22, ANT-25, agents 70, 73, 74
        USER,
        thought("first\n ", "s1"),
        call("a"),
        thought("", "s2"),
        redacted("blob"),
        call("b"),
        result("a"),
        result("b"),
    )
    body: Any = write(ask(*history), ADAPTIVE).body
    assert [block["type"] for block in body["messages"][1]["content"]] == [
        "thinking",
        "tool_use",
        "thinking",
        "redacted_thinking",
        "tool_use",
    ]
    assert body["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "first\n ",
        "signature": "s1",
    }
    assert body["messages"][1]["content"][3] == {"type": "redacted_thinking", "data": "blob"}
    assert AnthropicDialect().read_back(body, ADAPTIVE) == history


@pytest.mark.parametrize(
    "hidden",
    [
        Reasoning(text="unsigned"),  # agents 71
        Reasoning(text="x", seals=(sealed("signature", ""),)),
        FOREIGN,  # agents 68
        Reasoning(text="x", seals=(sealed("other", "y"),)),
        thought("x", "\ud800"),
        thought("lone \ud800", "s"),  # agents 155: it could not go back byte for byte
    ],
)
def test_what_is_no_sound_thought_of_its_own_is_named_and_never_words(hidden: Reasoning) -> None:
    assert messages(USER, hidden, said("so"), USER, profile=ADAPTIVE)[1]["content"] == [text("so")]
    assert losses(USER, hidden, said("so"), USER, profile=ADAPTIVE) == ["reasoning_not_shown"]


@pytest.mark.parametrize("profile", [PLAIN, replace(ADAPTIVE, effort="none")])
def test_a_model_that_does_not_think_is_shown_no_thought(profile: Profile) -> None:  # ANT-26
    history = (USER, thought(), call(), result())
    assert losses(*history, profile=profile) == ["reasoning_not_shown"]


def test_a_second_seal_of_a_thought_and_seals_of_words_are_named() -> None:
    double = replace(thought(), seals=(*thought().seals, *FOREIGN.seals))
    history = (
        replace(SYSTEM, seals=FOREIGN.seals),
        replace(USER, seals=FOREIGN.seals),
        double,
        replace(said("a"), seals=FOREIGN.seals),
        replace(said(""), seals=FOREIGN.seals),
        replace(call(), seals=FOREIGN.seals),
        result(),
    )
    assert losses(*history, profile=ADAPTIVE) == [
        "seal_not_shown",
        "seal_not_shown",
        "seal_not_shown",
        "seal_not_shown",
        "seal_not_shown",
        "empty_text_filled",
        "seal_not_shown",
    ]


def test_words_beside_an_unreadable_thought_and_pictures_of_the_model_are_named() -> None:
    beside = replace(redacted(), text="words")
    pictured = replace(said("a"), images=(PNG,))
    assert losses(USER, beside, pictured, USER, profile=ADAPTIVE) == [
        "reasoning_not_shown",
        "image_not_shown",
    ]


def test_a_turn_does_not_end_in_a_thought() -> None:
    history = (USER, thought(), USER)
    told = messages(*history, profile=ADAPTIVE)
    assert [block["type"] for block in told[1]["content"]] == ["thinking", "text"]
    assert losses(*history, profile=ADAPTIVE) == ["bridged_turn"]


def test_a_reply_of_hidden_thoughts_alone_leaves_no_turn() -> None:
    assert messages(FOREIGN, profile=ADAPTIVE)[0]["content"][0]["text"] == "(continue)"
    assert len(messages(USER, FOREIGN, USER, profile=ADAPTIVE)) == 1


GEMINI_LOOP = (USER, FOREIGN, replace(call(), seals=FOREIGN.seals), result())
"""A tool loop that another vendor began."""


def thinking_of(*history: HistoryItem, profile: Profile, **rest: Any) -> Any:
    return write(ask(*history, **rest), profile).body.get("thinking")


def test_a_tool_loop_begun_elsewhere_goes_on_without_a_thinking_budget() -> None:
    told = write(ask(*GEMINI_LOOP), BUDGETED)  # ANT-23, XLT-3, agents 67
    assert told.body["thinking"] == {"type": "disabled"}
    assert [loss.code for loss in told.losses] == [
        "setting_dropped",
        "reasoning_not_shown",
        "seal_not_shown",
    ]


ENABLED = {"type": "enabled", "budget_tokens": 4096}


@pytest.mark.parametrize(
    "history",
    [
        (USER,),
        (*GEMINI_LOOP, USER),  # the loop is over
        (*GEMINI_LOOP, said("done")),
        (USER, thought(), call("a"), result("a")),
        (USER, redacted(), call("a"), result("a")),
        # The model thinks where a loop begins; later steps of it, and of others, bear no thought.
        (USER, thought(), call("a"), result("a"), call("b"), result("b")),
        (*GEMINI_LOOP, USER, thought(), call("b"), result("b")),
    ],
)
def test_thinking_by_a_budget_stays_on_where_no_foreign_loop_is_under_way(
    history: tuple[HistoryItem, ...],
) -> None:
    assert thinking_of(*history, profile=BUDGETED) == ENABLED


def test_adaptive_thinking_needs_no_thought_to_begin_with() -> None:
    assert thinking_of(*GEMINI_LOOP, profile=ADAPTIVE) == {"type": "adaptive"}


def test_the_thoughts_of_an_earlier_turn_are_sent_while_thinking_is_off() -> None:  # ANT-26
    closed = (USER, thought(), call("a"), result("a"), said("so"))
    foreign = (USER, call("b"), result("b"))
    told = messages(*closed, *foreign, profile=BUDGETED)
    assert told[1]["content"][0]["type"] == "thinking"
    assert thinking_of(*closed, *foreign, profile=BUDGETED) == {"type": "disabled"}


# Settings -----------------------------------------------------------------------------------------


def settings(profile: Profile, max_output_tokens: int = 8192) -> tuple[dict[str, Json], list[str]]:
    told = write(ask(USER, max_output_tokens=max_output_tokens), profile)
    fields = ("thinking", "output_config", "temperature")
    shown = {name: told.body[name] for name in fields if name in told.body}
    return shown, [loss.text for loss in told.losses]


@pytest.mark.parametrize(
    ("profile", "most", "shown", "lost"),
    [
        (PLAIN, 8192, {}, []),
        (
            ADAPTIVE,
            8192,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
            [],
        ),
        (
            replace(PLAIN, effort="minimal"),
            8192,
            {"output_config": {"effort": "low"}},
            ["the request: the effort minimal is sent as low"],
        ),
        (replace(PLAIN, effort="max"), 8192, {"output_config": {"effort": "max"}}, []),
        (replace(PLAIN, effort="none"), 8192, {}, []),
        (replace(ADAPTIVE, effort="none"), 8192, {"thinking": {"type": "disabled"}}, []),
        (BUDGETED, 1500, {"thinking": {"type": "enabled", "budget_tokens": 1024}}, []),
        (
            BUDGETED,
            1024,
            {"thinking": {"type": "disabled"}},
            ["the request: thinking is off, since 1024 tokens leave no room for it"],
        ),
        (
            replace(PLAIN, temperature=0.2),
            8192,
            {},
            ["the request: the temperature is not sent: this version has none"],
        ),
        (replace(BARE, temperature=0.0), 8192, {"temperature": 0.0}, []),
        (replace(BARE, temperature=1.0), 8192, {"temperature": 1.0}, []),
        (
            replace(BARE, temperature=1.5),
            8192,
            {"temperature": 1.0},
            ["the request: the temperature is sent as 1, the highest"],
        ),
        (
            replace(BARE, thinking=True),
            8192,
            {"thinking": ENABLED},
            ["the request: the temperature is not sent: a thinking model has its own"],
        ),
    ],
)
def test_each_setting_is_fitted_or_named(
    profile: Profile, most: int, shown: dict[str, Json], lost: list[str]
) -> None:  # ANT-21, ANT-27, ANT-37
    assert settings(profile, most) == (shown, lost)


# Tools and caching --------------------------------------------------------------------------------


def test_a_schema_is_fitted_and_a_tool_without_words_has_no_description() -> None:
    spec = ToolSpec(
        name="a.b",
        description=" ",
        parameters='{"$defs":{"Q":{"type":"string"}},"properties":{"q":{"$ref":"#/$defs/Q","title":"Q"}},"type":"object"}',
    )
    tools: Any = write(ask(USER, tools=(spec,))).body["tools"]
    assert "description" not in tools[0]
    assert "$ref" not in str(tools)  # agents 85
    assert tools[0]["name"] != "a.b"
    any_of = replace(READ, parameters='{"anyOf":[{"type":"object"},{"type":"null"}]}')
    told = write(ask(USER, tools=(any_of,)))  # ANT-17
    assert [loss.code for loss in told.losses] == ["schema_simplified"]


def test_four_cache_marks_move_along_and_nothing_else_does() -> None:
    cached = replace(ADAPTIVE, caches=True)
    history = (SYSTEM, SYSTEM, USER, thought(), call("a"), result("a"), call("b"), result("b"))
    body: Any = write(ask(*history, tools=(READ, replace(READ, name="other"))), cached).body
    marked = {"type": "ephemeral"}
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, marked]
    assert [block.get("cache_control") for block in body["system"]] == [None, marked]
    assert [message["content"][-1].get("cache_control") for message in body["messages"]] == [
        None,
        None,
        marked,
        None,
        marked,
    ]
    later = (*history, said("done"), USER)
    writer = AnthropicDialect().writer(cached)
    writer.write(ask(*history))
    assert writer.write(ask(*later)) == AnthropicDialect().write(ask(*later), cached)
