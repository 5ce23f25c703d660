"""A signal stops a run with a whole record; a second one ends the process at once."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from e2e.e2e_support import FIXED, Desk, answer, calls

SLEEP = calls(("run_command", {"command": "sleep 60"}))


def wait_until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_and_the_record_is_whole(desk: Desk, number: signal.Signals) -> None:
    model = desk.script(SLEEP, answer("x"))
    process = desk.start("fix", "x", "--repo", "shop", "--model", model, "--json")
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "tool_started":
            break
    asked = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    took = time.monotonic() - asked
    assert process.returncode == 7, err
    result = json.loads(out.splitlines()[-1])
    assert result["verdict"] == "stopped"
    assert number.name in result["message"]
    assert took < 30, "the command would have gone on for 60 s"
    shown = desk.goldseam("show")
    assert "Interrupted" in shown.out
    assert list((desk.home / "work").iterdir()) == []


def test_a_signal_ends_the_run_of_the_tests_before_any_change(desk: Desk) -> None:
    begun = desk.folder / "home" / "work"
    desk.write({"test_slow.py": "import time\n\ndef test_slow():\n    time.sleep(60)\n"})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "slow")
    process = desk.start("fix", "x", "--repo", "shop", "--json")
    assert process.stdout is not None
    for line in process.stdout:
        if "sandbox" in json.loads(line).get("text", ""):
            break
    assert list(begun.iterdir()) != []
    wait_until(lambda: list(begun.glob("*/scratch/tree-*/test_slow.py")) != [])
    asked = time.monotonic()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=50)
    assert time.monotonic() - asked < 30, "the tests would have gone on for 60 s"
    assert process.returncode == 7, err
    result = json.loads(out.splitlines()[-1])
    assert result["message"] == "stopped by SIGTERM before the run began"
    assert list(begun.iterdir()) == []
    assert list((desk.home / "runs").glob("*")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("after_s", [0, 0.2])
def test_an_early_signal_ends_in_one_line(
    desk: Desk, number: signal.Signals, after_s: float
) -> None:
    process = desk.start("fix", "-", "--repo", "shop", "--json")
    wait_until(lambda: handles(process.pid, signal.SIGHUP))
    time.sleep(after_s)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err.count("\n")) == (7, 1), err
    assert json.loads(out.splitlines()[-1])["exit_code"] == 7


def handles(process: int, number: signal.Signals) -> bool:
    """Whether the interpreter has come so far that code of ours handles the signal."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def test_what_a_killed_run_left_is_swept_by_the_next(desk: Desk) -> None:
    model = desk.script(SLEEP, answer("x"))
    living, dead = (
        desk.start("fix", "x", "--repo", "shop", "--model", model, "--json") for _ in range(2)
    )
    for process in (living, dead):
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "tool_started":
                break
    (desk.home / "work" / "mine").mkdir()
    dead.kill()
    dead.communicate(timeout=60)
    assert len(list((desk.home / "work").iterdir())) == 3
    model = desk.script(answer("x"))
    desk.goldseam("fix", "x", "--repo", "shop", "--model", model)
    assert len(list((desk.home / "work").iterdir())) == 2
    living.send_signal(signal.SIGHUP)
    living.communicate(timeout=60)
    assert living.returncode == 7
    assert [path.name for path in (desk.home / "work").iterdir()] == ["mine"]


def test_a_record_that_cannot_be_kept_ends_the_run_with_a_result_that_names_it(
    desk: Desk,
) -> None:
    slow = calls(("run_command", {"command": "sleep 2; seq 1 100000"}))
    model = desk.script(calls(("edit_file", FIXED)), slow, answer("x"))
    process = desk.start("fix", "x", "--repo", "shop", "--model", model, "--json")
    assert process.stdout is not None
    started = 0
    for line in process.stdout:
        started += json.loads(line)["type"] == "tool_started"
        if started == 2:
            break
    (run,) = (desk.home / "runs").iterdir()
    if (run / "blobs").exists():
        (run / "blobs").rename(run / "blobs-away")
    (run / "blobs").touch()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (7, False), err
    result = json.loads(out.splitlines()[-1])
    assert result == json.loads((run / "result.json").read_bytes())
    assert (result["run_id"], result["record"]) == (run.name, str(run))
    assert "the record cannot be kept" in result["message"]
    assert b"+    for price in prices:" in (run / "patch.diff").read_bytes()
