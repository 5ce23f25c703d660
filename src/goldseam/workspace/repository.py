"""Find a user's repository and read the few facts that a clone needs; never write there.

Git is asked in the user's own repository only for names and settings; whatever looks at files or
objects runs over a git folder of ours, where the user's configuration does not reach.
"""

from pathlib import Path

from msgspec import Struct

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.git import Git


class Repository(Struct, frozen=True, kw_only=True):
    """A repository with a work tree and at least one commit; every path is absolute."""

    origin: Path
    head: str
    branch: str | None
    object_format: str
    index: Path
    objects: Path
    shallow: Path
    excludes: Path
    file_mode: bool


def find_repository(path: Path, *, git: str) -> Repository | None:
    """Return the repository that `path` is in, or None where `path` is a plain folder.

    Raises:
        WorkspaceError: `path` is no folder, or its repository is bare, empty or unreadable.
    """
    if not path.is_dir():
        raise WorkspaceError(f'"{path}" is not a folder; give the folder of the repository')
    where = path.resolve()
    looks_bare = (where / "HEAD").is_file() and (where / "objects").is_dir()
    if looks_bare and not (where / ".git").exists():
        raise _bare(path)
    tops = [folder for folder in (where, *where.parents) if (folder / ".git").exists()]
    return _read(Git(where, git), asked=path, top=tops[0]) if tops else None


def _read(git: Git, *, asked: Path, top: Path) -> Repository:
    if git.line("rev-parse", "--is-inside-work-tree") != "true":
        raise _bare(asked)
    origin = Path(git.line("rev-parse", "--path-format=absolute", "--show-toplevel"))
    # A configured work tree may be anything, the whole disk even; only the folder of .git counts.
    if origin != top:
        raise WorkspaceError(f'"{asked}" belongs to a repository whose files are kept elsewhere')
    head = git.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1))
    if not head:
        raise WorkspaceError(f'"{asked}" has no commits; commit something first')
    branch = git.line("symbolic-ref", "--quiet", "HEAD", accept=(0, 1))
    return Repository(
        origin=origin,
        head=head,
        branch=branch.removeprefix("refs/heads/") or None,
        object_format=git.line("rev-parse", "--show-object-format"),
        index=_inside(git, "index"),
        objects=_inside(git, "objects"),
        shallow=_inside(git, "shallow"),
        excludes=_inside(git, "info/exclude"),
        file_mode=git.line("config", "--type=bool", "core.fileMode", accept=(0, 1)) != "false",
    )


def _inside(git: Git, name: str) -> Path:
    return Path(git.line("rev-parse", "--path-format=absolute", "--git-path", name))


def _bare(asked: Path) -> WorkspaceError:
    return WorkspaceError(
        f'"{asked}" is a bare repository or git\'s own folder; give the folder of the files'
    )
