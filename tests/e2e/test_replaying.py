"""A recorded run is a test case: decided again, and played again with live tools."""

import json
from pathlib import Path

from e2e.e2e_support import FIXED, Desk, answer, calls

EDIT = calls(("read_file", {"path": "shop.py"}), ("edit_file", FIXED))


def record(desk: Desk, *commands: str) -> Path:
    desk.write({"check.sh": "grep -q 'in prices:' shop.py\n"})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "check")
    ran = [calls(("run_command", {"command": command})) for command in commands]
    model = desk.script(EDIT, *ran, answer("Mended."))
    ended = desk.goldseam(
        "fix", "totals are wrong", "--repo", "shop", "--model", model, "--test", "sh check.sh"
    )
    assert ended.code == 0, ended.err
    (run,) = (desk.home / "runs").iterdir()
    return run


def test_a_run_is_played_again_and_nothing_differs(desk: Desk) -> None:
    run = record(desk, "echo hello > greeting.txt; cat greeting.txt")
    decided = desk.goldseam("replay", "--verify", "--as-test")
    assert (decided.code, decided.out) == (0, "nothing differs\n")
    desk.write({"shop.py": "broken since\n"})
    played = desk.goldseam("replay", run.name, "--as-test")
    assert played.code == 0, played.out
    assert played.out.endswith("nothing differs\n")
    assert len(list((desk.home / "runs").iterdir())) == 2
    assert list((desk.home / "work").iterdir()) == []


def test_what_differs_is_listed_and_fails_as_a_test(desk: Desk) -> None:
    run = record(desk, "date +%N")
    played = desk.goldseam("replay", run.name, "--as-test")
    assert played.code == 3
    told = played.out.splitlines()[-2:]
    assert told[0].startswith("the result of c3: ")
    assert told[1] == "1 differences"


def test_a_record_that_was_changed_is_found_out(desk: Desk) -> None:
    run = record(desk)
    file = run / "events.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b'"tool_started"' in line)
    assert json.loads(lines[place])["seq"] == place + 1
    file.write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))
    ended = desk.goldseam("replay", run.name)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "is not whole" in ended.err
