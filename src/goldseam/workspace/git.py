"""Run git, and nothing but git, in a way that no repository, user or machine can bend.

The only module that starts git. Knows no workspace: callers say which git folder, which tree and
which index. Nothing that a repository's configuration names (hooks, monitors, editors, helpers,
transports) runs from here; filters and diff drivers need configuration that these calls never see
when `git_dir` is a folder of ours.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from goldseam.workspace.errors import WorkspaceError

_SETTINGS = {
    "advice.detachedHead": "false",
    "color.ui": "false",
    "commit.gpgSign": "false",
    "core.askPass": "true",
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.editor": "true",
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.sshCommand": "false",
    "core.untrackedCache": "false",
    "diff.ignoreSubmodules": "all",
    "gc.auto": "0",
    "init.defaultBranch": "main",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    # Repositories that belong to another user must be readable; the settings here disarm them.
    "safe.directory": "*",
    "submodule.recurse": "false",
}
_NOWHERE = "/nonexistent"
_WHO = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (
        ("NAME", "Goldseam"),
        ("EMAIL", "goldseam@localhost"),
        ("DATE", "2000-01-01T00:00:00+0000"),  # equal trees give equal commits
    )
}


class Git(Struct, frozen=True):
    """One way of calling git: where, which program, and over which git folder, tree and index."""

    cwd: Path
    executable: str = "git"
    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None
    limit_s: float = 600.0

    def run(
        self,
        *words: str,
        values: Iterable[str] = (),
        paths: Iterable[str] = (),
        stdin: bytes = b"",
        accept: tuple[int, ...] = (0,),
    ) -> bytes:
        """Return what git printed. `words` are ours; `values` and `paths` may come from outside.

        Raises:
            WorkspaceError: git is missing, was not done in time, or ended with a code that is not
                in `accept` (its first useful line is quoted); or a value begins with "-".
        """
        argv = [self.executable, *self._where(), *words, *_checked(values)]
        if named := list(paths):
            argv[1:1] = ["--literal-pathspecs"]
            argv += ["--", *named]
        try:
            done = subprocess.run(
                argv,
                cwd=self.cwd,
                env=self._environment(),
                input=stdin,
                capture_output=True,
                timeout=self.limit_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise WorkspaceError("git was not found; install git and try again") from error
        except subprocess.TimeoutExpired as error:
            why = f"git {words[0]} was not done after {self.limit_s:g} s"
            raise WorkspaceError(why) from error
        if done.returncode not in accept:
            raise WorkspaceError(f"git {words[0]} failed: {_first_useful_line(done.stderr)}")
        return done.stdout

    def line(self, *words: str, values: Iterable[str] = (), accept: tuple[int, ...] = (0,)) -> str:
        """Return the one line that git printed, without its newline. Raises as `run`."""
        return os.fsdecode(self.run(*words, values=values, accept=accept)).removesuffix("\n")

    def _where(self) -> list[str]:
        named = (("--git-dir", self.git_dir), ("--work-tree", self.work_tree))
        return [f"{name}={path}" for name, path in named if path is not None]

    def _search_path(self) -> str:
        # Never a relative folder: it would be the tree, where anybody may have put a "git".
        folder = Path(self.executable).parent
        return f"{folder}{os.pathsep}{os.defpath}" if folder.is_absolute() else os.defpath

    def _environment(self) -> dict[str, str]:
        environment = {
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_ASKPASS": "true",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": _NOWHERE,
            "LC_ALL": "C",
            "PATH": self._search_path(),
            "TZ": "UTC",
            "XDG_CONFIG_HOME": _NOWHERE,
            "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
            **_WHO,
        }
        for number, (key, value) in enumerate(_SETTINGS.items()):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        if self.index is not None:
            environment["GIT_INDEX_FILE"] = str(self.index)
        return environment


def find_git(search_path: str) -> str:
    """Return the full path of git on `search_path` (as the variable PATH writes it).

    Raises:
        WorkspaceError: git is not there.
    """
    found = find_program("git", search_path)
    if found is None:
        raise WorkspaceError("git was not found on PATH; install git and try again")
    return found


def find_program(name: str, search_path: str) -> str | None:
    """Return the full path of `name` on `search_path`; its relative folders are passed over."""
    folders = [folder for folder in search_path.split(os.pathsep) if folder.startswith("/")]
    return shutil.which(name, path=os.pathsep.join(folders))


def _checked(values: Iterable[str]) -> list[str]:
    checked = list(values)
    for value in checked:
        if value.startswith("-") or "\0" in value:
            raise WorkspaceError(f'"{value}" cannot be given to git: it would be read as an option')
    return checked


def _first_useful_line(stderr: bytes) -> str:
    lines = [line.strip() for line in os.fsdecode(stderr).splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))]
    first = (telling or lines or ["no reason given"])[0]
    return first.removeprefix("fatal: ").removeprefix("error: ")
