"""What differs between two trees in git's objects: as a list of files, and as a patch."""

import os
from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.workspace.git import Git
from goldseam.workspace.listing import GITLINK

Status: TypeAlias = Literal["added", "modified", "deleted", "mode"]

_DIFF = (
    "diff-tree",
    "-r",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--full-index",
    "--ignore-submodules=none",
)
_AS_PATCH = ("--patch", "--binary", "--src-prefix=a/", "--dst-prefix=b/")
_STATUSES: dict[str, Status] = {"A": "added", "M": "modified", "D": "deleted", "T": "modified"}


class Change(Struct, frozen=True, kw_only=True):
    """One file that differs. `path` is for showing, `raw_path` as the file system has it.

    `blob` is its new content, None where it has none; `added` and `removed` count lines, None
    where the file is no text.
    """

    path: str
    raw_path: str
    blob: str | None
    status: Status
    added: int | None
    removed: int | None


def changes_between(git: Git, old: str, new: str) -> list[Change]:
    """Return the files in which the trees `old` and `new` differ, by path."""
    words = git.run(*_DIFF, "-z", "--raw", "--numstat", values=[old, new]).split(b"\0")
    raw: dict[bytes, bytes] = {}
    while words[0].startswith(b":"):
        raw[words[1]] = words[0]
        words = words[2:]
    changes = []
    for word in filter(None, words):
        added, removed, path = word.split(b"\t", 2)
        old_mode, new_mode, before, after, letter = raw[path][1:].decode("ascii").split(" ")
        only_mode = before == after and old_mode != new_mode
        changes.append(
            Change(
                path=path.decode("utf-8", "backslashreplace"),
                raw_path=os.fsdecode(path),
                blob=None if letter == "D" or new_mode == GITLINK else after,
                status="mode" if only_mode else _STATUSES[letter],
                added=None if added == b"-" else int(added),
                removed=None if removed == b"-" else int(removed),
            )
        )
    return sorted(changes, key=lambda change: change.path)


def patch_between(git: Git, old: str, new: str, *, paths: Iterable[str] = ()) -> bytes:
    """Return what leads from `old` to `new`, in `paths` or everywhere, in git's format."""
    return git.run(*_DIFF, *_AS_PATCH, values=[old, new], paths=paths)
