"""Run this project in a process of its own, as a person starts it."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOLDSEAM = str(Path(sys.prefix, "bin", "goldseam"))

# Byte code is what a person has after the first start, whatever this environment says.
ENVIRONMENT = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}


def run(
    *argv: str, cwd: Path = ROOT, env: Mapping[str, str] = ENVIRONMENT, check: bool = True
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=check)


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, *arguments)


def seconds(*argv: str) -> float:
    begun = time.perf_counter()
    run(*argv)
    return time.perf_counter() - begun


def peak_mb() -> float:
    """Return the most memory that this process has had resident since it was started."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (kilobytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) / 1024
