from typing import Annotated, Any, Literal

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from goldseam.tools.problems import (
    Missing,
    OutOfRange,
    Unknown,
    Unsendable,
    WrongType,
    find_problems,
    nearest_name,
)
from goldseam.tools.schema import Schema, schema_of


class Edit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(min_length=1, max_length=4)]
    line: Annotated[int, Meta(ge=1, le=9)] | None = None


class Everything(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    edits: Annotated[tuple[Edit, ...], Meta(min_length=1, max_length=2)]
    share: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    colour: Literal["gold", "red"] = "gold"
    loud: bool = False


SCHEMA = schema_of(Everything)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**399)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(["gold", "red", "\ud800", 0, 1, 9, 10, 0.5]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["edits", "path", "line", "share", "colour", "loud", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
nearly_right = st.fixed_dictionaries(
    {"edits": st.lists(st.fixed_dictionaries({"path": json_values | st.text()}), max_size=3)},
    optional={"share": json_values, "colour": json_values, "loud": json_values, "x": json_values},
)


def converts(value: Any) -> bool:
    try:
        msgspec.convert(value, Everything)
    except msgspec.ValidationError:
        return False
    return True


@given(json_values | nearly_right)
def test_no_problem_is_found_exactly_where_the_type_takes_the_value(value: Any) -> None:
    # M17: the schema and the check cannot drift, but for text that no file takes.
    real = [p for p in find_problems(SCHEMA, value) if not isinstance(p, Unsendable)]
    assert (not real) == converts(value)


def test_all_problems_are_found_at_once_each_in_its_own_form() -> None:
    wrong: Any = {
        "edit": [],
        "edits": [{"path": "", "lines": 3}, {"line": "x"}],
        "share": 1,
        "colour": "blue",
        "loud": 0,
    }
    found = find_problems(SCHEMA, wrong)
    assert [(type(problem), problem.where) for problem in found] == [
        (OutOfRange, "edits[0].path"),
        (Unknown, "edits[0].lines"),
        (Missing, "edits[1].path"),
        (WrongType, "edits[1].line"),
        (OutOfRange, "share"),
        (OutOfRange, "colour"),
        (WrongType, "loud"),
        (Unknown, "edit"),
    ]


def test_a_schema_that_takes_more_names_is_given_more() -> None:
    open_schema: Schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert find_problems(open_schema, {"a": "x", "b": [None]}) == ()


def test_a_lone_surrogate_is_found_wherever_it_stands() -> None:
    # M4, F8
    value: Any = {"edits": [{"path": "a\udc80"}]}
    assert find_problems(SCHEMA, value) == (Unsendable(where="edits[0].path", position=1),)


def test_an_unknown_argument_is_read_as_the_one_that_it_resembles() -> None:
    assert nearest_name("userName", ["userId", "limit"]) == "userId"
    assert nearest_name("startLine", ["start_line", "end_line"]) == "start_line"
    assert nearest_name("zzz", ["start_line"]) is None
    assert nearest_name("x" * 1_000_000, ["start_line"]) is None


def test_where_one_required_argument_is_missing_an_unknown_one_is_read_as_it() -> None:
    value: Any = {"changes": []}
    assert find_problems(SCHEMA, value)[-1] == Unknown(where="changes", nearest="edits")
