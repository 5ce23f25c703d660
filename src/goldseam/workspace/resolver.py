"""Open what lies beneath one folder and nothing else, whatever links say. Knows no file formats.

The kernel does the confining (`openat2`, beneath, no magic links): a check of the path followed by
an open would leave a gap for a link to be swapped in. Where the call or `/proc` is missing, a walk
from folder to folder follows no links at all.
"""

import ctypes
import errno
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

_OPENAT2 = 437  # the same number on every architecture that Python runs on here
_NO_MAGICLINKS = 0x02
_BENEATH = 0x08
_TRIES = 64
_DESCRIPTORS = Path("/proc/self/fd")


class Opener(Protocol):
    """A way to open `path`, relative to the folder `folder`, without ever leaving it."""

    def __call__(self, folder: int, path: str, *, flags: int, mode: int) -> int:
        """Return a new descriptor.

        Raises:
            OSError: EXDEV where the path leads out; ELOOP where a link is not followed.
        """
        ...


class Root:
    """A folder held open. Paths are relative to it and stay beneath it."""

    def __init__(self, path: Path, *, opener: Opener | None = None) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._open = opener or best_opener(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def open_beneath(self, path: str, flags: int, mode: int = 0) -> int:
        """Return a descriptor of `path`; links inside the root may be followed.

        Raises:
            OSError: EXDEV where the path leads out of the root, else as `os.open`.
        """
        return self._open(self._fd, path, flags=flags, mode=mode)

    def true_path(self, descriptor: int, asked: str) -> str:
        """Return the path, relative to the root, of what `descriptor` (opened as `asked`) is.

        Raises:
            OSError: EXDEV where it stands outside, as after a move.
        """
        if self._open is open_by_walk:
            return asked
        root, path = (str((_DESCRIPTORS / str(held)).readlink()) for held in (self._fd, descriptor))
        if path == root:
            return "."
        prefix = root.rstrip("/") + "/"
        if not path.startswith(prefix):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), asked)
        return path.removeprefix(prefix)


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def open_by_openat2(folder: int, path: str, *, flags: int, mode: int) -> int:
    """Open by one system call: links inside are followed, escapes give EXDEV."""
    how = _OpenHow(flags | os.O_CLOEXEC, mode, _BENEATH | _NO_MAGICLINKS)
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    code = errno.EAGAIN
    for _ in range(_TRIES):
        descriptor: int = syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(folder),
            ctypes.c_char_p(os.fsencode(path)),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if descriptor >= 0:
            return descriptor
        code = ctypes.get_errno()
        # EAGAIN: something was renamed meanwhile and the kernel could not be sure.
        if code not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(code, os.strerror(code), path)


def open_by_walk(folder: int, path: str, *, flags: int, mode: int) -> int:
    """Open folder by folder and follow no link at all: a link gives ELOOP or ENOTDIR."""
    parts = [part for part in path.split("/") if part not in {"", "."}] or ["."]
    if path.startswith("/") or ".." in parts:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    here = os.dup(folder)
    try:
        for part in parts[:-1]:
            step = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
            here, before = os.open(part, step, dir_fd=here), here
            os.close(before)
        return _open_last(here, parts[-1], flags=flags, mode=mode)
    finally:
        os.close(here)


def _open_last(folder: int, name: str, *, flags: int, mode: int) -> int:
    descriptor = os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=folder)
    # O_PATH with O_NOFOLLOW gives the link itself: right only where the caller asked for that.
    if not flags & os.O_NOFOLLOW and stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return descriptor


def best_opener(folder: int, *, first: Opener = open_by_openat2) -> Opener:
    """Return `first` where it works and opened files can be named afterwards, else the walk."""
    try:
        descriptor = first(folder, ".", flags=os.O_PATH, mode=0)
    except OSError:
        # An old kernel says ENOSYS, a filter in front of it EPERM: both mean "not here".
        return open_by_walk
    os.close(descriptor)
    return first if _DESCRIPTORS.is_dir() else open_by_walk
