"""An edit replaces one exact text; every other byte stays, and a guess is never made."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goldseam.workspace.edits import Edited, edit, edit_all, line_of_match, replace_exact
from goldseam.workspace.errors import EditRefusedError, TextNotFoundError
from goldseam.workspace.nearest import visible

pieces = st.sampled_from([
    b"a",
    b"b",
    b"ab",
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\xff",
    "é".encode(),
    b"\xc3",
    b"\0",
])
bodies = st.lists(pieces, max_size=30).map(b"".join)
words = st.text("ab \n", max_size=6)


def attempt(original: bytes, old: str, new: str) -> bytes | EditRefusedError:
    """Return the edited bytes, or the refusal."""
    try:
        return replace_exact(original, old, new)
    except EditRefusedError as refused:
        return refused


def refusal(original: bytes, old: str, new: str, line: int | None = None) -> str:
    with pytest.raises(EditRefusedError) as caught:
        replace_exact(original, old, new, line=line)
    return caught.value.message


@given(bodies, bodies, st.booleans(), words)
def test_untouched_bytes_stay(head: bytes, tail: bytes, mark: bool, new: str) -> None:
    # agents 18
    original = (b"\xef\xbb\xbf" if mark else b"") + head + b"<OLD>" + tail
    edited = replace_exact(original, "<OLD>", new)
    start = len(original) - len(tail) - 5
    assert edited[:start] == original[:start]
    assert edited[len(edited) - len(tail) :] == tail
    middle = edited[start : len(edited) - len(tail)]
    assert middle.replace(b"\r\n", b"\n") == new.encode()


@given(bodies, st.data())
def test_any_text_that_stands_once_can_be_replaced_and_put_back(
    original: bytes, data: st.DataObject
) -> None:
    body = original.replace(b"\r\n", b"\n")
    assume(b"\r\n" not in body)  # CR CR LF: no LF text can say which pair it means
    start = data.draw(st.integers(0, len(body)))
    old = body[start : data.draw(st.integers(start, len(body)))].decode("utf-8", "surrogateescape")
    assume(old)
    edited = attempt(original, old, "<NEW>")
    if isinstance(edited, EditRefusedError):
        assert " times, at line" in edited.message
    else:
        wanted = old.encode("utf-8", "surrogateescape")
        assert edited.replace(b"\r\n", b"\n") == body.replace(wanted, b"<NEW>")


@given(bodies, words, words)
def test_an_edit_is_made_exactly_where_the_text_stands_once(
    original: bytes, old: str, new: str
) -> None:
    body = original.replace(b"\r\n", b"\n")
    wanted = old.encode()
    count = sum(body.startswith(wanted, offset) for offset in range(len(body)))
    if old and old != new and count == 1:
        assert replace_exact(original, old, new) != original
    else:
        refusal(original, old, new)


def test_line_ends_match_either_kind_and_new_lines_get_the_file_s_own() -> None:
    # agents 18
    assert replace_exact(b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny") == b"a\r\nx\r\ny\r\nc\r\n"
    assert replace_exact(b"a\nb\nc\n", "a\r\nb", "a\r\nx\r\ny") == b"a\nx\ny\nc\n"


def test_lines_that_old_and_new_share_keep_their_own_ends() -> None:
    assert replace_exact(b"a\nb\r\nc\nd\n", "a\nb\nc", "a\nb\nX\nc") == b"a\nb\r\nX\nc\nd\n"


def test_a_file_without_a_newline_at_its_end_stays_so() -> None:
    assert replace_exact(b"a\nb", "b", "c") == b"a\nc"


def test_a_mark_of_order_stays_whoever_names_it() -> None:
    original = b"\xef\xbb\xbfa = 1\r\n"
    assert replace_exact(original, "\ufeffa = 1\n", "a = 2\n") == b"\xef\xbb\xbfa = 2\r\n"
    assert replace_exact(original, "a = 1", "\ufeffa = 2") == b"\xef\xbb\xbfa = 2\r\n"


def test_odd_bytes_can_be_named() -> None:
    assert replace_exact(b"a\xffb", "a\udcffb", "c") == b"c"
    assert "surrogate" in refusal(b"a", "\ud800", "c")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"])
def test_wide_text_is_not_edited(mark: bytes) -> None:
    assert "UTF-16" in refusal(mark + b"a\0", "a", "b")


def test_an_empty_old_text_is_refused() -> None:
    # K4
    assert refusal(b"a", "", "b") == "old_text is empty; give the exact text to replace"


def test_an_edit_that_changes_nothing_is_refused() -> None:
    assert refusal(b"a\r\n", "a\r\n", "a\n") == (
        "old_text and new_text are equal; nothing would change"
    )


def test_several_places_are_all_named() -> None:
    # K4, agents 23
    with pytest.raises(EditRefusedError) as caught:
        replace_exact(b"x\ny\nx\r\nx x\n", "x", "z")
    assert caught.value.lines == (1, 3, 4)
    assert caught.value.message == (
        "old_text stands 4 times, at lines 1, 3, 4; add lines around it until it is unique"
    )
    assert "at line 1;" in refusal(b"aaa", "aa", "b")
    assert "19, 20 and 10 more" in refusal(b"x\n" * 30, "x", "z")


def test_a_line_picks_one_of_several() -> None:
    original = b"x\ny\nx x\nx\n"
    assert replace_exact(original, "x", "z", line=4) == b"x\ny\nx x\nz\n"
    assert line_of_match(original, "x", line=1) == 1
    assert "none or several of them start on line 3" in refusal(original, "x", "z", line=3)
    assert "none or several of them start on line 2" in refusal(original, "x", "z", line=2)


def test_a_line_is_not_needed_where_there_is_one_place() -> None:
    assert replace_exact(b"a\nx\n", "x", "z", line=1) == b"a\nz\n"
    assert line_of_match(b"a\r\nb\nx\n", "x") == 3


def test_the_new_text_s_lines_are_named() -> None:
    assert edit(b"a\r\nb\r\nc\r\n", "b\n", "x\ny\nz\n") == Edited(
        content=b"a\r\nx\r\ny\r\nz\r\nc\r\n", regions=((2, 4),)
    )
    assert edit(b"a\nb\n", "b\n", "").regions == ((2, 2),)


def test_a_text_that_is_not_there_is_answered_with_what_is() -> None:
    # agents 19, 21, 22
    original = b"import os\n\ndef f(a):\n\treturn\xc2\xa0a + 1\n\nx = 2\n"
    with pytest.raises(EditRefusedError) as caught:
        replace_exact(original, "def f(a):\n    return a + 1\n", "…")
    assert caught.value.lines == (3, 4)
    assert caught.value.message == (
        "old_text was not found; the nearest text is lines 3-4, and the first difference is on "
        "line 4: the file has «→return⍽a·+·1», old_text has «····return·a·+·1»"
    )


def test_the_nearest_text_is_found_by_words_where_no_line_is_alike() -> None:
    assert "nearest text is lines 2-2" in refusal(b"a = 1\ntotal = price\n", "total = cost", "x")
    assert "the file has ended" in refusal(b"a\nb\n", "b\n\nzzz\nyyy\nxxx\n", "x")


def test_a_newline_that_the_file_lacks_is_the_difference() -> None:
    assert (
        "lines 2-2, and the first difference is on line 3: the file has ended, old_text has «»"
        in (refusal(b"a\nb", "b\n", "c\n"))
    )


def test_a_text_that_begins_inside_a_line_is_compared_from_there() -> None:
    assert "difference is on line 2: the file has «··two», old_text has «··too»" in refusal(
        b"if one:\n  two\n", "one:\n  too", "x"
    )


def test_nothing_alike_is_said_to_be_so() -> None:
    assert refusal(b"", "abc", "x") == (
        "old_text was not found, nor anything like it; read the file again"
    )
    assert "nor anything like it" in refusal(b"a\n", "+++", "x")


def test_white_space_is_made_visible() -> None:
    assert visible("a b\tc\r\u00a0\u2003\u200b") == "a·b→c␍⍽\\u{2003}\\u{200b}"
    assert visible("x" * 200) == "x" * 160 + "…"


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=10))
def test_whatever_is_asked_the_answer_is_bytes_or_one_line(text: str, old: str, new: str) -> None:
    edited = attempt(text.encode("utf-8", "surrogatepass"), old, new)
    if isinstance(edited, EditRefusedError):
        assert edited.message.isprintable()
        assert all(line >= 1 for line in edited.lines)


def test_all_places_are_replaced_at_once_and_each_is_named_as_it_is_now() -> None:
    assert edit_all(b"x\r\ny\r\nx x\r\n", "x", "z\nz") == Edited(
        content=b"z\r\nz\r\ny\r\nz\r\nz z\r\nz\r\n", regions=((1, 2), (4, 5), (5, 6)), times=3
    )
    with pytest.raises(TextNotFoundError):
        edit_all(b"a\n", "b", "c")


@given(bodies, words)
def test_no_place_is_left_where_all_are_replaced(original: bytes, old: str) -> None:
    body = original.replace(b"\r\n", b"\n")
    if not old or old.encode() not in body:
        return
    edited = edit_all(original, old, "<NEW>")
    assert edited.content.replace(b"\r\n", b"\n") == body.replace(old.encode(), b"<NEW>")
    assert edited.times == body.count(old.encode())


def test_a_text_that_stands_everywhere_is_refused_before_all_places_are_listed() -> None:
    # security part 6: linear in time
    told = refusal(b"x" * 2_000_000, "x", "y")
    assert told.startswith("old_text stands at least 1000 times, at line 1;")
    many = b"}\n" * 200_000
    told = refusal(many, "}\n" * 100_000 + "{\n", "y")
    assert "nearest text is lines" in told


def test_a_line_far_down_is_found_among_thousands_of_places() -> None:
    assert replace_exact(b"x\n" * 3_000, "x", "y", line=2_500).split(b"\n")[2_499] == b"y"
