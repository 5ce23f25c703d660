"""Where checkpoints are kept: a git folder of ours that outlives the run's workspace.

It has all that the base is made of, the trees of the checkpoints, and a line for each one taken. It
needs neither the user's repository nor the workspace to be read.
"""

import json
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from goldseam.workspace.differences import Change, changes_between, patch_between
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.git import Git

BASE = "refs/goldseam/base"
"""Stands for the tree that the run started from, wherever the id of a checkpoint is asked for."""

INDEX = "index"
"""The index of the run's own tree, in the store's folder."""

_TAKEN = "taken"


class Checkpoint(Struct, frozen=True, kw_only=True):
    """All files that were not ignored, as they stood: the id of a git tree.

    `left_out` names files, for showing, that are not in it as they stood: too large, or unreadable.
    """

    name: str
    tree: str
    left_out: tuple[str, ...] = ()


class CheckpointStore:
    """The checkpoints of a run, to be compared and written out, also once its workspace is gone."""

    def __init__(self, folder: Path, *, git: str = "git") -> None:
        self.folder = folder.resolve()
        self.git_program = git
        self._git = Git(self.folder, git, git_dir=self.folder)

    def taken(self) -> tuple[Checkpoint, ...]:
        """Return the checkpoints in the order in which they were taken."""
        try:
            lines = (self.folder / _TAKEN).read_bytes().split(b"\n")
        except FileNotFoundError:
            return ()
        # What follows the last line feed is a line that a crash cut short.
        return tuple(msgspec.convert(json.loads(line), Checkpoint) for line in lines[:-1])

    def changed(self, old: str, new: str) -> tuple[Change, ...]:
        """Return the files in which two trees differ, by path.

        Raises:
            WorkspaceError: there is no such tree.
        """
        return tuple(changes_between(self._git, self.tree_of(old), self.tree_of(new)))

    def diff(self, old: str, new: str) -> bytes:
        """Return the patch that leads from the tree `old` to `new`. Raises as `changed`."""
        return patch_between(self._git, self.tree_of(old), self.tree_of(new))

    def tree_of(self, name: str) -> str:
        """Return the id of the tree `name`, if it is here; raises WorkspaceError."""
        found = self._git.line(
            "rev-parse", "--verify", "--quiet", values=[f"{name}^{{tree}}"], accept=(0, 1)
        )
        if not found:
            raise WorkspaceError(f'there is no checkpoint "{name}" in this run')
        return found

    def note(self, checkpoint: Checkpoint) -> None:
        """Add a line for `checkpoint`; raises OSError. It would outlive the machine on return."""
        line = json.dumps(msgspec.to_builtins(checkpoint)).encode("ascii") + b"\n"
        with (self.folder / _TAKEN).open("ab+") as file:
            _end_line(file.fileno())
            os.write(file.fileno(), line)
            os.fdatasync(file.fileno())


def _end_line(descriptor: int) -> None:
    """Cut what a crash left of a line."""
    length = os.fstat(descriptor).st_size
    content = os.pread(descriptor, length, 0)
    os.ftruncate(descriptor, content.rfind(b"\n") + 1)
