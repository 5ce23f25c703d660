"""Long texts beside the record, each in a file named by the hash of its bytes."""

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from goldseam.journal.codec import BadLineError

_NAME = re.compile(r"[0-9a-f]{64}")


def keep_blob(folder: Path, name: str, blob: bytes) -> None:
    """Put `blob`, whose hash is `name`, into `folder`; it would outlive the machine on return.

    Raises:
        OSError: it could not be written; nothing of it is left.
    """
    target = folder / name
    if target.exists():
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    # One writer alone: the name of the unfinished file need not be unguessable.
    unfinished = folder / f"{name}.part"
    try:
        descriptor = os.open(
            unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600
        )
        with os.fdopen(descriptor, "wb") as file:
            file.write(blob)
            file.flush()
            os.fsync(descriptor)
        unfinished.rename(target)
        sync_folder(folder)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        raise


def fetch_blob(folder: Path, name: object) -> bytes:
    """Return the blob of the hash `name`.

    Raises:
        BadLineError: it is not there, or not what its name says.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadLineError("names no blob")
    try:
        blob = (folder / name).read_bytes()
    except OSError as error:
        raise BadLineError(f"needs blobs/{name}, which cannot be read") from error
    if hashlib.sha256(blob).hexdigest() != name:
        raise BadLineError(f"needs blobs/{name}, which has been changed")
    return blob


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` outlive the machine."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
