"""What a file's bytes say at a glance: the words in it, and the names it probably defines. Pure.

A glance costs little more than reading, so that every file of a repository can be taken into
account; only the few files that are shown are parsed.
"""

from msgspec import Struct

from goldseam.tools.map.languages import Language

MIN_NAME = 3
"""Bytes that a name has at least: who says a shorter one need not mean it."""

_WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
_APART = bytes(
    code if code in _WORD_BYTES or code >= 0x80 else 0x20  # noqa: PLR2004 - UTF-8 beyond ASCII
    for code in range(256)
)
# What a pattern takes for a definition where it is a statement.
_NO_NAMES = frozenset(
    b"if for while switch catch return else do try sizeof defined with not and new throw super "
    b"await yield typeof synchronized function using self this".split()
)


class Sketch(Struct, frozen=True, array_like=True):
    """One file at a glance: its distinct words, and the names among them, joined by spaces."""

    words: bytes
    names: bytes


NOTHING = Sketch(b"", b"")
"""The sketch of a file that is no text."""


def words_in(text: bytes) -> set[bytes]:
    """Return the distinct words of `text`."""
    return set(text.translate(_APART).split())


def sketch_of(content: bytes, language: Language) -> Sketch:
    """Return what `content` says at a glance."""
    if b"\0" in content:
        return NOTHING
    words = words_in(content)
    lines = b"\n" + content
    named = {name for pattern in language.candidates for name in pattern.findall(lines)}
    names = {name for name in named - _NO_NAMES if len(name) >= MIN_NAME} & words
    return Sketch(b" ".join(words), b" ".join(sorted(names)))
