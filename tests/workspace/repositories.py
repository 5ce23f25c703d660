"""Repositories for tests: made with plain git, as a person would, and hostile ones."""

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_PERSON = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": os.environ["PATH"],
}


def run_git(cwd: Path, *words: str, stdin: bytes = b"") -> str:
    """Run git as a person would."""
    done = subprocess.run(
        ["git", *words], cwd=cwd, env=_PERSON, input=stdin, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def write(tree: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, making folders."""
    for path, content in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content.encode() if isinstance(content, str) else content)


def make_repository(tree: Path, files: Mapping[str, str | bytes], *init: str) -> Path:
    """Make a repository with one commit."""
    tree.mkdir(parents=True, exist_ok=True)
    run_git(tree, "init", "--quiet", "--initial-branch=main", *init)
    write(tree, files)
    commit(tree)
    return tree


def commit(tree: Path, message: str = "change") -> None:
    """Commit all that is there."""
    run_git(tree, "add", "--all", "--force")
    run_git(tree, "commit", "--quiet", "--allow-empty", "--message", message)


def fingerprint(tree: Path) -> str:
    """Return a hash over every name, kind, mode, time and byte below `tree`."""
    digest = hashlib.sha256()
    for path in sorted([tree, *tree.rglob("*")]):
        status = path.lstat()
        digest.update(repr((str(path), status.st_mode, status.st_mtime_ns)).encode())
        if path.is_symlink():
            digest.update(bytes(path.readlink()))
        elif path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def contents(tree: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and bytes of every file below `tree` but git's own."""
    found: dict[str, tuple[int, bytes]] = {}
    for where, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if (Path(where) / name).is_symlink()]
        for name in (*names, *links):
            path = Path(where) / name
            linked = path.is_symlink()
            content = bytes(path.readlink()) if linked else path.read_bytes()
            mode = path.lstat().st_mode & 0o170100
            found[os.path.relpath(path, tree)] = (mode, content)
    return found
