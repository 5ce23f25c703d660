"""Tell whether a path fits a pattern such as `*.py`, `src/**/test_?.py` or `*.{js,ts}`. Pure."""

import re

from goldseam.workspace.errors import WorkspaceError

MAX_STARS = 8
"""Each star more multiplies the ways in which a path can be taken apart."""

_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?[^/][^\]/]*\]|[{},]|[^*?\[{},]+|\[", re.DOTALL)
_SIMPLE = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return an expression to `fullmatch` paths with.

    A pattern without a slash fits the last name of a path, in whatever folder; one with a slash
    fits the whole path. `**` crosses folders.

    Raises:
        WorkspaceError: a brace has no partner, a range runs backwards, or there are more than
            `MAX_STARS` stars.
    """
    anchored = pattern.removeprefix("./")
    whole = anchored if "/" in anchored else f"**/{anchored}"
    pieces: list[str] = []
    depth = 0
    if len(re.findall(r"\*+", whole)) > MAX_STARS:
        raise WorkspaceError(f'the glob "{pattern[:80]}" has more than {MAX_STARS} stars')
    for token in _TOKEN.findall(whole.removeprefix("/")):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            break
        pieces.append(_piece(token, in_braces=depth > 0))
    if depth:
        raise WorkspaceError(f'the glob "{pattern}" has a brace without its partner')
    try:
        return re.compile("".join(pieces), re.DOTALL)
    except re.error as error:
        raise WorkspaceError(f'the glob "{pattern}" has a range that runs backwards') from error


def _piece(token: str, *, in_braces: bool) -> str:
    if token in _SIMPLE:
        return _SIMPLE[token]
    if token in {"{", "}"}:
        return {"{": "(?:", "}": ")"}[token]
    if in_braces and token.startswith(","):
        return "|"
    if token.startswith("[") and token.endswith("]"):
        return _character_set(token)
    return re.escape(token)


def _character_set(token: str) -> str:
    inside = token[1:-1]
    negated = inside.startswith(("!", "^"))
    body = re.sub(r"([\\\[\]&~|^])", r"\\\1", inside[1:] if negated else inside)
    return f"[{'^/' if negated else ''}{body}]"
