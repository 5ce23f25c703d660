"""What the plain text of a reply may hide: a thought in tags, arguments that were cut off. Pure.

Calls among the words are found in `leaked_calls`, where it is known which tools are on offer.
"""

import re

_OPEN, _CLOSE = "<think>", "</think>"
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


def split_thought(text: str) -> tuple[str, str]:
    """Return the thought in tags that a text begins with, and what follows; never one further on.

    A thought that is never closed is all there is.
    """
    if not text.lstrip().startswith(_OPEN):
        return "", text
    thought, _, rest = text.lstrip().removeprefix(_OPEN).partition(_CLOSE)
    return thought.strip(), rest.lstrip()


def is_unclosed(text: str) -> bool:
    """Whether `text` opens an object or array that it never closes (case 116)."""
    depth = 0
    for token in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group(), 0)
    return depth > 0
