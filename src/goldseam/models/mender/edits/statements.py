"""Statements: conditions turned round, returns missing or misplaced, one too many, out of order."""

import ast
from collections.abc import Iterator

from goldseam.models.mender.edits.change import (
    INDENT,
    SHORT,
    Change,
    Function,
    Place,
    Scope,
    Splice,
    as_operand,
    spliced,
)

_COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip


def changes(scope: Scope) -> Iterator[Change]:
    """Yield changes of the statements in `scope`."""
    for node in scope.nodes:
        yield from _conditions(node, scope)
    for block in scope.blocks:
        yield from _block(block, scope)
    if isinstance(scope.owner, Function):
        yield from _loop_ends(scope)
        yield from _last_return(scope.owner, scope)
        yield from _first_returns(scope.owner, scope)
        yield from _mutable_defaults(scope.owner, scope)


def _conditions(node: ast.AST, scope: Scope) -> Iterator[Change]:
    match node:
        case (
            ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test)
        ):
            yield from _negated(test, scope)
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield from _negated(test, scope)
        case ast.Break():
            yield scope.replaced(node, "continue", weight=0.5, what="`continue` instead of `break`")
        case ast.Continue():
            yield scope.replaced(node, "break", weight=0.5, what="`break` instead of `continue`")
        case ast.Yield(value=ast.expr() as value):
            text = f"yield from {as_operand(scope.text.of(value), value)}"
            yield scope.replaced(node, text, weight=0.4, what="`yield from`")
        case ast.YieldFrom(value=value):
            yield scope.replaced(
                node, f"yield {scope.text.of(value)}", weight=0.3, what="`yield` alone"
            )
        case _:
            pass


def _negated(test: ast.expr, scope: Scope) -> Iterator[Change]:
    text = scope.text.of(test)
    if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        yield scope.replaced(test, f"not ({text})", weight=0.45, what="turn the condition round")
    if isinstance(test, ast.Compare | ast.Call | ast.Name | ast.Attribute):
        for name in scope.locals[:5]:
            yield scope.replaced(
                test, f"{name} and {text}", weight=0.12, what=f"only where `{name}`"
            )
            yield scope.replaced(
                test, f"not {name} or {text}", weight=0.1, what=f"also where not `{name}`"
            )


def _block(block: list[ast.stmt], scope: Scope) -> Iterator[Change]:
    for index, statement in enumerate(block):
        yield from _one(statement, scope, alone=len(block) == 1)
        if index + 1 < len(block):
            yield from _neighbours(statement, block[index + 1], scope)


def _one(statement: ast.stmt, scope: Scope, *, alone: bool) -> Iterator[Change]:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Expr(value=ast.Call() as value) if not isinstance(scope.owner, ast.Module):
            text = f"return {scope.text.of(value)}"
            yield scope.replaced(statement, text, weight=0.4, what="return what comes of it")
            yield from _bound(value, scope)
        case ast.Assign(
            targets=[(ast.Name() | ast.Attribute() | ast.Subscript()) as target], value=value
        ):
            text, operand = scope.text.of(target), as_operand(scope.text.of(value), value)
            for sign, weight in (("+", 0.3), ("-", 0.15)):
                what = f"`{sign}=` instead of `=`"
                yield scope.replaced(
                    statement, f"{text} {sign}= {operand}", weight=weight, what=what
                )
        case ast.If(orelse=[ast.If() as other]) if _word(other, scope) == "elif":
            start = scope.text.start(other)
            end = (start[0], start[1] + len("elif"))
            yield spliced(start, end, "if", weight=0.3, what="`if` instead of `elif`")
        case _:
            pass
    if isinstance(
        statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.If | ast.Raise
    ):
        weight = 0.2 if alone else 0.25
        yield scope.replaced(statement, "pass", weight=weight, what="leave a statement out")


def _bound(value: ast.Call, scope: Scope) -> Iterator[Change]:
    """Yield uses of a result that is thrown away: bound, as after `x.strip()`, or collected."""
    text = scope.text.of(value)
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in scope.locals:
            yield scope.replaced(value, f"{name} = {text}", weight=0.35, what=f"bind `{name}`")
        case ast.Call(func=ast.Name()):
            for name in scope.locals[:6]:
                for form in ("{0}.extend({1})", "{0}.append({1})", "{0} += {1}", "{0} = {1}"):
                    what = f"keep the result in `{name}`"
                    yield scope.replaced(value, form.format(name, text), weight=0.2, what=what)
        case _:
            pass


def _neighbours(one: ast.stmt, other: ast.stmt, scope: Scope) -> Iterator[Change]:
    if isinstance(one, ast.If) and isinstance(other, ast.If) and not one.orelse:
        start = scope.text.start(other)
        yield spliced(start, start, "el", weight=0.3, what="`elif` instead of `if`")
    docstring = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    if isinstance(one, _COMPOUND) or isinstance(other, _COMPOUND) or docstring:
        return
    if one.lineno == other.lineno:
        return
    text = scope.text
    between = text.between(text.end(one), text.start(other))
    swapped = f"{text.of(other)}{between}{text.of(one)}"
    yield spliced(text.start(one), text.end(other), swapped, weight=0.3, what="swap two statements")


def _loop_ends(scope: Scope) -> Iterator[Change]:
    """Yield the last statement of a loop moved behind it, and the one behind it moved in."""
    top = scope.text.indent(scope.blocks[0][0].lineno)
    for block in scope.blocks:
        for statement, following in zip(block, [*block[1:], None], strict=True):
            if isinstance(statement, ast.For | ast.While | ast.If):
                yield from _moved_over_the_end(statement, following, scope)
            elif isinstance(statement, ast.Return) and len(block) > 1 and not following:
                yield _moved(statement, scope, top)


def _moved_over_the_end(
    loop: ast.For | ast.While | ast.If, following: ast.stmt | None, scope: Scope
) -> Iterator[Change]:
    inner = (loop.orelse or loop.body)[-1]
    if not isinstance(inner, _COMPOUND) and len(loop.body) > 1:
        yield _moved(inner, scope, scope.text.indent(loop.lineno))
    if following and not isinstance(following, _COMPOUND):
        yield _moved(following, scope, scope.text.indent(inner.lineno))


def _moved(statement: ast.stmt, scope: Scope, indent: str) -> Change:
    start, end = scope.text.start(statement), scope.text.end(statement)
    text = indent + scope.text.of(statement)
    weight = 0.45 if isinstance(statement, ast.Return) else 0.3
    return spliced((start[0], 0), end, text, weight=weight, what="move it into or out of a block")


def _last_return(owner: Function, scope: Scope) -> Iterator[Change]:
    last = owner.body[-1]
    returns = any(isinstance(node, ast.Return) and node.value for node in ast.walk(owner))
    weight = 0.2 if returns else 0.5
    if isinstance(last, ast.Return) or any(isinstance(node, ast.Yield) for node in scope.nodes):
        return
    indent = scope.text.indent(owner.body[-1].lineno)
    for value in (*scope.locals[:8], *_returned(owner, scope)[:4]):
        text = f"\n{indent}return {value}"
        end = scope.text.end(last)
        yield spliced(end, end, text, weight=weight, what=f"return `{value}` at the end")


def _first_returns(owner: Function, scope: Scope) -> Iterator[Change]:
    """Yield base cases: a return before all else where an argument is empty or small."""
    first = next((s for s in owner.body if not _is_docstring(s)), None)
    if first is None or first.lineno == owner.lineno or not scope.parameters:
        return
    recursive = owner.name in {
        getattr(node.func, "id", getattr(node.func, "attr", ""))
        for node in scope.nodes
        if isinstance(node, ast.Call)
    }
    base = 0.3 if recursive else 0.12
    start, indent = _place(first, scope)
    values = dict.fromkeys((
        *_returned(owner, scope),
        "0",
        "1",
        "[]",
        "None",
        "False",
        '""',
        "True",
    ))
    for rank, name in enumerate(scope.parameters[:3]):
        tests = (f"not {name}", f"{name} <= 1", f"{name} is None", f"len({name}) < 2")
        for strength, test in enumerate(tests):
            for order, value in enumerate((*list(values)[:8], name)):
                weight = base * (1 - 0.15 * rank) * (1 - 0.15 * strength) * (1 - 0.04 * order)
                text = f"if {test}:\n{indent}{INDENT}return {value}\n{indent}"
                what = f"return `{value}` first where `{test}`"
                yield spliced(start, start, text, weight=weight, what=what)


def _place(statement: ast.stmt, scope: Scope) -> tuple[Place, str]:
    """Return where `statement` begins, its decorators with it, and its indentation."""
    decorators = getattr(statement, "decorator_list", None) or [statement]
    line = decorators[0].lineno
    indent = scope.text.indent(line)
    return (line, len(indent)), indent


def _returned(owner: Function, scope: Scope) -> list[str]:
    """Return the simple values that `owner` returns already."""
    values = [node.value for node in ast.walk(owner) if isinstance(node, ast.Return) and node.value]
    simple = [value for value in values if isinstance(value, ast.Constant | ast.Name | ast.List)]
    texts = [scope.text.of(value) for value in simple]
    return [text for text in dict.fromkeys(texts) if len(text) <= SHORT]


def _mutable_defaults(owner: Function, scope: Scope) -> Iterator[Change]:
    args = owner.args
    first = next((s for s in owner.body if not _is_docstring(s)), None)
    named = [*args.posonlyargs, *args.args]
    with_default = named[len(named) - len(args.defaults) :]
    for arg, default in zip(with_default, args.defaults, strict=True):
        if first is None or not isinstance(default, ast.List | ast.Dict | ast.Set | ast.Call):
            continue
        start, indent = _place(first, scope)
        value = scope.text.of(default)
        guard = f"if {arg.arg} is None:\n{indent}{INDENT}{arg.arg} = {value}\n{indent}"
        splices = (
            Splice(start=scope.text.start(default), end=scope.text.end(default), text="None"),
            Splice(start=start, end=start, text=guard),
        )
        yield Change(splices=splices, weight=0.5, what=f"a fresh `{arg.arg}` for each call")


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _word(node: ast.stmt, scope: Scope) -> str:
    return scope.text.lines[node.lineno - 1][node.col_offset :][:4]
