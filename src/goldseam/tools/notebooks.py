"""Show a notebook as its cells, which is how people know it. Pure.

The file itself is JSON, and edits are made there; so what is shown says that it is a view.
"""

from collections.abc import Iterator

from goldseam.kernel.json_text import BadJsonError, Json, read_json
from goldseam.tools.text_files import lines_of
from goldseam.workspace.process import printable

MAX_OUTPUT_LINES = 20
"""Of one cell's output."""

NOTE = (
    "[a notebook, shown as its cells; edit_file changes the file itself, which is JSON: search "
    "shows its lines]"
)


def cells_of(text: str) -> list[str] | None:
    """Return a notebook's cells as lines; none where `text` is no notebook."""
    try:
        whole = read_json(text)
    except BadJsonError:
        return None
    cells = whole.get("cells") if isinstance(whole, dict) else None
    if not isinstance(cells, list):
        return None
    return [line for number, cell in enumerate(cells, 1) for line in _cell(cell, number)]


def _cell(cell: Json, number: int) -> Iterator[str]:
    if not isinstance(cell, dict):
        return
    yield f"# cell {number}: {cell.get('cell_type', 'of no kind')}"
    yield from lines_of(_text(cell.get("source")))
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        yield from _output(output)


def _output(output: Json) -> Iterator[str]:
    if not isinstance(output, dict):
        return
    data = output.get("data")
    parts = data if isinstance(data, dict) else {}
    told = _text(output.get("text")) or _text(parts.get("text/plain"))
    told = told or _text(output.get("traceback"), joint="\n")
    lines = lines_of(printable(told.encode("utf-8", "replace")))
    yield "# output:"
    yield from lines[:MAX_OUTPUT_LINES]
    if len(lines) > MAX_OUTPUT_LINES:
        yield f"# … {MAX_OUTPUT_LINES} of {len(lines)} lines of output; search shows the rest"
    for kind in parts:
        if kind.startswith(("image/", "application/")):
            yield f"# ({kind}, {len(_text(parts[kind]))} characters)"


def _text(value: Json, *, joint: str = "") -> str:
    match value:
        case str():
            return value
        case list():
            return joint.join(item for item in value if isinstance(item, str))
        case _:
            return ""
