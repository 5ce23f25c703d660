"""Every small change of a module that a test should notice, made on its syntax tree. Pure.

Left alone is what no test can tell apart, or should not: annotations, docstrings, decorators,
imports, the words of a loss, and the spelling of a codec.
"""

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


class Mutant(NamedTuple):
    """One change: where, what becomes of what, and the whole module with it."""

    line: int
    change: str
    source: str


def mutants_of(source: str) -> Iterator[Mutant]:
    """Yield every change of a module, in the order of its lines."""
    tree = ast.parse(source)
    for number, node in enumerate(_places(tree)):
        for way in range(len(_ways(node))):
            copy = deepcopy(tree)
            twin = list(_places(copy))[number]
            before = ast.unparse(twin)
            changed = _ways(twin)[way]
            after = "nothing" if isinstance(changed, ast.Pass) else ast.unparse(changed)
            mutated = ast.unparse(_Replacing(twin, changed).visit(copy))
            change = f"`{_short(before)}` becomes `{_short(after)}`"
            yield Mutant(getattr(node, "lineno", 0), change, mutated)


def _short(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:110].replace("`", "'")


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _places(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may be changed: no annotation, docstring, decorator or type."""
    yield node
    for name, value in ast.iter_fields(node):
        of_class = isinstance(node, ast.ClassDef) and name in {"bases", "keywords"}
        if of_class or name in {"annotation", "returns", "decorator_list"}:
            continue
        inner = value if isinstance(value, list) else [value]
        if name == "args" and _is_note(node):
            inner = inner[:-1]  # the words of a loss are for the eye
        for child in inner:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                yield from _places(child)


def _is_note(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="note") | ast.Name(id="loss")):
            return True
        case _:
            return False


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Constant(value="utf-8" | "utf-16-le"):
            return True  # the same codec by any spelling
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.match_case(body=[ast.Expr(value=ast.Call(func=ast.Name(id="assert_never")))]):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case _:
            return False


def _ways(node: ast.AST) -> list[ast.AST]:
    """Return what `node` may become."""
    return [*_other_operators(node), *_other_values(node), *_other_courses(node)]


def _other_operators(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            yield _with(node, ops=[SWAPS[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SWAPS:
            yield _with(node, op=SWAPS[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case _:
            return


def _other_values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(value=not value)
        case ast.Constant(value=int() as number):
            yield ast.Constant(value=number + 1)
        case ast.Constant(value=str() as text):
            yield ast.Constant(value=f"{text}~")
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield ast.Return(value=ast.Constant(value=None))
        case _:
            return


def _other_courses(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            yield _with(node, test=ast.UnaryOp(op=ast.Not(), operand=test))
        case ast.comprehension(ifs=[_, *_]):
            yield _with(node, ifs=[])
        case ast.match_case(guard=guard) if guard is not None:
            yield _with(node, guard=None)
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign():
            yield ast.Pass()
        case _:
            return


def _with(node: ast.AST, **fields: object) -> ast.AST:
    twin = deepcopy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin
