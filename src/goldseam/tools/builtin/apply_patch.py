"""Tool `apply_patch`: a patch over any number of files, all of it or nothing."""

from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.context import ToolContext
from goldseam.tools.text_files import bytes_to_change, fresh_lines, there_now, write_bytes
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.edit_series import Region
from goldseam.workspace.errors import EditRefusedError, MissingFileError, WorkspaceError
from goldseam.workspace.patch_text import FileChange, PatchRefusedError
from goldseam.workspace.patches import lay_hunks, new_content, read_patch

_SHOWN_LINES = 120
"""Of all files together."""


class ApplyPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `apply_patch`."""

    patch: Annotated[
        str,
        Meta(
            min_length=1,
            description="A unified diff, or *** Begin Patch … *** End Patch.",
            examples=["--- a/src/app.py\n+++ b/src/app.py\n@@ -2 +2 @@\n-    a - b\n+    a + b\n"],
        ),
    ]


class _File(Struct):
    """A file under way: its bytes as they were and are to be; none where it is not there."""

    before: bytes | None
    after: bytes | None
    regions: tuple[Region, ...] = ()


class _Draft:
    """What a patch comes to, file by file, before anything is written."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self.files: dict[str, _File] = {}
        self.notes: list[str] = []

    def take(self, change: FileChange) -> None:
        """Add one file's change to the draft."""
        match change.kind:
            case "add":
                self._add(change)
            case "delete":
                self._delete(change)
            case "update":
                self._update(change)

    def _add(self, change: FileChange) -> None:
        path, file = self._at(change.path)
        if file.after is not None:
            raise ToolFailure(
                f"nothing was changed: {path} is there already, and the patch adds it. "
                "Next: update it instead, or use write_file to replace all of it."
            )
        file.after = new_content(change.hunks)
        file.regions = ((1, file.after.count(b"\n") + 1),)
        self._note_mode(path, change)

    def _delete(self, change: FileChange) -> None:
        file = self._existing(change.path)
        if self._context.files.normalise(change.path) not in self.files:
            raise ToolFailure(
                f"nothing was changed: {change.path} is or goes through a link. "
                "Next: remove it with run_command, or name the file that it stands for."
            )
        file.after = None

    def _update(self, change: FileChange) -> None:
        file = self._existing(change.path)
        before = file.after or b""
        try:
            patched = lay_hunks(before, change.hunks)
        except EditRefusedError as refusal:
            told = f"nothing was changed: in {change.path}, {refusal.message}."
            there = there_now(before, refusal.lines)
            way_on = "Next: read the file again, and send smaller hunks with its lines as they are."
            raise ToolFailure("\n".join(filter(None, (told, there, way_on)))) from refusal
        file.after, file.regions = patched.content, patched.regions
        if patched.loose:
            which = ", ".join(map(str, patched.loose))
            self.notes.append(
                f"[{change.path}: hunk {which} fits but for white space; it was applied in the "
                "file's own indentation: check the lines above]"
            )
        self._note_mode(change.path, change)
        if change.moved_to is not None:
            self._move(file, change.moved_to)

    def _move(self, file: _File, target: str) -> None:
        path, there = self._at(target)
        if there.after is not None:
            raise ToolFailure(
                f"nothing was changed: {path} is there already, and cannot be moved to."
            )
        there.after, there.regions = file.after, file.regions
        file.after = None

    def _existing(self, path: str) -> _File:
        true, file = self._at(path)
        if file.before is None and file.after is None:
            # Says so, with the likest name beside it.
            bytes_to_change(path, self._context)
        if file.after is None:
            raise ToolFailure(f"nothing was changed: the patch takes {true} away, then changes it.")
        return file

    def _at(self, path: str) -> tuple[str, _File]:
        """Return the file at `path`, by the name that it truly has."""
        normal = self._context.files.normalise(path)
        if normal in self.files:
            return normal, self.files[normal]
        try:
            there = self._context.files.read_bytes(path)
        except MissingFileError:
            return normal, self.files.setdefault(normal, _File(before=None, after=None))
        content = bytes_to_change(path, self._context).content
        new = _File(before=content, after=content)
        return there.path, self.files.setdefault(there.path, new)

    def _note_mode(self, path: str, change: FileChange) -> None:
        if change.mode not in {None, "100644"}:
            self.notes.append(f"[{path}: mode {change.mode} was not set; use chmod]")


async def apply_patch(given: ApplyPatch, context: ToolContext) -> Output:
    """Lay the patch onto the workspace and return the lines as they are now."""
    draft = _Draft(context)
    try:
        for change in read_patch(given.patch):
            draft.take(change)
    except PatchRefusedError as refusal:
        raise ToolFailure(f"nothing was changed: {refusal.message}.") from refusal
    changed = {path: file for path, file in draft.files.items() if file.before != file.after}
    if not changed:
        raise ToolFailure("nothing was changed: the files are as the patch would make them.")
    _write(changed, context)
    return Output(text="\n".join((*_told(changed), *draft.notes)))


def _write(changed: dict[str, _File], context: ToolContext) -> None:
    """Write all files; where one cannot be written, put back those that were.

    Raises:
        ToolFailure: it cannot; says which, and that the others are as they were.
    """
    done: list[str] = []
    for path, file in changed.items():
        try:
            _put(path, file.after, context)
        except (WorkspaceError, OSError) as error:
            for written in reversed(done):
                _put(written, changed[written].before, context)
            why = error.message if isinstance(error, WorkspaceError) else error.strerror
            raise ToolFailure(f"nothing was changed: {path} cannot be written: {why}.") from error
        done.append(path)


def _put(path: str, content: bytes | None, context: ToolContext) -> None:
    if content is None:
        context.files.remove(path)
        context.seen.forget(path)
    else:
        write_bytes(path, content, context)


def _told(changed: dict[str, _File]) -> list[str]:
    each = max(10, _SHOWN_LINES // len(changed))
    count = "1 file" if len(changed) == 1 else f"{len(changed)} files"
    lines = [f"patched {count}"]
    for path, file in changed.items():
        if file.after is None:
            lines.append(f"{path}: deleted")
        elif file.before is None:
            newlines = file.after.count(b"\n")
            lines.append(f"{path}: created, {newlines} lines, {len(file.after)} bytes")
        else:
            lines.append(fresh_lines(path, file.after, file.regions, shown_lines=each))
    return lines


def paths_in(given: ApplyPatch) -> tuple[str, ...]:
    """Return the paths that the patch names; none where it cannot be read, and does nothing."""
    try:
        changes = read_patch(given.patch)
    except PatchRefusedError:
        return ()
    return tuple(path for change in changes for path in change.paths)


APPLY_PATCH = Tool(
    name="apply_patch",
    arguments=ApplyPatch,
    run=apply_patch,
    description=described_beside(__name__),
    further_paths=paths_in,
    lever="send a patch of fewer files",
)
