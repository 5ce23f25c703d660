"""Checkpoints give back the very same files, keep out of everybody's git, and outlive the run."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workspace.repositories import commit, contents, fingerprint, make_repository, run_git, write

from goldseam.workspace.checkpoint_store import BASE, Checkpoint, CheckpointStore
from goldseam.workspace.checkpoints import MAX_FILE_BYTES, Checkpoints, make_store, write_out
from goldseam.workspace.clone import Workspace, open_workspace
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.kept import keep_workspace, reopen_workspace
from goldseam.workspace.patch import make_patch

FILES: dict[str, str | bytes] = {
    ".gitignore": "ignored*\n",
    "a": "one\ntwo\n",
    "b/c": "three\n",
    "b/d e": b"\0\xff",
    "run.sh": "#!/bin/sh\n",
}


def open_checkpoints(folder: Path, repository: Path) -> tuple[Workspace, Checkpoints]:
    workspace = open_workspace(repository, home=folder / "work")
    store = make_store(folder / "checkpoints", workspace)
    return workspace, Checkpoints(store, workspace.root)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    tree = make_repository(tmp_path / "repository", FILES)
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("b")
    commit(tree)
    return tree


@pytest.fixture
def opened(tmp_path: Path, repository: Path) -> tuple[Workspace, Checkpoints]:
    return open_checkpoints(tmp_path, repository)


def kept_contents(tree: Path) -> dict[str, tuple[int, bytes]]:
    """Return what stands in the tree, ignored files aside."""
    return {
        path: entry
        for path, entry in contents(tree).items()
        if not any(part.startswith("ignored") for part in Path(path).parts)
    }


# Names that have broken somebody: options, magic words, line ends, bytes that are no UTF-8.
NAMES = ["a", "b", "c", "-rf", ":(top)", "new\nline", os.fsdecode(b"\xff\xfe"), "é ", '"q"']
PATHS = st.lists(st.sampled_from([*NAMES, "ignored"]), min_size=1, max_size=3).map("/".join)
DEEDS = st.one_of(
    st.tuples(st.just("write"), PATHS, st.binary(max_size=6)),
    st.tuples(st.just("link"), PATHS, st.sampled_from([b"a", b"..", b"/nowhere", b"b/c"])),
    st.tuples(st.sampled_from(["delete", "chmod", "fifo", "folder"]), PATHS, st.just(b"")),
)


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def make_room(tree: Path, path: str) -> Path:
    """Return the place of `path`, with nothing there and folders all the way to it."""
    place = tree
    for part in path.split("/")[:-1]:
        place = place / part
        if place.is_symlink() or not place.is_dir():
            clear(place)
            place.mkdir()
    place = place / path.rpartition("/")[2]
    clear(place)
    return place


def do(tree: Path, deed: tuple[str, str, bytes]) -> None:
    what, path, content = deed
    if what == "chmod":
        place = tree / path
        if place.is_file() and not place.is_symlink() and place.resolve() == place:
            place.chmod(place.stat().st_mode ^ 0o111)
        return
    place = make_room(tree, path)
    match what:
        case "write":
            place.write_bytes(content)
        case "link":
            place.symlink_to(os.fsdecode(content))
        case "fifo":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case _:
            assert what == "delete"


def without_fifos(tree: Path) -> None:
    for path in tree.rglob("*"):
        if path.is_fifo():
            path.unlink()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Checkpoints]:
    folder = tmp_path_factory.mktemp("lasting")
    return open_checkpoints(folder, make_repository(folder / "repository", FILES))


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(DEEDS, max_size=5), min_size=1, max_size=4), st.data())
def test_any_checkpoint_gives_back_the_very_same_files(
    lasting: tuple[Workspace, Checkpoints],
    rounds: list[list[tuple[str, str, bytes]]],
    data: st.DataObject,
) -> None:
    workspace, checkpoints = lasting
    root = workspace.root
    for place in root.iterdir():
        if place.name != ".git":
            clear(place)
    checkpoints.restore(BASE)
    stood: dict[str, dict[str, tuple[int, bytes]]] = {}
    for number, deeds in enumerate(rounds):
        for deed in deeds:
            do(root, deed)
        tree = checkpoints.take(str(number)).tree
        without_fifos(root)
        assert stood.setdefault(tree, kept_contents(root)) == kept_contents(root)
        assert checkpoints.changed(tree) == ()
    for tree in data.draw(st.permutations(list(stood))):
        before = checkpoints.take("before").tree
        changes = checkpoints.restore(tree)
        assert kept_contents(root) == stood[tree]
        assert changes == checkpoints.changed(before, tree)
        assert {change.raw_path for change in changes} == {
            path
            for path in stood[tree].keys() | stood.get(before, {}).keys()
            if stood[tree].get(path) != stood.get(before, {}).get(path)
        }


def test_what_changed_and_the_patch_of_it_are_told(
    opened: tuple[Workspace, Checkpoints],
) -> None:
    workspace, checkpoints = opened
    first = checkpoints.take("first")
    write(workspace.root, {"a": "one\n2\n", "new": "x\n"})
    (workspace.root / "b/c").unlink()
    (workspace.root / "run.sh").chmod(0o644)
    second = checkpoints.take("second")
    changes = checkpoints.changed(first.tree, second.tree)
    assert [(change.path, change.status, change.added, change.removed) for change in changes] == [
        ("a", "modified", 1, 1),
        ("b/c", "deleted", 0, 1),
        ("new", "added", 1, 0),
        ("run.sh", "mode", 0, 0),
    ]
    assert checkpoints.changed(first.tree) == changes
    assert checkpoints.diff(first.tree) == checkpoints.diff(BASE, second.tree)
    assert b"-two\n+2\n" in checkpoints.diff(first.tree, second.tree)
    assert checkpoints.diff(first.tree) == make_patch(workspace).diff
    assert checkpoints.store.taken() == (first, second)


def test_nobodys_git_sees_a_checkpoint(
    opened: tuple[Workspace, Checkpoints], repository: Path
) -> None:
    workspace, checkpoints = opened
    write(workspace.root, {"a": "staged\n"})
    run_git(workspace.root, "stash")
    write(workspace.root, {"b/c": "staged\n"})
    run_git(workspace.root, "add", "b/c")
    before = [fingerprint(folder) for folder in (workspace.root / ".git", repository)]
    refs = run_git(workspace.root, "for-each-ref")
    write(workspace.root, {"a": "changed\n", "new": "x\n"})
    checkpoints.take("one")
    checkpoints.restore(BASE)
    assert [fingerprint(folder) for folder in (workspace.root / ".git", repository)] == before
    assert run_git(workspace.root, "for-each-ref") == refs
    assert make_patch(workspace).diff == b""


def test_ignored_files_stay_unless_they_stand_in_the_way(
    opened: tuple[Workspace, Checkpoints],
) -> None:
    workspace, checkpoints = opened
    root = workspace.root
    write(root, {"b/ignored": "mine", "new/ignored/x": "mine", "new/y": "y"})
    checkpoints.restore(BASE)
    assert (root / "b/ignored").read_text() == (root / "new/ignored/x").read_text() == "mine"
    assert not (root / "new/y").exists()
    for path in ("a", "b/c", "link"):
        clear(root / path)
    write(root, {"a/ignored": "in the way", "link/deep/ignored": "in the way"})
    shutil.rmtree(root / "b")
    (root / "b").symlink_to("/")
    write(root, {".gitignore": "ignored*\nb\n"})
    checkpoints.restore(BASE)
    assert contents(root) == contents(workspace.origin) | {
        "new/ignored/x": contents(root)["new/ignored/x"]
    }


def test_what_git_began_to_ignore_is_still_followed(opened: tuple[Workspace, Checkpoints]) -> None:
    workspace, checkpoints = opened
    write(workspace.root, {"new": "1"})
    first = checkpoints.take("first")
    write(workspace.root, {".gitignore": "new\na\n", "new": "2", "a": "2"})
    checkpoints.take("second")
    checkpoints.restore(first.tree)
    assert (workspace.root / "new").read_text() == "1"
    assert (workspace.root / "a").read_text() == "one\ntwo\n"


MIXED = b"lf\ncrlf\r\n$Id$\ncr\r"


@pytest.mark.parametrize("attributes", ["* text eol=crlf ident\n", "* text=auto\n*.x filter=bad\n"])
def test_bytes_stay_whatever_attributes_and_settings_say(tmp_path: Path, attributes: str) -> None:
    files = {".gitattributes": attributes, "c.x": "one\ntwo\n", "d/e.x": "one\n"}
    workspace, checkpoints = open_checkpoints(tmp_path, make_repository(tmp_path / "r", files))
    root, marker = workspace.root, tmp_path / "ran"
    for key in ("filter.bad.clean", "filter.bad.smudge", "diff.bad.command", "core.fsmonitor"):
        run_git(root, "config", key, f"touch {marker}")
    write(root, {".git/hooks/post-checkout": f"#!/bin/sh\ntouch {marker}\n"})
    (root / ".git/hooks/post-checkout").chmod(0o755)
    base = contents(root)
    write(root, {"c.x": MIXED, "new.x": MIXED, "d/.gitattributes": "*.x diff=bad text\n"})
    stood = contents(root)
    first = checkpoints.take("first")
    for changes, tree, expected in (
        (["c.x", "d/.gitattributes", "new.x"], BASE, base),
        (["c.x", "d/.gitattributes", "new.x"], first.tree, stood),
    ):
        assert [change.path for change in checkpoints.restore(tree)] == changes
        assert contents(root) == expected
        checkpoints.diff(BASE, first.tree)
    assert not marker.exists()


def test_checkpoints_outlive_the_workspace_and_the_repository(
    opened: tuple[Workspace, Checkpoints], tmp_path: Path, repository: Path
) -> None:
    workspace, checkpoints = opened
    write(workspace.root, {"a": "mended\n", "new/x": "x\n", "b/ignored": "no"})
    (workspace.root / "run.sh").unlink()
    taken = checkpoints.take("mended")
    stood, diff = kept_contents(workspace.root), make_patch(workspace).diff
    log = run_git(workspace.root, "log", "--format=%H %s", "main")
    shutil.rmtree(tmp_path / "work")
    shutil.rmtree(repository)

    store = CheckpointStore(tmp_path / "checkpoints")
    assert store.taken() == (taken,)
    assert store.diff(BASE, taken.tree) == diff
    (tmp_path / "fresh").mkdir()
    write_out(store, taken.tree, tmp_path / "fresh")
    assert contents(tmp_path / "fresh") == stood

    again = reopen_workspace(store.folder, home=tmp_path / "again")
    assert again == Workspace(
        root=tmp_path / "again/tree",
        origin=repository,
        base=workspace.base,
        kind="git",
        environment=workspace.environment,
        branch="main",
    )
    assert make_patch(again).diff == b""
    assert run_git(again.root, "log", "--format=%H %s", "main") == log
    write_out(store, taken.tree, again.root)
    assert contents(again.root) == stood
    assert make_patch(again).diff == diff
    assert Checkpoints(store, again.root).take("again").tree == taken.tree
    assert sorted(path.name for path in store.folder.iterdir() if "index-" in path.name) == []


@pytest.mark.parametrize("kind", ["folder", "sha256", "dirty"])
def test_every_kind_of_workspace_is_opened_again_as_it_was(tmp_path: Path, kind: str) -> None:
    origin = tmp_path / "origin"
    if kind == "folder":
        write(origin, FILES)
    else:
        make_repository(origin, FILES, *(["--object-format=sha256"] if kind == "sha256" else []))
    if kind == "dirty":
        write(origin, {"a": "uncommitted\n", "pkg.egg-info/x": "built"})
        write(origin, {".git/info/exclude": "*.egg-info\n"})
    workspace = open_workspace(origin, home=tmp_path / "work", include_dirty=kind == "dirty")
    before = contents(workspace.root)
    store = make_store(tmp_path / "checkpoints", workspace)
    shutil.rmtree(tmp_path / "work")
    again = reopen_workspace(store.folder, home=tmp_path / "work")
    assert again == workspace
    assert contents(again.root) == before
    assert make_patch(again).diff == b""


def test_of_a_large_history_the_base_alone_is_kept(
    opened: tuple[Workspace, Checkpoints], tmp_path: Path
) -> None:
    workspace, _ = opened
    folder = tmp_path / "kept"
    folder.mkdir()
    keep_workspace(workspace, folder, max_linked_bytes=0)
    assert [path.suffix for path in (folder / "objects/pack").iterdir()].count(".pack") == 1
    again = reopen_workspace(folder, home=tmp_path / "again")
    assert contents(again.root) == contents(workspace.root)
    assert run_git(again.root, "log", "--format=%H").split() == [workspace.base]
    run_git(again.root, "fsck", "--strict")
    assert make_patch(again).diff == b""


def test_a_workspace_that_was_not_kept_or_whose_place_is_taken_is_refused(
    opened: tuple[Workspace, Checkpoints], tmp_path: Path
) -> None:
    workspace, checkpoints = opened
    with pytest.raises(WorkspaceError, match="already used by another run"):
        reopen_workspace(checkpoints.store.folder, home=tmp_path / "work")
    with pytest.raises(WorkspaceError, match="inside the repository"):
        reopen_workspace(checkpoints.store.folder, home=workspace.origin / "x")
    with pytest.raises(WorkspaceError, match="was not kept"):
        reopen_workspace(tmp_path, home=tmp_path / "more")
    shutil.rmtree(checkpoints.store.folder / "objects")
    (checkpoints.store.folder / "objects").mkdir()
    with pytest.raises(WorkspaceError):
        reopen_workspace(checkpoints.store.folder, home=tmp_path / "more")
    assert list((tmp_path / "more").iterdir()) == []


def test_files_too_large_are_left_out_and_named(opened: tuple[Workspace, Checkpoints]) -> None:
    workspace, checkpoints = opened
    with (workspace.root / "huge").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    write(workspace.root, {"small": "x"})
    taken = checkpoints.take("one")
    assert taken.left_out == ("huge",)
    assert [change.path for change in checkpoints.store.changed(BASE, taken.tree)] == ["small"]
    checkpoints.restore(BASE)
    assert (workspace.root / "huge").stat().st_size == MAX_FILE_BYTES + 1
    (workspace.root / "huge").unlink()
    assert checkpoints.take("two") == Checkpoint(name="two", tree=checkpoints.store.tree_of(BASE))


def spoil_lock(folder: Path) -> None:
    (folder / "index.lock").write_bytes(b"half")


def spoil_index(folder: Path) -> None:
    (folder / "index").write_bytes((folder / "index").read_bytes()[:200])


def spoil_shared_index(folder: Path) -> None:
    for shared in folder.glob("sharedindex.*"):
        shared.unlink()


def spoil_names(folder: Path) -> None:
    with (folder / "taken").open("ab") as file:
        file.write(b'{"name": "to')


@pytest.mark.parametrize("spoil", [spoil_lock, spoil_index, spoil_shared_index, spoil_names])
def test_what_a_crash_leaves_behind_is_mended(
    opened: tuple[Workspace, Checkpoints], spoil: Callable[[Path], None]
) -> None:
    workspace, checkpoints = opened
    write(workspace.root, {"a": "changed\n"})
    first = checkpoints.take("first")
    spoil(checkpoints.store.folder)
    assert checkpoints.store.taken() == (first,)
    again = Checkpoints(CheckpointStore(checkpoints.store.folder), workspace.root)
    write(workspace.root, {"b/c": "changed\n"})
    second = again.take("second")
    assert [change.path for change in again.changed(first.tree, second.tree)] == ["b/c"]
    assert again.store.taken() == (first, second)


def test_repositories_within_are_plain_folders_and_submodules_stay(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "r", FILES)
    head = run_git(tree, "rev-parse", "HEAD").strip()
    run_git(tree, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    (tree / "sub").mkdir()
    run_git(tree, "commit", "--quiet", "--message", "a submodule that is not filled in")
    workspace, checkpoints = open_checkpoints(tmp_path, tree)
    make_repository(workspace.root / "inner", {"x": "1", "ignored": "2"})
    write(workspace.root, {"inner/.gitignore": "nothing\n"})
    first = checkpoints.take("first")
    assert [change.path for change in checkpoints.changed(BASE, first.tree)] == [
        "inner/.gitignore",
        "inner/x",
    ]
    shutil.rmtree(workspace.root / "inner")
    (workspace.root / "sub").rmdir()
    checkpoints.take("second")
    write(workspace.root, {"sub": "a file now"})
    third = checkpoints.take("third")
    assert "sub" in [change.path for change in checkpoints.changed(first.tree, third.tree)]
    checkpoints.restore(first.tree)
    assert (workspace.root / "inner/x").read_text() == "1"
    assert (workspace.root / "sub").is_dir()


@pytest.mark.parametrize("name", ["nothing", "--all", "a b", "0" * 40, "HEAD:a"])
def test_what_is_no_checkpoint_is_refused(opened: tuple[Workspace, Checkpoints], name: str) -> None:
    workspace, checkpoints = opened
    before = contents(workspace.root)
    with pytest.raises(WorkspaceError):
        checkpoints.restore(name)
    assert contents(workspace.root) == before


def test_names_are_any_text_and_come_in_order(opened: tuple[Workspace, Checkpoints]) -> None:
    _, checkpoints = opened
    names = ["b", "a", "\n", "\ud800", "b", ""]
    for name in names:
        checkpoints.take(name)
    assert [each.name for each in CheckpointStore(checkpoints.store.folder).taken()] == names


GIT_THAT_WRITES_NO_FILES = """#!/bin/sh
for word in "$@"; do
    test "$word" = read-tree && exit 0
done
exec {git} "$@"
"""


def test_files_that_cannot_be_brought_back_are_said(
    opened: tuple[Workspace, Checkpoints], tmp_path: Path
) -> None:
    workspace, checkpoints = opened
    assert checkpoints.store.taken() == ()
    git = tmp_path / "git"
    git.write_text(GIT_THAT_WRITES_NO_FILES.format(git=shutil.which("git")))
    git.chmod(0o755)
    write(workspace.root, {"a": "changed\n"})
    (workspace.root / "b").chmod(0o500)
    store = CheckpointStore(checkpoints.store.folder, git=str(git))
    with pytest.raises(WorkspaceError, match="the files cannot be brought back"):
        Checkpoints(store, workspace.root).restore(BASE)
    assert (workspace.root / "b").stat().st_mode & 0o777 == 0o700
    checkpoints.restore(BASE)
    assert (workspace.root / "a").read_text() == FILES["a"]


def test_a_store_has_a_folder_of_its_own(opened: tuple[Workspace, Checkpoints]) -> None:
    workspace, checkpoints = opened
    folder = checkpoints.store.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    with pytest.raises(WorkspaceError, match="no checkpoints can be kept: Directory not empty"):
        make_store(folder, workspace)
    with pytest.raises(WorkspaceError, match="no checkpoints can be kept: No such file"):
        make_store(folder / "no" / "where", workspace)


def test_a_store_that_cannot_be_written_is_said(opened: tuple[Workspace, Checkpoints]) -> None:
    workspace, checkpoints = opened
    (checkpoints.store.folder / "taken").mkdir()
    with pytest.raises(WorkspaceError, match="a checkpoint cannot be kept: Is a directory"):
        checkpoints.take("one")
    (checkpoints.store.folder / "index.lock").mkdir()
    write(workspace.root, {"a": "changed\n"})
    with pytest.raises(WorkspaceError, match="the checkpoints cannot be used"):
        checkpoints.take("two")


LOCKED = """
import encodings.ascii, os, sys
from pathlib import Path
from workspace.repositories import contents, make_repository, write
from goldseam.workspace.clone import open_workspace
from goldseam.workspace.checkpoint_store import BASE
from goldseam.workspace.checkpoints import Checkpoints, make_store
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
home = Path(sys.argv[1], "home")
repository = make_repository(home / "r", {"a": "1", "b/c": "1", "d/e": "1"})
workspace = open_workspace(repository, home=home / "work")
checkpoints = Checkpoints(make_store(home / "checkpoints", workspace), workspace.root)
root, base = workspace.root, contents(workspace.root)
write(root, {"a": "2", "new": "2"})
(root / "a").chmod(0)
(root / "new").chmod(0)
(root / "d").chmod(0)
print(checkpoints.take("one").left_out)
(root / "new").unlink()
(root / "b/c").unlink()
write(root, {"b/more": "2"})
(root / "b").chmod(0o555)
print([change.path for change in checkpoints.restore(BASE)])
print(contents(root) == base)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that every user may reach and write."""
    folder = Path(tempfile.mkdtemp(prefix="goldseam-test-"))
    folder.chmod(0o777)
    yield folder
    subprocess.run(["chmod", "-R", "u+rwX", folder], check=False)
    shutil.rmtree(folder)


def test_locked_files_and_folders_stop_neither_checkpoint_nor_return(open_folder: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", LOCKED, str(open_folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert child.stdout.splitlines() == ["('a', 'new')", "['b/c', 'b/more']", "True"], child.stderr
