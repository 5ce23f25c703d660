"""How long Goldseam takes to say its version, beside Python doing nothing, and what it loads."""

import sys
from statistics import median

from benchmarks.child import GOLDSEAM, python, seconds
from benchmarks.row import Row, at_most

ROUNDS = 40
HEAVY = {"anyio", "asyncio", "http", "httpx2", "rich", "ssl"}
PEAK = "import goldseam; from benchmarks.child import peak_mb; print(peak_mb())"


def measure() -> tuple[Row, ...]:
    return (_time(), _imports(), _memory())


def _time() -> Row:
    """Take turns, so that a busy machine slows both alike."""
    pairs = [
        (seconds(GOLDSEAM, "--version"), seconds(sys.executable, "-c", "pass"))
        for _ in range(ROUNDS)
    ]
    ours, nothing = (median(times) for times in zip(*pairs, strict=True))
    return at_most("goldseam --version", ours / nothing, limit=5, unit="x python -c pass")


def _imports() -> Row:
    told = python("-X", "importtime", "-m", "goldseam", "--version").stderr.splitlines()
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in told}
    heavy = sorted(loaded & HEAVY)
    return Row(
        what="goldseam --version loads",
        figure=", ".join(heavy) or "nothing heavy",
        limit=f"none of {', '.join(sorted(HEAVY))}",
        holds=not heavy,
    )


def _memory() -> Row:
    resident = float(python("-c", PEAK).stdout)
    return at_most("import goldseam, resident", resident, limit=35, unit="MB")
