"""A run works in its own clone; the user's tree and its git folder are never written."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from workspace.repositories import (
    commit,
    contents,
    fingerprint,
    make_repository,
    run_git,
    write,
)

from goldseam.workspace.clone import Workspace, checkout_clean, give_git, open_workspace
from goldseam.workspace.errors import UncommittedChangesError, WorkspaceError
from goldseam.workspace.patch import make_patch

FILES: dict[str, str | bytes] = {
    "src/pkg/__init__.py": "x = 1\n",
    "run.sh": "#!/bin/sh\n",
    "data.bin": b"\0\1\xff\r\n",
    "crlf.txt": b"a\r\nb\r\n",
    ".gitignore": "*.log\nvenv/\n*.egg-info\n_version.py\n*.so\nwork/\nbuild/\n.env\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    tree = make_repository(tmp_path / "repo", FILES)
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("src/pkg")
    (tree / "dangling").symlink_to("/nowhere")
    commit(tree)
    return tree


@pytest.fixture
def opened(repository: Path, tmp_path: Path) -> Workspace:
    return open_workspace(repository, home=tmp_path / "home")


def refusal(repository: Path, tmp_path: Path) -> str:
    home = tmp_path / "refused"
    with pytest.raises(WorkspaceError) as caught:
        open_workspace(repository, home=home)
    assert not home.exists() or list(home.iterdir()) == []
    return caught.value.message


def test_a_clone_has_the_files_of_the_last_commit_and_git(
    repository: Path, opened: Workspace
) -> None:
    assert contents(opened.root) == contents(repository)
    assert opened.base == run_git(repository, "rev-parse", "HEAD").strip()
    assert (opened.kind, opened.origin, opened.branch) == ("git", repository, "main")
    assert run_git(opened.root, "status", "--porcelain") == ""
    assert run_git(opened.root, "log", "--oneline") == run_git(repository, "log", "--oneline")
    assert run_git(opened.root, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    run_git(opened.root, "fsck", "--strict")


def test_a_model_can_commit_in_its_clone(opened: Workspace) -> None:
    (opened.root / "new").write_text("1")
    run_git(opened.root, "add", "new")
    run_git(opened.root, "commit", "--message", "mine")
    assert run_git(opened.root, "status", "--porcelain") == ""


def test_the_user_s_tree_and_git_folder_are_not_touched(repository: Path, tmp_path: Path) -> None:
    # agents 41; `git status` alone would refresh the index
    for path in repository.rglob("*.py"):
        os.utime(path, ns=(1, 1))
    (repository / "src/pkg/new.py").write_text("1\n")
    (repository / "run.sh").write_text("changed\n")
    before = fingerprint(repository)
    opened = open_workspace(repository, home=tmp_path / "home", include_dirty=True)
    checkout_clean(opened, tmp_path / "clean")
    write(opened.root, {"src/pkg/__init__.py": "x = 2\n"})
    assert fingerprint(repository) == before


def test_no_file_of_the_clone_is_shared_with_the_user_s_repository(
    repository: Path, opened: Workspace
) -> None:
    theirs = {path.stat().st_ino for path in repository.rglob("*") if path.is_file()}
    ours = {path.stat().st_ino for path in opened.root.rglob("*") if path.is_file()}
    assert not theirs & ours
    stored = {path.stat().st_ino for path in opened.store.rglob("*") if path.is_file()}
    assert stored & theirs, "the store links objects where it can"


def test_nothing_of_the_user_s_settings_is_carried_over(repository: Path, tmp_path: Path) -> None:
    # security 39, 41
    run_git(repository, "remote", "add", "origin", "https://user:secret@example.org/x")
    run_git(repository, "config", "alias.x", "!touch /tmp/no")
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    opened = open_workspace(repository, home=tmp_path / "home")
    for folder in (opened.store, opened.root / ".git"):
        config = (folder / "config").read_text()
        assert "secret" not in config
        assert "alias" not in config
        assert not (folder / "hooks").exists()


def test_no_filter_monitor_or_hook_of_the_user_s_repository_runs(
    repository: Path, tmp_path: Path
) -> None:
    # security 34, 39, 41
    mark = tmp_path / "it-ran"
    trap = f"touch {mark}; cat"
    write(repository, {".gitattributes": "*.py filter=evil diff=evil merge=evil\n"})
    commit(repository)
    for key in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process"):
        run_git(repository, "config", key, trap)
    run_git(repository, "config", "filter.evil.required", "true")
    run_git(repository, "config", "diff.evil.textconv", trap)
    run_git(repository, "config", "core.fsmonitor", f"touch {mark}")
    write(repository, {"src/pkg/__init__.py": "x = 3\n", "src/pkg/new.py": "y\n"})
    opened = open_workspace(repository, home=tmp_path / "home", include_dirty=True)
    assert (opened.root / "src/pkg/__init__.py").read_text() == "x = 3\n"
    assert not mark.exists()


def test_no_setting_of_a_submodule_runs(repository: Path, tmp_path: Path) -> None:
    # security 34: a submodule may ask to be looked into
    mark = tmp_path / "it-ran"
    make_repository(tmp_path / "lib", {"lib.py": "1\n"})
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    run_git(repository, *words, str(tmp_path / "lib"), "lib")
    run_git(repository, "config", "--file", ".gitmodules", "submodule.lib.ignore", "none")
    commit(repository)
    run_git(repository / "lib", "config", "core.fsmonitor", f"touch {mark}")
    mark.unlink(missing_ok=True)
    opened = open_workspace(repository, home=tmp_path / "home")
    write(opened.root, {"lib/lib.py": "2\n"})
    assert [file.path for file in make_patch(opened).files] == ["lib/lib.py"]
    assert not mark.exists()


def test_an_environment_that_nobody_ignores_is_no_change(repository: Path, tmp_path: Path) -> None:
    write(repository, {"my [env]/pyvenv.cfg": "", "my [env]/bin/python": ""})
    opened = open_workspace(repository, home=tmp_path / "home")
    assert opened.environment == ("my [env]",)


def test_too_much_outside_of_commits_is_refused(repository: Path, tmp_path: Path) -> None:
    with (repository / "core dump").open("wb") as file:
        file.truncate(1 << 31)
    with pytest.raises(WorkspaceError, match="2048 MiB are in no commit"):
        open_workspace(repository, home=tmp_path / "home", include_dirty=True)


def test_uncommitted_changes_are_refused_and_named(repository: Path, tmp_path: Path) -> None:
    write(repository, {"run.sh": "y", "b b.txt": "1", "c": "1", "d": "1", "x.log": "1"})
    with pytest.raises(UncommittedChangesError):
        open_workspace(repository, home=tmp_path / "home")
    assert refusal(repository, tmp_path) == (
        "the repository has uncommitted changes (run.sh, b b.txt, c and 1 more); commit or stash "
        "them, or carry them in with --include-dirty"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: (tree / "run.sh").unlink(),
        lambda tree: (tree / "run.sh").chmod(0o644),
        lambda tree: (tree / "new").write_text("1"),
        lambda tree: run_git(tree, "rm", "--quiet", "--cached", "run.sh"),
        lambda tree: run_git(tree, "mv", "run.sh", "walk.sh"),
    ],
)
def test_every_kind_of_change_counts(
    repository: Path, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    change(repository)
    assert "uncommitted" in refusal(repository, tmp_path)
    opened = open_workspace(repository, home=tmp_path / "home", include_dirty=True)
    assert contents(opened.root) == contents(repository)
    assert run_git(opened.root, "status", "--porcelain") == ""


def test_a_file_that_was_only_touched_is_no_change(repository: Path, tmp_path: Path) -> None:
    os.utime(repository / "run.sh", ns=(1, 1))
    assert open_workspace(repository, home=tmp_path / "home").base


def test_changes_can_be_carried_in_and_become_the_base(repository: Path, tmp_path: Path) -> None:
    write(repository, {"run.sh": "changed\n", "a\nb 'é\".py": "new\n", "x.log": "left"})
    (repository / "data.bin").unlink()
    (repository / "src" / "pkg" / "__init__.py").unlink()
    (repository / "src" / "pkg").rmdir()
    (repository / "src" / "pkg").symlink_to("/nowhere")
    opened = open_workspace(repository, home=tmp_path / "home", include_dirty=True)
    expected = contents(repository)
    del expected["x.log"]
    assert contents(opened.root) == expected
    head = run_git(repository, "rev-parse", "HEAD").strip()
    assert run_git(opened.root, "rev-parse", "HEAD^").strip() == head


def test_a_sub_folder_stands_for_its_repository(repository: Path, tmp_path: Path) -> None:
    opened = open_workspace(repository / "src" / "pkg", home=tmp_path / "home")
    assert opened.origin == repository


def test_a_work_tree_of_another_repository_is_cloned(repository: Path, tmp_path: Path) -> None:
    # security 35
    run_git(repository, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    write(tmp_path / "side", {"side.py": "1"})
    commit(tmp_path / "side")
    before = fingerprint(repository)
    opened = open_workspace(tmp_path / "side", home=tmp_path / "home")
    assert (opened.origin, opened.branch) == (tmp_path / "side", "side")
    assert contents(opened.root) == {
        path: content for path, content in contents(tmp_path / "side").items() if path != ".git"
    }
    assert fingerprint(repository) == before


def test_a_shallow_repository_is_cloned(repository: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", "shallow")
    opened = open_workspace(tmp_path / "shallow", home=tmp_path / "home")
    assert run_git(opened.root, "log", "--oneline").count("\n") == 1
    run_git(opened.root, "fsck")


def test_a_repository_with_sha256_is_cloned(tmp_path: Path) -> None:
    make_repository(tmp_path / "long", FILES, "--object-format=sha256")
    opened = open_workspace(tmp_path / "long", home=tmp_path / "home")
    assert len(opened.base) == 64
    assert run_git(opened.root, "status", "--porcelain") == ""


def test_a_repository_that_borrows_objects_is_cloned(repository: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "--quiet", "--shared", str(repository), "borrower")
    opened = open_workspace(tmp_path / "borrower", home=tmp_path / "home")
    assert contents(opened.root) == contents(repository)
    run_git(opened.root, "fsck")


def test_a_packed_repository_on_a_detached_head_is_cloned(repository: Path, tmp_path: Path) -> None:
    run_git(repository, "checkout", "--quiet", "--detach")
    run_git(repository, "gc", "--quiet")
    run_git(repository, "update-index", "--split-index")
    opened = open_workspace(repository, home=tmp_path / "home")
    assert opened.branch is None
    assert run_git(opened.root, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD\n"
    assert run_git(opened.root, "status", "--porcelain") == ""


def test_a_submodule_s_files_become_part_of_the_base(repository: Path, tmp_path: Path) -> None:
    make_repository(tmp_path / "lib", {"lib.py": "1\n", ".gitignore": "*.tmp\n"})
    local = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    run_git(repository, *local, str(tmp_path / "lib"), "deps/lib")
    run_git(repository, *local, str(tmp_path / "lib"), "deps/empty")
    commit(repository)
    run_git(repository, "submodule", "--quiet", "deinit", "--force", "deps/empty")
    write(repository, {"deps/lib/x.tmp": "ignored"})
    before = fingerprint(repository)
    opened = open_workspace(repository, home=tmp_path / "home")
    assert (opened.root / "deps/lib/lib.py").read_text() == "1\n"
    assert not (opened.root / "deps/lib/x.tmp").exists()
    assert list((opened.root / "deps/empty").iterdir()) == []
    assert run_git(opened.root, "status", "--porcelain") == ""
    assert fingerprint(repository) == before


def test_a_plain_folder_is_copied_and_given_git(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    write(folder, FILES | {"x.log": "ignored", "env2/pyvenv.cfg": "", "env2/bin/python": ""})
    write(folder, {"node_modules/a/index.js": "", "src/__pycache__/a.pyc": ""})
    make_repository(folder / "inner", {"inner.py": "1\n"})
    before = fingerprint(folder)
    opened = open_workspace(folder, home=tmp_path / "home")
    assert opened.kind == "folder"
    assert set(contents(opened.root)) == set(FILES) | {"inner/inner.py"}
    assert opened.environment == ("env2", "node_modules")
    assert run_git(opened.root, "log", "--oneline").count("\n") == 1
    assert run_git(opened.root, "status", "--porcelain") == ""
    assert fingerprint(folder) == before


def test_an_empty_folder_is_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    opened = open_workspace(tmp_path / "empty", home=tmp_path / "home")
    assert contents(opened.root) == {}


def test_what_cannot_be_cloned_is_said_clearly(repository: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet", "unborn")
    run_git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    assert "has no commits" in refusal(tmp_path / "unborn", tmp_path)
    assert "is a bare repository" in refusal(tmp_path / "bare.git", tmp_path)
    assert "is not a folder" in refusal(tmp_path / "absent", tmp_path)
    assert "is not a folder" in refusal(repository / "run.sh", tmp_path)
    assert "git's own folder" in refusal(repository / ".git", tmp_path)
    run_git(repository, "config", "core.bare", "true")
    assert "is a bare repository" in refusal(repository, tmp_path)


def test_a_work_tree_that_is_configured_elsewhere_is_refused(
    repository: Path, tmp_path: Path
) -> None:
    # security 34
    (tmp_path / "elsewhere").mkdir()
    run_git(repository, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert "git's own folder" in refusal(repository, tmp_path)
    run_git(repository, "config", "core.worktree", "/")
    assert "files are kept elsewhere" in refusal(repository, tmp_path)


def test_a_damaged_repository_is_refused_and_nothing_is_left(
    repository: Path, tmp_path: Path
) -> None:
    blob = run_git(repository, "rev-parse", "HEAD:run.sh").strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert refusal(repository, tmp_path).startswith("git ")


def test_a_home_inside_the_repository_is_refused(repository: Path) -> None:
    before = fingerprint(repository)
    with pytest.raises(WorkspaceError, match="never written; set GOLDSEAM_HOME"):
        open_workspace(repository, home=repository / "home")
    assert fingerprint(repository) == before


def test_a_home_is_used_once(repository: Path, opened: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="already used"):
        open_workspace(repository, home=opened.root.parent)
    assert opened.root.exists()
    with pytest.raises(WorkspaceError, match="is not empty"):
        checkout_clean(opened, opened.root)


def test_a_clean_checkout_is_the_base_whatever_happened_to_the_clone(
    repository: Path, opened: Workspace, tmp_path: Path
) -> None:
    write(opened.root, {"run.sh": "broken", "new": "x"})
    run_git(opened.root, "config", "core.fsmonitor", "false")
    (opened.root / ".git" / "HEAD").write_text("garbage")
    clean = checkout_clean(opened, tmp_path / "clean")
    assert contents(clean) == contents(repository)
    assert run_git(clean, "status", "--porcelain") == ""


def test_a_large_history_stays_behind(opened: Workspace, tmp_path: Path) -> None:
    with opened.tree_index() as index:
        (tmp_path / "far").mkdir()
        opened.git(work_tree=tmp_path / "far", index=index).run("checkout-index", "--all")
        give_git(opened, tmp_path / "far", index, max_copied_bytes=0)
    assert run_git(tmp_path / "far", "status", "--porcelain") == ""
    assert run_git(tmp_path / "far", "rev-list", "--count", "HEAD") == "1\n"
    run_git(tmp_path / "far", "fsck")


def test_environment_folders_are_named_and_build_products_carried(
    repository: Path, tmp_path: Path
) -> None:
    write(
        repository,
        {
            ".venv/pyvenv.cfg": "",
            ".venv/.gitignore": "*\n",
            ".venv/lib/x/_version.py": "",
            "other/pyvenv.cfg": "",
            "other/.gitignore": "*\n",
            "other/x.so": "",
            "other/env/x.so": "",
            "venv/bin/python": "",
            "web/node_modules/x/index.js": "",
            "work/mine/pyvenv.cfg": "",
            "work/notes": "",
            "build/lib/x.so": "",
            "src/pkg.egg-info/PKG-INFO": "Name: pkg\n",
            "src/pkg/_version.py": "v = 1\n",
            "src/pkg/fast.so": b"\x7fELF",
            "src/pkg/x.log": "",
            ".env": "SECRET=1\n",
        },
    )
    (repository / "src/pkg/fast.so").chmod(0o755)
    opened = open_workspace(repository, home=tmp_path / "home")
    assert opened.environment == (".venv", "other", "venv", "web/node_modules", "work/mine")
    clean = checkout_clean(opened, tmp_path / "clean")
    carried = {"src/pkg.egg-info/PKG-INFO", "src/pkg/_version.py", "src/pkg/fast.so"}
    for tree in (opened.root, clean):
        assert set(contents(tree)) - set(FILES) == carried | {"link", "dangling"}
        assert os.access(tree / "src/pkg/fast.so", os.X_OK)
        assert run_git(tree, "status", "--porcelain") == ""


def test_the_person_s_own_ignore_rules_hold(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "ignore").write_text(".idea/\n")
    (repository / ".git" / "info" / "exclude").write_text("notes\n")
    write(repository, {".idea/x": "1", "notes": "1"})
    assert ".idea" in refusal(repository, tmp_path)
    opened = open_workspace(repository, home=tmp_path / "home", ignore_file=tmp_path / "ignore")
    assert not (opened.root / "notes").exists()


def test_file_modes_do_not_count_where_the_repository_says_so(
    repository: Path, tmp_path: Path
) -> None:
    run_git(repository, "config", "core.fileMode", "false")
    (repository / "run.sh").chmod(0o644)
    assert open_workspace(repository, home=tmp_path / "home").base


def test_attributes_of_the_tree_are_honoured(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "r", {".gitattributes": "*.txt eol=crlf\n", "a.txt": "a\n"})
    (tree / "a.txt").unlink()
    run_git(tree, "checkout", "a.txt")
    opened = open_workspace(tree, home=tmp_path / "home")
    assert (opened.root / "a.txt").read_bytes() == b"a\r\n"


def test_a_repository_of_another_user_is_cloned(repository: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "12345", str(repository)], check=True)
    assert open_workspace(repository, home=tmp_path / "home").kind == "git"
    assert sys.platform == "linux"
