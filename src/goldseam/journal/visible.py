"""Show text from a stranger without letting it act on the terminal or hide from the eye. Pure."""

# Printable to Python, blank or nothing to the eye: fillers, joiners, variation selectors.
_BLANKS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)


def visible(text: str) -> str:
    r"""Return `text` on one line; all that is not plainly seen is written `\u{…}` (security 46)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() and sign not in _BLANKS else f"\\u{{{ord(sign):x}}}"
        for sign in text
    )
