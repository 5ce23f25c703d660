"""How long a map of 5,000 files takes, beside parsing them, and when only one of them changed."""

import ast
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import process_time

from benchmarks.row import Row, at_most
from goldseam.tools.map.repository import Question, RepositoryMap
from goldseam.workspace.clone import open_workspace

FILES = 5_000
PATIENCE_S = 600.0
_SAMPLE = 5
"""One in so many files is parsed, to save time."""
METHODS = "".join(
    f"    def method_{n}(self, value_{n}: int, *, other: str = 'x') -> int:\n"
    f'        """Return what {n} times the value comes to."""\n'
    f"        if value_{n} > len(other):\n"
    f"            return self.method_{(n * 7) % 20}(value_{n} - 1, other=other)\n"
    f"        return value_{n}\n\n"
    for n in range(20)
)


def measure() -> tuple[Row, ...]:
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "repository"
        sources = [_source(n) for n in range(FILES)]
        for number, source in enumerate(sources):
            file = repository / f"package_{number % 97}" / f"module_{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source, encoding="utf-8")
        workspace = open_workspace(repository, home=Path(folder) / "work")
        map_ = RepositoryMap(workspace, cache=Path(folder) / "sketches")
        draw = _drawing(map_)
        parsing = _SAMPLE * _cost(lambda: _parse(sources[::_SAMPLE]))
        first, again = _cost(draw), min(_cost(draw) for _ in range(3))
        (workspace.root / "package_0" / "module_0.py").write_text("class Other: ...\n")
        changed = _cost(draw)
        next_run = _cost(_drawing(RepositoryMap(workspace, cache=Path(folder) / "sketches")))
    what = f"map of {FILES} files"
    return (
        at_most(what, first / parsing, limit=0.6, unit="x ast.parse of them"),
        at_most(f"{what}, again", again / first, limit=0.05, unit="x the first time"),
        at_most(f"{what}, one changed", changed / first, limit=0.15, unit="x the first time"),
        at_most(f"{what}, in the next run", next_run / first, limit=0.8, unit="x the first time"),
        Row(what=what, figure=f"{first:.2f} s of processor"),
    )


def _parse(sources: list[str]) -> None:
    for source in sources:
        ast.parse(source)


def _source(number: int) -> str:
    other = number // 3
    return (
        f"from package_{other % 97}.module_{other} import Thing{other}\n\n\n"
        f"class Thing{number}(Thing{other}):\n{METHODS}"
    )


def _drawing(map_: RepositoryMap) -> Callable[[], object]:
    return lambda: map_.draw(Question(limit_s=PATIENCE_S), threading.Event())


def _cost(work: Callable[[], object]) -> float:
    """Return the processor's seconds: a busy machine does not count."""
    begun = process_time()
    work()
    return process_time() - begun
