"""Numbers and other constants: one too many, one too few, the wrong end, the wrong value."""

import ast
from collections.abc import Iterator

from goldseam.models.mender.edits.change import Change, Scope, as_operand

_KIN = {
    7: (30,), 10: (100, 2), 12: (24,), 16: (8, 10), 24: (60, 12), 60: (24, 3600), 100: (10, 1000),
    400: (100,), 1000: (100, 1024), 1024: (1000,), 3600: (60,),
}  # fmt: skip
_TEXT_KIN = {"": (" ",), " ": ("", ", "), ",": (", ",), ", ": (",", " "), "\n": ("", " ")}


def changes(scope: Scope) -> Iterator[Change]:
    """Yield changes of constants, and of places where one step more or less matters."""
    docstrings = _docstrings(scope)
    for node in scope.nodes:
        match node:
            case ast.Constant() if id(node) not in docstrings:
                yield from _constant(node, scope)
            case ast.List(elts=[]) | ast.Dict(keys=[]):
                yield scope.replaced(node, "None", weight=0.1, what="`None` instead of it")
            case ast.Subscript(slice=index):
                yield from _index(node, index, scope)
            case ast.Call(func=ast.Name(id="range"), args=args):
                yield from _range(node, args, scope)
            case _:
                yield from _steps(node, scope)


def _steps(node: ast.AST, scope: Scope) -> Iterator[Change]:
    match node:
        case ast.Compare(left=left, comparators=comparators):
            for side in (*comparators, left):
                yield from _step(side, scope, 0.5)
        case ast.Call(func=ast.Name(id="len")):
            yield from _step(node, scope, 0.45)
        case ast.Return(value=ast.expr() as value) | ast.Assign(value=value):
            yield from _step(value, scope, 0.2)
            yield from _sign(value, scope)
            yield from _missing_term(value, scope)
        case ast.Call(args=parts) | ast.Tuple(elts=parts, ctx=ast.Load()):
            for part in parts:
                yield from _step(part, scope, 0.2)
                yield from _sign(part, scope)
        case _:
            pass


def _docstrings(scope: Scope) -> frozenset[int]:
    return frozenset(
        id(statement.value)
        for block in scope.blocks
        for statement in block
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _constant(node: ast.Constant, scope: Scope) -> Iterator[Change]:
    value = node.value
    match value:
        case bool():
            names = scope.locals[:6] if value else ()
            others = {str(not value): 0.6} | dict.fromkeys(names, 0.25)
        case int():
            others = _other_values(value, scope)
        case float():
            numbers = (value + 1, value - 1, value * 10, value / 10, -value)
            others = {_brackets(number): 0.15 for number in numbers}
        case None:
            others = dict.fromkeys(("0", "[]", '""', "False"), 0.12)
        case str():
            others = _other_texts(node, scope, value)
        case _:
            others = {}
    was = scope.text.of(node)
    for other, weight in others.items():
        yield scope.replaced(node, other, weight=weight, what=f"`{other}` instead of `{was}`")


def _other_values(value: int, scope: Scope) -> dict[str, float]:
    weights = {value + 1: 0.7, value - 1: 0.7} | dict.fromkeys(_KIN.get(value, ()), 0.35)
    weights |= {} if value == 0 else {0: max(0.3, weights.get(0, 0)), -value: 0.25}
    weights.setdefault(2 * value or 1, 0.2)
    others = {_brackets(number): weight for number, weight in weights.items() if number != value}
    if value == 0:
        others |= dict.fromkeys(('float("inf")', 'float("-inf")', "None"), 0.15)
    if value in {0, 1}:
        others |= dict.fromkeys(scope.parameters[:3], 0.15)
    return others


def _brackets(value: float) -> str:
    return repr(value) if value >= 0 else f"({value!r})"


def _other_texts(node: ast.Constant, scope: Scope, value: str) -> dict[str, float]:
    if scope.text.of(node)[:1] not in {"'", '"'}:
        return {}  # a prefix, or a piece of an f-string: not to be written anew
    keys = scope.words.keys if value in scope.words.keys else ()
    others = dict.fromkeys(scope.words.texts[:12], 0.15) | dict.fromkeys(keys, 0.3)
    others |= dict.fromkeys(_TEXT_KIN.get(value, ()), 0.3)
    return {_quoted(text): weight for text, weight in others.items() if text != value}


def _quoted(text: str) -> str:
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in text else shown


def _step(node: ast.expr, scope: Scope, weight: float) -> Iterator[Change]:
    """Yield one more and one less; constants are changed elsewhere, and not all can be counted."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.BinOp):
        return
    text = as_operand(scope.text.of(node), node)
    for sign in ("-", "+"):
        yield scope.replaced(node, f"{text} {sign} 1", weight=weight, what=f"`{sign} 1` added")


def _sign(node: ast.expr, scope: Scope) -> Iterator[Change]:
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.BinOp):
        text = as_operand(scope.text.of(node), node)
        yield scope.replaced(node, f"-{text}", weight=0.2, what="the sign turned round")


def _missing_term(node: ast.expr, scope: Scope) -> Iterator[Change]:
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.BinOp):
        return
    text = as_operand(scope.text.of(node), node)
    for name in scope.locals[:6]:
        for sign in ("+", "-", "*"):
            what = f"`{sign} {name}` added"
            yield scope.replaced(node, f"{text} {sign} {name}", weight=0.14, what=what)


def _range(node: ast.Call, args: list[ast.expr], scope: Scope) -> Iterator[Change]:
    for argument in args:
        yield from _step(argument, scope, 0.6)
    texts = [scope.text.of(argument) for argument in args]
    if len(args) == 1:
        yield scope.replaced(node, f"range(1, {texts[0]})", weight=0.5, what="begin at 1")
        yield scope.replaced(node, f"range(1, {texts[0]} + 1)", weight=0.4, what="count from 1")
    elif len(args) == 2:  # noqa: PLR2004 - a start and an end
        yield scope.replaced(node, f"range({texts[1]})", weight=0.4, what="begin at 0")
        yield scope.replaced(
            node, f"range({texts[0]}, {texts[1]}, 2)", weight=0.15, what="each second one"
        )
        yield scope.replaced(
            node, f"range({texts[0]}, {texts[1]}, -1)", weight=0.25, what="count down"
        )


def _index(node: ast.Subscript, index: ast.expr, scope: Scope) -> Iterator[Change]:
    match index:
        case ast.Slice(lower=lower, upper=upper, step=step):
            whole = scope.text.of(node.value)
            low, high, by = (
                "" if part is None else scope.text.of(part) for part in (lower, upper, step)
            )
            pairs = [(low or "1", high), (low, high or "-1"), ("", high), (low, ""), (high, low)]
            for first, last in dict.fromkeys(pairs):
                tail = f":{by}" if by else ""
                if (first, last) != (low, high):
                    text = f"{whole}[{first}:{last}{tail}]"
                    yield scope.replaced(node, text, weight=0.4, what="other bounds of the slice")
            for bound in filter(None, (lower, upper, step)):
                yield from _step(bound, scope, 0.6)
        case ast.Constant(value=0):
            yield scope.replaced(index, "-1", weight=0.6, what="the last instead of the first")
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            yield scope.replaced(index, "0", weight=0.6, what="the first instead of the last")
            yield scope.replaced(
                index, "-2", weight=0.3, what="the last but one instead of the last"
            )
        case _:
            yield from _step(index, scope, 0.55)
