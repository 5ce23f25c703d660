"""What to say where a file cannot be used: the system's errors as sentences that name a way on."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from goldseam.workspace.errors import MissingFileError, WorkspaceError
from goldseam.workspace.paths import LEADS_OUT

_KINDS = {
    stat.S_IFDIR: "a folder; list it instead",
    stat.S_IFIFO: "a pipe, not a regular file",
    stat.S_IFSOCK: "a socket, not a regular file",
    stat.S_IFCHR: "a device, not a regular file",
    stat.S_IFBLK: "a device, not a regular file",
}
_REASONS = {
    errno.EXDEV: LEADS_OUT,
    errno.ELOOP: "goes through a link that cannot be followed here; name its target instead",
    errno.ENOTDIR: "goes through something that is not a folder",
    errno.EISDIR: "is a folder; name a file",
    errno.EACCES: "cannot be opened: permission denied",
    errno.ENAMETOOLONG: "is too long a name",
    errno.ENOSPC: "cannot be written: the disk is full",
    errno.ENXIO: "is a socket or an unread pipe, not a regular file",
}


@contextlib.contextmanager
def explained(asked: str) -> Iterator[None]:
    """Turn the system's errors into sentences about `asked`.

    Raises:
        MissingFileError: nothing is there.
        WorkspaceError: anything else that the system refused.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(f'"{asked}" does not exist') from error
    except OSError as error:
        why = _REASONS.get(error.errno or 0, f"cannot be used: {error.strerror}")
        raise WorkspaceError(f'"{asked}" {why}') from error


def require_regular(status: os.stat_result, asked: str) -> None:
    """Raise unless `status` is of a regular file.

    Raises:
        WorkspaceError: it is something else; says what.
    """
    if not stat.S_ISREG(status.st_mode):
        what = _KINDS.get(stat.S_IFMT(status.st_mode), "no regular file")
        raise WorkspaceError(f'"{asked}" is {what}')
