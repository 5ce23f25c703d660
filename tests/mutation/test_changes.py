"""The changes are those that a test should notice, one at a time, and each is a whole module."""

import ast

from mutation.changes import mutants_of

SOURCE = '''
"""A module."""
import os
LIMIT: int = 1

@cache
def f(a: str = "x") -> bool:
    """A promise."""
    if a == "y" and not LIMIT:
        return g(a)
    losses.note("code", 1, "words")
    return [n for n in a.encode("utf-8") if n]
'''


def test_each_change_is_told_by_what_becomes_of_what() -> None:
    condition = "if a == 'y' and (not LIMIT): return g(a)"
    told = "losses.note('code', 1, 'words')"
    listed = "[n for n in a.encode('utf-8') if n]"
    expected = [
        ("1", "2"),
        ("'x'", "'x~'"),
        (condition, "if not (a == 'y' and (not LIMIT)): return g(a)"),
        ("a == 'y' and (not LIMIT)", "a == 'y' or not LIMIT"),
        ("a == 'y'", "a != 'y'"),
        ("'y'", "'y~'"),
        ("not LIMIT", "LIMIT"),
        ("return g(a)", "return None"),
        (told, "nothing"),
        ("'code'", "'code~'"),
        ("1", "2"),
        (f"return {listed}", "return None"),
        (" for n in a.encode('utf-8') if n", " for n in a.encode('utf-8')"),
    ]
    found = [mutant.change for mutant in mutants_of(SOURCE)]
    assert found == [f"`{one.strip()}` becomes `{other.strip()}`" for one, other in expected]


def test_each_mutant_differs_from_the_module_and_from_all_others() -> None:
    sources = [mutant.source for mutant in mutants_of(SOURCE)]
    trees = {ast.dump(ast.parse(source)) for source in (SOURCE, *sources)}
    assert len(trees) == len(sources) + 1
