"""The shape of the code: sizes, the kernel's purity, and what a module may do when it is imported.

The caps and how one is raised: decisions/caps.md. Who may import whom: .importlinter.
"""

import ast
import configparser
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "goldseam"


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


MODULES = sorted(SOURCE.rglob("*.py"))
KERNEL = sorted((SOURCE / "kernel").rglob("*.py"))
GUESTS = sorted((SOURCE / "workspace").rglob("guest/*.py"))
SPEAKERS = [path for path in MODULES if name_of(path).startswith(("models/", "tools/", "repair/"))]

MODULE_CAP = 300
FUNCTION_CAP = 40
LOOP_CAP = 150
KERNEL_CAP = 1500
DIALECT_CAP = 700
NO_DIALECTS = {"mender", "__pycache__"}
PROSE_CAP = 8

VENDORS = re.compile(
    r"openai|anthropic|claude|gemini|google|vertex|gpt|azure|bedrock|mistral|deepseek|qwen|moonshot"
    r"|kimi|grok|cohere|llama|zhipu|glm",
    re.IGNORECASE,
)
VAGUE_NAMES = re.compile(r"Manager|Helper|Util|\wBase$|^Base[A-Z]|Data$|Info$")
VAGUE_MODULES = {"util", "utils", "helper", "helpers", "common", "misc", "types", "data"}

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def lines_in(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def code_lines_in(folder: Path) -> int:
    """Count the lines of code under `folder`: no blank line, comment or docstring among them."""
    return sum(len(code_lines(path)) for path in folder.rglob("*.py"))


def code_lines(path: Path) -> set[int]:
    found: set[int] = set()
    with path.open(encoding="utf-8") as source:
        for token in tokenize.generate_tokens(source.readline):
            if token.type not in NO_CODE:
                found |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return found


def functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, Function):
                yield name, child
            yield from functions(child, f"{name}.")
        else:
            yield from functions(child, prefix)


def length_of(function: Function) -> int:
    """Count the lines from `def` to the end, less the docstring."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def sizes() -> dict[str, tuple[int, int]]:
    """Return size and cap of everything that has a cap."""
    found = {name_of(path): (lines_in(path), MODULE_CAP) for path in MODULES}
    for path in MODULES:
        for name, function in functions(tree_of(path), f"{name_of(path)}::"):
            found[name] = (length_of(function), FUNCTION_CAP)
    found["kernel/loop.py"] = (found["kernel/loop.py"][0], LOOP_CAP)
    found["kernel/"] = (code_lines_in(SOURCE / "kernel"), KERNEL_CAP)
    for folder in (SOURCE / "models").iterdir():
        if folder.is_dir() and folder.name not in NO_DIALECTS:
            found[f"{name_of(folder)}/"] = (code_lines_in(folder), DIALECT_CAP)
    return found


def raised_caps() -> dict[str, int]:
    """Return the rows of decisions/caps.md, each of which must give its reason."""
    note = (ROOT / "decisions" / "caps.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| ([\d,]+) \| \S.* \|$", note, re.MULTILINE)
    assert len(rows) == len(re.findall(r"^\|", note, re.MULTILINE)) - 2, "a row that cannot be read"
    return {what: int(cap.replace(",", "")) for what, cap in rows}


def test_nothing_is_larger_than_its_cap() -> None:
    raised = raised_caps()
    over = {
        what: f"{size} lines, cap {raised.get(what, cap)}"
        for what, (size, cap) in sizes().items()
        if size > raised.get(what, cap)
    }
    assert over == {}


def test_a_raised_cap_is_needed() -> None:
    found = sizes()
    idle = [what for what in raised_caps() if what not in found or found[what][0] <= found[what][1]]
    assert idle == []


def imported_by(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def devices() -> set[str]:
    """Return what the kernel may not import though the standard library has it."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    return set(contracts["importlinter:contract:kernel"]["forbidden_modules"].split())


def is_pure(module: str) -> bool:
    top = module.partition(".")[0]
    return (
        f"{module}.".startswith("goldseam.kernel.")
        or top == "msgspec"
        or (top in sys.stdlib_module_names and top not in devices())
    )


@pytest.mark.parametrize("path", KERNEL, ids=name_of)
def test_the_kernel_imports_the_pure_standard_library_and_msgspec_alone(path: Path) -> None:
    assert {module for module in imported_by(path) if not is_pure(module)} == set()


@pytest.mark.parametrize("path", KERNEL, ids=name_of)
def test_the_kernel_names_no_vendor(path: Path) -> None:
    assert VENDORS.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", KERNEL, ids=name_of)
def test_the_kernel_calls_no_device(path: Path) -> None:
    calls = {
        node.func.id
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert calls & {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"} == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_opens_with_what_it_is(path: Path) -> None:
    assert ast.get_docstring(tree_of(path))


def is_declaration(node: ast.stmt) -> bool:
    """Whether `node` only imports, lists `__all__` or documents."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case _:
            return False


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.name == "__init__.py"], ids=name_of
)
def test_a_package_does_nothing_but_name_what_it_holds(path: Path) -> None:
    assert [ast.unparse(node) for node in tree_of(path).body if not is_declaration(node)] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_importing_a_module_calls_nothing_for_its_effect(path: Path) -> None:
    effects = [
        ast.unparse(node)
        for node in tree_of(path).body
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    ]
    assert effects == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_names_say_what_a_thing_is(path: Path) -> None:
    classes = {node.name for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)}
    assert {name for name in classes if VAGUE_NAMES.search(name)} == set()
    assert path.stem not in VAGUE_MODULES


@pytest.mark.parametrize("path", SPEAKERS, ids=name_of)
def test_prose_for_a_model_stands_in_markdown_not_in_code(path: Path) -> None:
    tree = tree_of(path)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    prose = [
        node.value.splitlines()[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in bare
        and node.value.count("\n") > PROSE_CAP
    ]
    assert prose == []


def test_each_built_in_tool_has_its_description_beside_it() -> None:
    folder = SOURCE / "tools" / "builtin"
    tools = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert {path.stem for path in folder.glob("*.md")} == tools


def test_prompts_are_markdown() -> None:
    kinds = {path.suffix for path in (SOURCE / "repair" / "prompts").iterdir() if path.is_file()}
    assert kinds - {".py"} == {".md"}


@pytest.mark.parametrize("path", GUESTS, ids=name_of)
def test_a_guest_runs_on_an_old_python_with_nothing_of_ours_but_its_kind(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    guests = {guest.stem for guest in GUESTS}
    strangers = {
        module
        for module in imported_by(path) - {"goldseam.workspace.guest"} - guests
        if module.partition(".")[0] not in {*sys.stdlib_module_names, "pytest", "_pytest"}
    }
    assert strangers == set()
