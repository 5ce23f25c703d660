"""One trial: fork, let the child run the tests, wait for its end, and kill all that it started.

Guest code (Python 3.8 or later, standard library). Trusts nothing that a child does; knows nothing
of edits.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any

    from goldseam.workspace.guest import goldseam_try_tests as in_process
else:  # here it is found beside this file, and nothing else of ours
    in_process = importlib.import_module("goldseam_try_tests")

MEMORY_BYTES = 2 << 30
"""Data a trial may have: an edited loop that never stops collecting must not eat the host."""
MAX_SAID = 1 << 22
"""Bytes of a child's last words that are read."""
_POLL_S = 0.02
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of whatever a trial leaves behind, so that it can be killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run_trial(plan: dict[str, Any], report: Path, limit_s: float) -> dict[str, Any]:
    """Run the tests in a child and return what came of it; all that it started is dead then.

    `how` is `ended`, `timeout`, or tells how the child died before its end.
    """
    report.write_bytes(b"")
    ours, theirs = os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        _be_the_child(plan, report, theirs)
    os.close(theirs)
    try:
        said, how = _listen(pid, ours, started + limit_s)
    finally:
        os.close(ours)
    last_words: dict[str, Any] = json.loads(said) if how == "ended" and said else {}
    outcomes = in_process.read_outcomes(report)
    return {"outcomes": outcomes, **last_words, "how": how, "seconds": time.monotonic() - started}


def _be_the_child(plan: dict[str, Any], report: Path, channel: int) -> None:
    try:
        os.setsid()
        in_process.be_quiet()
        _limit_memory()
        importlib.invalidate_caches()
        code = in_process.run_tests(plan, report)
        words = {"exit": code, **in_process.loaded_modules(plan["root"])}
    except BaseException as error:  # noqa: BLE001 - the edge of the trial: whatever it was, it is told
        words = {"crash": f"{type(error).__name__}: {error}"[:200]}
    try:
        os.write(channel, json.dumps(words).encode()[:MAX_SAID])
    finally:
        os._exit(0)


def _limit_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _listen(pid: int, channel: int, deadline: float) -> tuple[bytes, str]:
    """Return the child's last words and how it came to an end."""
    os.set_blocking(channel, False)
    said, ended, how = bytearray(), False, "ended"
    while True:
        piece = _read(channel, wait_s=0 if ended else _POLL_S)
        said += piece
        if ended and not piece:
            break
        if time.monotonic() >= deadline or len(said) > MAX_SAID:
            how = "timeout"
            break
        if not piece:
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    status = _kill_all(pid)
    return bytes(said), _death(status) if how == "ended" else how


def _read(channel: int, *, wait_s: float) -> bytes:
    if not select.select([channel], [], [], wait_s)[0]:
        return b""
    piece = os.read(channel, 1 << 16)
    if not piece:  # everybody closed it: only the child's end is left to wait for
        time.sleep(wait_s / 10)
    return piece


def _death(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"killed by signal {os.WTERMSIG(status)}"
    code = os.WEXITSTATUS(status)
    return f"left with exit code {code}" if code else "ended"


def _kill_all(pid: int) -> int:
    """Kill the child's group and, where the system names them, all that left it."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)  # it had no time to make a group of its own
    status = os.waitpid(pid, 0)[1]
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    for _ in range(1000):  # each death may hand us further orphans
        strays = children.read_text(encoding="ascii").split() if children.exists() else []
        if not strays:
            break
        for stray in strays:
            os.kill(int(stray), signal.SIGKILL)
            os.waitpid(int(stray), 0)
    return status
