"""The tools through the front door: what a model is shown, what is kept, what the patch holds."""

import json
from pathlib import Path
from typing import Any

import pytest
from e2e.e2e_support import FIXED, Desk, Ended, answer, calls

DONE = answer("The slice dropped the first price.")


def observed(ended: Ended) -> list[str]:
    """What the model was shown of its calls, in order."""
    assert ended.code in {0, 3}, ended.err
    lines = [json.loads(line) for line in ended.out.splitlines()]
    return [line["result"]["content"] for line in lines if line["type"] == "tool_finished"]


def run(desk: Desk, *replies: dict[str, Any]) -> Ended:
    return desk.goldseam("fix", "x", "--repo", "shop", "--model", desk.script(*replies), "--json")


def test_a_patch_mends_and_is_proved(desk: Desk) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: shop.py\n@@ def total(prices):\n     result = 0\n"
        "-    for price in prices[1:]:\n+    for price in prices:\n*** Add File: NEWS\n"
        "+Totals are whole.\n*** End Patch\n"
    )
    ended = run(desk, calls(("apply_patch", {"patch": patch})), DONE)
    (shown,) = observed(ended)
    assert "patched 2 files\nshop.py: edited; lines " in shown
    assert ended.result["verdict"] == "verified"
    assert sorted(file["path"] for file in ended.result["files"]) == ["NEWS", "shop.py"]


def test_a_page_of_200_000_characters_is_kept_and_read_on_in_pieces(desk: Desk) -> None:
    # A4.4, A4.6
    printed = "python3 -c \"print('\\n'.join(f'row {n:05}' + '.' * 90 for n in range(2000)))\""
    first = "download/run_command-1.txt"
    ended = run(
        desk,
        calls(("run_command", {"command": printed})),
        calls(("read_file", {"path": first, "start_line": 900, "end_line": 901})),
        calls(("search", {"pattern": "row 01777", "path": first})),
        calls(("edit_file", FIXED)),
        DONE,
    )
    shown, page, found, _ = observed(ended)
    lines = shown.split("\n")
    assert lines[:2] == ["exit 0", f"[text/plain, 200,000 bytes, 2,000 lines: whole in {first}]"]
    assert lines[2].startswith("row 00000")
    assert lines[-1].startswith("row 01999")
    assert len(shown.encode()) <= 50_000
    assert page.split("\n")[1].startswith("   900| row 00899")
    assert found.split("\n")[0] == "1 matches:"
    # Outside the patch, whatever the model made of it.
    assert [file["path"] for file in ended.result["files"]] == ["shop.py"]


def test_a_person_s_own_download_folder_is_left_as_it_is(desk: Desk) -> None:
    desk.write({"download/run_command-1.txt": "mine\n"})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "theirs")
    ended = run(
        desk,
        calls(("run_command", {"command": "seq 1 30000"})),
        calls(("edit_file", FIXED)),
        DONE,
    )
    assert "whole in download/run_command-2.txt]" in observed(ended)[0]
    assert [file["path"] for file in ended.result["files"]] == ["shop.py"]


def test_an_edit_after_a_command_rewrote_the_file_asks_to_read_again(desk: Desk) -> None:
    ended = run(
        desk,
        calls(("read_file", {"path": "shop.py"})),
        calls(("run_command", {"command": "sed -i '1i # by a tool' shop.py"})),
        calls(("edit_file", FIXED)),
        calls(("read_file", {"path": "shop.py"})),
        calls(("edit_file", FIXED)),
        DONE,
    )
    shown = observed(ended)
    assert shown[2].startswith("edit_file: shop.py is unchanged: it is not as it was when")
    assert shown[4].startswith("shop.py: edited; lines ")
    assert ended.result["verdict"] == "verified"


def test_a_picture_reaches_the_model(desk: Desk) -> None:
    (Path(desk.repository) / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 20)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a picture")
    ended = run(desk, calls(("read_file", {"path": "a.png"})), calls(("edit_file", FIXED)), DONE)
    events = [json.loads(line) for line in ended.out.splitlines()]
    (seen,) = [
        event["result"]["images"]
        for event in events
        if event["type"] == "tool_finished" and event["result"].get("images")
    ]
    assert seen[0]["media_type"] == "image/png"


@pytest.mark.parametrize("command", ["sleep 60 & echo begun", "setsid sleep 60 & echo begun"])
def test_a_command_that_leaves_something_running_returns(desk: Desk, command: str) -> None:
    # agents 25
    ended = run(desk, calls(("run_command", {"command": command}), ("edit_file", FIXED)), DONE)
    assert observed(ended)[0] == "exit 0\nbegun"
