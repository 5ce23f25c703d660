"""Long lines, notebooks and pictures: what is cut says how to see the rest."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldseam.kernel.conversation import Image, ToolCall, ToolResult
from goldseam.tools.builtin.read_file import MAX_BYTES, MAX_IMAGE_BYTES
from goldseam.tools.toolbox import Toolbox

Make = Callable[..., ToolCall]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture
def read(toolbox: Toolbox, call: Make) -> Any:
    async def run(path: str, **arguments: Any) -> ToolResult:
        return (await toolbox.execute(call("read_file", path=path, **arguments))).result

    return run


@pytest.mark.anyio
async def test_a_long_line_is_read_on_in_pieces_until_its_end(read: Any, tree: Path) -> None:
    # A4.6
    line = "".join(chr(97 + number % 26) for number in range(100_000))
    (tree / "page").write_text(f"short\n{line}\n")
    first = await read("page")
    assert "… [2000 of 100000 characters; start_line 2, end_line 2 shows more]" in first.content
    found, column = "", 1
    while column:
        shown = (await read("page", start_line=2, end_line=2, start_column=column)).content
        piece, _, note = shown.split("\n")[1][len("     2| ") :].partition("… [")
        found += piece
        column = int(note.removesuffix("]").rpartition(" ")[2]) if note else 0
        assert len(shown.encode()) < MAX_BYTES + 1_000
    assert found == line


@pytest.mark.anyio
async def test_a_column_cuts_each_line_from_the_left(read: Any, tree: Path) -> None:
    (tree / "n").write_text("abc\nd\nefg\n")
    assert (await read("n", start_column=2)).content == (
        "n: lines 1-3 of 3\n     1| bc\n     2| \n     3| fg"
    )
    beyond = await read("n", start_line=2, end_line=2, start_column=5)
    assert (beyond.kind, beyond.content) == (
        "failed",
        (
            "read_file: start_column 5 is beyond the end: line 2 has 1 characters. "
            "Next: give a start_column from 1 to 1."
        ),
    )


@pytest.mark.anyio
async def test_a_picture_is_shown(read: Any, tree: Path) -> None:
    (tree / "a.dat").write_bytes(PNG)
    assert await read("a.dat") == ToolResult(
        call_id="1",
        content="a.dat: binary (image/png), 28 bytes, shown as a picture",
        images=(Image(media_type="image/png", data=base64.b64encode(PNG).decode()),),
    )


@pytest.mark.anyio
async def test_a_picture_too_large_to_be_shown_says_so(read: Any, tree: Path) -> None:
    (tree / "a.png").write_bytes(PNG + b"\0" * MAX_IMAGE_BYTES)
    shown = await read("a.png")
    assert shown.images == ()
    assert shown.content.endswith("bytes; too large to be shown (3750000 bytes at most)")


@pytest.mark.anyio
async def test_other_binary_files_are_named_by_their_kind(read: Any, tree: Path) -> None:
    # agents 27
    (tree / "a").write_bytes(b"%PDF-1.7\0")
    assert (await read("a")).content == "a: binary (application/pdf), 9 bytes"


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {
            "cell_type": "code",
            "source": "x = 1\nx",
            "outputs": [
                {"output_type": "stream", "text": ["a\n", "\x1b[31mb\x1b[0m\n"]},
                {"data": {"text/plain": ["1"], "image/png": "iVBO"}},
                {"output_type": "error", "traceback": ["Traceback", "ValueError"]},
                {"text": "line\n" * 50},
                7,
            ],
        },
        7,
    ],
    "nbformat": 4,
}


@pytest.mark.anyio
async def test_a_notebook_is_shown_as_its_cells(read: Any, tree: Path) -> None:
    (tree / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    shown = (await read("n.ipynb", end_line=15)).content.split("\n")
    assert [line[len("     1| ") :] for line in shown[1:16]] == [
        "# cell 1: markdown",
        "# Title",
        "words",
        "# cell 2: code",
        "x = 1",
        "x",
        "# output:",
        "a",
        "b",
        "# output:",
        "1",
        "# (image/png, 4 characters)",
        "# output:",
        "Traceback",
        "ValueError",
    ]
    assert shown[0] == "n.ipynb: lines 1-15 of 37"
    assert shown[16].startswith("[a notebook, shown as its cells; edit_file changes the file")
    whole = (await read("n.ipynb")).content
    assert "# … 20 of 50 lines of output; search shows the rest" in whole


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["{", "[]", '{"cells": 7}'])
async def test_what_is_no_notebook_is_shown_as_text(read: Any, tree: Path, text: str) -> None:
    (tree / "n.ipynb").write_text(text)
    assert (await read("n.ipynb")).content == f"n.ipynb: lines 1-1 of 1\n     1| {text}"
