"""The exact forms of a request: turns, parts, ids, signatures, settings."""

from typing import Any

import pytest
from models.gemini.gemini_histories import (
    PICTURE,
    THREE,
    TOOLS,
    TWO,
    USER,
    call,
    contents,
    done,
    seal,
    signed,
    write,
)
from models.judges_gemini import refusals
from msgspec.structs import replace

from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    HistoryItem,
    Image,
    Malformed,
    Message,
    Reasoning,
    ResultKind,
    Seal,
    arguments_of,
)
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelRequest
from goldseam.models.dialect import Body, Effort, Profile
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.gemini.forms import BRIDGE, PLACEHOLDER

ASKED: Json = {"role": "user", "parts": [{"text": "Mend it."}]}
BRIDGED: Json = {"role": "user", "parts": [{"text": BRIDGE}]}
ANSWER = Message(role="assistant", text="Done.")
FOREIGN = Seal(origin="anthropic:claude", name="signature", value="c2ln")


def said(*parts: Json) -> Json:
    return {"role": "model", "parts": [*parts]}


def asked(*parts: Json) -> Json:
    return {"role": "user", "parts": [*parts]}


def called(name: str, args: Body, **rest: Json) -> Json:
    return {"functionCall": {"name": name, "args": args, **rest}}


def answered(name: str, response: Body, **rest: Json) -> Json:
    return {"functionResponse": {"name": name, "response": response, **rest}}


def losses(*history: HistoryItem, profile: Profile = THREE) -> list[tuple[str, str]]:
    """Return code and item of each loss."""
    found = write(history, profile).losses
    return [(remark.code, remark.text.partition(":")[0]) for remark in found]


# --- Turns ------------------------------------------------------------------------------------


def test_reading_notes_gives_user_call_result_answer() -> None:
    history: list[HistoryItem] = [
        USER,
        call("c1", path="notes.txt"),
        done("c1", "milk"),
        ANSWER,
        USER,
    ]
    assert contents(*history, profile=TWO) == [
        ASKED,
        said(called("read_file", {"path": "notes.txt"})),
        asked(answered("read_file", {"output": "milk"})),
        said({"text": "Done."}),
        ASKED,
    ]


def test_parallel_calls_stand_in_one_content_and_their_results_in_the_next() -> None:
    # GEM-14, GEM-17, F3, F4, cases 38, 40, 41, 53, 59, 61
    calls: list[HistoryItem] = [call("c1", path="notes.txt"), call("c2", path="todo.txt")]
    assert contents(USER, *calls, done("c2", "tea"), done("c1", "milk"), profile=TWO) == [
        ASKED,
        said(called("read_file", {"path": "notes.txt"}), called("read_file", {"path": "todo.txt"})),
        asked(answered("read_file", {"output": "milk"}), answered("read_file", {"output": "tea"})),
    ]


def test_what_is_told_after_results_is_a_content_of_its_own() -> None:
    told = contents(USER, call("c1"), done("c1"), USER, Feedback(text="Shorter."))
    assert told[2:] == [
        asked(answered("read_file", {"output": "ok"})),
        asked({"text": "Mend it."}, {"text": "[feedback]\nShorter."}),
    ]


def test_a_history_that_opens_with_a_call_is_opened_by_a_user() -> None:  # GEM-15, case 64
    written = write([call("c1"), done("c1")], TWO)
    assert written.body["contents"] == [
        BRIDGED,
        said(called("read_file", {"path": "c1"})),
        asked(answered("read_file", {"output": "ok"})),
    ]
    assert [remark.code for remark in written.losses] == ["bridged_turn"]


def test_a_history_that_ends_with_the_model_is_ended_by_a_user() -> None:  # case 65
    assert contents(USER, ANSWER) == [ASKED, said({"text": "Done."}), BRIDGED]
    assert losses(USER, ANSWER) == [("bridged_turn", "the request")]


@pytest.mark.parametrize("history", [[], [Message(role="system", text="Be good.")]])
def test_a_history_without_a_turn_is_a_user_s_turn(history: list[HistoryItem]) -> None:
    assert contents(*history) == [BRIDGED]


def test_a_history_of_the_model_alone_stands_between_two_turns_of_a_user() -> None:
    assert contents(ANSWER) == [BRIDGED, said({"text": "Done."}), BRIDGED]
    assert losses(ANSWER) == [("bridged_turn", "the request")] * 2


def test_a_turn_of_nothing_but_foreign_thoughts_has_no_content() -> None:  # GEM-11, F10, 68
    thought = Reasoning(text="secret", seals=(FOREIGN,))
    assert contents(USER, thought, USER) == [asked({"text": "Mend it."}, {"text": "Mend it."})]
    assert losses(USER, thought, USER) == [("reasoning_not_shown", "history item 2")]
    assert contents(thought) == [BRIDGED]


def test_a_result_whose_call_is_gone_is_told_as_text() -> None:  # GEM-16, cases 1-8, 62
    written = contents(USER, done("gone", "ok"))
    assert written == [
        asked({"text": "Mend it."}, {"text": "[result of a call that is not shown]\nok"})
    ]


def test_an_open_call_is_closed_as_interrupted() -> None:  # cases 10-19, XLT-5
    written = write([USER, call("c1"), USER], TWO)
    assert refusals(written.body, requires_signatures=False) == []
    assert [remark.code for remark in written.losses] == [
        "open_call_closed",
        "result_kind_not_shown",
    ]


def test_all_system_texts_are_delivered() -> None:  # F9, GEM-13
    system = Message(role="system", text="Be good.")
    late = Message(role="system", text="Two turns left.")
    written = write([system, system, USER, late])
    assert written.body["systemInstruction"] == {
        "parts": [{"text": "Be good."}, {"text": "Be good."}]
    }
    assert written.body["contents"] == [
        asked({"text": "Mend it."}, {"text": "[system]\nTwo turns left."})
    ]
    assert [remark.code for remark in written.losses] == ["system_hoisted"]


# --- Parts ------------------------------------------------------------------------------------


def test_a_signature_goes_back_on_the_part_it_came_on() -> None:  # GEM-19, GEM-27, F1, 50, 55
    history: list[HistoryItem] = [
        USER,
        Reasoning(text="hm", seals=signed("c2ln")),
        Message(role="assistant", text="I read.", seals=signed("dGV4dA==")),
        call("c1", seals=signed("Y2FsbA==")),
        call("c2"),
        done("c1"),
        done("c2"),
    ]
    assert contents(*history)[1] == said(
        {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "I read.", "thoughtSignature": "dGV4dA=="},
        {**as_dict(called("read_file", {"path": "c1"})), "thoughtSignature": "Y2FsbA=="},
        called("read_file", {"path": "c2"}),
    )
    assert losses(*history) == []


def as_dict(value: Json) -> Body:
    assert isinstance(value, dict)
    return value


def test_a_signed_empty_end_of_a_text_is_a_part_of_its_own() -> None:  # GEM-20, cases 49, 50
    seals = (*signed("c2ln"), seal("signed_from", "5"))
    assert contents(USER, Message(role="assistant", text="Done.", seals=seals), USER) == [
        ASKED,
        said({"text": "Done."}, {"text": "", "thoughtSignature": "c2ln"}),
        ASKED,
    ]


@pytest.mark.parametrize(
    "foreign",
    [
        FOREIGN,
        Seal(origin="vertex:gemini-3-pro", name="thought_signature", value="c2ln"),  # GEM-23
        Seal(origin="gemini:gemini-2.5-pro", name="thought_signature", value="c2ln"),  # XLT-3
        seal("thought_signature", ""),
        seal("unknown", "x"),
    ],
)
def test_a_seal_of_another_stays_out_and_is_named(foreign: Seal) -> None:
    spoken = Message(role="assistant", text="Done.", seals=(foreign,))
    history: list[HistoryItem] = [USER, spoken, call("c1", seals=(foreign,)), done("c1")]
    assert contents(*history)[1] == said(
        {"text": "Done."},
        {**as_dict(called("read_file", {"path": "c1"})), "thoughtSignature": PLACEHOLDER},
    )
    assert losses(*history) == [
        ("seal_not_shown", "history item 2"),
        ("seal_not_shown", "history item 3"),
        ("seal_placeholder", "history item 3"),
    ]


def test_only_the_first_call_of_each_step_has_the_placeholder() -> None:  # GEM-21, GEM-24, 47
    # cases 52, 53, 56
    own = call("c3", seals=signed("c2ln"))
    history: list[HistoryItem] = [
        USER,
        call("c1"),
        call("c2"),
        done("c1"),
        done("c2"),
        own,
        call("c4"),
    ]
    written = write([*history, done("c3"), done("c4"), call("c5"), done("c5")])
    signatures = [
        part.get("thoughtSignature")
        for content in as_list(written.body["contents"])
        for part in map(as_dict, as_list(as_dict(content)["parts"]))
        if "functionCall" in part
    ]
    assert signatures == [PLACEHOLDER, None, "c2ln", None, PLACEHOLDER]
    assert [remark.code for remark in written.losses] == ["seal_placeholder"] * 2


def as_list(value: Json) -> list[Json]:
    assert isinstance(value, list)
    return value


def test_a_call_has_the_same_form_once_its_turn_is_an_old_one() -> None:  # law 5
    step: list[HistoryItem] = [USER, call("c1"), done("c1")]
    now, later = as_list(contents(*step)), as_list(contents(*step, USER))
    assert later[: len(now)] == now


def test_before_version_three_no_call_needs_a_signature() -> None:  # GEM-26
    assert losses(USER, call("c1"), done("c1"), profile=TWO) == []


def test_an_id_is_echoed_where_the_call_came_with_one() -> None:  # GEM-10, F2
    native = call("gjl2yj5t", seals=(seal("call_id", "gjl2yj5t", TWO),))
    assert contents(USER, native, call("c2"), done("gjl2yj5t"), done("c2"), profile=TWO) == [
        ASKED,
        said(
            called("read_file", {"path": "gjl2yj5t"}, id="gjl2yj5t"),
            called("read_file", {"path": "c2"}),
        ),
        asked(
            answered("read_file", {"output": "ok"}, id="gjl2yj5t"),
            answered("read_file", {"output": "ok"}),
        ),
    ]


def test_an_id_that_came_twice_goes_out_once() -> None:  # case 43
    seals = (seal("call_id", "k1", TWO),)
    history: list[HistoryItem] = [
        USER,
        call("k1", seals=seals),
        done("k1"),
        call("k1-2", seals=seals),
        done("k1-2"),
    ]
    assert contents(*history, profile=TWO)[3:] == [
        said(called("read_file", {"path": "k1-2"})),
        asked(answered("read_file", {"output": "ok"})),
    ]
    assert losses(*history, profile=TWO) == [("call_id_changed", "history item 4")]


@pytest.mark.parametrize("call_id", ["functions.write_todos:0", "a" * 80, "x|y", "\ud800"])
def test_a_foreign_id_never_goes_out(call_id: str) -> None:  # XLT-1, cases 23-37, 46
    written = write([USER, call(call_id, arguments=arguments_of({})), done(call_id)], TWO)
    assert written.body["contents"] == [
        ASKED,
        said(called("read_file", {})),
        asked(answered("read_file", {"output": "ok"})),
    ]


@pytest.mark.parametrize("kind", ["failed", "denied", "interrupted", "unknown", "cut_off"])
def test_an_error_stays_an_error(kind: ResultKind) -> None:  # F6, GEM-8, case 16
    history: list[HistoryItem] = [USER, call("c1"), done("c1", "no", kind=kind)]
    assert contents(*history, profile=TWO)[2] == asked(answered("read_file", {"error": "no"}))
    named = [] if kind == "failed" else [("result_kind_not_shown", "history item 3")]
    assert losses(*history, profile=TWO) == named


@pytest.mark.parametrize(
    ("arguments", "args", "code"),
    [
        (Malformed(raw='{"a": 1', why="cut"), {"_malformed": '{"a": 1'}, "arguments_malformed"),
        (Malformed(raw="null\x00", why="null"), {"_malformed": "null␀"}, "arguments_malformed"),
        (arguments_of({"a": [10**400 // 10]}), {"a": [str(10**399)]}, "text_replaced"),
        (arguments_of({"a": {"b": -(10**309)}}), {"a": {"b": str(-(10**309))}}, "text_replaced"),
        (arguments_of({"a": "\ud800"}), {"a": "\ufffd"}, "text_replaced"),
        (arguments_of({"\ud800": 1}), {"\ufffd": 1}, "text_replaced"),
    ],
)
def test_arguments_are_an_object_that_can_be_sent(  # GEM-8, F7, F8, XLT-2, cases 98-104, 152-155
    arguments: Arguments | Malformed, args: Body, code: str
) -> None:
    history: list[HistoryItem] = [USER, call("c1", arguments=arguments), done("c1")]
    assert contents(*history, profile=TWO)[1] == said(called("read_file", args))
    assert (code, "history item 2") in losses(*history, profile=TWO)


def test_arguments_that_only_look_awkward_go_out_as_they_are() -> None:
    args: Body = {"a": "[" * 99, "b": "9" * 400, "c": 1.5, "d": True, "e": [{}], "f": None}
    history: list[HistoryItem] = [USER, call("c1", arguments=arguments_of(args)), done("c1")]
    assert contents(*history, profile=TWO)[1] == said(called("read_file", args))
    assert losses(*history, profile=TWO) == []


def nested(depth: int) -> Body:
    value: Body = {}
    for _ in range(depth - 1):
        value = {"in": value}
    return value


def test_arguments_too_deep_for_a_struct_go_out_as_text() -> None:
    for depth in (30, 31):
        arguments = arguments_of(nested(depth))
        history: list[HistoryItem] = [USER, call("c1", arguments=arguments), done("c1")]
        args: Body = nested(depth) if depth == 30 else {"_malformed": arguments.text}
        assert contents(*history, profile=TWO)[1] == said(called("read_file", args))


def test_the_name_of_a_retired_or_impossible_tool_still_goes_out() -> None:  # GEM-31, case 8
    history: list[HistoryItem] = [
        USER,
        call("c1", "run tests!", arguments=arguments_of({})),
        done("c1"),
    ]
    written = as_list(contents(*history, profile=TWO))
    name = as_dict(as_dict(as_list(as_dict(written[1])["parts"])[0])["functionCall"])["name"]
    assert written[2] == asked(answered(str(name), {"output": "ok"}))
    assert losses(*history, profile=TWO) == [("tool_name_changed", "history item 2")]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_text_is_filled_where_a_user_says_it(blank: str) -> None:  # XLT-6, case 77
    history: list[HistoryItem] = [
        Message(role="user", text=blank),
        Message(role="assistant", text=blank),
        USER,
    ]
    assert contents(*history) == [asked({"text": "(empty)"}), said({"text": blank}), ASKED]
    assert losses(*history) == [("empty_text_filled", "history item 1")]


# --- Pictures ---------------------------------------------------------------------------------

INLINE: Json = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
NOTE = "[image not shown: image/png, 5 bytes]"


def test_pictures_stand_behind_the_text_and_behind_all_results_counted() -> None:
    seen = Message(role="user", text="Look.", images=(PICTURE, PICTURE))
    calls: list[HistoryItem] = [call("c1"), call("c2"), call("c3")]
    results: list[HistoryItem] = [
        done("c1", "a", images=(PICTURE,)),
        done("c2"),
        done("c3", images=(PICTURE,)),
    ]
    written = write([seen, *calls, *results], replace(TWO, takes_images=True))
    shown = as_list(written.body["contents"])
    assert shown[0] == asked({"text": "Look."}, INLINE, INLINE)
    assert shown[2] == asked(
        answered("read_file", {"output": "a", "images": 1}),
        answered("read_file", {"output": "ok"}),
        answered("read_file", {"output": "ok", "images": 1}),
        INLINE,
        INLINE,
    )
    assert written.losses == ()


def test_a_picture_is_a_note_where_the_model_takes_none() -> None:
    seen = Message(role="user", text="Look.", images=(PICTURE,))
    history: list[HistoryItem] = [seen, call("c1"), done("c1", images=(PICTURE,))]
    shown = as_list(contents(*history, profile=TWO))
    assert shown[0] == asked({"text": f"Look.\n{NOTE}"})
    assert shown[2] == asked(answered("read_file", {"output": f"ok\n{NOTE}"}))
    assert [code for code, _ in losses(*history, profile=TWO)] == ["image_not_shown"] * 2


def test_a_picture_of_the_system_or_the_model_is_named_as_lost() -> None:
    opening = Message(role="system", text="Look.", images=(PICTURE,))
    spoken = Message(role="assistant", text="See.", images=(Image(media_type="a/b", data="aGk="),))
    written = write([opening, USER, spoken, USER])
    assert written.body["systemInstruction"] == {"parts": [{"text": f"Look.\n{NOTE}"}]}
    assert as_list(written.body["contents"])[1] == said({"text": "See."})
    assert [remark.code for remark in written.losses] == ["image_not_shown"] * 2


# --- Settings ---------------------------------------------------------------------------------


def test_tools_are_declared_in_the_field_that_the_model_takes() -> None:  # GEM-28, 29, 85-89
    for profile, field in ((THREE, "parameters"), (TWO, "parametersJsonSchema")):
        body = write([USER], profile, TOOLS).body
        [tool] = as_list(body["tools"])
        first, second = map(as_dict, as_list(as_dict(tool)["functionDeclarations"]))
        assert first.keys() == {"name", "description", field}
        assert (first["name"], first["description"]) == ("read_file", "Reads ␀ a file.")
        assert second.keys() == {"name", "description"}
        assert "toolConfig" not in body  # GEM-32


def test_what_declaring_a_tool_loses_is_named() -> None:
    codes = {remark.code for remark in write([USER], THREE, TOOLS).losses}
    assert codes == {"schema_simplified", "tool_name_changed", "text_replaced"}


def test_without_tools_none_are_declared() -> None:  # GEM-32
    assert write([USER]).body.keys() == {"generationConfig", "contents"}


@pytest.mark.parametrize(
    ("profile", "thinking", "codes"),
    [
        (replace(THREE, effort=None), {"includeThoughts": True}, []),
        (replace(THREE, effort="low"), {"includeThoughts": True, "thinkingLevel": "LOW"}, []),
        (
            replace(THREE, effort="max"),
            {"includeThoughts": True, "thinkingLevel": "HIGH"},
            ["setting_dropped"],
        ),
        (
            replace(THREE, effort="none"),
            {"includeThoughts": False, "thinkingLevel": "MINIMAL"},
            ["setting_dropped"],
        ),
        (replace(TWO, effort="none"), {"includeThoughts": False, "thinkingBudget": 0}, []),
        (replace(TWO, effort="high"), {"includeThoughts": True, "thinkingBudget": 24576}, []),
        (
            replace(TWO, effort="xhigh"),
            {"includeThoughts": True, "thinkingBudget": 24576},
            ["setting_dropped"],
        ),
        (replace(TWO, thinking=False, effort="none"), None, []),
        (replace(TWO, thinking=False, effort="high"), None, ["setting_dropped"]),
    ],
)
def test_one_neutral_effort_is_a_level_or_a_budget(  # GEM-33
    profile: Profile, thinking: Body | None, codes: list[str]
) -> None:
    written = write([USER], replace(profile, temperature=None))
    limit: Body = {"maxOutputTokens": 4096}
    expected = {**limit, "thinkingConfig": thinking} if thinking else limit
    assert written.body["generationConfig"] == expected
    assert [remark.code for remark in written.losses] == codes
    assert refusals(written.body, requires_signatures=True) == []


@pytest.mark.parametrize("effort", ["none", "minimal", "low", "medium", "high", "xhigh", "max"])
def test_every_effort_is_taken(effort: Effort) -> None:
    for profile in (THREE, TWO):
        body = write([USER], replace(profile, effort=effort)).body
        assert refusals(body, requires_signatures=True) == []


def test_a_temperature_goes_out_as_it_is() -> None:
    config = as_dict(write([USER], TWO).body["generationConfig"])
    assert config["temperature"] == 0.5


# --- The dialect ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "path"),
    [
        (THREE, "/models/gemini-3-pro:streamGenerateContent?alt=sse"),
        (TWO, "/models/gemini-2.5-flash:generateContent"),
        (replace(TWO, model="tunedModels/my model"), "/tunedModels/my%20model:generateContent"),
        (replace(TWO, model="a?b#c:d"), "/models/a%3Fb%23c%3Ad:generateContent"),
    ],
)
def test_the_path_names_model_and_verb(profile: Profile, path: str) -> None:  # GEM-2, GEM-3
    assert GeminiDialect().path(profile) == path


@pytest.mark.parametrize(
    "content",
    [
        "no object",
        {"role": "function", "parts": []},
        {"role": "user", "parts": [{"inlineData": {"mimeType": "a/b", "data": ""}}]},
        {"role": "user", "parts": [{"fileData": {}}]},
        {"role": "model", "parts": [{"functionCalls": []}]},
    ],
)
def test_a_body_of_another_form_is_not_read_back(content: Any) -> None:  # GEM-6, GEM-12
    with pytest.raises(ValueError, match=r"not a |a picture of no message"):
        GeminiDialect().read_back({"contents": [content]}, THREE)


def test_the_judges_refuse_what_the_rules_refuse() -> None:
    """A judge that takes everything would prove nothing."""
    request = ModelRequest(history=[USER, call("c1"), done("c1")], tools=TOOLS, max_output_tokens=9)
    body = GeminiDialect().write(request, THREE).body
    asked_first, spoken, told = as_list(body["contents"])
    [call_part] = as_list(as_dict(spoken)["parts"])
    unsigned = said({"functionCall": as_dict(call_part)["functionCall"]})
    wrongs: tuple[list[Json], ...] = (
        [],
        [spoken, told],
        [asked_first, spoken],
        [asked_first, spoken, asked_first],
        [asked_first, told],
        [asked_first, spoken, told, told],
        [asked_first, unsigned, told],
        [asked_first, spoken, asked(answered("other", {"output": "ok"}))],
        [asked_first, spoken, asked(answered("read_file", {"output": "ok"}, id="x"))],
        [asked()],
        [{**as_dict(asked_first), "role": "function"}],
        [asked({"text": "a", "functionCall": {"name": "b", "args": {}}})],
        [asked({"text": "\ud800"})],
    )
    for wrong in wrongs:
        assert refusals({**body, "contents": wrong}, requires_signatures=True) != []
