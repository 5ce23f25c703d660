"""A run that was left goes on through the front door; undo, diff and fork go back in it."""

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from e2e.e2e_support import FIXED, Desk, answer, calls

if TYPE_CHECKING:
    import subprocess

DONE = answer("The slice dropped the first price.")
NOTE = calls(("write_file", {"path": "notes.txt", "content": "mended\n"}))
EDIT = calls(("edit_file", FIXED))
TEST = ("--test", "sh check.sh")


@pytest.fixture
def quick(desk: Desk) -> Desk:
    """A repository whose tests take no time."""
    desk.write({"check.sh": "grep -q 'in prices:' shop.py\n"})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "check")
    return desk


def fix(desk: Desk, *replies: dict[str, Any], words: tuple[str, ...] = ()) -> dict[str, Any]:
    model = desk.script(*replies)
    ended = desk.goldseam(
        "fix", "totals are wrong", "--repo", "shop", "--model", model, "--json", *TEST, *words
    )
    return ended.result


def start(desk: Desk, *replies: dict[str, Any], tools: int) -> "subprocess.Popen[str]":
    """Begin a run and return once so many tools have started."""
    model = desk.script(*replies)
    process = desk.start("fix", "x", "--repo", "shop", "--model", model, "--json", *TEST)
    assert process.stdout is not None
    for line in process.stdout:
        tools -= json.loads(line)["type"] == "tool_started"
        if not tools:
            return process
    raise AssertionError(process.communicate())


def resume(desk: Desk, *replies: dict[str, Any], run: str = "last") -> list[dict[str, Any]]:
    ended = desk.goldseam("resume", run, "--model", desk.script(*replies), "--json")
    return [json.loads(line) for line in ended.out.splitlines()]


def run_in(desk: Desk) -> Path:
    (run,) = (desk.home / "runs").iterdir()
    return run


def of_type(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == name]


def test_a_killed_command_is_not_run_again_and_what_it_changed_is_told(quick: Desk) -> None:
    slow = calls(("run_command", {"command": "echo ran >> ran.txt; sleep 60"}))
    process = start(quick, EDIT, slow, DONE, tools=2)
    tree = quick.home / "work" / run_in(quick).name / "workspace" / "tree"
    while not (tree / "ran.txt").exists():
        assert process.poll() is None
    process.kill()
    process.communicate(timeout=60)
    events = resume(quick, DONE)
    (told,) = of_type(events, "tool_finished")
    assert told["result"]["kind"] == "unknown"
    assert "these files differ: ran.txt (added)" in told["result"]["content"]
    assert any("not known whether run_command" in e["text"] for e in of_type(events, "said"))
    assert events[-1]["verdict"] == "verified"
    patch = (run_in(quick) / "patch.diff").read_text()
    assert (patch.count("+ran\n"), "+    for price in prices:\n" in patch) == (1, True)
    assert list((quick.home / "work").iterdir()) == []


def test_what_a_killed_run_held_is_saved_by_the_sweep_of_another_run(quick: Desk) -> None:
    sleep = calls(("run_command", {"command": "echo more >> notes.txt; sleep 60"}))
    process = start(quick, NOTE, EDIT, sleep, tools=3)
    run = run_in(quick)
    tree = quick.home / "work" / run.name / "workspace" / "tree"
    while "more" not in (tree / "notes.txt").read_text():
        assert process.poll() is None
    process.kill()
    process.communicate(timeout=60)
    assert fix(quick, EDIT, DONE)["verdict"] == "verified"
    assert list((quick.home / "work").iterdir()) == []
    assert resume(quick, DONE, run=run.name)[-1]["verdict"] == "verified"
    assert "+mended\n+more\n" in (run / "patch.diff").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_goes_on(quick: Desk, number: signal.Signals) -> None:
    sleep = calls(("run_command", {"command": "sleep 60"}))
    process = start(quick, NOTE, sleep, DONE, tools=2)
    busy = quick.goldseam("resume")
    assert (busy.code, busy.err.count("\n")) == (2, 1)
    assert "is being written by process" in busy.err
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 7
    events = resume(quick, EDIT, DONE)
    assert (events[-1]["verdict"], events[-1]["usage"]["model_calls"]) == ("verified", 4)
    assert {file["path"] for file in events[-1]["files"]} == {"notes.txt", "shop.py"}


def test_a_run_out_of_budget_goes_on_with_more_and_a_finished_one_is_refused(quick: Desk) -> None:
    assert fix(quick, NOTE, words=("--max-calls", "1"))["verdict"] == "budget"
    spent = quick.goldseam("resume", "--model", quick.script(DONE))
    assert (spent.code, spent.err.count("\n")) == (2, 1)
    assert "give more in all: --max-calls" in spent.err
    model = quick.script(EDIT, DONE)
    ended = quick.goldseam("resume", "--max-calls", "3", "--model", model, "--out", "out")
    assert ended.code == 0, ended.err
    result = json.loads((quick.folder / "out" / "result.json").read_bytes())
    assert (result["usage"]["model_calls"], result["run_id"]) == (3, run_in(quick).name)
    again = quick.goldseam("resume", "--model", model)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "is finished and its patch is proved" in again.err


def test_an_answer_that_was_not_proved_is_asked_for_again(quick: Desk) -> None:
    assert fix(quick, DONE, DONE)["verdict"] == "no_patch"
    events = resume(quick, EDIT, DONE)
    assert "Your answer above was not proved." in of_type(events, "resumed")[0]["told"]
    assert events[-1]["verdict"] == "verified"


def test_a_damaged_record_is_gone_on_with_and_both_are_told(quick: Desk) -> None:
    fix(quick, NOTE, EDIT, words=("--max-calls", "2"))
    record = run_in(quick) / "events.jsonl"
    lines = record.read_bytes().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b'"model_replied"' in line)
    record.write_bytes(b"".join([*lines[:place], b"\0" * 100 + b"\n", *lines[place + 1 :]]))
    ended = quick.goldseam("resume", "--max-calls", "9", "--model", quick.script(DONE), "--json")
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert "not whole in 1 place" in of_type(events, "resumed")[0]["told"]
    assert any("not whole in 1 place" in event["text"] for event in of_type(events, "said"))
    assert events[-1]["verdict"] == "verified"


def test_changes_are_shown_undone_and_gone_on_from(quick: Desk) -> None:
    assert fix(quick, NOTE, EDIT, DONE)["verdict"] == "verified"
    listed = quick.goldseam("diff", "last", "--list").out.splitlines()
    assert [line.split() for line in listed] == [
        ["1", "write_file", "(c1):", "notes.txt", "+1", "-0"],
        ["2", "edit_file", "(c2):", "shop.py", "+1", "-1"],
    ]
    whole = quick.goldseam("diff").out
    assert whole.encode() == (run_in(quick) / "patch.diff").read_bytes()
    assert (
        quick.goldseam("diff", "last", "0..1").out + quick.goldseam("diff", "last", "2").out
        == whole
    )
    assert quick.goldseam("diff", "last", "0..9").code == 2
    assert quick.goldseam("undo").code == 0
    assert (run_in(quick) / "patch.diff").read_text() == quick.goldseam("diff", "last", "1").out
    assert json.loads(quick.goldseam("undo", "--to", "0", "--json").out)["patch"] is None
    nothing = quick.goldseam("undo")
    assert (nothing.code, nothing.err.count("\n")) == (2, 1)
    events = resume(quick, EDIT, DONE)
    told = of_type(events, "resumed")[0]["told"]
    assert "A person has undone changes" in told
    assert "notes.txt (deleted), shop.py (modified)" in told
    assert events[-1]["verdict"] == "verified"
    assert [file["path"] for file in events[-1]["files"]] == ["shop.py"]


def test_a_fork_begins_as_the_run_did_and_goes_its_own_way(quick: Desk) -> None:
    assert fix(quick, NOTE, EDIT, DONE)["verdict"] == "verified"
    source = run_in(quick)
    before = (source / "events.jsonl").read_bytes()
    events = [json.loads(line) for line in before.splitlines()]
    at = next(event["seq"] for event in events if event["type"] == "tool_finished")
    forked = quick.goldseam("fork", source.name, "--at", str(at)).out.strip()
    assert quick.goldseam("diff", forked, "--list").out.split() == [
        "1",
        "write_file",
        "(c1):",
        "notes.txt",
        "+1",
        "-0",
    ]
    assert resume(quick, EDIT, DONE, run=forked)[-1]["verdict"] == "verified"
    assert (quick.home / "runs" / forked / "patch.diff").read_bytes() == (
        source / "patch.diff"
    ).read_bytes()
    assert (source / "events.jsonl").read_bytes() == before
    beyond = quick.goldseam("fork", source.name, "--at", "999")
    assert (beyond.code, beyond.err.count("\n")) == (2, 1)
