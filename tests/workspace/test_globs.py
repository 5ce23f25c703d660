"""A glob says which paths it fits, in the way that people write them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.globs import compile_glob


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "x/src/a.py"]),
        ("./src/*.py", ["src/a.py"], ["a.py"]),
        ("/a.py", ["a.py"], ["x/a.py"]),
        ("src/**", ["src/a", "src/x/y"], ["src", "a/src/b"]),
        ("src/**/a.py", ["src/a.py", "src/x/y/a.py"], ["src/xa.py"]),
        ("**/a.py", ["a.py", "x/a.py"], ["xa.py"]),
        ("test_?.py", ["test_a.py"], ["test_.py", "test_ab.py"]),
        ("[ab].c", ["a.c", "x/b.c"], ["c.c"]),
        ("[!ab].c", ["c.c"], ["a.c"]),
        ("[^a-c].c", ["d.c"], ["b.c"]),
        ("[]].c", ["].c"], ["a.c"]),
        ("[a", ["[a"], ["a"]),
        ("*.{js,ts}", ["a.js", "x/a.ts"], ["a.jts", "a.{js,ts}"]),
        ("{src,lib}/*.{c,h}", ["src/a.c", "lib/b.h"], ["a.c"]),
        ("a,b", ["a,b"], ["a", "b"]),
        ("a+(b)", ["a+(b)"], ["aab"]),
    ],
)
def test_a_glob_fits_what_it_says(pattern: str, fitting: list[str], others: list[str]) -> None:
    glob = compile_glob(pattern)
    assert [path for path in fitting + others if glob.fullmatch(path)] == fitting


@pytest.mark.parametrize("pattern", ["{a", "a}", "{a}}", "}{"])
def test_a_brace_needs_its_partner(pattern: str) -> None:
    with pytest.raises(WorkspaceError, match="has a brace without its partner"):
        compile_glob(pattern)


def test_a_range_must_run_forwards() -> None:
    with pytest.raises(WorkspaceError, match="runs backwards"):
        compile_glob("[b-a]")


def attempt(pattern: str) -> re.Pattern[str] | WorkspaceError:
    """Return the glob, or the refusal."""
    try:
        return compile_glob(pattern)
    except WorkspaceError as refused:
        return refused


@given(st.text("ab*?[]!^-{},./\\&~|", max_size=12))
def test_every_pattern_is_a_glob_or_is_refused(pattern: str) -> None:
    glob = attempt(pattern)
    assert isinstance(glob, re.Pattern) or glob.message.isprintable()
