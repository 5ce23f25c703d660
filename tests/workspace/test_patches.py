"""A patch in either form is laid exactly where it belongs, or refused with what is there."""

import contextlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldseam.workspace.errors import EditRefusedError, WorkspaceError
from goldseam.workspace.patch_text import FileChange, Hunk, PatchRefusedError
from goldseam.workspace.patches import Patched, lay_hunks, new_content, read_patch

BOTH = {
    "unified": (
        "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,2 +1,2 @@\n def total(a, b):\n"
        "-    return a - b\n+    return a + b\n"
    ),
    "envelope": (
        "*** Begin Patch\n*** Update File: src/app.py\n@@\n def total(a, b):\n"
        "-    return a - b\n+    return a + b\n*** End Patch\n"
    ),
}
LINES = (
    (" ", "def total(a, b):"),
    ("-", "    return a - b"),
    ("+", "    return a + b"),
)


def envelope(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def hunks_of(*lines: str) -> tuple[Hunk, ...]:
    (change,) = read_patch(envelope("*** Update File: f", *lines))
    return change.hunks


def refusal(text: str) -> str:
    with pytest.raises(PatchRefusedError) as caught:
        read_patch(text)
    return caught.value.message


def misfit(original: bytes, *lines: str) -> EditRefusedError:
    with pytest.raises(EditRefusedError) as caught:
        lay_hunks(original, hunks_of(*lines))
    return caught.value


@pytest.mark.parametrize("form", BOTH)
@pytest.mark.parametrize("around", ["{}", "```diff\n{}```\n", "Here it is:\n\n{}\n\n"])
def test_both_forms_say_the_same(form: str, around: str) -> None:
    (change,) = read_patch(around.format(BOTH[form]))
    assert (change.kind, change.path, change.hunks[0].lines) == ("update", "src/app.py", LINES)
    assert lay_hunks(b"def total(a, b):\r\n    return a - b\r\n", change.hunks) == Patched(
        content=b"def total(a, b):\r\n    return a + b\r\n", regions=((2, 2),)
    )


def test_files_are_added_deleted_and_moved_in_either_form() -> None:
    assert read_patch(
        envelope(
            "*** Add File: a",
            "+1",
            "+",
            "",
            "*** Delete File: b",
            "*** Update File: c",
            "*** Move to: d",
        )
    ) == (
        FileChange(kind="add", path="a", hunks=(Hunk(lines=(("+", "1"), ("+", ""))),)),
        FileChange(kind="delete", path="b"),
        FileChange(kind="update", path="c", moved_to="d"),
    )
    diff = (
        "diff --git a/a b/a\nnew file mode 100755\nindex 0000000..1\n--- /dev/null\n+++ b/a\n"
        "@@ -0,0 +1 @@\n+1\n\\ No newline at end of file\n"
        "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/c b/d\nsimilarity index 100%\nrename from c\nrename to d\n"
        "diff --git a/e f b/e f\nold mode 100644\nnew mode 100755\n"
        'diff --git "a/\\303\\251" "b/\\303\\251"\n--- "a/\\303\\251"\n+++ "b/\\303\\251"\n'
        "@@ -1 +1 @@\n-x\n+y\n-- \n2.39.5\n"
    )
    added, deleted, moved, mode, named = read_patch(diff)
    assert (added.kind, added.path, added.mode) == ("add", "a", "100755")
    assert new_content(added.hunks) == b"1"
    assert (deleted.kind, deleted.path) == ("delete", "b")
    assert moved == FileChange(kind="update", path="c", moved_to="d")
    assert mode == FileChange(kind="update", path="e f", mode="100755")
    assert (named.path, named.hunks[0].new) == ("é", ["y"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello", "the patch names no file; write a unified diff"),
        ("@@ -1 +1 @@\n-a\n+b", "line 1 of the patch («@@ -1 +1 @@») stands before any file"),
        ("*** Begin Patch\n*** Update File: a\n-x", "it may have been cut off; send it again"),
        (envelope("-x"), "line 2 of the patch («-x») stands before any file"),
        (envelope("*** Update File: a"), "changes nothing; give lines that begin with - or +"),
        (envelope("*** Update File:  ", "-x"), "names no file"),
        (envelope("*** Add File: a", "x"), "is in a new file, whose lines all begin with +"),
        (envelope("*** Delete File: a", "-x"), "means nothing where a is deleted"),
        (envelope("*** Update File: a", "-x", "y"), "line 4 of the patch («y») begins with none"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\nb\n", "line 5 of the patch («b») begins with none"),
        ("diff --git a/x b/x\nGIT binary patch\n", "is of a binary file"),
        ("diff --git a/x b/x\nindex 1..2\n", "comes where a hunk (@@ …) of x is to begin"),
        ("diff --git x y z\nindex 1..2\n", 'is to be named with "--- a/PATH", "+++ b/PATH"'),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n\nlost\n",
            "line 8 of the patch («lost») begins with none",
        ),
    ],
)
def test_what_is_no_patch_is_refused_with_the_line_that_is_wrong(text: str, why: str) -> None:
    assert why in refusal(text)


def test_a_hunk_goes_where_its_lines_stand_whatever_its_header_says() -> None:
    # agents 21
    text = "--- a/f\n+++ b/f\n@@ -90,9 +90,9 @@ def x\n b\n-c\n+C\n"
    (change,) = read_patch(text)
    assert lay_hunks(b"a\nb\nc\nd\n", change.hunks).content == b"a\nb\nC\nd\n"


def test_the_line_in_a_header_chooses_among_places_that_fit_exactly() -> None:
    (change,) = read_patch("--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n x\n-y\n+Y\n")
    assert lay_hunks(b"x\ny\nx\ny\n", change.hunks).content == b"x\ny\nx\nY\n"


def test_a_line_that_stands_elsewhere_by_hunks_before_it_is_still_found() -> None:
    text = "--- a/f\n+++ b/f\n@@ -1 +1,3 @@\n a\n+1\n+2\n@@ -3,2 +5,2 @@\n x\n-y\n+Y\n"
    (change,) = read_patch(text)
    assert lay_hunks(b"a\nb\nx\ny\nx\ny\n", change.hunks).content == b"a\n1\n2\nb\nx\nY\nx\ny\n"


def test_several_places_are_refused_and_named() -> None:
    # agents 23
    refused = misfit(b"x\ny\nx\ny\n", "-y", "+z")
    assert refused.message == (
        "the hunk stands 2 times, at lines 2, 4; add lines around it until it is unique"
    )
    assert refused.lines == (2, 4)


def test_an_anchor_chooses_and_one_that_is_not_there_is_a_failure() -> None:
    # agents 22
    original = b"def f():\n    x = 1\n\ndef g():\n    x = 1\n"
    lines = ("-    x = 1", "+    x = 2")
    laid = lay_hunks(original, hunks_of("@@ def g():", *lines))
    assert laid.content == b"def f():\n    x = 1\n\ndef g():\n    x = 2\n"
    assert "the line that the hunk gives behind @@ was not found" in (
        misfit(original, "@@ def h():", *lines).message
    )
    assert misfit(b"y\ndef g():\n", "@@ def g():", "-y").message == (
        "the hunk stands at line 1, but not below its @@ line"
    )
    twice = original.replace(b"g", b"f")
    assert "2 times, at lines 2, 5" in misfit(twice, "@@ def f():", *lines).message
    nested = hunks_of("@@ class B:", "@@     def f():", "-        x", "+        y")
    two = b"class A:\n    def f():\n        x\nclass B:\n    def f():\n        x\n"
    assert lay_hunks(two, nested).content == two[:-2] + b"y\n"


def test_lines_are_only_added_where_something_says_where() -> None:
    # agents 22
    assert "only adds lines, and nothing says where" in misfit(b"a\n", "+x").message
    assert "2 times" in misfit(b"a\na\n", "@@ a", "+x").message
    assert lay_hunks(b"a\nb\n", hunks_of("@@ a", "+x")).content == b"a\nx\nb\n"
    assert lay_hunks(b"a\n", hunks_of("+x", "*** End of File")).content == b"a\nx\n"
    assert lay_hunks(b"", hunks_of("+x")).content == b"x\n"


def test_the_end_of_a_file_chooses_and_stays_open_where_it_was() -> None:
    hunks = hunks_of("-x", "+y", "*** End of File")
    assert lay_hunks(b"x\nx", hunks).content == b"x\ny"
    added = hunks_of(" x", "+y")
    assert lay_hunks(b"a\nx", added).content == b"a\nx\ny"
    (closing,) = read_patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n")
    assert lay_hunks(b"x", closing.hunks).content == b"y\n"
    (opening,) = read_patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n")
    assert lay_hunks(b"x\n", opening.hunks).content == b"y"


def test_white_space_is_passed_over_where_one_place_is_left_and_that_is_said() -> None:
    # agents 19
    laid = lay_hunks(
        b"if a:\n\tif b:\n\t\tx\xc2\xa0= 1\n", hunks_of(" if b:", "-  x = 1", "+  x = 2", "+    z")
    )
    assert laid == Patched(
        content=b"if a:\n\tif b:\n\t\tx = 2\n\t\t\tz\n", regions=((3, 4),), loose=(1,)
    )


def test_the_first_line_that_differs_is_named() -> None:
    # agents 21
    refused = misfit(b"one\ntwo\nthree\n", " one", "-tow", "+2")
    assert refused.message == (
        "the hunk was not found; the nearest text is lines 1-2, and the first difference is on "
        "line 2: the file has «two», the hunk has «tow»"
    )


def test_a_file_of_endless_lines_is_not_taken_apart() -> None:
    assert "has more than 500000 lines" in misfit(b"\n" * 500_001, "-a").message


def test_of_several_hunks_the_wrong_one_is_named() -> None:
    assert misfit(b"a\nb\n", "-a", "+A", "@@", "-zzz", "+b").message.startswith("hunk 2 was not")


def test_half_characters_and_wide_files_are_refused() -> None:
    with pytest.raises(PatchRefusedError, match="surrogate"):
        lay_hunks(b"a\n", hunks_of("-a", "+\ud800"))
    with pytest.raises(PatchRefusedError, match="surrogate"):
        new_content(hunks_of("+\ud800"))
    with pytest.raises(EditRefusedError, match="UTF-16"):
        lay_hunks(b"\xff\xfea\0", hunks_of("-a"))


texts = st.lists(
    st.sampled_from(["a", "b", "", "  c", "\td", "-- e", "++ f", "@@ g", "é"]), max_size=9
)


def written(lines: list[str], end: str, *, whole: bool) -> bytes:
    return (end.join(lines) + (end if lines and whole else "")).encode()


@given(texts, texts, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_git_writes_is_laid_as_git_lays_it(
    tmp_path: Path, old: list[str], new: list[str], end: str, old_whole: bool, new_whole: bool
) -> None:
    before, after = written(old, end, whole=old_whole), written(new, end, whole=new_whole)
    (tmp_path / "old").write_bytes(before)
    (tmp_path / "new").write_bytes(after)
    done = subprocess.run(
        ["git", "diff", "--no-index", "--text", "--no-renames", "old", "new"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if not before or end.encode() not in before or before == after or not after:
        return
    (change,) = read_patch(done.stdout.decode())
    assert lay_hunks(before, change.hunks).content == after


@given(
    st.lists(st.sampled_from(["a", "b", " ", "-a", "+c", "@@", "@@ a", "*** End of File"])), texts
)
def test_any_hunks_on_any_file_are_laid_or_refused(lines: list[str], there: list[str]) -> None:
    with contextlib.suppress(WorkspaceError):
        laid = lay_hunks(written(there, "\n", whole=True), hunks_of(*lines))
        assert all(1 <= first <= last for first, last in laid.regions)


@given(
    st.text(
        st.sampled_from("*@+- ab/\n\\"),
        max_size=60,
    )
    | st.lists(
        st.sampled_from([
            "diff --git a/x b/x",
            "--- a/x",
            "+++ b/x",
            "@@ -1 +1 @@",
            "-a",
            "+b",
            "",
            "*** Begin Patch",
            "*** Update File: x",
            "*** End Patch",
            "-- ",
            "\\ No newline",
        ]),
        max_size=12,
    ).map("\n".join)
)
def test_any_text_is_a_patch_or_is_refused(text: str) -> None:
    with contextlib.suppress(PatchRefusedError):
        assert read_patch(text)
