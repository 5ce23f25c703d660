from collections import Counter
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.map.ranking import Focus, Ranking, focus_on, rank

NOBODY = Focus()


def ranked(names: Mapping[str, str], words: Mapping[str, str], focus: Focus = NOBODY) -> Ranking:
    """Rank files that define `names` and say `words`, besides."""
    defined = {path: said.encode().split() for path, said in names.items()}
    counts = Counter(
        word
        for path in {**names, **words}
        for word in {*defined.get(path, []), *words.get(path, "").encode().split()}
    )
    homes = Counter(name for said in defined.values() for name in said)
    return rank(defined, homes=homes, counts=counts, focus=focus)


FILES = {
    "core.py": "Engine start_engine",
    "used_once.py": "Wheel",
    "alone.py": "Lonely",
    "tests/test_core.py": "test_engine",
}
WORDS = {
    "used_once.py": "Engine start_engine",
    "main.py": "Engine Wheel",
    "tests/test_core.py": "Engine",
}


def test_what_is_used_most_elsewhere_comes_first_and_what_nobody_uses_last() -> None:
    assert ranked(FILES, WORDS).paths == (
        "core.py",
        "used_once.py",
        "alone.py",
        "tests/test_core.py",
    )


def test_a_name_that_was_asked_for_comes_first_even_if_nobody_uses_it() -> None:
    asked = Focus(words=frozenset({b"Lonely"}))
    assert ranked(FILES, WORDS, asked).paths[0] == "alone.py"


def test_a_path_that_was_asked_for_comes_before_all() -> None:
    asked = Focus(paths=frozenset({"tests/test_core.py"}), words=frozenset({b"Lonely"}))
    assert ranked(FILES, WORDS, asked).paths[:2] == ("tests/test_core.py", "alone.py")


def test_what_stands_beside_what_was_asked_for_counts_more() -> None:
    near = Focus(near=frozenset({b"Wheel"}))
    assert ranked(FILES, WORDS, near).paths[0] == "used_once.py"


def test_a_name_that_many_define_counts_less_and_so_do_private_and_plain_ones() -> None:
    names = {"a": "Order", "b": "shared_one", "c": "shared_one", "d": "_private_x", "e": "plain"}
    words = {"z": "Order shared_one _private_x plain", "y": "Order shared_one _private_x plain"}
    worth = ranked(names, words).worth
    assert worth[b"Order"] > worth[b"shared_one"] > worth[b"_private_x"] == worth[b"plain"]


def test_tests_count_less_than_what_they_test() -> None:
    names = {"tests/a.py": "Order_a", "b_test.go": "Order_b", "x.test.ts": "Order_x", "z.py": "Zed"}
    words = {"m": "Order_a Order_b Order_x Zed"}
    assert ranked(names, words).paths == ("z.py", "b_test.go", "tests/a.py", "x.test.ts")


@given(st.permutations(sorted(FILES)))
def test_the_order_of_the_files_does_not_matter(order: list[str]) -> None:
    # agents 39
    assert ranked({path: FILES[path] for path in order}, WORDS).paths == ranked(FILES, WORDS).paths


def test_a_focus_knows_paths_from_names() -> None:
    words = {"src/tax.py": b"Rate Order", "tax.py": b"x", "src/syntax.py": b"y"}
    focus = focus_on(
        ["tax.py", "/src/tax.py/", " ", "Invoice.total"],
        words,
        words_of=words.__getitem__,
        task="mend the Basket",
    )
    assert focus == Focus(
        paths=frozenset({"src/tax.py", "tax.py"}),
        words=frozenset({b"tax", b"py", b"src", b"Invoice", b"total"}),
        near=frozenset({b"Rate", b"Order", b"x", b"mend", b"the", b"Basket"}),
    )
