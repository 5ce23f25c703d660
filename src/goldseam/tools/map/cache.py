"""Sketches kept from run to run in one file, by the hash of what they are sketches of.

The file is ours alone and can always be done without: what cannot be read counts as empty, and
what cannot be written is made again next time.
"""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from goldseam.tools.map.sketch import Sketch

MAX_BYTES = 128 * 2**20

_VERSION = 1
"""Changes with what a sketch is: one of another version is not read."""


class _Kept(Struct, frozen=True, kw_only=True):
    version: int
    sketches: dict[bytes, Sketch]


def load_sketches(file: Path) -> dict[bytes, Sketch]:
    """Return what is kept in `file`, by content hash."""
    try:
        with file.open("rb") as kept:
            content = kept.read(MAX_BYTES + 1)
        read = msgspec.msgpack.decode(content, type=_Kept)
    except (OSError, msgspec.DecodeError):
        return {}
    return read.sketches if read.version == _VERSION else {}


def save_sketches(file: Path, sketches: Mapping[bytes, Sketch]) -> None:
    """Keep `sketches` in `file`, whole or not at all."""
    content = msgspec.msgpack.encode(_Kept(version=_VERSION, sketches=dict(sketches)))
    if len(content) > MAX_BYTES:
        return
    temporary = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as kept:
                kept.write(content)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
