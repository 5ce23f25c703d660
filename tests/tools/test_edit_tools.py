"""Edits through the tools: what is shown after, what is refused, and that it is all or nothing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.events import Rejected
from goldseam.tools.toolbox import Toolbox

Make = Callable[..., ToolCall]


@pytest.fixture
def observe(toolbox: Toolbox, call: Make) -> Any:
    async def run(tool: str, **arguments: Any) -> tuple[str, str]:
        executed = await toolbox.execute(call(tool, **arguments))
        return executed.result.kind, executed.result.content

    return run


# edit_file ----------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_several_edits_are_made_at_once_and_each_place_is_shown(
    observe: Any, tree: Path
) -> None:
    (tree / "n").write_text("".join(f"{n}\n" for n in range(1, 31)))
    edits = [{"old_text": "\n25\n", "new_text": "\n25b\n"}, {"old_text": "3\n4\n", "new_text": ""}]
    kind, text = await observe("edit_file", path="n", edits=edits)
    assert (kind, text.splitlines()[0]) == (
        "done",
        "n: edited; lines 1-6, 19-26 of 28 now read",
    )
    assert "     2| 2\n     3| 5\n" in text
    assert "     --\n    19| 21\n" in text
    assert "    23| 25b\n" in text


@pytest.mark.anyio
async def test_of_several_edits_one_that_fails_leaves_the_file_as_it_was(
    observe: Any, tree: Path
) -> None:
    edits = [
        {"old_text": "total", "new_text": "a"},
        {"old_text": "a", "new_text": "z"},
    ]
    kind, text = await observe("edit_file", path="src/app.py", edits=edits)
    assert kind == "failed"
    assert text.startswith(
        "edit_file: src/app.py is unchanged: edit 2 of 2: old_text stands 3 times, at lines 1, 2;"
    )
    assert text.endswith(
        "There, once the edits before it are made:\n     1| def a(a, b):\n     2|     return a - b"
    )
    assert (tree / "src/app.py").read_bytes() == b"def total(a, b):\n    return a - b\n"


@pytest.mark.anyio
async def test_all_places_are_replaced_where_that_is_asked_for(observe: Any, tree: Path) -> None:
    (tree / "n").write_text("x\ny\nx\n")
    kind, text = await observe("edit_file", path="n", old_text="x", new_text="z", replace_all=True)
    assert (kind, text.splitlines()[-1]) == ("done", "[2 places were replaced]")
    assert (tree / "n").read_text() == "z\ny\nz\n"


@pytest.mark.anyio
async def test_white_space_passed_over_is_said_aloud(observe: Any, tree: Path) -> None:
    # agents 19
    (tree / "n").write_bytes("def f():\r\n\treturn\u00a01\r\n".encode())
    kind, text = await observe(
        "edit_file", path="n", old_text="    return 1\n", new_text="    return 2\n"
    )
    assert (kind, text.splitlines()[-1]) == (
        "done",
        (
            "[old_text was not there exactly; the only place that fits but for white space was "
            "edited, in the file's own indentation: check the lines above]"
        ),
    )
    assert (tree / "n").read_bytes() == b"def f():\r\n\treturn 2\r\n"
    edits = [
        {"old_text": "def f", "new_text": "def g"},
        {"old_text": "    return 2", "new_text": "y"},
    ]
    _, text = await observe("edit_file", path="n", edits=edits)
    assert "[old_text of edit 2 was not there exactly" in text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "old_text and new_text missing; give old_text and new_text, or edits"),
        ({"old_text": "a"}, "new_text missing; give old_text and new_text, or edits"),
        (
            {"old_text": "a", "new_text": "b", "edits": [{"old_text": "a", "new_text": "b"}]},
            "give either old_text and new_text, or edits",
        ),
    ],
)
def test_neither_one_edit_nor_several_is_told_how_to_ask(
    toolbox: Toolbox, call: Make, arguments: dict[str, Any], why: str
) -> None:
    judged = toolbox.judge(call("edit_file", path="src/app.py", **arguments))
    assert isinstance(judged, Rejected)
    assert judged.result.content == (
        f"edit_file did not run, its arguments are refused: {why}.\n"
        "Next: send the whole call again, corrected, such as "
        '{"new_text":"return a + b","old_text":"return a - b","path":"src/app.py"}.'
    )


@pytest.mark.anyio
async def test_edits_that_undo_each_other_are_refused(observe: Any) -> None:
    edits = [{"old_text": "total", "new_text": "sum"}, {"old_text": "sum", "new_text": "total"}]
    assert await observe("edit_file", path="src/app.py", edits=edits) == (
        "failed",
        "edit_file: src/app.py is unchanged: the edits undo each other.",
    )


@pytest.mark.anyio
async def test_the_mode_of_a_file_stays(observe: Any, tree: Path) -> None:
    (tree / "run").write_text("#!/bin/sh\nexit 1\n")
    (tree / "run").chmod(0o755)
    await observe("edit_file", path="run", old_text="exit 1", new_text="exit 0")
    assert (tree / "run").stat().st_mode & 0o777 == 0o755


# What has changed meanwhile -----------------------------------------------------------------------


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("edit_file", {"path": "src/app.py", "old_text": "a - b", "new_text": "a + b"}),
    ("write_file", {"path": "src/app.py", "content": "x\n"}),
    (
        "apply_patch",
        {"patch": "--- a/src/app.py\n+++ b/src/app.py\n@@ -2 +2 @@\n-    return a - b\n+    x\n"},
    ),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("tool", "arguments"), CHANGES)
async def test_a_file_that_something_else_wrote_since_it_was_read_is_not_changed(
    observe: Any, tree: Path, tool: str, arguments: dict[str, Any]
) -> None:
    # K3
    await observe("read_file", path="src/app.py")
    (tree / "src/app.py").write_bytes(b"# by a formatter\ndef total(a, b):\n    return a - b\n")
    kind, text = await observe(tool, **arguments)
    assert (kind, text) == (
        "failed",
        (
            f"{tool}: src/app.py is unchanged: it is not as it was when it was last read or edited "
            "here; a command or a test has written it since. Next: read it again with read_file, "
            "then make the change."
        ),
    )
    await observe("read_file", path="src/app.py", start_line=2)
    kind, _ = await observe(tool, **arguments)
    assert kind == "done"


@pytest.mark.anyio
@pytest.mark.parametrize(("tool", "arguments"), CHANGES)
async def test_a_file_that_was_never_read_or_was_changed_here_can_be_changed(
    observe: Any, tree: Path, tool: str, arguments: dict[str, Any]
) -> None:
    assert (await observe(tool, **arguments))[0] == "done"
    assert (await observe("write_file", path="src/app.py", content="a - b\n"))[0] == "done"
    assert (tree / "src/app.py").read_text() == "a - b\n"


@pytest.mark.anyio
async def test_a_file_is_known_by_its_true_name(observe: Any, tree: Path) -> None:
    (tree / "alias").symlink_to("src/app.py")
    await observe("read_file", path="alias")
    (tree / "src/app.py").write_text("other\n")
    kind, _ = await observe("edit_file", path="src/app.py", old_text="other", new_text="x")
    assert kind == "failed"


# apply_patch --------------------------------------------------------------------------------------

ALL_KINDS = """\
*** Begin Patch
*** Update File: src/app.py
@@ def total(a, b):
-    return a - b
+    return a + b
*** Add File: docs/new.txt
+one
+two
*** Delete File: old.txt
*** Update File: from.txt
*** Move to: to/there.txt
-x
+y
*** End Patch
"""


@pytest.mark.anyio
async def test_a_patch_changes_all_its_files_and_shows_them(observe: Any, tree: Path) -> None:
    (tree / "old.txt").write_text("old\n")
    (tree / "from.txt").write_bytes(b"x\r\n")
    assert await observe("apply_patch", patch=ALL_KINDS) == (
        "done",
        (
            "patched 5 files\n"
            "src/app.py: edited; lines 1-2 of 2 now read\n"
            "     1| def total(a, b):\n     2|     return a + b\n"
            "docs/new.txt: created, 2 lines, 8 bytes\n"
            "old.txt: deleted\n"
            "from.txt: deleted\n"
            "to/there.txt: created, 1 lines, 3 bytes"
        ),
    )
    assert (tree / "docs/new.txt").read_text() == "one\ntwo\n"
    assert (tree / "to/there.txt").read_bytes() == b"y\r\n"
    assert not (tree / "old.txt").exists()
    assert not (tree / "from.txt").exists()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("second", "why"),
    [
        (
            "*** Update File: src/ap.py\n-x",
            '"src/ap.py" does not exist. Next: did you mean "src/app.py"?',
        ),
        ("*** Add File: src/b.py\n+x", "nothing was changed: src/b.py is there already, and the"),
        ("*** Delete File: lost.py", '"lost.py" does not exist'),
        ("*** Delete File: link.py", "nothing was changed: link.py is or goes through a link"),
        (
            "*** Update File: src/b.py\n-y",
            "nothing was changed: in src/b.py, the hunk was not found",
        ),
        ("*** Update File: ../x\n-y", "leads out of the workspace"),
        ("*** Update File: .git/config\n-y", "belongs to git"),
        (
            "*** Update File: src/b.py\n*** Move to: link.py\n-x\n+y",
            "nothing was changed: src/b.py is there already",
        ),
        ("*** Delete File: src/app.py", None),
        (
            "*** Delete File: src/b.py\n*** Update File: src/b.py\n-x",
            "nothing was changed: the patch takes src/b.py away, then changes it",
        ),
    ],
)
async def test_a_patch_is_laid_whole_or_not_at_all(
    observe: Any, tree: Path, second: str, why: str | None
) -> None:
    # agents 21, 22
    (tree / "src/b.py").write_text("x\n")
    (tree / "link.py").symlink_to("src/b.py")
    first = "*** Update File: src/app.py\n-    return a - b\n+    return a + b"
    kind, text = await observe(
        "apply_patch", patch=f"*** Begin Patch\n{first}\n{second}\n*** End Patch"
    )
    if why is None:
        assert (kind, (tree / "src/app.py").exists()) == ("done", False)
    else:
        assert (kind, why in text) == ("failed", True), text
        assert (tree / "src/app.py").read_text().endswith("a - b\n")
    assert (tree / "src/b.py").read_text() == "x\n"


@pytest.mark.anyio
async def test_a_hunk_that_does_not_fit_is_answered_with_what_is_there(observe: Any) -> None:
    patch = "*** Begin Patch\n*** Update File: src/app.py\n-    return a * b\n+x\n*** End Patch"
    assert await observe("apply_patch", patch=patch) == (
        "failed",
        (
            "apply_patch: nothing was changed: in src/app.py, the hunk was not found; the nearest "
            "text is lines 2-2, and the first difference is on line 2: the file has "
            "«····return·a·-·b», the hunk has «····return·a·*·b».\n"
            "There now:\n     2|     return a - b\n"
            "Next: read the file again, and send smaller hunks with its lines as they are."
        ),
    )


@pytest.mark.anyio
async def test_what_is_no_patch_is_told_both_forms(observe: Any) -> None:
    kind, text = await observe("apply_patch", patch="please fix it")
    assert kind == "failed"
    assert text.startswith("apply_patch: nothing was changed: the patch names no file; write a")


@pytest.mark.anyio
async def test_space_that_was_passed_over_and_modes_are_said(observe: Any, tree: Path) -> None:
    patch = (
        "diff --git a/src/app.py b/src/app.py\nold mode 100644\nnew mode 100755\n"
        "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,2 +1,2 @@\n def total(a, b):\n"
        "-\treturn a - b\n+\treturn a + b\n"
    )
    kind, text = await observe("apply_patch", patch=patch)
    assert (kind, text.splitlines()[-2:]) == (
        "done",
        [
            (
                "[src/app.py: hunk 1 fits but for white space; it was applied in the file's own "
                "indentation: check the lines above]"
            ),
            "[src/app.py: mode 100755 was not set; use chmod]",
        ],
    )
    assert (tree / "src/app.py").read_text() == "def total(a, b):\n    return a + b\n"


@pytest.mark.anyio
async def test_a_patch_that_changes_nothing_is_refused(observe: Any) -> None:
    patch = "*** Begin Patch\n*** Update File: src/app.py\n     return a - b\n*** End Patch"
    assert await observe("apply_patch", patch=patch) == (
        "failed",
        "apply_patch: nothing was changed: the files are as the patch would make them.",
    )


@pytest.mark.anyio
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_files_already_written_are_put_back_where_a_later_one_cannot_be(
    observe: Any, tree: Path
) -> None:
    (tree / "locked").mkdir()
    (tree / "locked").chmod(0o500)
    patch = (
        "*** Begin Patch\n*** Delete File: src/app.py\n*** Add File: locked/x\n+1\n*** End Patch"
    )
    kind, text = await observe("apply_patch", patch=patch)
    assert (kind, "locked/x cannot be written" in text) == ("failed", True)
    assert (tree / "src/app.py").exists()


@pytest.mark.anyio
async def test_files_already_changed_are_put_back_where_a_folder_is_in_the_way(
    observe: Any, tree: Path
) -> None:
    (tree / "there").mkdir()
    patch = (
        "*** Begin Patch\n*** Update File: src/app.py\n-    return a - b\n+x\n"
        "*** Add File: new\n+1\n*** Add File: new/below\n+1\n*** End Patch"
    )
    kind, text = await observe("apply_patch", patch=patch)
    assert kind == "failed"
    assert text.startswith("apply_patch: nothing was changed: new/below cannot be written")
    assert not (tree / "new").exists()
    assert (tree / "src/app.py").read_text() == "def total(a, b):\n    return a - b\n"
