"""Search gives the same lines whichever engine finds them, and never more than lies in the tree."""

import io
import json
import os
from pathlib import Path

import pytest
from workspace.repositories import make_repository, write

from goldseam.workspace.clone import Workspace, open_workspace
from goldseam.workspace.errors import MissingFileError, WorkspaceError
from goldseam.workspace.files import Files
from goldseam.workspace.resolver import Root
from goldseam.workspace.search import Found, FoundLine, Query, find_ripgrep, search
from goldseam.workspace.search_worker import main

ENGINES = [None] + [rg for rg in [find_ripgrep(os.environ["PATH"])] if rg]

FILES: dict[str, str | bytes] = {
    "a.py": "import os\n\ndef total(a, b):\n    return a + b\n",
    "src/b.py": "def total_of(x):\r\n    return x\r\n",
    "src/c.txt": "Total: 1\ntotal: 2",
    "bin/data": b"total\0total\n",
    "odd.txt": b"total \xff\n",
    "wide.txt": "total é\n".encode("utf-16"),
    "mark.txt": b"\xef\xbb\xbftotal\n",
    "long.txt": "total " + "x" * 5000 + "\n",
    "b c 'é.txt": "total\n",
    "empty": "",
    ".gitignore": "*.log\n/ignored/\n",
}


@pytest.fixture
def opened(tmp_path: Path) -> Workspace:
    return open_workspace(make_repository(tmp_path / "repo", FILES), home=tmp_path / "home")


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace for tests that only look."""
    room = tmp_path_factory.mktemp("search")
    return open_workspace(make_repository(room / "repo", FILES), home=room / "home")


def found(workspace: Workspace, rg: str | None, pattern: str, **options: object) -> Found:
    with Root(workspace.root) as root:
        query = Query(pattern=pattern, **options)  # type: ignore[arg-type]  # a test's shorthand
        return search(workspace, Files(root), query, rg=rg)


def places(result: Found) -> list[tuple[str, int]]:
    return [(line.path, line.number) for line in result.lines if line.is_match]


@pytest.mark.parametrize("rg", ENGINES)
@pytest.mark.parametrize(
    ("pattern", "options", "expected"),
    [
        (r"^def total\(", {}, [("a.py", 3)]),
        (r"x\):$", {}, [("src/b.py", 1)]),
        (r"^total$", {}, [("b c 'é.txt", 1), ("mark.txt", 1)]),
        (r"total", {"glob": "*.txt", "path": "src"}, [("src/c.txt", 2)]),
        (
            r"total",
            {"path": "src/c.txt", "ignore_case": True},
            [("src/c.txt", 1), ("src/c.txt", 2)],
        ),
        (r"\btotal\b", {"glob": "{a,b}.py"}, [("a.py", 3)]),
        (r"(?i)TOTAL: \d", {}, [("src/c.txt", 1), ("src/c.txt", 2)]),
        (r"é", {}, [("wide.txt", 1)]),
        (r"return(?= x)", {}, [("src/b.py", 2)]),
        (r"total[^\n]", {"glob": "odd.txt"}, [("odd.txt", 1)]),
        (r"[^\[]os", {"glob": "*.py"}, [("a.py", 1)]),
        (r"no such thing", {}, []),
        (r"total", {"glob": "*.log"}, []),
    ],
)
def test_both_engines_find_the_same_lines(
    unchanged: Workspace,
    rg: str | None,
    pattern: str,
    options: dict[str, object],
    expected: list[tuple[str, int]],
) -> None:
    result = found(unchanged, rg, pattern, **options)
    assert places(result) == expected
    assert result.complete
    assert result.matches == len(expected)


@pytest.mark.parametrize("rg", ENGINES)
def test_context_is_shown_once_and_marked(opened: Workspace, rg: str | None) -> None:
    write(opened.root, {"n.txt": "1\n2 hit\n3\n4 hit\n5\n6\n7 hit"})
    assert found(opened, rg, "hit", path="n.txt", context=1) == Found(
        lines=tuple(
            FoundLine(path="n.txt", number=int(text[0]), text=text, is_match="hit" in text)
            for text in ("1", "2 hit", "3", "4 hit", "5", "6", "7 hit")
        ),
        matches=3,
        files_searched=1,
    )


@pytest.mark.parametrize("rg", ENGINES)
def test_no_more_is_given_than_asked_and_that_is_said(opened: Workspace, rg: str | None) -> None:
    write(opened.root, {"many.txt": "hit\n" * 10})
    exact = found(opened, rg, "hit", max_matches=10)
    assert (exact.matches, exact.too_many) == (10, False)
    cut = found(opened, rg, "hit", max_matches=9)
    assert (cut.matches, cut.too_many, cut.complete) == (9, True, False)
    write(opened.root, {"zz.txt": "hit\n"})
    assert found(opened, rg, "hit", max_matches=10).too_many


@pytest.mark.parametrize("rg", ENGINES)
def test_a_long_line_is_cut_with_a_mark(unchanged: Workspace, rg: str | None) -> None:
    (line,) = found(unchanged, rg, "^total x", path="long.txt").lines
    assert line.text == "total " + "x" * 494 + "…"


@pytest.mark.parametrize("rg", ENGINES)
def test_ignored_files_are_searched_only_where_they_are_named(
    opened: Workspace, rg: str | None
) -> None:
    write(opened.root, {"x.log": "hit\n", "ignored/deep/y": "hit\n", "download/1.txt": "hit\n"})
    assert places(found(opened, rg, "hit")) == []
    assert places(found(opened, rg, "hit", path="x.log")) == [("x.log", 1)]
    assert places(found(opened, rg, "hit", path="ignored")) == [("ignored/deep/y", 1)]
    assert places(found(opened, rg, "hit", path="download/1.txt")) == [("download/1.txt", 1)]


@pytest.mark.parametrize("rg", ENGINES)
def test_links_are_not_followed(opened: Workspace, rg: str | None) -> None:
    (opened.root.parent / "secret").write_text("hit\n")
    (opened.root / "leak").symlink_to("../secret")
    (opened.root / "door").symlink_to(opened.root.parent)
    os.mkfifo(opened.root / "pipe")
    assert places(found(opened, rg, "hit")) == []
    for path in ("leak", "door", "pipe"):
        with pytest.raises(WorkspaceError, match="is no folder and no regular file"):
            found(opened, rg, "hit", path=path)
    with pytest.raises(MissingFileError):
        found(opened, rg, "hit", path="absent")


@pytest.mark.parametrize("rg", ENGINES)
def test_nothing_in_the_tree_is_run_by_a_search(opened: Workspace, rg: str | None) -> None:
    trap = "open('it-ran', 'w').write('x')\n"
    files = {"json.py": trap, "re.py": trap, "sitecustomize.py": trap, ".ripgreprc": "--pre=sh"}
    write(opened.root, files)
    assert places(found(opened, rg, "it-ran", glob="re.py")) == [("re.py", 1)]
    assert not (opened.root / "it-ran").exists()


def test_an_expression_that_never_ends_is_ended(opened: Workspace) -> None:
    write(opened.root, {"a.py": "hit\n", "b.txt": "a" * 60 + "b\n"})
    result = found(opened, None, r"hit|^(a+)+$", limit_s=0.5)
    assert result.out_of_time
    assert places(result) == [("a.py", 1)]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", r"is no regular expression: missing \), unterminated subpattern at position 0"),
        ("a\nb", "spans lines"),
        (r"a\nb", "spans lines"),
        ("[[:alpha:]]", "escape them"),
        ("[a--b]", "escape them"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(
    unchanged: Workspace, pattern: str, why: str
) -> None:
    with pytest.raises(WorkspaceError, match=why):
        found(unchanged, None, pattern)


def test_a_path_out_of_the_tree_is_refused(unchanged: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="leads out"):
        found(unchanged, None, "x", path="../..")


def test_a_worker_answers_one_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    (tmp_path / "leak").symlink_to("a.py")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    asked = {"pattern": "TOTAL", "ignore_case": True, "max_matches": 5}
    asked["paths"] = ["leak", "pipe", "absent", "bin/data", "wide.txt", "src/c.txt", "a.py"]
    answer = io.StringIO()
    main(io.StringIO(json.dumps(asked)), answer)
    assert [json.loads(line) for line in answer.getvalue().splitlines()] == [
        ["wide.txt", 1],
        ["src/c.txt", 1],
        ["src/c.txt", 2],
        ["a.py", 3],
    ]
    answer = io.StringIO()
    main(io.StringIO(json.dumps(asked | {"max_matches": 1})), answer)
    assert answer.getvalue() == '["wide.txt", 1]\n'


def test_ripgrep_is_looked_for_where_one_is_told(tmp_path: Path) -> None:
    assert find_ripgrep(str(tmp_path)) is None
    (tmp_path / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "rg").chmod(0o755)
    assert find_ripgrep(str(tmp_path)) == str(tmp_path / "rg")


def fake_ripgrep(folder: Path, script: str) -> str:
    program = folder / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_what_ripgrep_says_is_read_and_checked(unchanged: Workspace, tmp_path: Path) -> None:
    lies = r"printf 'a.py\0001:x\na.py\000999:x\n../secret\0001:x\nbin/data\0001:x\n'"
    assert places(found(unchanged, fake_ripgrep(tmp_path, lies), "x")) == [("a.py", 1)]


def test_python_searches_where_ripgrep_does_not_take_the_pattern(
    unchanged: Workspace, tmp_path: Path
) -> None:
    rg = fake_ripgrep(tmp_path, "exit 2")
    assert places(found(unchanged, rg, r"return(?= x)")) == [("src/b.py", 2)]


def test_ripgrep_that_takes_too_long_is_ended(unchanged: Workspace, tmp_path: Path) -> None:
    result = found(unchanged, fake_ripgrep(tmp_path, "exec sleep 60"), "x", limit_s=0.1)
    assert result.out_of_time
    assert result.matches == 0
