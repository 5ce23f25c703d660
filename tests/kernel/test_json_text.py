"""Reading a stranger's JSON: either the value that Python's own reader gives, or one kind of no."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel.scripts import HOSTILE_ARGUMENTS

from goldseam.kernel.json_text import MAX_DEPTH, BadJsonError, read_json, write_json


def joined(text: str) -> str:
    """Join each pair of surrogates that stand in a row, as the escapes of JSON do."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200).map(joined)
SIGNS = st.text('[]{}",:\\ \n0123456789.eE-+truefalsnNaIity\ud800', max_size=60)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**399) + 1, 10**399),
        st.floats(allow_nan=False, allow_infinity=False),
        ANY_TEXT,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(ANY_TEXT, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.one_of(ANY_TEXT, SIGNS, st.sampled_from(HOSTILE_ARGUMENTS)))
def test_no_text_makes_it_raise_anything_but_its_own_error(text: str) -> None:
    try:
        value = read_json(text)
    except BadJsonError:
        return
    assert json.loads(text) == value


@given(VALUES, st.sampled_from((None, 2)), st.booleans())
def test_it_reads_what_pythons_own_reader_reads(
    value: Any, indent: int | None, escaped: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    assert read_json(text) == json.loads(text) == value


@given(VALUES)
def test_what_it_writes_is_ascii_the_same_for_equal_values_and_reads_back(value: Any) -> None:
    text = write_json(value)
    assert text.isascii()
    assert read_json(text) == value
    assert write_json(read_json(text)) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not valid JSON: expecting value at line 1, column 1"),
        ("{} {}", "not valid JSON: extra data at line 1, column 4"),
        ("\ufeff{}", "not valid JSON: expecting value at line 1, column 1"),
        ("'a'", "not valid JSON: expecting value at line 1, column 1"),
        ('{"a": NaN}', "NaN is not a JSON number"),  # M3
        ("Infinity", "Infinity is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("1e999", "the number 1e999 is too large"),
        (f"-1{'0' * 30}e999", "the number -1000000000000000000 is too large"),
        ("9" * 401, "an integer of 401 digits is too long"),  # M5
        ('[{"a": 1, "b": 2, "a": 3}]', 'the key "a" stands twice in one object'),  # M16
        ('{"\\ud800": 1, "\\ud800": 2}', 'the key "\\ud800" stands twice in one object'),
        ("[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),  # M5
        ('{"a":[' * 33, f"nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_each_refusal_says_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(BadJsonError) as refused:
        read_json(text)
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9" * 400, int("9" * 400)),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
        ("[" + "[]," * 500 + "[]]", None),
        ('"' + "[{" * 500 + '"', "[{" * 500),
        ('"\\"[[["', '"[[['),
        ('"\\ud800"', "\ud800"),  # M4
        ("null", None),
    ],
)
def test_unusual_but_lawful_texts_are_read(text: str, value: Any) -> None:
    assert read_json(text) == (json.loads(text) if value is None else value)


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 200_000,
        '"' * 100_001,
        "{" + "".join(f'"k{n}":1,' for n in range(50_000)) + '"k49999":2}',
        '"' + "\\" * 400_001,
    ],
    ids=["escapes without an end", "quotes", "late duplicate", "backslashes"],
)
def test_no_long_text_takes_more_than_one_pass(text: str) -> None:
    started = time.process_time()
    with pytest.raises(BadJsonError):
        read_json(text)
    # A second pass for each sign would take minutes.
    assert time.process_time() - started < 10
