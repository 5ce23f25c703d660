"""Git runs hardened: nothing that a repository names is executed, and values are never options."""

import os
import stat
from pathlib import Path

import pytest
from workspace.repositories import make_repository, run_git, write

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.git import Git, find_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", {"a.py": "x = 1\n"})


def booby_trap(tmp_path: Path) -> tuple[Path, Path]:
    """Return a program that leaves a mark when it runs, and the mark."""
    mark = tmp_path / "it-ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    return trap, mark


def test_output_is_returned_and_paths_follow_a_mark(repository: Path) -> None:
    write(repository, {"-x": "1"})
    git = Git(repository)
    assert git.run("ls-files", "-z", "--others", paths=["-x"]) == b"-x\0"
    assert (
        git.line("rev-parse", values=["HEAD"]) == run_git(repository, "rev-parse", "HEAD").strip()
    )


@pytest.mark.parametrize("value", ["--output=x", "-x", "a\0b"])
def test_a_value_that_would_be_an_option_is_refused(repository: Path, value: str) -> None:
    # security: argument injection by references
    with pytest.raises(WorkspaceError, match="cannot be given to git"):
        Git(repository).run("log", values=[value])
    assert not (repository / "x").exists()


def test_a_failure_is_told_in_git_s_first_useful_line(repository: Path) -> None:
    with pytest.raises(WorkspaceError) as caught:
        Git(repository).run("rev-parse", "--verify", values=["nothing"])
    assert caught.value.message == "git rev-parse failed: Needed a single revision"
    assert Git(repository).run("rev-parse", "--verify", "-q", values=["no"], accept=(1,)) == b""


def test_a_silent_failure_is_told_too(tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(WorkspaceError, match=r"^git log failed: no reason given$"):
        Git(tmp_path, str(program)).run("log")


def test_git_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    with pytest.raises(WorkspaceError, match=r"^git log was not done after 0\.1 s$"):
        Git(tmp_path, str(program), limit_s=0.1).run("log")


def test_missing_git_is_said_clearly(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"^git was not found on PATH; install git"):
        find_git(str(tmp_path))
    with pytest.raises(WorkspaceError, match=r"^git was not found; install git"):
        Git(tmp_path, "/nowhere/git").run("version")
    assert Path(find_git(os.environ["PATH"])).name == "git"


def test_a_program_in_the_tree_is_never_taken_for_git(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap, mark = booby_trap(tmp_path)
    (repository / "git").write_bytes(trap.read_bytes())
    (repository / "git").chmod(0o755)
    monkeypatch.chdir(repository)
    assert Git(repository).line("rev-parse", "--is-inside-work-tree") == "true"
    assert find_git(f".:{os.environ['PATH']}").startswith("/")
    with pytest.raises(WorkspaceError, match="not found"):
        find_git(".::relative")
    assert not mark.exists()


def test_no_variable_of_the_caller_reaches_git(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert Git(repository).line("rev-parse", "--is-inside-work-tree") == "true"


@pytest.mark.parametrize(
    "setting", ["core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.pager", "core.editor"]
)
def test_a_repository_s_settings_run_nothing(
    repository: Path, tmp_path: Path, setting: str
) -> None:
    # security 34, 41
    trap, mark = booby_trap(tmp_path)
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(trap.read_bytes())
    hook.chmod(0o755)
    value = hook.parent if setting == "core.hooksPath" else trap
    run_git(repository, "config", setting, str(value))
    (repository / "a.py").write_text("y = 2\n")
    git = Git(repository)
    git.run("status", "--porcelain")
    git.run("add", paths=["a.py"])
    git.run("commit", "--quiet", "--message=x")
    assert not mark.exists()


def test_a_folder_that_only_looks_like_a_bare_repository_is_not_entered(tmp_path: Path) -> None:
    # security 34
    trap, mark = booby_trap(tmp_path)
    fake = tmp_path / "fake"
    (fake / "objects").mkdir(parents=True)
    (fake / "refs").mkdir()
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    (fake / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tworktree = {fake}\n\tfsmonitor = {trap}\n"
    )
    with pytest.raises(WorkspaceError):
        Git(fake).run("status")
    assert not mark.exists()


def test_no_transport_is_spoken(repository: Path, tmp_path: Path) -> None:
    trap, mark = booby_trap(tmp_path)
    for url in (f"ext::{trap}", str(repository), "https://127.0.0.1:9/x"):
        with pytest.raises(WorkspaceError, match="not allowed"):
            Git(tmp_path).run("clone", "--quiet", values=[url, "copy"])
    assert not mark.exists()
