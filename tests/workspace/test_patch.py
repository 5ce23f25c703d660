"""A patch is the run's changes, all and nothing else, whatever was done to the clone's git."""

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workspace.repositories import contents, make_repository, run_git, write

from goldseam.workspace.clone import Workspace, checkout_clean, open_workspace
from goldseam.workspace.differences import Status
from goldseam.workspace.errors import PatchTooLargeError, WorkspaceError
from goldseam.workspace.patch import (
    ChangedFile,
    Patch,
    _prove,
    apply_patch,
    check_patch,
    is_test_path,
    make_patch,
)

FILES: dict[str, str | bytes] = {
    "a.py": "x = 1\ny = 2\n",
    "gone.py": "1\n",
    "run.sh": "#!/bin/sh\n",
    "crlf.txt": b"a\r\nb\r\nc\r\n",
    "bare.txt": b"no newline",
    "data.bin": b"\0\1\2" * 50,
    "tests/test_a.py": "def test_a(): ...\n",
    "folder/inner.txt": "1\n",
    ".gitignore": "*.log\n",
}


@pytest.fixture
def opened(tmp_path: Path) -> Workspace:
    return open_workspace(make_repository(tmp_path / "repo", FILES), home=tmp_path / "home")


def changed(
    path: str, *, status: Status = "added", added: int | None = 1, removed: int | None = 0
) -> ChangedFile:
    """Return a changed file, no existing test, with one line added unless said otherwise."""
    return ChangedFile(path=path, status=status, added=added, removed=removed)


def applied(workspace: Workspace, patch: Patch, into: Path) -> dict[str, tuple[int, bytes]]:
    clean = checkout_clean(workspace, into)
    check_patch(clean, patch)
    apply_patch(clean, patch)
    return contents(clean)


def test_no_change_is_an_empty_patch(opened: Workspace, tmp_path: Path) -> None:
    assert make_patch(opened) == Patch()
    assert applied(opened, Patch(), tmp_path / "clean") == contents(opened.root)


def test_every_kind_of_change_is_in_the_patch(opened: Workspace, tmp_path: Path) -> None:
    # agents 43
    root = opened.root
    write(root, {"a.py": "x = 1\ny = 3\nz\n", "tests/test_a.py": "\n", "tests/test_b.py": "\n"})
    write(root, {"crlf.txt": b"a\r\nB\r\nc\r\n", "bare.txt": b"still none", "empty": b""})
    write(root, {"data.bin": b"\0\1\2" * 49 + b"\xff", "new.bin": b"\0\xff", "x.log": "left out"})
    write(root, {"a b/tab\t'\"\\é\nnewline.txt": "1\n", "-dash": "1\n", ":(top)x": "1\n"})
    (root / "gone.py").unlink()
    (root / "run.sh").chmod(0o755)
    (root / "folder" / "inner.txt").unlink()
    (root / "folder").rmdir()
    (root / "folder").symlink_to("/nowhere/at all")
    patch = make_patch(opened)
    assert patch.files == (
        changed("-dash"),
        changed(":(top)x"),
        changed("a b/tab\t'\"\\é\nnewline.txt"),
        changed("a.py", status="modified", added=2, removed=1),
        changed("bare.txt", status="modified", removed=1),
        changed("crlf.txt", status="modified", removed=1),
        changed("data.bin", status="modified", added=None, removed=None),
        changed("empty", added=0),
        msgspec.structs.replace(changed("folder"), leads_out=True),
        changed("folder/inner.txt", status="deleted", added=0, removed=1),
        changed("gone.py", status="deleted", added=0, removed=1),
        changed("new.bin", added=None, removed=None),
        changed("run.sh", status="mode", added=0),
        msgspec.structs.replace(
            changed("tests/test_a.py", status="modified", removed=1), is_existing_test=True
        ),
        changed("tests/test_b.py"),
    )
    expected = contents(root)
    del expected["x.log"]
    assert applied(opened, patch, tmp_path / "clean") == expected


def test_the_patch_goes_onto_the_user_s_own_tree(opened: Workspace) -> None:
    write(opened.root, {"a.py": "changed\n", "new/é.py": "1\n"})
    patch = make_patch(opened)
    run_git(opened.origin, "apply", "--index", "-", stdin=patch.diff)
    assert contents(opened.origin) == contents(opened.root)


def test_the_patch_goes_onto_a_tree_with_changes_that_were_carried_in(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo", FILES)
    write(repository, {"a.py": "mine\ny = 2\n", "untracked.py": "mine\n"})
    opened = open_workspace(repository, home=tmp_path / "home", include_dirty=True)
    write(opened.root, {"a.py": "mine\ny = 3\n", "untracked.py": "mine\ntheirs\n"})
    patch = make_patch(opened)
    assert [file.path for file in patch.files] == ["a.py", "untracked.py"]
    run_git(repository, "apply", "-", stdin=patch.diff)
    assert contents(repository) == contents(opened.root)


def test_scratch_and_caches_are_left_out(opened: Workspace) -> None:
    # agents 43
    write(
        opened.root,
        {
            "download/long-output.txt": "1",
            "src/__pycache__/a.pyc": "1",
            ".pytest_cache/x": "1",
            "node_modules/x/index.js": "1",
            ".goldseam-0011": "1",
            "sub/download/kept.txt": "1\n",
        },
    )
    assert [file.path for file in make_patch(opened).files] == ["sub/download/kept.txt"]


def test_what_the_model_committed_reset_or_staged_does_not_matter(opened: Workspace) -> None:
    write(opened.root, {"a.py": "committed\n"})
    run_git(opened.root, "commit", "--all", "--message", "mine")
    write(opened.root, {"staged.py": "1\n"})
    run_git(opened.root, "add", "staged.py")
    write(opened.root, {"bare.txt": "unstaged"})
    run_git(opened.root, "rm", "--quiet", "--cached", "run.sh")
    expected = ["a.py", "bare.txt", "staged.py"]
    assert [file.path for file in make_patch(opened).files] == expected
    run_git(opened.root, "checkout", "--orphan", "other")
    (opened.root / ".git" / "index").write_bytes(b"garbage")
    assert [file.path for file in make_patch(opened).files] == expected


def test_a_hostile_git_folder_in_the_clone_runs_nothing(opened: Workspace, tmp_path: Path) -> None:
    # security 34, 39
    mark = tmp_path / "it-ran"
    trap = f"sh -c 'touch {mark}; cat'"
    config = "".join(
        f'[{section}]\n\t{key} = "{trap}"\n'
        for section, key in (
            ("core", "fsmonitor"),
            ('filter "evil"', "clean"),
            ('filter "evil"', "smudge"),
            ('diff "evil"', "textconv"),
            ('diff "evil"', "command"),
            ("diff", "external"),
        )
    )
    hook = f"#!/bin/sh\ntouch {mark}\n"
    git = opened.root / ".git"
    evil = {"config": config, "hooks/post-index-change": hook, "info/attributes": "* filter=evil"}
    write(git, dict(evil))
    (git / "hooks" / "post-index-change").chmod(0o755)
    write(opened.root, {".gitattributes": "* filter=evil diff=evil\n", "a.py": "changed\n"})
    make_repository(opened.root / "nested", {"x.py": "1\n"})
    write(opened.root / "nested" / ".git", dict(evil))
    patch = make_patch(opened)
    assert not mark.exists()
    assert [file.path for file in patch.files] == [".gitattributes", "a.py", "nested/x.py"]
    clean = checkout_clean(opened, tmp_path / "clean")
    apply_patch(clean, patch)
    assert not mark.exists()


def test_a_clone_without_its_git_folder_still_gives_its_patch(opened: Workspace) -> None:
    write(opened.root, {"a.py": "changed\n"})
    (opened.root / ".git").rename(opened.root.parent / "away")
    assert [file.path for file in make_patch(opened).files] == ["a.py"]
    (opened.root / ".git").write_text("gitdir: /nowhere\n")
    assert [file.path for file in make_patch(opened).files] == ["a.py"]


def test_files_become_folders_and_folders_become_files(opened: Workspace, tmp_path: Path) -> None:
    root = opened.root
    (root / "a.py").unlink()
    write(root, {"a.py/deep.py": "1\n"})
    (root / "gone.py").unlink()
    (root / "gone.py").mkdir()
    (root / "folder" / "inner.txt").unlink()
    (root / "folder").rmdir()
    (root / "folder").write_text("now a file\n")
    (root / "run.sh").unlink()
    os.mkfifo(root / "run.sh")
    patch = make_patch(opened)
    (root / "run.sh").unlink()
    assert applied(opened, patch, tmp_path / "clean") == contents(root)


def test_a_repository_with_sha256_gives_a_patch(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "long", FILES, "--object-format=sha256")
    opened = open_workspace(repository, home=tmp_path / "home")
    write(opened.root, {"data.bin": b"\0other", "a.py": "1\n"})
    assert applied(opened, make_patch(opened), tmp_path / "clean") == contents(opened.root)


def test_a_plain_folder_gives_a_patch(tmp_path: Path) -> None:
    write(tmp_path / "plain", FILES)
    opened = open_workspace(tmp_path / "plain", home=tmp_path / "home")
    write(opened.root, {"a.py": "changed\n"})
    patch = make_patch(opened)
    apply_patch(tmp_path / "plain", patch)
    assert (tmp_path / "plain" / "a.py").read_text() == "changed\n"


def test_an_unfilled_submodule_stays_as_it_is(tmp_path: Path) -> None:
    make_repository(tmp_path / "lib", {"lib.py": "1\n"})
    repository = make_repository(tmp_path / "repo", FILES)
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    run_git(repository, *words, str(tmp_path / "lib"), "lib")
    run_git(repository, "commit", "--quiet", "--message=x")
    run_git(repository, "submodule", "--quiet", "deinit", "--force", "lib")
    opened = open_workspace(repository, home=tmp_path / "home")
    assert make_patch(opened) == Patch()
    write(opened.root, {"a.py": "changed\n"})
    assert [file.path for file in make_patch(opened).files] == ["a.py"]


def test_a_built_product_is_never_in_the_patch(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo", FILES | {".gitignore": "*.egg-info\n"})
    write(repository, {"pkg.egg-info/PKG-INFO": "1"})
    opened = open_workspace(repository, home=tmp_path / "home")
    write(opened.root, {"pkg.egg-info/PKG-INFO": "2"})
    assert make_patch(opened) == Patch()


def test_a_patch_that_is_too_large_is_refused(opened: Workspace) -> None:
    write(opened.root, {"big.txt": "line\n" * 1000})
    with pytest.raises(PatchTooLargeError, match=r"^the patch is \d+ bytes; at most 1000 are"):
        make_patch(opened, max_bytes=1000)


def test_a_huge_file_is_refused_unread(opened: Workspace) -> None:
    with (opened.root / "core dump").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(PatchTooLargeError, match=r'^"core dump" has 1099511627776 bytes'):
        make_patch(opened)


def test_many_files_together_may_be_too_large(opened: Workspace) -> None:
    write(opened.root, {"a.txt": "a" * 60, "b.txt": "b" * 70})
    with pytest.raises(PatchTooLargeError, match=r'^"b\.txt" has 70 bytes, and 100 is the most'):
        make_patch(opened, max_changed_bytes=100)


def test_a_large_file_of_the_base_is_no_reason(opened: Workspace) -> None:
    write(opened.root, {"empty": ""})
    assert [file.path for file in make_patch(opened, max_changed_bytes=100).files] == ["empty"]


def test_a_patch_that_gives_another_tree_is_caught(opened: Workspace) -> None:
    base = run_git(opened.root, "rev-parse", "HEAD^{tree}").strip()
    _prove(opened, Patch(), base)
    with pytest.raises(WorkspaceError, match="does not give back the tree"):
        _prove(opened, Patch(), "another")


def test_a_name_that_git_refuses_is_an_error_not_a_loss(opened: Workspace) -> None:
    write(opened.root, {".GIT/x": "1"})
    with pytest.raises(WorkspaceError, match="GIT/x"):
        make_patch(opened)


def test_a_patch_that_does_not_fit_is_refused_whole(opened: Workspace, tmp_path: Path) -> None:
    write(opened.root, {"a.py": "x = 1\ny = 3\n", "new.py": "1\n"})
    patch = make_patch(opened)
    clean = checkout_clean(opened, tmp_path / "clean")
    write(clean, {"a.py": "something else\n"})
    with pytest.raises(WorkspaceError, match=r"^git apply failed: patch failed: a\.py:1$"):
        check_patch(clean, patch)
    with pytest.raises(WorkspaceError, match="patch failed"):
        apply_patch(clean, patch)
    assert not (clean / "new.py").exists()


def test_a_check_writes_nothing(opened: Workspace, tmp_path: Path) -> None:
    write(opened.root, {"a.py": "x = 1\ny = 3\n"})
    clean = checkout_clean(opened, tmp_path / "clean")
    before = contents(clean)
    check_patch(clean, make_patch(opened))
    assert contents(clean) == before


def test_line_ends_that_attributes_ask_for_survive(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {".gitattributes": "*.txt eol=crlf\n", "a.txt": "a\nb\n"}
    opened = open_workspace(make_repository(tmp_path / "repo", files), home=tmp_path / "home")
    assert (opened.root / "a.txt").read_bytes() == b"a\r\nb\r\n"
    write(opened.root, {"a.txt": b"a\r\nc\r\n"})
    assert applied(opened, make_patch(opened), tmp_path / "clean") == contents(opened.root)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/data.json", True),
        ("a/test/x.py", True),
        ("test_x.py", True),
        ("src/x_test.py", True),
        ("conftest.py", True),
        ("src/contest.py", False),
        ("testing.py", False),
        ("tests", True),
        ("tests.py", True),
        ("pkg/pyproject.toml", True),
        ("pytest.ini", True),
        ("pytest.py", True),
        ("_pytest/hooks.py", True),
        ("src/pytest.py", False),
        ("sitecustomize.py", True),
        ("ci/check.sh", True),
        ("ci/other.sh", False),
    ],
)
def test_tests_and_what_runs_them_are_known_by_their_names(path: str, expected: bool) -> None:
    assert is_test_path(path, ("sh", "./ci/check.sh")) is expected


def test_a_patch_has_two_halves_that_make_it_up(opened: Workspace, tmp_path: Path) -> None:
    write(opened.root, {"a.py": "x = 2\n", "tests/test_a.py": "1\n", "tests/d\udcff.txt": "2\n"})
    patch = make_patch(opened)
    clean = checkout_clean(opened, tmp_path / "clean")
    apply_patch(clean, Patch(diff=patch.tests))
    assert (clean / "a.py").read_bytes() != b"x = 2\n"
    assert (clean / "tests/d\udcff.txt").read_text() == "2\n"
    apply_patch(clean, Patch(diff=patch.source))
    assert contents(clean) == contents(opened.root)


NAMES = st.sampled_from(["a", "b", "a b", "é", "a\n", '"', "c/d", "c/e", "c", "x.py", "\\n", "-c"])
PIECES = st.sampled_from([b"a", b"\n", b"\r\n", b"\0", b"\xff", b"-- ", b"+"])
BYTES = st.lists(PIECES).map(b"".join)
TREES = st.dictionaries(NAMES, BYTES, max_size=5).filter(
    lambda tree: not ("c" in tree and {"c/d", "c/e"} & set(tree))
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=TREES, after=TREES)
def test_a_patch_turns_any_tree_into_any_other(
    before: dict[str, bytes],
    after: dict[str, bytes],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    room = tmp_path_factory.mktemp("trees")
    (room / "plain").mkdir()
    write(room / "plain", dict(before))
    opened = open_workspace(room / "plain", home=room / "home")
    for path in before:
        (opened.root / path).unlink()
    if (opened.root / "c").is_dir():
        (opened.root / "c").rmdir()
    write(opened.root, dict(after))
    assert applied(opened, make_patch(opened), room / "clean") == contents(opened.root)
