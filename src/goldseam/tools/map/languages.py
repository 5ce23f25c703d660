"""The languages that a map reads: how their files end, and how they write definitions. Pure.

Each is a row, used twice. `candidates` finds names that are probably defined, fast enough for
every file of a repository; `queries` are those of tree-sitter that find them for certain, for the
few files that are shown. In them `@definition` is the whole and `@name` its name.
"""

import re

from msgspec import Struct

_KEYWORDS = (
    rb"\b(?:class|interface|enum|record|struct|union|namespace|trait|mod|type|fn|func|function\*?"
    rb"|macro_rules!|module|def)\s+(?:\([^()\n]{0,80}\)\s*)?(?:self\.)?([\w\x80-\xff]{1,100})"
)
_ASSIGNED = rb"\n[ \t]*(?:export\s+)?(?:const|let|var)\s+([\w\x80-\xff]{1,100})\s*[=:]"
_METHOD = (
    rb"\n[ \t]{1,8}(?:(?:async|static|get|set|public|private|protected)[ \t]+)*"
    rb"([\w\x80-\xff]{1,100})[ \t]*\([^\n;{]*\{"
)
# A type, a name, and what it takes; what a statement begins with is no type.
_TYPED = (
    rb"\n[ \t]{0,8}(?!(?:return|throw|new|else|case|goto|delete)\b)"
    rb"[A-Za-z_][\w<>\[\]., \t*&:]{0,100}?[ \t*&:]([\w\x80-\xff]{1,100})[ \t]*\([^\n=]"
)
_TYPEDEF = rb"\btypedef\s[^;{}]{0,80}?([\w\x80-\xff]{1,100})\s*;"
_MACRO = rb"\n#[ \t]*define[ \t]+([\w\x80-\xff]{1,100})\("
# The words first and what stands before them last: so the search for them is quick.
_DEF = rb"(?:def|class)(?<![\w.]def)(?<![\w.]class)[ \t]+([\w\x80-\xff]{1,100})"
_CONSTANT = rb"\n([A-Za-z_\x80-\xff][\w\x80-\xff]{0,100})[ \t]*(?::[^=\n]{0,200})?=[^=]"


class Language(Struct, frozen=True, kw_only=True):
    """One language."""

    name: str
    suffixes: tuple[str, ...]
    candidates: tuple[re.Pattern[bytes], ...]
    """Each finds names in its one group. Every line, the first too, follows a `\\n`.

    Each is linear in its text: whatever repeats before something that may be missing is bounded.
    """
    queries: tuple[str, ...]
    """The files beside this module that together find its definitions."""


def _row(name: str, suffixes: str, *candidates: bytes, queries: str) -> Language:
    return Language(
        name=name,
        suffixes=tuple(suffixes.split()),
        candidates=tuple(re.compile(pattern) for pattern in candidates),
        queries=tuple(queries.split()),
    )


LANGUAGES = (
    _row("python", ".py .pyi", _DEF, _CONSTANT, queries="python"),
    _row(
        "javascript",
        ".js .mjs .cjs .jsx",
        _KEYWORDS,
        _ASSIGNED,
        _METHOD,
        queries="javascript",
    ),
    _row(
        "typescript",
        ".ts .mts .cts",
        _KEYWORDS,
        _ASSIGNED,
        _METHOD,
        queries="javascript typescript",
    ),
    _row("tsx", ".tsx", _KEYWORDS, _ASSIGNED, _METHOD, queries="javascript typescript"),
    _row("go", ".go", _KEYWORDS, queries="go"),
    _row("rust", ".rs", _KEYWORDS, queries="rust"),
    _row("java", ".java", _KEYWORDS, _TYPED, queries="java"),
    _row("c", ".c .h", _KEYWORDS, _TYPED, _TYPEDEF, _MACRO, queries="c"),
    _row(
        "cpp",
        ".cc .cpp .cxx .hh .hpp .hxx",
        _KEYWORDS,
        _TYPED,
        _TYPEDEF,
        _MACRO,
        queries="c cpp",
    ),
    _row("ruby", ".rb", _KEYWORDS, queries="ruby"),
)

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}


def language_of(path: str) -> Language | None:
    """Return the language of a file by its name; `None` where it is none of ours."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:]) if dot >= 0 else None
