"""HTML that a stranger's text cannot become: plain strings are escaped, `Markup` alone is not.

Pure. `tag` is the one way to make markup, so nothing is escaped by remembering to. What is not
plainly seen (controls, bidi marks, halves of pairs) is written as its number, as in a terminal.
"""

import html
import re

from goldseam.journal.visible import visible

# What is plainly seen for sure is passed over quickly: ASCII, kana, Han, Hangul, full-width signs.
_STRANGE = re.compile(
    "[^\n\t -~\u3001-\u303e\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]+"
)
_VOID = {"meta", "input", "br"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def shown(text: str) -> Markup:
    """Return `text` as HTML that shows it, lines and tabs kept (security 46)."""
    if isinstance(text, Markup):
        return text
    return Markup(_STRANGE.sub(_marked, html.escape(text)))


def plain(text: str) -> Markup:
    """Return `text` on one line, for places that hold no elements: attributes, the title."""
    return Markup(html.escape(visible(text)))


def tag(name: str, /, *inside: str, **attributes: str) -> Markup:
    """Return the element `name`, with what is `inside` it escaped where it is no `Markup`.

    `class_` is written `class`, `a_b` as `a-b`; an attribute that is empty is left out.
    """
    words = "".join(_attribute(key, value) for key, value in attributes.items() if value)
    if name in _VOID:
        return Markup(f"<{name}{words}>")
    return Markup(f"<{name}{words}>{''.join(map(shown, inside))}</{name}>")


def _attribute(key: str, value: str) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f' {name}="{plain(value)}"'


def _marked(found: re.Match[str]) -> str:
    return "".join(
        sign if (seen := visible(sign)) == sign else f'<i class="odd">{seen}</i>'
        for sign in found[0]
    )
