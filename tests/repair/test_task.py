"""The issue is text, a file, or standard input; everything else is one clear line."""

from pathlib import Path

import pytest

from goldseam.kernel.errors import UsageError
from goldseam.repair.task import MAX_ISSUE_BYTES, Issue, read_issue


def nothing() -> bytes:
    return b""


def test_words_are_the_issue_itself(tmp_path: Path) -> None:
    issue = read_issue("the total is wrong", folder=tmp_path, read_stdin=nothing)
    assert issue == Issue(text="the total is wrong", source="text")


def test_a_file_is_read_and_its_first_heading_is_the_title(tmp_path: Path) -> None:
    (tmp_path / "ISSUE.md").write_bytes(b"\xef\xbb\xbf\n# Total is wrong\n\nIt is.\n")
    issue = read_issue("ISSUE.md", folder=tmp_path, read_stdin=nothing)
    assert issue == Issue(text="# Total is wrong\n\nIt is.", source="ISSUE.md")
    assert issue.title == "Total is wrong"


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    issue = read_issue("-", folder=tmp_path, read_stdin="修复".encode)
    assert issue == Issue(text="修复", source="standard input")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("missing.md", "no file 'missing.md'"),
        ("./missing", "no file './missing'"),
        ("folder", "is a folder"),
        ("latin.txt", "not UTF-8"),
        ("long.txt", f"the most is {MAX_ISSUE_BYTES}"),
        ("blank.txt", "empty"),
        ("-", "empty"),
    ],
)
def test_what_is_no_issue_is_refused_in_one_line(tmp_path: Path, given: str, says: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "long.txt").write_bytes(b"x" * (MAX_ISSUE_BYTES + 1))
    (tmp_path / "blank.txt").write_bytes(b" \n")
    with pytest.raises(UsageError) as caught:
        read_issue(given, folder=tmp_path, read_stdin=nothing)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
