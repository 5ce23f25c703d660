"""Where white space alone differs, the one place that fits is edited; all other bytes stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.workspace.edit_series import (
    Replacement,
    Series,
    SeriesRefusedError,
    edit_in_turn,
    joined,
)
from goldseam.workspace.edits import Edited
from goldseam.workspace.errors import EditRefusedError, TextNotFoundError
from goldseam.workspace.indents import reindenter
from goldseam.workspace.lines import FileLines, but_for_space, places_of
from goldseam.workspace.loose_edits import edit_or_loosely

pieces = st.sampled_from([
    b"a",
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\xff",
    "\u00a0".encode(),
    b"}",
])
bodies = st.lists(pieces, max_size=40).map(b"".join)


@given(bodies, st.booleans())
def test_a_file_as_lines_gives_its_bytes_again(body: bytes, mark: bool) -> None:
    content = b"\xef\xbb\xbf" * mark + body
    assert FileLines.of(content).content() == content


@given(st.lists(st.sampled_from(["a", "b", "a  b", " a b", ""]), max_size=9), st.data())
def test_lines_are_found_wherever_they_stand(texts: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(texts)))
    wanted = texts[start : data.draw(st.integers(start + 1, len(texts) + 1))]
    size = len(wanted)
    if not wanted:
        return
    for alike in (str, but_for_space):
        expected = [
            index
            for index in range(len(texts) - size + 1)
            if list(map(alike, texts[index : index + size])) == list(map(alike, wanted))
        ]
        assert places_of(wanted, texts, alike=alike) == expected


def test_tabs_no_break_spaces_and_trailing_space_are_passed_over() -> None:
    # agents 19
    original = b"def f(a):\r\n\treturn\xc2\xa0a + 1  \r\n\tx = 2\xff\r\n"
    edited = edit_or_loosely(
        original,
        "def f(a):\n    return a + 1\n    x = 2\udcff\n",
        "def f(a):\n    if a:\n        return a\n    return a + 1\n    x = 2\udcff\n",
    )
    # Lines that stay are the file's own; new ones come in its indentation and with its ends.
    assert edited == Edited(
        content=(
            b"def f(a):\r\n\tif a:\r\n\t\treturn a\r\n\treturn\xc2\xa0a + 1  \r\n\tx = 2\xff\r\n"
        ),
        regions=((1, 5),),
        loosely=True,
    )


def test_a_part_of_one_line_may_differ_in_space_too() -> None:
    edited = edit_or_loosely(b"x = f(a,\tb)\ny\n", "f(a, b)", "g(b)\nz")
    assert edited == Edited(content=b"x = g(b)\nz\ny\n", regions=((1, 2),), loosely=True)
    lead = edit_or_loosely(b"f(x\xc2\xa0= 1)", "  x = 1  ", "  x = 2  ")
    assert lead.content == b"f(x = 2)"


def test_an_open_end_stays_open_and_lines_may_go() -> None:
    assert edit_or_loosely(b"a\n\tb", "    b\n", "    c\n    d\n").content == b"a\n\tc\n\td"
    assert edit_or_loosely(b"a\n\tb\nc\n", "  b\n", "").content == b"a\nc\n"


def test_several_places_that_fit_but_for_space_are_refused() -> None:
    # agents 23
    for original in (b"\tx = 1\n  x = 1\n", b"f( x = 1)\ng(x  = 1)\n"):
        with pytest.raises(EditRefusedError) as caught:
            edit_or_loosely(original, "    x = 1\n" if b"\t" in original else "x  =  1", "y")
        assert caught.value.message == (
            "old_text is not there exactly, and but for white space it stands 2 times, at lines "
            "1, 2; add lines around it until it is unique"
        )
        assert caught.value.lines == (1, 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    x = 1", "  x = 1"),  # white space is what is to change
        ("  \n ", "x"),
        ("a\n" * 501, "x"),
        ("y = 1", "y = 2"),
        ("a b\nc", "x"),
        ("a " * 201, "x"),
    ],
)
def test_where_nothing_else_fits_the_exact_refusal_stands(old: str, new: str) -> None:
    with pytest.raises(TextNotFoundError, match="was not found"):
        edit_or_loosely(b"\tx = 1\n", old, new)


def test_a_file_of_endless_lines_is_edited_exactly_or_not_at_all() -> None:
    with pytest.raises(TextNotFoundError):
        edit_or_loosely(b"\ta b\n" + b"\n" * 500_001, "  a b\n", "x")


def test_exact_comes_first_and_says_nothing_of_space() -> None:
    assert not edit_or_loosely(b"x\n x\n", "\n x", "\n y").loosely
    with pytest.raises(EditRefusedError, match="stands 2 times"):
        edit_or_loosely(b"x\nx\n", "x", "y")


@given(bodies, st.text("a} \t\n", min_size=1, max_size=8), st.text("ab \t\n", max_size=8))
def test_whatever_is_asked_bytes_outside_the_place_stay(body: bytes, old: str, new: str) -> None:
    # agents 18, 19
    try:
        edited = edit_or_loosely(b"<HEAD>\r\n" + body + b"\n<TAIL>\xff", old, new)
    except EditRefusedError:
        return
    assert edited.content.startswith(b"<HEAD>")
    assert edited.content.endswith(b"<TAIL>\xff")


@pytest.mark.parametrize(
    ("pairs", "line", "expected"),
    [
        ([("    a", "\ta")], "        b", "\t\tb"),
        ([("a", "\ta"), ("  b", "\t\tb")], "    c", "\t\t\tc"),
        ([("\ta", "  a")], "\t\tb", "    b"),
        ([("a", "    a")], "  b", "      b"),
        ([("  a", "  a"), ("", "x")], "\tb", "\tb"),
        ([("  a", "\ta")], "b", "b"),
        ([("  a", "\ta")], "   ", "   "),
        ([("  a", " \ta")], "    b", " \t  b"),
    ],
)
def test_new_lines_get_the_file_s_indentation(
    pairs: list[tuple[str, str]], line: str, expected: str
) -> None:
    assert reindenter(pairs)(line) == expected


# Several edits ------------------------------------------------------------------------------------


def test_edits_are_made_in_turn_and_their_places_follow() -> None:
    series = edit_in_turn(
        b"a\nb\nc\nd\ne\nf\n",
        (
            Replacement(old="e", new="E"),
            Replacement(old="b", new="B1\nB2\nB3"),
            Replacement(old="B3", new="b3"),
            Replacement(old="c\n", new=""),
        ),
    )
    assert series == Series(
        content=b"a\nB1\nB2\nb3\nd\nE\nf\n",
        regions=((2, 6),),
        times=(1, 1, 1, 1),
        loose=(),
    )


def test_all_places_and_loose_ones_are_counted() -> None:
    series = edit_in_turn(
        b"x\nx\n\ty = 1\n",
        (
            Replacement(old="x", new="z\nz", everywhere=True),
            Replacement(old="  y = 1", new="  y = 2"),
        ),
    )
    assert series == Series(
        content=b"z\nz\nz\nz\n\ty = 2\n", regions=((1, 5),), times=(2, 1), loose=(2,)
    )


def test_one_edit_that_cannot_be_made_refuses_all_of_them() -> None:
    with pytest.raises(SeriesRefusedError) as caught:
        edit_in_turn(b"a\nb\n", (Replacement(old="a", new="b"), Replacement(old="b", new="c")))
    assert (caught.value.number, caught.value.lines) == (2, (1, 2))
    assert caught.value.content == b"b\nb\n"


def test_regions_that_touch_are_one() -> None:
    assert joined([(5, 6), (1, 2), (3, 3), (9, 9)]) == ((1, 3), (5, 6), (9, 9))
    assert joined([(1, 1), (4, 4)], gap=2) == ((1, 4),)


replacements = st.lists(
    st.builds(
        Replacement,
        old=st.sampled_from(["a", "b", "a\n", "c\nd", " a"]),
        new=st.sampled_from(["", "x", "y\nz\n", "a"]),
        everywhere=st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


@given(bodies, replacements)
def test_the_places_of_all_edits_lie_in_the_file(body: bytes, given_: list[Replacement]) -> None:
    try:
        series = edit_in_turn(body, given_)
    except SeriesRefusedError:
        return
    lines = series.content.count(b"\n") + 1
    assert all(1 <= first <= last for first, last in series.regions)
    assert all(first <= lines + 1 for first, _ in series.regions)
