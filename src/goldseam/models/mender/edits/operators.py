"""Operators: comparisons, boundaries of order, arithmetic, logic, and operands too many."""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from goldseam.models.mender.edits.change import (
    SHORT,
    Change,
    Scope,
    Splice,
    as_operand,
    spliced,
)

_Choices = Mapping[str, tuple[tuple[str, float], ...]]

_COMPARISONS: _Choices = {
    "<": (("<=", 0.9), (">", 0.6), (">=", 0.5), ("!=", 0.2)),
    "<=": (("<", 0.9), (">=", 0.6), (">", 0.5), ("==", 0.2)),
    ">": ((">=", 0.9), ("<", 0.6), ("<=", 0.5), ("!=", 0.2)),
    ">=": ((">", 0.9), ("<=", 0.6), ("<", 0.5), ("==", 0.2)),
    "==": (("!=", 0.7), ("<=", 0.4), (">=", 0.4), ("in", 0.1)),
    "!=": (("==", 0.7), ("<", 0.3), (">", 0.3)),
    "is not": (("is", 0.7), ("!=", 0.2)),
    "is": (("is not", 0.7), ("==", 0.4)),
    "not in": (("in", 0.7),),
    "in": (("not in", 0.7), ("==", 0.1)),
}
_ARITHMETIC: _Choices = {
    "+": (("-", 0.7), ("*", 0.35)),
    "-": (("+", 0.7), ("*", 0.1)),
    "*": (("+", 0.4), ("/", 0.4), ("**", 0.4), ("//", 0.3), ("-", 0.1)),
    "/": (("//", 0.7), ("*", 0.6), ("%", 0.2)),
    "//": (("/", 0.7), ("%", 0.5), ("*", 0.35)),
    "%": (("//", 0.6), ("/", 0.25), ("*", 0.1)),
    "**": (("*", 0.6),),
    "&": (("|", 0.7), ("^", 0.6)),
    "|": (("&", 0.7), ("^", 0.6)),
    "^": (("&", 0.7), ("|", 0.6)),
    "<<": ((">>", 0.7),),
    ">>": (("<<", 0.7),),
    "@": (),
}
_TOKEN = re.compile(
    r"is\s+not\b|not\s+in\b|is\b|in\b|and\b|or\b|[<>=!]=|\*\*|//|<<|>>|[-+*/%&|^@<>]"
)
_COMMENT = re.compile(r"#[^\n]*")


def changes(scope: Scope) -> Iterator[Change]:
    """Yield changes of the operators in `scope`."""
    for node in scope.nodes:
        match node:
            case ast.Compare():
                yield from _comparison(node, scope)
            case ast.BinOp():
                yield from _arithmetic(node, scope)
            case ast.BoolOp():
                yield from _logic(node, scope)
            case ast.AugAssign():
                yield from _augmented(node, scope)
            case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
                word = "not" if isinstance(node.op, ast.Not) else "the sign"
                weight = 0.6 if isinstance(node.op, ast.Not) else 0.4
                yield scope.replaced(
                    node, scope.text.of(operand), weight=weight, what=f"drop {word}"
                )
            case _:
                pass


def _comparison(node: ast.Compare, scope: Scope) -> Iterator[Change]:
    for pair in pairwise([node.left, *node.comparators]):
        yield from _swapped(pair, scope, _COMPARISONS)


def _arithmetic(node: ast.BinOp, scope: Scope) -> Iterator[Change]:
    if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr):
        return  # text with holes, not a remainder
    pair = (node.left, node.right)
    yield from _swapped(pair, scope, _ARITHMETIC)
    left, right = (as_operand(scope.text.of(side), side) for side in pair)
    yield scope.replaced(node, left, weight=0.35, what=f"drop `{_short(right)}`")
    yield scope.replaced(node, right, weight=0.25, what=f"drop `{_short(left)}`")
    if isinstance(node.op, ast.Mult | ast.BitAnd | ast.BitOr | ast.BitXor):
        return  # the same either way
    for sign in _operators(pair, scope):
        turned = f"({right} {sign.text} {left})"
        yield scope.replaced(node, turned, weight=0.35, what="turn the operands round")


def _logic(node: ast.BoolOp, scope: Scope) -> Iterator[Change]:
    word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for pair in pairwise(node.values):
        for sign in _operators(pair, scope):
            what = f"`{other}` instead of `{word}`"
            yield spliced(sign.start, sign.end, other, weight=0.7, what=what)
    values = [as_operand(scope.text.of(value), value) for value in node.values]
    for index, value in enumerate(values):
        kept = f" {word} ".join((*values[:index], *values[index + 1 :]))
        yield scope.replaced(node, kept, weight=0.35, what=f"drop `{_short(value)}`")


def _augmented(node: ast.AugAssign, scope: Scope) -> Iterator[Change]:
    for sign in _operators((node.target, node.value), scope):
        yield from _instead_of(sign, _ARITHMETIC)
        end = (sign.end[0], sign.end[1] + 1)
        what = f"`=` instead of `{sign.text}=`"
        yield spliced(sign.start, end, "=", weight=0.4, what=what)


def _swapped(pair: tuple[ast.expr, ast.expr], scope: Scope, choices: _Choices) -> Iterator[Change]:
    for sign in _operators(pair, scope):
        yield from _instead_of(sign, choices)


def _instead_of(sign: Splice, choices: _Choices) -> Iterator[Change]:
    for other, weight in choices.get(" ".join(sign.text.split()), ()):
        what = f"`{other}` instead of `{sign.text}`"
        yield spliced(sign.start, sign.end, other, weight=weight, what=what)


def _operators(pair: tuple[ast.expr, ast.expr], scope: Scope) -> Iterator[Splice]:
    """Yield the operator that stands between two operands, with its place."""
    start = scope.text.end(pair[0])
    gap = scope.text.between(start, scope.text.start(pair[1]))
    bare = _COMMENT.sub(lambda comment: " " * len(comment.group()), gap)
    for found in list(_TOKEN.finditer(bare))[:1]:
        at, past = (scope.text.place(start, offset) for offset in found.span())
        yield Splice(start=at, end=past, text=found.group())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1]}…"
