"""Tell by its first bytes what a file is; names are not believed. Pure."""

import codecs

SNIFFED_BYTES = 8192

_MARKS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png", ".png"),
    (b"\xff\xd8\xff", "image/jpeg", ".jpg"),
    (b"GIF87a", "image/gif", ".gif"),
    (b"GIF89a", "image/gif", ".gif"),
    (b"%PDF-", "application/pdf", ".pdf"),
    (b"PK\x03\x04", "application/zip", ".zip"),
    (b"\x1f\x8b", "application/gzip", ".gz"),
    (b"SQLite format 3\0", "application/vnd.sqlite3", ".sqlite"),
    (b"\x7fELF", "application/x-elf", ".bin"),
)
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Pictures that models are shown."""


def media_type(content: bytes) -> tuple[str, str]:
    """Return the media type of `content` and a suffix for its name; `text/plain` is what is left.

    Looks at no more than the first `SNIFFED_BYTES`.
    """
    for mark, kind, suffix in _MARKS:
        if content.startswith(mark):
            return kind, suffix
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp", ".webp"
    if b"\0" in content[:SNIFFED_BYTES] and not content.startswith(_WIDE):
        return "application/octet-stream", ".bin"
    return "text/plain", ".txt"
