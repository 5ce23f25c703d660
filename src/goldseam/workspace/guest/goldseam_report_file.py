"""What the reporters share: the file that outcomes go to, the names that were chosen, foreign code.

Runs in the user's Python (3.8 and later, standard library alone) beside the user's tests. The file
holds one JSON object a line, each written at once: what was written before a crash can be read.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

REPORT = "GOLDSEAM_REPORT"
NAMES = "GOLDSEAM_NAMES"
TREE = "GOLDSEAM_TREE"

_TOPS = ("", "src", "lib", "python")
_OFTEN_THERE = frozenset({"__main__", "conftest", "setup"})


class ReportFile:
    """The file that outcomes go to; `names` are the tests to run, all where there are none."""

    def __init__(self, path: str, tree: str, names: frozenset[str]) -> None:
        self.path = path
        self.tree = tree
        self.names = names

    def write(self, **line: str) -> None:
        """Append one line."""
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, json.dumps(line).encode("ascii") + b"\n")
        finally:
            os.close(fd)

    def outcome(self, name: str, outcome: str) -> None:
        """Say what became of the test `name`, or that it was started; the worst word counts."""
        self.write(name=name, outcome=outcome)

    def wants(self, name: str, separators: tuple[str, ...]) -> bool:
        """Return whether `name`, or what holds it, is among the chosen."""
        if not self.names or name in self.names:
            return True
        ends = (
            at
            for separator in separators
            for at in range(1, len(name))
            if name.startswith(separator, at)
        )
        return any(name[:end] in self.names for end in ends)

    def foreign(self) -> None:
        """Say which top-level modules that the tree has were imported from elsewhere."""
        for name, module in sorted(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if "." not in name and isinstance(file, str) and is_foreign(name, file, self.tree):
                self.write(foreign=name, file=file)


def is_foreign(name: str, file: str, tree: str) -> bool:
    """Return whether the tree has a module `name` of its own, and `file` is not it."""
    root, there = Path(tree).resolve(), Path(file).resolve()
    if name in _OFTEN_THERE or there.name not in {"__init__.py", name + ".py"}:
        return False
    short = there.parts[-2:] if there.name == "__init__.py" else there.parts[-1:]
    ours = [root.joinpath(top, *short) for top in _TOPS]
    if there in ours:
        return False
    if any(place.is_file() for place in ours):
        return True
    # Of the same form in another tree, wherever that keeps its packages: the user's own, which an
    # editable install names.
    ends = (there.parts[at:] for at in range(1, len(there.parts) - len(short)))
    return root not in there.parents and any(root.joinpath(*end).is_file() for end in ends)


def open_report() -> ReportFile | None:
    """Return the file that the environment names; `None` where nobody asked for a report."""
    path = os.environ.get(REPORT)
    if not path or not Path(path).is_file():
        return None
    names = os.environ.get(NAMES)
    chosen = json.loads(Path(names).read_text(encoding="ascii")) if names else []
    return ReportFile(path, os.environ.get(TREE) or str(Path.cwd()), frozenset(chosen))


def forget_report() -> None:
    """Take the variables away: programs that the tests start do not report to us."""
    for variable in (REPORT, NAMES, TREE):
        os.environ.pop(variable, None)
