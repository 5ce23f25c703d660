"""The table in tests/README.md is true: every case is in it, its tests exist, and they cite it."""

import ast
import io
import re
import tokenize
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CASES = frozenset(
    chain(
        (1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22),
        (23, 25, 26, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41, 43, 44),
        (46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71, 73, 74),
        (76, 77, 79, 80, 82, 83, 85, 86, 88, 89, 91, 92, 94, 95, 97, 98, 100, 101, 103, 104),
        (106, 107, 109, 110, 112, 113, 115, 116, 118, 119, 121, 122, 124, 125, 127, 128, 130),
        (131, 133, 134, 136, 137, 139, 140, 142, 143, 145, 146, 148, 149, 151, 152, 154, 155),
    )
)
"""All that there are; the numbers have gaps."""

_ROW = re.compile(r"\| (\d+) \| .+ \| (.+) \|")
_RULE = re.compile(r"\b[A-Z]{3}-\d+")
_NUMBERS = re.compile(r"(?<![\w.-])(\d+)(?:(?:-| to )(\d+))?(?![\w.])")


def rows() -> list[tuple[int, list[str]]]:
    text = (TESTS / "README.md").read_text(encoding="utf-8")
    return [(int(case), re.findall("`(.+?)`", tests)) for case, tests in _ROW.findall(text)]


@cache
def cited_in(path: Path) -> dict[str, frozenset[int]]:
    """Return the cases that each test of a module cites in comments within its own lines."""
    source = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]
    found = dict[str, frozenset[int]]()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min(one.lineno for one in (node, *node.decorator_list))
            own = [text for line, text in comments if first <= line <= (node.end_lineno or first)]
            found[node.name] = frozenset(chain.from_iterable(map(numbers_in, own)))
    return found


def numbers_in(comment: str) -> frozenset[int]:
    """Return the cases in a comment, ranges filled; rules such as ANT-8 are none."""
    found = _NUMBERS.findall(_RULE.sub("", comment))
    return frozenset(
        chain.from_iterable(range(int(one), int(last or one) + 1) for one, last in found)
    )


def test_every_case_stands_in_the_table_once_and_in_order() -> None:
    assert [case for case, _ in rows()] == sorted(CASES)


@pytest.mark.parametrize(("case", "named"), rows(), ids=str)
def test_the_tests_of_a_case_exist_and_cite_it(case: int, named: list[str]) -> None:
    assert named
    for one in named:
        path, _, name = one.partition("::")
        cited = cited_in(TESTS / path)
        assert name in cited, f"no test {one}"
        assert case in cited[name], f"{one} does not cite {case}"


def test_rules_are_no_cases_and_ranges_are_all_their_numbers() -> None:
    assert numbers_in("# ANT-8, 98 to 100, GEM-3 to GEM-5, 1-3, 4.5, x9") == {1, 2, 3, 98, 99, 100}
