"""What is too large to show is kept whole, in new files that no patch takes in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workspace.repositories import make_repository

from goldseam.workspace.clone import open_workspace
from goldseam.workspace.downloads import Downloads, Spool
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.media import media_type
from goldseam.workspace.patch import make_patch
from goldseam.workspace.resolver import Root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def downloads(tree: Path) -> Iterator[Downloads]:
    with Root(tree) as root:
        yield Downloads(root)


def test_bytes_are_kept_as_bytes_under_new_names(downloads: Downloads, tree: Path) -> None:
    # A4.4, K7
    content = bytes(range(256))
    assert downloads.keep("page", ".bin", content) == "download/page-1.bin"
    assert downloads.keep("page", ".bin", b"") == "download/page-2.bin"
    assert (tree / "download/page-1.bin").read_bytes() == content


def test_what_stands_there_is_never_written_over(downloads: Downloads, tree: Path) -> None:
    (tree / "download").mkdir()
    (tree / "download/page-1.txt").write_text("mine")
    (tree / "download/page-2.txt").symlink_to("/etc/passwd")
    assert downloads.keep("page", ".txt", b"new") == "download/page-3.txt"
    assert (tree / "download/page-1.txt").read_text() == "mine"


@pytest.mark.parametrize("kind", ["file", "link out", "link in", "dangling"])
def test_another_folder_is_used_where_the_name_is_taken(
    downloads: Downloads, tree: Path, kind: str
) -> None:
    # security 2, 3, 5: a link would lead out, or into what a patch takes in
    (tree / "src").mkdir()
    if kind == "file":
        (tree / "download").write_text("mine")
    else:
        (tree / "download").symlink_to({"link out": "/tmp", "link in": "src"}.get(kind, "nowhere"))
    assert downloads.keep("x", ".txt", b"1") == ".goldseam-download/x-1.txt"
    assert list((tree / "src").iterdir()) == []


def test_where_no_folder_can_be_had_it_is_said(downloads: Downloads, tree: Path) -> None:
    (tree / "download").touch()
    (tree / ".goldseam-download").touch()
    with pytest.raises(WorkspaceError, match='"download" is no folder'):
        downloads.keep("x", ".txt", b"")


def test_a_name_is_made_of_plain_characters(downloads: Downloads) -> None:
    assert downloads.keep("../a b\n\ud800é", ".txt", b"") == "download/_a_b___-1.txt"
    assert downloads.keep("", ".txt", b"") == "download/output-2.txt"


@pytest.mark.parametrize("rules", ["", "*\n!*/\n!*.txt\n", "!/download/\n!.goldseam-*\n"])
def test_no_patch_takes_it_in_whatever_the_repository_ignores(tmp_path: Path, rules: str) -> None:
    files = {"download/own.txt": "mine\n", ".gitignore": rules}
    opened = open_workspace(make_repository(tmp_path / "repo", files), home=tmp_path / "home")
    with Root(opened.root) as root:
        Downloads(root).keep("x", ".txt", b"1")
    (opened.root / "new.txt").write_text("1")
    assert [file.path for file in make_patch(opened).files] == ["new.txt"]


@given(st.lists(st.binary(max_size=30)), st.integers(0, 40), st.integers(0, 60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_spool_keeps_all_that_it_hears_up_to_its_limit(
    downloads: Downloads, tree: Path, pieces: list[bytes], memory: int, disk: int
) -> None:
    spool = Spool(downloads, "s", memory_bytes=memory, disk_bytes=disk)
    for piece in pieces:
        spool.add(piece)
    whole = b"".join(pieces)
    lines = whole.count(b"\n") + bool(whole and not whole.endswith(b"\n"))
    assert (spool.size, spool.lines) == (len(whole), lines)
    assert (spool.path is None) == (len(whole) <= memory)
    spool.save(".txt")
    spool.save(".txt")
    spool.close()
    assert (tree / str(spool.path)).read_bytes() == whole[:disk]
    assert spool.kept == min(len(whole), disk)


def test_a_spool_never_raises(downloads: Downloads, tree: Path) -> None:
    (tree / "download").touch()
    (tree / ".goldseam-download").touch()
    spool = Spool(downloads, "s", memory_bytes=1)
    spool.add(b"abc")
    spool.add(b"def")
    assert (spool.path, spool.size, spool.kept) == (None, 6, 0)
    assert "is no folder" in (spool.trouble or "")


def test_a_spool_on_a_full_disk_goes_on_counting(downloads: Downloads) -> None:
    spool = Spool(downloads, "s", memory_bytes=0)
    spool.add(b"a")
    os.close(spool._descriptor)
    spool._descriptor = os.open("/dev/full", os.O_WRONLY)
    spool.add(b"b" * 10)
    spool.add(b"c")
    assert (spool.size, spool.kept) == (12, 1)
    assert spool.trouble == "the rest could not be kept: No space left on device"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "text/plain"),
        ("é".encode(), "text/plain"),
        ("é".encode("utf-16"), "text/plain"),
        (b"a\0", "application/octet-stream"),
        (b"\x89PNG\r\n\x1a\n..", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"RIFF....WAVE\0", "application/octet-stream"),
        (b"%PDF-1.7", "application/pdf"),
    ],
)
def test_what_a_file_is_is_told_by_its_first_bytes(content: bytes, kind: str) -> None:
    assert media_type(content)[0] == kind
