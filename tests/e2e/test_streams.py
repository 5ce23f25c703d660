"""A stream that fails stops nothing: the run goes on and its files are written."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest
from e2e.e2e_support import FIXED, Desk, answer, calls

HARMFUL = "\x1b]0;owned\x07 \x1b[2J"


def piped(desk: Desk, words: str, end: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `goldseam WORDS END` in a shell, END being its redirections."""
    (desk.folder / "run.sh").write_text(f'#!/bin/sh\nexec {sys.executable} -m goldseam "$@"\n')
    (desk.folder / "run.sh").chmod(0o755)
    return subprocess.run(
        ["sh", "-c", f"./run.sh {words} {end}"],
        cwd=desk.folder,
        env=desk.environ(**environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def model(desk: Desk) -> str:
    return desk.script(calls(("edit_file", FIXED)), answer("Done."))


@pytest.mark.parametrize(
    "end",
    [
        "--json | { head -n 1; }; test -e out/result.json",
        ">&-",
        "--json >/dev/full",
        "</dev/null >/dev/full 2>/dev/full",
        "<&- >&- 2>&-",
        "--json 2>&- | head -c 0; test -e out/result.json",
    ],
)
def test_whatever_becomes_of_a_stream_the_run_goes_on(desk: Desk, model: str, end: str) -> None:
    ended = piped(desk, f"fix 'totals are wrong' --repo shop --model {model} --out out", end)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    result = json.loads((desk.folder / "out/result.json").read_bytes())
    assert result["verdict"] == "verified"
    assert (desk.folder / "out/patch.diff").stat().st_size > 0


def test_no_standard_input_is_an_empty_issue(desk: Desk, model: str) -> None:
    ended = piped(desk, f"fix - --repo shop --model {model}", "<&-")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "end", "code"),
    [
        ("show last", ">&-", 2),
        ("show last", ">/dev/full", 2),
        ("--help", ">/dev/full", 2),
        ("--version", ">/dev/full", 2),
        ("show last", "| true", 0),
    ],
)
def test_what_cannot_be_shown_ends_in_one_line(
    desk: Desk, model: str, words: str, end: str, code: int
) -> None:
    if words == "show last":
        desk.goldseam("fix", "x", "--repo", "shop", "--model", model)
    ended = piped(desk, words, end)
    assert (ended.returncode, ended.stderr.count("\n")) == (code, code // 2), ended.stderr
    assert not code or "standard output could not be written" in ended.stderr


def test_an_encoding_that_lacks_a_letter_stops_nothing(desk: Desk) -> None:
    poor = {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    model = desk.script(calls(("edit_file", FIXED)), answer("Fait : l’été \U0001f600"))
    fixing = f"fix 'été' --repo shop --model {model}"
    ended = piped(desk, f"{fixing} --json", "", **poor)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1])["answer"] == "Fait : l’été \U0001f600"
    for words in (fixing, "show last"):
        ended = piped(desk, words, "", **poor)
        assert (ended.returncode, ended.stdout.isascii()) == (0, True), ended.stderr


def test_a_patch_that_is_no_utf8_is_piped_byte_for_byte(desk: Desk) -> None:
    source = (desk.repository / "shop.py").read_bytes()
    head = b"# -*- coding: latin-1 -*-\n"
    (desk.repository / "shop.py").write_bytes(
        head + source.replace(b"result += price\n", b"result += price  # \xe9\n")
    )
    desk.git("commit", "-aqm", "latin")
    edit = {"path": "shop.py", "old_text": "prices[1:]", "new_text": "prices"}
    model = desk.script(calls(("edit_file", edit)), answer("Done."))
    ended = piped(desk, f"fix x --repo shop --model {model} --out out", "> piped.diff")
    assert ended.returncode == 0, ended.stderr
    diff = (desk.folder / "out/patch.diff").read_bytes()
    assert b"\xe9" in diff
    assert (desk.folder / "piped.diff").read_bytes() == diff


def read_all(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(descriptor, 1 << 16)
        except OSError:  # the other side of a terminal is closed
            return
        if not chunk:
            return
        yield chunk


def test_a_terminal_is_never_sent_what_the_model_wrote_raw(desk: Desk) -> None:  # security 46
    edit = {"path": "shop.py", "old_text": "prices[1:]:", "new_text": f"prices:  # {HARMFUL}"}
    model = desk.script(calls(("edit_file", edit)), answer(f"Done {HARMFUL}"))
    words = ("fix", f"x {HARMFUL}", "--repo", "shop", "--model", model, "--out", "out")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "goldseam", *words],
        cwd=desk.folder,
        env=desk.environ(TERM="dumb"),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b"".join(read_all(ours)).decode()
    os.close(ours)
    assert process.wait(timeout=60) == 0, seen
    assert "\\u{1b}[2J" in seen
    for harm in ("\x1b]0;", "\x1b[2J", "\x07"):
        assert harm not in seen
    assert HARMFUL.encode() in (desk.folder / "out/patch.diff").read_bytes()
    assert "\x1b" not in (desk.folder / "out/report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("limit", ["nan", "inf", "-5", "0"])
def test_a_limit_that_is_none_is_said_in_one_line(desk: Desk, model: str, limit: str) -> None:
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--test-limit", limit)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
    assert "seconds above zero" in ended.err


def test_a_repository_whose_path_looks_like_a_variable_is_mended(desk: Desk, model: str) -> None:
    odd = desk.folder / "$HOME and ${PATH}"
    desk.repository.rename(odd)
    ended = desk.goldseam("fix", "x", "--repo", str(odd), "--model", model, "--json")
    assert ended.code == 0, ended.err
    assert ended.result["tests"]["fixed"] == ["test_shop.py::test_total_counts_every_price"]
