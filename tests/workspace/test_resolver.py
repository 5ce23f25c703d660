"""What lies beneath a root opens; nothing else does, by either way of opening."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goldseam.workspace.resolver import Opener, Root, best_opener, open_by_openat2, open_by_walk

BOTH = pytest.mark.parametrize("opener", [open_by_openat2, open_by_walk])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "repo"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "repo-evil").mkdir()
    (tmp_path / "repo-evil" / "s").write_text("outside")
    return tree


def read(root: Root, path: str) -> str:
    descriptor = root.open_beneath(path, os.O_RDONLY)
    with os.fdopen(descriptor) as file:
        return file.read()


def error_of(root: Root, path: str) -> int | None:
    try:
        read(root, path)
    except OSError as error:
        return error.errno
    return None


@BOTH
def test_a_file_beneath_opens(tree: Path, opener: Opener) -> None:
    with Root(tree, opener=opener) as root:
        assert read(root, "sub/file") == "inside"
        assert read(root, "./sub//file") == "inside"


@BOTH
@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "sub/../../secret", "../repo-evil/s"])
def test_a_path_that_leads_out_is_refused(tree: Path, opener: Opener, path: str) -> None:
    # security 1
    with Root(tree, opener=opener) as root:
        assert error_of(root, path) == errno.EXDEV


@BOTH
@pytest.mark.parametrize("target", ["/etc/passwd", "../../secret", "../../repo-evil/s"])
def test_a_link_that_leads_out_is_refused(tree: Path, opener: Opener, target: str) -> None:
    # security 2 and 5
    (tree / "sub" / "leak").symlink_to(target)
    (tree / "door").symlink_to(tree.parent)
    with Root(tree, opener=opener) as root:
        assert error_of(root, "sub/leak") in {errno.EXDEV, errno.ELOOP}
        assert error_of(root, "door/secret") in {errno.EXDEV, errno.ELOOP, errno.ENOTDIR}


@BOTH
def test_a_magic_link_is_refused(opener: Opener) -> None:
    with Root(Path("/proc/self"), opener=opener) as root:
        assert error_of(root, "root/etc/passwd") in {errno.ELOOP, errno.EXDEV, errno.ENOTDIR}


def test_a_link_inside_is_followed_by_the_system_call_and_not_by_the_walk(tree: Path) -> None:
    (tree / "alias").symlink_to("sub/file")
    with Root(tree, opener=open_by_openat2) as root:
        descriptor = root.open_beneath("alias", os.O_RDONLY)
        try:
            assert root.true_path(descriptor, "alias") == "sub/file"
        finally:
            os.close(descriptor)
    with Root(tree, opener=open_by_walk) as root:
        assert error_of(root, "alias") == errno.ELOOP
        with pytest.raises(OSError, match="Too many levels"):
            root.open_beneath("alias", os.O_PATH)
        os.close(root.open_beneath("alias", os.O_PATH | os.O_NOFOLLOW))


@BOTH
def test_the_true_path_of_the_root_is_a_dot(tree: Path, opener: Opener) -> None:
    with Root(tree, opener=opener) as root:
        descriptor = root.open_beneath(".", os.O_RDONLY)
        try:
            assert root.true_path(descriptor, ".") == "."
        finally:
            os.close(descriptor)


def test_what_was_moved_out_has_no_true_path(tree: Path) -> None:
    with Root(tree, opener=open_by_openat2) as root:
        descriptor = root.open_beneath("sub", os.O_RDONLY)
        (tree / "sub").rename(tree.parent / "moved")
        with pytest.raises(OSError, match="cross-device") as caught:
            root.true_path(descriptor, "sub")
        os.close(descriptor)
    assert caught.value.errno == errno.EXDEV


def test_the_best_way_is_chosen_by_itself(tree: Path) -> None:
    with Root(tree) as root:
        assert read(root, "sub/file") == "inside"
    root.close()


def test_where_the_system_call_is_missing_the_walk_is_taken(tree: Path) -> None:
    def missing(folder: int, path: str, *, flags: int, mode: int) -> int:
        raise OSError(errno.ENOSYS, f"{folder} {path} {flags} {mode}")

    descriptor = os.open(tree, os.O_RDONLY)
    assert best_opener(descriptor, first=missing) is open_by_walk
    assert best_opener(descriptor) is open_by_openat2
    os.close(descriptor)


@pytest.fixture
def swapping(tree: Path) -> Iterator[Callable[[], None]]:
    """Swap `sub` between a folder and a link that leads out, until told to stop."""
    stop = threading.Event()
    (tree.parent / "out").mkdir()
    (tree.parent / "out" / "file").write_text("outside")
    (tree / "link").symlink_to(tree.parent / "out")

    def swap() -> None:
        while not stop.is_set():
            (tree / "sub").rename(tree / "kept")
            (tree / "link").rename(tree / "sub")
            (tree / "sub").rename(tree / "link")
            (tree / "kept").rename(tree / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    yield stop.set
    stop.set()
    thread.join()


@BOTH
@pytest.mark.usefixtures("swapping")
def test_a_race_with_a_swapped_link_never_leads_out(tree: Path, opener: Opener) -> None:
    with Root(tree, opener=opener) as root:
        for _ in range(2000):
            try:
                assert read(root, "sub/file") == "inside"
            except OSError:
                continue
