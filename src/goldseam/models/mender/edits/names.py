"""Names: another variable, another attribute, another function, a word that means the opposite."""

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from goldseam.models.mender.edits.change import Change, Scope

_GROUPS = (
    "min max sum len sorted",
    "any all",
    "append extend add insert update appendleft",
    "remove discard pop popleft",
    "sorted reversed list set",
    "upper lower title capitalize casefold",
    "strip lstrip rstrip",
    "startswith endswith",
    "find rfind index rindex",
    "split rsplit splitlines partition rpartition",
    "partition rpartition",
    "floor ceil round int trunc",
    "keys values items",
    "union intersection difference symmetric_difference",
    "issubset issuperset",
    "sin cos tan",
    "isdigit isalpha isalnum isspace isdecimal",
    "ljust rjust center",
    "most_common elements",
    "heappush heappop heapify",
    "bisect_left bisect_right insort_left insort_right",
    "int float str",
    "copy deepcopy",
    "seconds total_seconds",
    "search match fullmatch",
    "break continue",
)
_OPPOSITES = (
    "left right", "first last", "start end stop", "low high", "lower upper", "lo hi", "min max",
    "width height", "row col column", "rows cols columns", "x y", "next prev previous", "head tail",
    "begin end", "source target", "src dst", "old new", "before after", "parent child", "key value",
    "top bottom", "minimum maximum", "numerator denominator", "smaller larger", "i j", "a b",
    "debit credit", "open close", "successor predecessor", "nodes edges", "name value",
)  # fmt: skip
_SWAPS: dict[str, tuple[str, ...]] = {}
for _group in _GROUPS:
    for _word in _group.split():
        _kin = tuple(other for other in _group.split() if other != _word)
        _SWAPS[_word] = (*_SWAPS.get(_word, ()), *_kin)


def changes(scope: Scope) -> Iterator[Change]:
    """Yield changes of the names that `scope` uses."""
    called = {id(node.func) for node in scope.nodes if isinstance(node, ast.Call)}
    for node in scope.nodes:
        match node:
            case ast.Name(ctx=ast.Load()) if id(node) in called:
                yield from _called(node, node.id, scope)
            case ast.Name(ctx=ast.Load()):
                yield from _variable(node, scope)
            case ast.Name(ctx=ast.Store()) if not isinstance(scope.owner, ast.Module):
                yield from _target(node, scope)
            case ast.Attribute():
                yield from _attribute(node, scope, is_called=id(node) in called)
            case _:
                pass


def _variable(node: ast.Name, scope: Scope) -> Iterator[Change]:
    name = node.id
    for other in scope.locals[:12]:
        if other != name:
            weight = 0.3 + 0.2 * _likeness(name, other) * (name in scope.locals)
            what = f"`{other}` instead of `{name}`"
            yield scope.replaced(node, other, weight=weight, what=what)
    if name in scope.locals and scope.has_self:
        for other in scope.words.attributes[:8]:
            weight = 0.15 + 0.2 * _likeness(name, other)
            what = f"`self.{other}` instead of `{name}`"
            yield scope.replaced(node, f"self.{other}", weight=weight, what=what)
    if name in scope.words.functions and name not in scope.locals:
        yield scope.replaced(node, f"{name}()", weight=0.25, what=f"call `{name}`")


def _target(node: ast.Name, scope: Scope) -> Iterator[Change]:
    for other in scope.locals[:8]:
        if other != node.id:
            weight = 0.1 + 0.2 * _likeness(node.id, other)
            what = f"bind `{other}` instead of `{node.id}`"
            yield scope.replaced(node, other, weight=weight, what=what)


def _called(node: ast.Name, name: str, scope: Scope) -> Iterator[Change]:
    for other in _SWAPS.get(name, ()):
        yield scope.replaced(node, other, weight=0.5, what=f"`{other}` instead of `{name}`")
    for other in _sibling_functions(name, scope):
        weight = 0.2 + 0.3 * _likeness(name, other)
        yield scope.replaced(node, other, weight=weight, what=f"`{other}` instead of `{name}`")


def _attribute(node: ast.Attribute, scope: Scope, *, is_called: bool) -> Iterator[Change]:
    name, owner = node.attr, scope.text.of(node.value)
    others: dict[str, float] = dict.fromkeys(_SWAPS.get(name, ()) if is_called else (), 0.5)
    others |= dict.fromkeys(_opposites(name), 0.5)
    if owner == "self":
        known = scope.words.functions if is_called else scope.words.attributes
        others |= {
            other: 0.25 + 0.25 * _likeness(name, other)
            for other in list(known)[:16]
            if other not in others and not other.startswith("__")
        }
    for other, weight in others.items():
        if other != name:
            what = f"`{other}` instead of `{name}`"
            yield scope.replaced(node, f"{owner}.{other}", weight=weight, what=what)
    if not is_called and scope.words.functions.get(name) == 0:
        yield scope.replaced(node, f"{owner}.{name}()", weight=0.35, what=f"call `{name}`")
    if not is_called and owner == "self" and isinstance(node.ctx, ast.Load):
        for other in scope.locals[:8]:
            weight = 0.2 + 0.2 * _likeness(name, other)
            what = f"`{other}` instead of `self.{name}`"
            yield scope.replaced(node, other, weight=weight, what=what)


def _sibling_functions(name: str, scope: Scope) -> list[str]:
    arity = scope.words.functions.get(name)
    known = scope.words.functions
    return [other for other in known if other != name and known[other] == arity][:8]


def _opposites(name: str) -> list[str]:
    """Return `name` with one of its words turned into its opposite."""
    words = name.split("_")
    found = []
    for group in _OPPOSITES:
        kin = group.split()
        for at, word in enumerate(words):
            if word in kin:
                others = (other for other in kin if other != word)
                found += ["_".join((*words[:at], other, *words[at + 1 :])) for other in others]
    return found


def _likeness(one: str, other: str) -> float:
    return 1.0 if other in _opposites(one) else SequenceMatcher(None, one, other).ratio()
