"""What a change is, and the function it is made in. Pure; knows no family."""

import ast
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

Place = tuple[int, int]
"""A line (1-based) and a column in characters."""

INDENT = "    "
SHORT = 20
"""Characters of a constant or name that may be brought in elsewhere."""


class Splice(Struct, frozen=True, kw_only=True):
    """`text` in place of what stands from `start` up to `end`."""

    start: Place
    end: Place
    text: str


class Change(Struct, frozen=True, kw_only=True):
    """A small change of one function; `weight` (0 to 1) says how often such a one is the cure."""

    splices: tuple[Splice, ...]
    weight: float
    what: str


class Text:
    """Source text, and the places of its nodes in characters."""

    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")

    def start(self, node: ast.expr | ast.stmt) -> Place:
        """Return where `node` begins."""
        return node.lineno, self._column(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> Place:
        """Return where `node` ends."""
        line = node.end_lineno or node.lineno
        return line, self._column(line, node.end_col_offset or 0)

    def between(self, start: Place, end: Place) -> str:
        """Return the text from `start` up to `end`."""
        if start[0] == end[0]:
            return self.lines[start[0] - 1][start[1] : end[1]]
        middle = self.lines[start[0] : end[0] - 1]
        first, last = self.lines[start[0] - 1][start[1] :], self.lines[end[0] - 1][: end[1]]
        return "\n".join((first, *middle, last))

    def of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of `node`."""
        return self.between(self.start(node), self.end(node))

    def place(self, start: Place, offset: int) -> Place:
        """Return the place `offset` characters after `start`."""
        line, column = start
        while offset > len(self.lines[line - 1]) - column:
            offset -= len(self.lines[line - 1]) - column + 1
            line, column = line + 1, 0
        return line, column + offset

    def indent(self, line: int) -> str:
        """Return the white space that `line` begins with."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip())]

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


Function = ast.FunctionDef | ast.AsyncFunctionDef


class Scope:
    """One function, or what stands outside of all: its nodes, its text, its names."""

    def __init__(self, owner: Function | ast.Module, text: Text, *, words: "Words") -> None:
        self.owner = owner
        self.text = text
        self.words = words

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes, from the top down; of a module only those outside its functions."""
        if isinstance(self.owner, ast.Module):
            return tuple(_outside_functions(self.owner))
        parts = (self.owner.args, *self.owner.body)
        return tuple(node for part in parts for node in ast.walk(part))

    @cached_property
    def blocks(self) -> tuple[list[ast.stmt], ...]:
        """Every list of statements in it, the outermost first."""
        if isinstance(self.owner, ast.Module):
            return (self.owner.body,)
        found = []
        for node in ast.walk(self.owner):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block:
                    found.append(block)
        return tuple(found)

    @cached_property
    def _arguments(self) -> tuple[str, ...]:
        if isinstance(self.owner, ast.Module):
            return ()
        args = self.owner.args
        return tuple(arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs))

    @property
    def has_self(self) -> bool:
        """Whether it is a method."""
        return "self" in self._arguments

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments, without `self` and `cls`."""
        return tuple(name for name in self._arguments if name not in {"self", "cls"})

    @cached_property
    def locals(self) -> tuple[str, ...]:
        """The names bound in it, arguments first, each once, in order of appearance."""
        stored = [
            node.id
            for node in self.nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        return tuple(dict.fromkeys((*self.parameters, *stored)))

    def replaced(self, node: ast.expr | ast.stmt, text: str, *, weight: float, what: str) -> Change:
        """Return the change that puts `text` in place of `node`."""
        return spliced(self.text.start(node), self.text.end(node), text, weight=weight, what=what)


class Words(Struct, frozen=True, kw_only=True):
    """What else the file speaks of: names a change may bring in."""

    functions: dict[str, int]
    """Functions and methods by name, with the number of their arguments."""
    attributes: tuple[str, ...]
    """Attributes of `self`."""
    keys: tuple[str, ...]
    """Text used as keys."""
    texts: tuple[str, ...]
    """Short text constants."""


def spliced(start: Place, end: Place, text: str, *, weight: float, what: str) -> Change:
    """Return the change of one splice."""
    splice = Splice(start=start, end=end, text=text)
    return Change(splices=(splice,), weight=weight, what=what)


def words_of(tree: ast.Module) -> Words:
    """Return what the file of `tree` speaks of."""
    functions: dict[str, int] = {}
    attributes: dict[str, None] = {}
    keys: dict[str, None] = {}
    texts: dict[str, None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                args = [arg for arg in node.args.args if arg.arg not in {"self", "cls"}]
                functions[name] = len(args)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                attributes[name] = None
            case ast.Subscript(slice=ast.Constant(value=str(key))):
                keys[key] = None
            case ast.Constant(value=str(text)) if len(text) <= SHORT and "\n" not in text:
                texts[text] = None
            case _:
                pass
    return Words(
        functions=functions, attributes=tuple(attributes), keys=tuple(keys), texts=tuple(texts)
    )


def is_simple(node: ast.expr) -> bool:
    """Whether `node` can be an operand as it stands, without brackets around it."""
    return isinstance(
        node,
        ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript | ast.List | ast.Dict,
    )


def as_operand(text: str, node: ast.expr) -> str:
    """Return `text`, which writes `node`, fit to stand beside an operator."""
    return text if is_simple(node) else f"({text})"


def _outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, Function):
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))
