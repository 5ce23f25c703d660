from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from goldseam.kernel.conversation import Malformed, arguments_from_text
from goldseam.tools.guidance import (
    LIMIT,
    bad_arguments,
    example_call,
    malformed_arguments,
    refused_arguments,
    unknown_tool,
)
from goldseam.tools.problems import find_problems
from goldseam.tools.schema import schema_of


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    user_id: Annotated[str, Meta(min_length=10, max_length=10, examples=["0123456789"])]
    depth: Annotated[int, Meta(ge=1, le=5, examples=[2])] = 1
    names: tuple[str, ...] = ()


SCHEMA = schema_of(Profile)


def told(value: Any) -> str:
    return bad_arguments("profile", SCHEMA, find_problems(SCHEMA, value))


def told_of_text(raw: str) -> str:
    malformed = arguments_from_text(raw)
    assert isinstance(malformed, Malformed)
    return malformed_arguments("profile", SCHEMA, malformed)


CALL_AGAIN = 'Next: send the whole call again, corrected, such as {"user_id":"0123456789"}.'


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            {},
            (
                "`user_id` is missing; expected a string of at least 10 and at most 10 characters, "
                'such as "0123456789".'
            ),
        ),
        (
            {"user_id": "0123456789", "dept": 1},
            "`dept` is no argument of this tool; did you mean `depth`?",
        ),
        (
            {"user_id": "0123456789", "colour": 1},
            "`colour` is no argument of this tool; leave it out.",
        ),
        (
            {"user_id": "0123456789", "depth": "deep"},
            '`depth` must be an integer from 1 to 5, such as 2; got the string "deep".',
        ),
        (
            {"user_id": "0123456789", "depth": 9},
            "`depth` is out of range: must be an integer from 1 to 5, such as 2; got 9.",
        ),
        (
            {"user_id": "0123456789", "depth": None},
            "`depth` must be an integer from 1 to 5, such as 2; got null.",
        ),
        (
            {"user_id": "0123456789", "names": {"a": 1}},
            "`names` must be an array of strings; got an object.",
        ),
        (
            {"user_id": "01234\ud83d6789"},
            (
                "`user_id` holds half a character (a lone surrogate) at position 5; "
                "write the character itself."
            ),
        ),
    ],
)
def test_each_fault_has_its_own_form_with_what_was_expected_and_what_came(
    value: Any, line: str
) -> None:
    # A4.1, M4
    assert told(value) == f"profile did not run, 1 argument is wrong:\n- {line}\n{CALL_AGAIN}"


def test_all_faults_are_told_at_once() -> None:
    # A4.2: one look, one corrected call.
    assert told({"userName": "ada", "depth": 0}) == (
        "profile did not run, 3 arguments are wrong:\n"
        "- `user_id` is missing; expected a string of at least 10 and at most 10 characters, "
        'such as "0123456789".\n'
        "- `depth` is out of range: must be an integer from 1 to 5, such as 2; got 0.\n"
        "- `userName` is no argument of this tool; did you mean `user_id`?\n"
        f"{CALL_AGAIN}"
    )


def test_choices_objects_and_either_or_have_their_words_too() -> None:
    class Point(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
        x: int
        mark: Literal["dot", "cross"]

    class Drawing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
        points: tuple[Point, ...]
        scale: Annotated[float, Meta(gt=0)] | None = None
        anything: Any = None

    schema = schema_of(Drawing)
    value: Any = {"points": [1, {"x": 1, "mark": "s"}], "scale": True, "anything": ["\ud800"]}
    assert bad_arguments("draw", schema, find_problems(schema, value)) == (
        "draw did not run, 4 arguments are wrong:\n"
        "- `points[0]` must be an object with x, mark; got 1.\n"
        '- `points[1].mark` is out of range: must be one of "cross", "dot"; got the string "s".\n'
        "- `scale` must be a number above 0 or null; got true.\n"
        "- `anything[0]` holds half a character (a lone surrogate) at position 0; "
        "write the character itself.\n"
        "Next: send the whole call again, corrected, such as "
        '{"points":[{"mark":"cross","x":1}]}.'
    )


def test_text_that_is_no_json_is_quoted_where_it_goes_wrong() -> None:
    # A3.5
    assert told_of_text('{"user_id": "0123456789"\n "depth": 2}') == (
        "profile did not run, its arguments cannot be read: not valid JSON: expecting ',' "
        'delimiter at line 2, column 2, near " \\"depth\\": 2}".\n'
        'Next: send them as one JSON object, such as {"user_id":"0123456789"}.'
    )


def test_json_that_is_no_object_is_quoted() -> None:
    # K1: null arguments
    assert told_of_text("null") == (
        "profile did not run, its arguments cannot be read: "
        'expected a JSON object, got null, in "null".\n'
        'Next: send them as one JSON object, such as {"user_id":"0123456789"}.'
    )


def test_an_unknown_tool_is_answered_with_the_one_that_was_meant() -> None:
    # A3.4
    assert unknown_tool("readFile", ("edit_file", "read_file")) == (
        'There is no tool named "readFile". Did you mean read_file? '
        "Call one of: edit_file, read_file."
    )


def test_an_example_is_left_out_where_it_would_be_long() -> None:
    class Wordy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
        text: Annotated[str, Meta(examples=["x" * 300])]

    assert example_call(schema_of(Wordy)) == ""
    assert refused_arguments("wordy", schema_of(Wordy), "because").endswith("corrected.")


hostile = st.text(alphabet=st.characters(), max_size=400) | st.just("\ud800" * 400)


@given(
    st.dictionaries(
        hostile | st.sampled_from(["user_id", "depth", "names"]),
        hostile | st.integers() | st.just(10**399),
    ),
    hostile,
    hostile,
)
def test_whatever_came_the_text_is_short_and_can_be_sent(
    value: dict[str, Any], raw: str, name: str
) -> None:
    malformed = Malformed(raw=raw, why=f"not valid JSON: {name[:5]} at line 3, column 7")
    for text in (
        told(value),
        malformed_arguments("profile", SCHEMA, malformed),
        malformed_arguments("profile", SCHEMA, Malformed(raw=raw, why="expected a JSON object")),
        refused_arguments("profile", SCHEMA, "x" * 1000),
        unknown_tool(name, ["profile"] * 99),
    ):
        assert len(text) <= LIMIT
    told(value).encode()
    unknown_tool(name, ["profile"]).encode()
