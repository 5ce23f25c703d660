"""Write the lines of ARCHITECTURE.md that say what each module is: its own first line.

`python scripts/modules.py` prints the section as it should be; with `--write` it goes into the
file, behind the mark.
"""

import ast
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "goldseam"
DOCUMENT = ROOT / "ARCHITECTURE.md"
MARK = "<!-- modules -->\n"
TOP = "the package"
ROOMS = (TOP, "kernel", "wire", "models", "workspace", "tools", "journal", "repair", "app", "cli")


def main() -> None:
    """Print the section, or write it."""
    if sys.argv[1:] == ["--write"]:
        head = DOCUMENT.read_text(encoding="utf-8").partition(MARK)[0]
        DOCUMENT.write_text(f"{head}{MARK}\n{section()}", encoding="utf-8")
    else:
        sys.stdout.write(section())


def section() -> str:
    """Return a table for each room, in the order of `ROOMS`."""
    paths = sorted(SOURCE.rglob("*.py"), key=lambda path: (ROOMS.index(_room_of(path)), path))
    return "\n".join(_table(room, list(group)) for room, group in groupby(paths, key=_room_of))


def _room_of(path: Path) -> str:
    inside = path.relative_to(SOURCE).parts
    return inside[0] if len(inside) > 1 else TOP


def _table(room: str, paths: list[Path]) -> str:
    opening, *others = sorted(paths, key=lambda path: (len(path.parts), path.name != "__init__.py"))
    rows = [f"| `{_name_of(path)}` | {_first_line(path)} |" for path in sorted(others)]
    head = [f"### {room}", "", _first_line(opening), "", "| module | what it is |", "|---|---|"]
    return "\n".join([*head, *rows, ""])


def _name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix().removesuffix("__init__.py")


def _first_line(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return (docstring or "").partition("\n")[0].replace("|", "\\|")


if __name__ == "__main__":
    main()
