"""A call's change is read off its arguments, whatever the tool is called."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from journal.sample_runs import called

from goldseam.journal.changes import Change, ChangeLine, changes_of, lines_of_diff, values_of
from goldseam.kernel.conversation import Arguments, Malformed, ToolCall, arguments_of


def lines(*words: str) -> Change:
    return tuple(ChangeLine(word[0], word[1:]) for word in words)  # type: ignore[arg-type]  # a sign each


def test_an_edit_shows_what_goes_and_what_comes() -> None:
    edit = called("c", "any", path="a", old_text="a\n--b\nc", new_text="a\nb\nc")
    assert changes_of(edit) == (lines(" a", "---b", "+b", " c"),)


def test_several_edits_are_several_changes() -> None:
    edits: list[Any] = [
        {"old_text": "a", "new_text": "b"},
        "no edit",
        {"old_text": "c", "new_text": ""},
    ]
    call = ToolCall(
        call_id="c", tool_name="x", arguments=arguments_of({"path": "p", "edits": edits})
    )
    assert changes_of(call) == (lines("-a", "+b"), lines("-c", "+"))


def test_a_written_file_is_all_new_and_a_patch_is_itself() -> None:
    assert changes_of(called("c", "w", path="a", content="x\ny\n")) == (lines("+x", "+y"),)
    assert changes_of(called("c", "p", patch="*** Begin\n@@\n-a\n+b\n")) == (
        lines("@*** Begin", "@@@", "-a", "+b"),
    )


def test_what_only_looks_changes_nothing() -> None:
    assert changes_of(called("c", "read_file", path="a")) == ()
    malformed = ToolCall(call_id="c", tool_name="x", arguments=Malformed(raw="{", why="cut"))
    assert changes_of(malformed) == ()


def test_arguments_that_no_reader_of_ours_wrote_are_none() -> None:
    broken = ToolCall(call_id="c", tool_name="x", arguments=Arguments(text="{"))
    assert (values_of(broken), changes_of(broken)) == ({}, ())


def test_headers_of_a_diff_are_no_changes() -> None:
    diff = (
        "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- gone\n+++ come\n same\n"
    )
    signs = [line.sign for line in lines_of_diff(diff)]
    assert signs == ["@", "@", "@", "@", "@", "-", "+", " "]


def test_a_huge_edit_is_not_compared_line_by_line() -> None:
    old, new = "\n".join(map(str, range(3_000))), "one"
    (change,) = changes_of(called("c", "e", path="a", old_text=old, new_text=new))
    assert [line.sign for line in change] == ["-"] * 3_000 + ["+"]


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30))
def test_both_texts_can_be_read_off_a_change(old: str, new: str) -> None:
    (change,) = changes_of(called("c", "e", path="a", old_text=old, new_text=new))
    assert "\n".join(line.text for line in change if line.sign in "- ") == old
    assert "\n".join(line.text for line in change if line.sign in "+ ") == new
