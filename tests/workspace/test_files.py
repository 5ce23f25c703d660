"""File tools read and write what lies in the workspace, and say why they do nothing else."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.workspace.errors import MissingFileError, WorkspaceError
from goldseam.workspace.files import BinaryFile, Entry, FileBytes, Files, FileText, Written
from goldseam.workspace.paths import is_protected, normalise_path
from goldseam.workspace.resolver import Root, open_by_walk


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "repo"
    (tree / ".git" / "hooks").mkdir(parents=True)
    (tree / ".git" / "config").write_text("[core]\n")
    (tree / "a.txt").write_text("one\n")
    return tree


@pytest.fixture
def files(tree: Path) -> Files:
    return Files(Root(tree), origin=Path("/home/user/project"))


def refusal(files: Files, path: str) -> str:
    with pytest.raises(WorkspaceError) as read:
        files.read_bytes(path)
    with pytest.raises(WorkspaceError) as written:
        files.write(path, b"x")
    assert "/" not in read.value.message.replace(path, "")
    assert read.value.message.isprintable()
    assert written.value.message == read.value.message
    return read.value.message


def test_a_file_is_read_as_it_is(files: Files) -> None:
    assert files.read_bytes("a.txt") == FileBytes(path="a.txt", content=b"one\n")
    assert files.read("./b/../a.txt") == FileText(path="a.txt", text="one\n", encoding="utf-8")
    assert files.read("/home/user/project/a.txt").path == "a.txt"


def test_a_missing_file_is_told_apart(files: Files) -> None:
    with pytest.raises(MissingFileError, match=r'^"b\.txt" does not exist$'):
        files.read("b.txt")


@pytest.mark.parametrize(
    "path",
    ["../x", "/etc/passwd", "/home/user/project-evil/x", "a/../../x", "/home/user/project/.."],
)
def test_a_path_out_of_the_workspace_is_refused(files: Files, path: str) -> None:
    # security 1
    assert "workspace" in refusal(files, path) or "not in this repository" in refusal(files, path)


@pytest.mark.parametrize("path", ["", "a\0b", "a\nb", "a\x1b[31m", "\ud800", "a\x85"])
def test_a_path_with_control_characters_is_refused(files: Files, path: str) -> None:
    # security 9
    assert "control characters" in refusal(files, path)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".GIT/hooks/x",
        ".ｇit/hooks/x",
        ".g\u200cit/hooks/x",
        ".git./hooks/x",
        ".git /config",
        "sub/.Git/config",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
        "a/../.git/HEAD",
        ".git",
    ],
)
def test_git_s_own_folder_is_refused_however_it_is_spelt(files: Files, path: str) -> None:
    # security 10
    with pytest.raises(WorkspaceError, match="belongs to git"):
        files.write(path, b"x")
    with pytest.raises(WorkspaceError, match="belongs to git"):
        files.read(path)


def test_names_like_git_s_are_free(files: Files) -> None:
    for name in (".gitignore", ".github/x.yml", "git", "a.git"):
        assert files.write(name, b"x") == Written(path=name, created=True)


def test_git_is_protected_behind_links_too(files: Files, tree: Path) -> None:
    # security 6
    (tree / "alias").symlink_to(".git/config")
    (tree / "hooks").symlink_to(".git/hooks")
    for path in ("alias", "hooks/pre-commit", "hooks/new/x"):
        with pytest.raises(WorkspaceError, match="belongs to git"):
            files.write(path, b"x")
    with pytest.raises(WorkspaceError, match="belongs to git"):
        files.read("alias")
    with pytest.raises(WorkspaceError, match="belongs to git"):
        files.list_dir("hooks")
    assert list((tree / ".git" / "hooks").iterdir()) == []


def test_a_link_that_leads_out_is_refused(files: Files, tree: Path) -> None:
    # security 2 and 5
    (tree.parent / "secret").write_text("s")
    (tree / "leak").symlink_to("../secret")
    (tree / "door").symlink_to(tree.parent)
    assert "leads out" in refusal(files, "leak")
    assert "leads out" in refusal(files, "door/secret")
    assert (tree.parent / "secret").read_text() == "s"


def test_a_dangling_link_is_not_written_through(files: Files, tree: Path) -> None:
    # security 3
    (tree / "new").symlink_to("/nowhere/new")
    (tree / "inner").symlink_to("absent")
    with pytest.raises(WorkspaceError, match="leads out"):
        files.write("new", b"x")
    with pytest.raises(WorkspaceError, match="link to nothing"):
        files.write("inner", b"x")
    with pytest.raises(WorkspaceError):
        files.write("inner/deep", b"x")
    assert not (tree / "absent").exists()


def test_writing_a_link_inside_replaces_its_target(files: Files, tree: Path) -> None:
    (tree / "alias").symlink_to("a.txt")
    assert files.write("alias", b"two\n") == Written(path="a.txt", created=False)
    assert (tree / "alias").is_symlink()
    assert (tree / "a.txt").read_bytes() == b"two\n"


def test_a_hard_link_is_broken_by_a_write(files: Files, tree: Path) -> None:
    # security 7
    (tree / "twin").hardlink_to(tree / "a.txt")
    files.write("twin", b"new")
    assert (tree / "a.txt").read_bytes() == b"one\n"


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder"])
def test_what_is_no_regular_file_is_refused(
    files: Files, tree: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # security 13
    if kind == "fifo":
        os.mkfifo(tree / "odd")
    elif kind == "folder":
        (tree / "odd").mkdir()
    else:
        monkeypatch.chdir(tree)  # a socket's address may be no longer than 107 bytes
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("odd")
    with pytest.raises(WorkspaceError, match=r'^"odd" is a '):
        files.write("odd", b"x")
    with pytest.raises(WorkspaceError, match=r'^"odd" is a '):
        files.read("odd")


def test_a_device_is_refused() -> None:
    # security 13
    with Root(Path("/dev")) as root, pytest.raises(WorkspaceError, match="a device"):
        Files(root).read("zero")


def test_a_file_is_read_only_as_far_as_asked(files: Files, tree: Path) -> None:
    # security 14
    with (tree / "huge").open("wb") as file:
        file.truncate(1 << 40)
    assert files.read_bytes("huge", max_bytes=3) == FileBytes(
        path="huge", content=b"\0\0\0", truncated=True
    )
    (tree / "text").write_text("aé")
    assert files.read("text", max_bytes=2) == FileText(
        path="text", text="a", encoding="utf-8", truncated=True
    )
    with Root(Path("/proc/self")) as root:
        assert files_say(root).content != b""


def files_say(root: Root) -> FileBytes:
    return Files(root).read_bytes("status", max_bytes=10)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", FileText(path="f", text="", encoding="utf-8")),
        (b"\xef\xbb\xbfx\r\n", FileText(path="f", text="x\r\n", encoding="utf-8-sig")),
        (b"a\xff", FileText(path="f", text="a\ufffd", encoding="utf-8", odd_bytes=True)),
        (b"a\0b", BinaryFile(path="f", size=3)),
        ("é".encode("utf-16"), FileText(path="f", text="é", encoding="utf-16")),
        ("é".encode("utf-32"), FileText(path="f", text="é", encoding="utf-32")),
    ],
)
def test_bytes_are_text_where_they_can_be(
    files: Files, tree: Path, content: bytes, expected: FileText | BinaryFile
) -> None:
    (tree / "f").write_bytes(content)
    assert files.read("f") == expected


def test_a_write_keeps_the_mode_and_makes_folders(files: Files, tree: Path) -> None:
    (tree / "run").write_text("old")
    (tree / "run").chmod(0o750)
    assert files.write("run", b"new") == Written(path="run", created=False)
    assert stat.S_IMODE((tree / "run").stat().st_mode) == 0o750
    assert files.write("x/y/z.py", b"1") == Written(path="x/y/z.py", created=True)
    assert (tree / "x/y/z.py").read_bytes() == b"1"
    assert files.write("x/y/w.py", b"2") == Written(path="x/y/w.py", created=True)


def test_a_write_that_fails_leaves_nothing(files: Files, tree: Path) -> None:
    before = sorted(tree.iterdir())
    with pytest.raises(WorkspaceError, match="not a folder"):
        files.write("a.txt/b", b"x")
    with pytest.raises(WorkspaceError, match="too long"):
        files.write("n" * 300, b"x")
    with pytest.raises(TypeError):
        files.write("a.txt", "no bytes")  # type: ignore[arg-type]  # the failure is the test
    assert sorted(tree.iterdir()) == before
    assert (tree / "a.txt").read_bytes() == b"one\n"


def test_a_folder_is_listed_by_name_without_git(files: Files, tree: Path) -> None:
    (tree / "b").mkdir()
    (tree / "c").symlink_to("a.txt")
    os.mkfifo(tree / "d")
    assert files.list_dir() == (
        Entry(name="a.txt", kind="file", size=4),
        Entry(name="b", kind="folder"),
        Entry(name="c", kind="link"),
        Entry(name="d", kind="other"),
    )
    with pytest.raises(WorkspaceError, match="is a file, not a folder"):
        files.list_dir("a.txt")
    with pytest.raises(MissingFileError):
        files.list_dir("absent")


def test_files_work_without_the_system_call(tree: Path) -> None:
    files = Files(Root(tree, opener=open_by_walk))
    (tree / "alias").symlink_to("a.txt")
    assert files.write("p/q", b"x") == Written(path="p/q", created=True)
    assert files.read_bytes("p/q").content == b"x"
    with pytest.raises(WorkspaceError, match="link"):
        files.write("alias", b"x")
    with pytest.raises(WorkspaceError, match="link"):
        files.read("alias")


def test_the_system_s_own_words_serve_where_we_have_none(files: Files, tree: Path) -> None:
    (tree / "loop").symlink_to("loop")
    with pytest.raises(WorkspaceError, match="link") as caught:
        files.read("loop")
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ELOOP


def attempt(path: str) -> str | WorkspaceError:
    """Return the normal path, or the refusal."""
    try:
        return normalise_path(path)
    except WorkspaceError as refused:
        return refused


@given(st.lists(st.sampled_from(["a", "b", ".", "..", ""]), max_size=8).map("/".join))
def test_a_normal_path_stays_normal_and_never_leads_out(path: str) -> None:
    normal = attempt(path)
    if isinstance(normal, str):
        assert normalise_path(normal) == normal
        assert not {"..", ""} & set(normal.split("/"))
        assert normal == "." or "." not in normal.split("/")


@given(st.text())
def test_every_text_is_a_path_or_is_refused(path: str) -> None:
    normal = attempt(path)
    if isinstance(normal, str):
        assert not any(is_protected(part) for part in normal.split("/"))
    else:
        assert normal.message.isprintable()
