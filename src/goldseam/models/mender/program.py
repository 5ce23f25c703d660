"""The program as far as it was read: files, functions, and who calls whom, by name alone. Pure."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from goldseam.models.mender.edits.change import Function

MODULE_CODE = ""
"""The name of what stands outside all functions."""


class FunctionSeen(Struct, frozen=True, kw_only=True):
    """A function, a method, or the code of a file outside of them."""

    path: str
    name: str
    first_line: int
    last_line: int
    calls: frozenset[str]
    """Names that it mentions: it may call what bears them."""


class FileSeen(Struct, frozen=True, kw_only=True):
    """A Python file that could be read and parsed."""

    path: str
    source: str
    tree: ast.Module
    functions: tuple[FunctionSeen, ...]
    imports: tuple[str, ...]
    """Modules it imports, dotted; relative ones without their dots."""


@lru_cache(maxsize=64)
def see_file(path: str, source: str) -> FileSeen | None:
    """Return the file, `None` where it is not Python of this version."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return FileSeen(
        path=path,
        source=source,
        tree=tree,
        functions=tuple(_functions(path, tree)),
        imports=tuple(_imports(tree)),
    )


def is_test_file(path: str) -> bool:
    """Whether `path` looks like a test rather than the program."""
    *folders, name = path.split("/")
    in_tests = any(folder in {"test", "tests", "testing"} for folder in folders)
    return (
        in_tests or name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
    )


def mentioned(node: ast.AST) -> frozenset[str]:
    """Return every name and attribute that `node` mentions; a class stands for its making."""
    names = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.Attribute):
            names.add(part.attr)
    return frozenset(names)


def reached_from(
    start: frozenset[str], by_name: Mapping[str, tuple[FunctionSeen, ...]], *, depth: int
) -> dict[FunctionSeen, int]:
    """Return the functions that `start` mentions, with how many calls away each is at the least."""
    found: dict[FunctionSeen, int] = {}
    names = start
    for distance in range(depth):
        fresh = {f: None for name in sorted(names) for f in by_name.get(name, ()) if f not in found}
        found |= dict.fromkeys(fresh, distance)
        names = frozenset(name for function in fresh for name in function.calls)
    return found


def _functions(path: str, tree: ast.Module) -> Iterator[FunctionSeen]:
    outside = [node for node in tree.body if not isinstance(node, Function | ast.ClassDef)]
    yield FunctionSeen(
        path=path,
        name=MODULE_CODE,
        first_line=1,
        last_line=max((node.end_lineno or 1 for node in outside), default=1),
        calls=frozenset().union(*map(mentioned, outside)),
    )
    for node, _ in functions_in(tree):
        yield FunctionSeen(
            path=path,
            name=node.name,
            first_line=node.lineno,
            last_line=node.end_lineno or node.lineno,
            calls=mentioned(node),
        )


def functions_in(tree: ast.Module) -> Iterator[tuple[Function, str]]:
    """Yield functions and methods with the class that holds each, not those within functions."""
    waiting: list[tuple[ast.stmt, str]] = [(node, "") for node in tree.body]
    while waiting:
        node, owner = waiting.pop(0)
        if isinstance(node, Function):
            yield node, owner
        elif isinstance(node, ast.ClassDef):
            waiting = [*((inner, node.name) for inner in node.body), *waiting]
        elif isinstance(node, ast.If | ast.Try | ast.With):
            waiting = [*((inner, owner) for inner in node.body), *waiting]


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names):
                yield from (f"{module}.{alias.name}" if module else alias.name for alias in names)
                if module:
                    yield module
            case _:
                pass
