"""What a checkpoint costs before each changing tool, beside one `git status` of the same tree.

Time is the processor's own, for this process and for git: neither the disk nor others count.
"""

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.child import run
from benchmarks.row import Row, at_most
from goldseam.workspace.checkpoints import Checkpoints, make_store
from goldseam.workspace.clone import open_workspace
from goldseam.workspace.git import Git

FILES = 5000
ROUNDS = 15
STATUS = ("git", "status", "--porcelain", "-uall")
LINES = "".join(f"value_{number} = {number}\n" for number in range(20))


def place(number: int) -> str:
    return f"package_{number % 100}/part_{number % 7}/module_{number}.py"


def make_repository(tree: Path) -> Path:
    for number in range(FILES):
        file = tree / place(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"NUMBER = {number}\n{LINES}", encoding="ascii")
    git = Git(tree)
    git.run("init", "--quiet")
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message", "all")
    return tree


def seconds(deed: Callable[[], object]) -> float:
    begun = own_s()
    deed()
    return own_s() - begun


def own_s() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure() -> tuple[Row, ...]:
    """Judge each by the least time it took, turn about: a busy machine only ever adds."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        workspace = open_workspace(make_repository(home / "repository"), home=home / "work")
        checkpoints = Checkpoints(make_store(home / "checkpoints", workspace), workspace.root)
        checkpoints.take("first")
        status_s, changed_s, same_s = [], [], []
        for number in range(ROUNDS):
            (workspace.root / place(number)).write_text(f"NUMBER = {-number}\n{LINES}")
            status_s.append(seconds(lambda: run(*STATUS, cwd=workspace.root)))
            changed_s.append(seconds(lambda: checkpoints.take("one file changed")))
            same_s.append(seconds(lambda: checkpoints.take("nothing changed")))
    changed, same = min(changed_s) / min(status_s), min(same_s) / min(status_s)
    what = f"a checkpoint of {FILES:,} files"
    return (
        at_most(f"{what}, one changed, to git status", changed, limit=2, unit="x"),
        at_most(f"{what}, none changed, to git status", same, limit=2, unit="x"),
    )
