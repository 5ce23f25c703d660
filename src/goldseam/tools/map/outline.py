"""The definitions in one file, by tree-sitter: where each is, how it begins, what it is inside."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from msgspec import Struct

from goldseam.tools.map.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

MAX_SIGNATURE = 100
"""Characters of a definition's beginning."""

_PIECE = 1 << 16
_READ_BYTES = 600


class Definition(Struct, frozen=True, kw_only=True):
    """One definition. `depth` counts the definitions that it is inside of."""

    name: str
    line: int
    depth: int
    signature: str


def outline_of(
    content: bytes, language: Language, *, is_over: Callable[[], bool]
) -> tuple[Definition, ...]:
    """Return the definitions in `content`, in order; none once `is_over` says that time is up.

    What cannot be parsed is passed over: the rest of a broken file is still found.
    """
    parser, query = _tools_for(language)
    try:
        tree = parser.parse(
            lambda offset, _: content[offset : offset + _PIECE],
            progress_callback=lambda _offset, _broken: is_over(),
        )
    except ValueError:
        parser.reset()  # it was stopped, and would go on where it stood
        return ()
    return tuple(_definitions(tree.root_node, query, content))


@cache
def _tools_for(language: Language) -> "tuple[Parser, Query]":
    # Loaded when the first file is parsed: most commands never need it.
    from tree_sitter import Parser, Query  # noqa: PLC0415

    from goldseam.tools.map.grammars import grammar_of  # noqa: PLC0415

    beside = files("goldseam.tools.map") / "queries"
    query = "".join((beside / f"{name}.scm").read_text("utf-8") for name in language.queries)
    grammar = grammar_of(language.name)
    return Parser(grammar), Query(grammar, query)


def _definitions(root: "Node", query: "Query", content: bytes) -> Iterator[Definition]:
    around: list[int] = []
    for whole, name in _found(root, query):
        while around and around[-1] <= whole.start_byte:
            around.pop()
        yield Definition(
            name=_plain_name(_text(content[name.start_byte : name.end_byte])),
            line=name.start_point[0] + 1,
            depth=len(around),
            signature=_signature(whole, content),
        )
        around.append(whole.end_byte)


def _found(root: "Node", query: "Query") -> "list[tuple[Node, Node]]":
    """Return each definition with its name, outer ones first, none of them twice."""
    from tree_sitter import QueryCursor  # noqa: PLC0415 - see above

    found: dict[tuple[int, int], tuple[Node, Node]] = {}
    for _, captures in QueryCursor(query).matches(root):
        whole, name = captures["definition"][0], captures["name"][0]
        found.setdefault((whole.start_byte, -whole.end_byte), (whole, name))
    return [found[place] for place in sorted(found)]


def _signature(whole: "Node", content: bytes) -> str:
    """Return how a definition begins, up to its body, in one line."""
    body = whole.child_by_field_name("body")
    end = body.start_byte if body is not None else whole.end_byte
    begins = content[whole.start_byte : min(end, whole.start_byte + _READ_BYTES)]
    text = " ".join(_text(begins).split()).rstrip(" :{=")
    return text if len(text) <= MAX_SIGNATURE else f"{text[: MAX_SIGNATURE - 1]}…"


def _plain_name(name: str) -> str:
    """Return the name itself: `set` of `Map::set`, `Map` of `Map<K, V>`."""
    return name.partition("<")[0].rpartition("::")[2].strip()


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
