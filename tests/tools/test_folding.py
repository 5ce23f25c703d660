"""A program's stack is no noise: short ones stay whole, long ones keep the workspace's frames."""

from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.folding import MAX_FRAMES, fold_stacks

HEAD = "Traceback (most recent call last):"


def frame(path: str, line: int = 1) -> str:
    return f'  File "{path}", line {line}, in f\n    call()\n    ^^^^^^'


def stack(*paths: str) -> str:
    return "\n".join((HEAD, *map(frame, paths), "ValueError: bad"))


def test_a_short_stack_stays_as_it_is() -> None:
    text = stack("src/a.py", *["/usr/lib/python3/x.py"] * (MAX_FRAMES - 1))
    assert fold_stacks(text, lever="x") == text


def test_frames_of_the_workspace_stay_and_foreign_ones_make_room() -> None:
    # A4.3
    foreign = ["/usr/lib/x.py"] * 9
    text = stack("src/a.py", *foreign, "src/b.py", *foreign, ".venv/lib/y.py", "src/c.py")
    assert fold_stacks(f"before\n{text}\nafter", lever="all are in F") == "\n".join((
        "before",
        HEAD,
        frame("src/a.py"),
        "  [… 9 of 22 frames left out; all are in F …]",
        frame("src/b.py"),
        "  [… 10 of 22 frames left out; all are in F …]",
        frame("src/c.py"),
        "ValueError: bad",
        "after",
    ))


def test_a_long_stack_of_the_workspace_s_own_is_folded_in_the_middle() -> None:
    text = stack(*[f"src/{number}.py" for number in range(1_000)])
    folded = fold_stacks(text, lever="x")
    assert folded.count('File "') == MAX_FRAMES
    assert "  [… 980 of 1000 frames left out; x …]" in folded
    for kept in (0, 7, 988, 999):
        assert f'"src/{kept}.py"' in folded
    for gone in (8, 987):
        assert f'"src/{gone}.py"' not in folded


def test_what_python_says_of_repeated_frames_belongs_to_the_frame() -> None:
    repeated = f"{frame('src/a.py')}\n  [Previous line repeated 990 more times]"
    text = "\n".join((HEAD, repeated, *[frame("/x/y.py")] * 30, "RecursionError"))
    assert fold_stacks(text, lever="x").startswith(f"{HEAD}\n{repeated}\n  [… 29 of 31 frames")


def test_stacks_of_other_languages_are_folded_too() -> None:
    lines = [f"    at handler{number} (/srv/x.js:{number}:7)" for number in range(60)]
    assert fold_stacks("\n".join(("Error: bad", *lines, "")), lever="x") == "\n".join((
        "Error: bad",
        lines[0],
        "    [… 58 of 60 frames left out; x …]",
        lines[-1],
        "",
    ))


def test_text_that_only_speaks_of_places_stays() -> None:
    text = "at first\n  it was\nFile names\n" * 100
    assert fold_stacks(text, lever="x") == text


@given(
    st.lists(
        st.sampled_from([HEAD, frame("a.py"), frame("/b.py"), "  at x", "", "x", "   deep"]),
        max_size=80,
    ).map("\n".join)
)
def test_no_stack_stays_long_and_nothing_else_changes(text: str) -> None:
    folded = fold_stacks(text, lever="x")
    assert len(folded.split("\n")) <= len(text.split("\n"))
    if folded == text:
        return
    assert "frames left out; x …]" in folded
    assert [line for line in text.split("\n") if line in {HEAD, "x"}] == [
        line for line in folded.split("\n") if line in {HEAD, "x"}
    ]
