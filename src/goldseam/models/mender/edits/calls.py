"""Calls: arguments swapped, missing or too many, a copy forgotten, a wrapper too many."""

import ast
from collections.abc import Iterator
from itertools import combinations

from goldseam.models.mender.edits.change import Change, Scope, spliced

_MANY = 4
"""Calls with more arguments are only changed between neighbours."""


def changes(scope: Scope) -> Iterator[Change]:
    """Yield changes of the calls in `scope`, and of values that may need one around them."""
    for node in scope.nodes:
        match node:
            case ast.Call():
                yield from _swapped(node, scope)
                yield from _dropped(node, scope)
                yield from _sorting(node, scope)
                yield from _receiver(node, scope)
            case ast.Assign(value=value) | ast.Return(value=ast.expr() as value):
                yield from _wrapped(value, scope)
            case _:
                pass
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            for argument in node.args:
                yield from _copied(argument, scope)


def _swapped(node: ast.Call, scope: Scope) -> Iterator[Change]:
    args = node.args
    pairs = combinations(range(len(args)), 2)
    for one, other in pairs:
        if other - one > 1 and len(args) > _MANY:
            continue
        order = list(args)
        order[one], order[other] = order[other], order[one]
        if scope.text.of(args[one]) == scope.text.of(args[other]):
            continue
        between = scope.text.between(scope.text.end(args[one]), scope.text.start(args[other]))
        text = f"{scope.text.of(order[one])}{between}{scope.text.of(order[other])}"
        start, end = scope.text.start(args[one]), scope.text.end(args[other])
        yield spliced(start, end, text, weight=0.5, what="swap arguments")


def _dropped(node: ast.Call, scope: Scope) -> Iterator[Change]:
    function = scope.text.of(node.func)
    texts = [scope.text.of(argument) for argument in node.args]
    keywords = [
        f"{keyword.arg}={scope.text.of(keyword.value)}"
        if keyword.arg
        else f"**{scope.text.of(keyword.value)}"
        for keyword in node.keywords
    ]
    for at in range(len(keywords)):
        text = f"{function}({', '.join([*texts, *keywords[:at], *keywords[at + 1 :]])})"
        yield scope.replaced(node, text, weight=0.25, what=f"drop `{keywords[at]}`")
    if len(texts) > 1:
        for at in range(len(texts)):
            text = f"{function}({', '.join([*texts[:at], *texts[at + 1 :], *keywords])})"
            yield scope.replaced(node, text, weight=0.15, what=f"drop the argument `{texts[at]}`")
    if len(texts) == 1 and not keywords:
        yield scope.replaced(node, f"({texts[0]})", weight=0.25, what=f"without `{function}`")
    match node.func:
        case ast.Attribute(value=value) if not texts and not keywords:
            yield scope.replaced(
                node, scope.text.of(value), weight=0.25, what=f"without `{node.func.attr}`"
            )
        case _:
            pass


def _sorting(node: ast.Call, scope: Scope) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else scope.text.of(node.func)
    if name not in {"sort", "sorted"} or any(word.arg == "reverse" for word in node.keywords):
        return
    inner = [scope.text.of(argument) for argument in node.args]
    inner += [f"{word.arg}={scope.text.of(word.value)}" for word in node.keywords]
    text = f"{scope.text.of(node.func)}({', '.join([*inner, 'reverse=True'])})"
    yield scope.replaced(node, text, weight=0.45, what="sort the other way")


def _receiver(node: ast.Call, scope: Scope) -> Iterator[Change]:
    """Yield `b.f(a)` for `a.f(b)`, and `sorted(a)` where the nothing of `a.sort()` is used."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr=name), args=[only]):
            text = f"{scope.text.of(only)}.{name}({owner.id})"
            if isinstance(only, ast.Name | ast.Attribute | ast.Subscript):
                yield scope.replaced(
                    node, text, weight=0.3, what="turn round who is asked and what is given"
                )
        case ast.Call(func=ast.Attribute(value=value, attr="sort"), args=[], keywords=[]):
            yield scope.replaced(
                node, f"sorted({scope.text.of(value)})", weight=0.3, what="a sorted copy"
            )
        case _:
            pass


def _wrapped(value: ast.expr, scope: Scope) -> Iterator[Change]:
    text = scope.text.of(value)
    if isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.BinOp | ast.Subscript):
        for wrapper in ("abs", "list", "sorted", "int", "len", "str", "float", "not "):
            call = f"not ({text})" if wrapper == "not " else f"{wrapper}({text})"
            weight = 0.15 if wrapper in {"abs", "list", "int", "not "} else 0.08
            yield scope.replaced(value, call, weight=weight, what=f"`{wrapper.strip()}` around it")
        yield scope.replaced(value, f"({text})[::-1]", weight=0.12, what="the other way round")
    yield from _copied(value, scope)


def _copied(value: ast.expr, scope: Scope) -> Iterator[Change]:
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
        yield scope.replaced(
            value, f"{scope.text.of(value)}.copy()", weight=0.25, what="a copy of it"
        )
