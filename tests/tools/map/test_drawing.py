from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.map.drawing import Drawing, choose, short
from goldseam.tools.map.outline import Definition

definitions = st.lists(
    st.builds(
        Definition,
        name=st.sampled_from(["Order", "total", "_x"]),
        line=st.integers(1, 99_999),
        depth=st.integers(0, 3),
        signature=st.text(max_size=40),
    ),
    max_size=12,
)
files = st.lists(st.tuples(st.text(min_size=1, max_size=20), definitions), max_size=8)


def item(name: str, depth: int = 0) -> Definition:
    return Definition(name=name, line=1, depth=depth, signature=f"def {name}")


@given(files, st.integers(0, 900), st.lists(st.text(max_size=30), max_size=30))
def test_a_drawing_never_passes_its_limit(
    drawn: list[tuple[str, list[Definition]]], limit: int, others: list[str]
) -> None:
    drawing = Drawing(limit)
    for path, found in drawn:
        drawing.add_file(path, found, total=len(found) + 1)
    drawing.add_folders(others)
    text = "".join(f"{line}\n" for line in drawing.lines)
    assert len(text.encode()) <= limit
    assert all(line.isprintable() for line in drawing.lines)


def test_a_limit_is_kept_to_the_byte() -> None:
    drawing = Drawing(8)
    assert drawing.add("é", "abcd")
    assert not drawing.add("")
    assert drawing.lines == ["é", "abcd"]
    drawing.widen(1)
    assert drawing.add("")


def test_a_file_that_does_not_fit_shows_what_does() -> None:
    found = [item(f"name_{n}") for n in range(9)]
    drawing = Drawing(80)
    assert not drawing.add_file("a.py", found, total=9)
    assert drawing.lines == ["a.py", *(f"     1| def name_{n}" for n in range(3)), "      | …"]
    assert not drawing.add_file("b.py", found, total=9)
    assert drawing.lines[-1] == "      | …"


def test_the_best_are_chosen_with_what_they_are_inside_of_in_order() -> None:
    outline = [
        item("First"),
        item("a", 1),
        item("Second"),
        item("b", 1),
        item("Third", 1),
        item("c", 2),
        item("Fourth"),
    ]
    worth = {b"c": 3.0, b"First": 2.0, b"Fourth": 1.0}
    assert [found.name for found in choose(outline, worth, most=2, unused=False)] == [
        "First",
        "Second",
        "Third",
        "c",
    ]


def test_of_a_file_that_nobody_uses_the_first_are_shown() -> None:
    outline = [item("inner", 1), *(item(f"n{n}") for n in range(9))]
    assert [found.name for found in choose(outline, {}, most=8, unused=False)] == ["n0", "n1", "n2"]
    assert choose(outline, {}, most=10, unused=True) == tuple(outline)
    assert choose([], {}, most=8, unused=False) == ()


def test_other_files_are_counted_by_folder_largest_first() -> None:
    drawing = Drawing(10_000)
    drawing.add_folders([*(f"f{n}/x" for n in range(12)), "docs/a", "docs/b", "README"])
    assert drawing.lines[:3] == ["other files:", "  docs/ 2 files", "  / 1 file"]
    assert drawing.lines[-1] == "  … and 2 more folders"
    assert len(drawing.lines) == 14


def test_hostile_names_are_escaped_and_cut() -> None:
    # security 46
    assert short("a\n\x1b[31m\u202eb") == "a\\n\\x1b[31m\\u202eb"
    assert short("x" * 200) == "x" * 99 + "…"
