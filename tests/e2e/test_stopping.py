"""A signal stops a run with a whole record; a second one ends the process at once."""

import json
import signal
import time

import pytest
from e2e.e2e_support import Desk, answer, calls

SLEEP = calls(("run_command", {"command": "sleep 60"}))


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
