"""Every edit that is proposed is small, different, and still Python."""

import ast

import pytest
from models.mender.planted import PROGRAMS

from goldseam.models.mender.program import FileSeen, see_file
from goldseam.models.mender.proposals import Proposal, exact_texts, propose
from goldseam.models.mender.reading import Frame
from goldseam.models.mender.suspects import Evidence, rank

TRICKY = '''
import asyncio
from functools import wraps

LIMITS = {"größe": 10, "b": [1, 2.5, None], "c": -1}
NAMES = ("a", 'b\\n', b"c", """three
lines""")


def traced(function, seen=[], *rest, key=None, **more):
    @wraps(function)
    def inner(*args):
        """Inside."""
        seen.append(f"{function.__name__!r}: {args[0] + 1:>{len(args)}} {LIMITS['b'][0]}")
        if not (args and rest) or len(args) > 3 or key is not None: return None
        elif key in more:
            pass
        if key == "größe" and LIMITS["größe"] < 3:  # < > == and
            return [größe for größe in args if größe % 2 == 0][1:-1]
        while (n := len(rest)) > 0:
            if n == 2:
                break
            continue
        return function(*args, **more)
    return inner


class Box:
    size, other = 1, 2

    def __init__(self, width, height):
        self.width = width
        self.height = (
            height
            + 1  # one more
            - 2
        )

    async def area(self):
        await asyncio.sleep(0); self.width += 1
        match self.width:
            case 1 | 2:
                return lambda x, y=1: (x, y)
            case _:
                yield_ = "%s %d" % (self.width, self.height)
        try:
            assert self.width and self.height
        except (ValueError, KeyError) as error:
            raise RuntimeError("no") from error
        finally:
            self.width -= 1
        return yield_.strip().split(",", maxsplit=1)


if LIMITS:
    from . import other
    from .more import least

    def sorted_place(names, place, *, strict=True):
        names.sort()
        while not place.empty:
            place = other.find(names, names, place.start, 1, 2, r"raw")
            for step in range(10, 0, -1):
                place -= step
        return place.deep


def deep():
    return b"bytes" or "" or 0.5 or True or f"""
{sorted_place} and
    {LIMITS["b"]:>{len(NAMES)}}"""


def walk(tree, depth=0):
    if tree is None:
        return
    yield from walk(tree.left, depth + 1)
    yield tree.value, depth
    for child in sorted(tree.children, key=lambda c: c.value): walk(child)
    for child in range(1, len(tree.children)):
        walk(child, min(depth, child))
'''


def test_what_is_no_python_is_not_seen() -> None:
    assert see_file("old.py", "print 'x'") is None
    assert see_file("nul.py", "\x00") is None


def seen(sources: dict[str, str]) -> list[FileSeen]:
    files = [see_file(path, source) for path, source in sources.items()]
    return [file for file in files if file]


def proposals(sources: dict[str, str], *, limit: int = 5_000) -> tuple[Proposal, ...]:
    files = seen(sources)
    evidence = Evidence(issue="walk", failing=("test_all.py::test_find",), frames=())
    return propose(files, rank(files, evidence), limit=limit)


def with_edit(source: str, proposal: Proposal) -> str:
    lines = source.split("\n")
    first = proposal.line - 1
    last = first + proposal.old.count("\n") + 1
    assert "\n".join(lines[first:last]) == proposal.old
    return "\n".join([*lines[:first], proposal.new, *lines[last:]])


@pytest.mark.parametrize("sources", [PROGRAMS, {"tricky.py": TRICKY}])
def test_proposed_edits_are_python_but_for_a_very_few(sources: dict[str, str]) -> None:
    made = proposals(sources)
    broken = []
    for proposal in made:
        source = with_edit(sources[proposal.path], proposal)
        try:
            ast.parse(source)
        except SyntaxError:
            broken.append((proposal.what, proposal.new))
    assert len(made) > 500
    assert len(broken) <= len(made) // 100, broken


def test_they_are_all_different_and_the_likeliest_come_first() -> None:
    made = proposals(PROGRAMS)
    assert len({(it.path, it.line, it.old, it.new) for it in made}) == len(made)
    assert sorted(made, key=lambda it: -it.likelihood) == list(made)
    assert proposals(PROGRAMS, limit=100) == made[:100]


def test_the_text_to_replace_is_unique_even_where_lines_are_alike() -> None:
    source = "x = 1\nx = 1\nx = 1\n"
    proposal = Proposal(path="a.py", line=2, old="x = 1", new="x = 2", what="", likelihood=1.0)
    old, new = exact_texts(proposal, source)
    assert (old, new) == ("x = 1\nx = 1\nx = 1", "x = 1\nx = 2\nx = 1")


def test_a_function_that_failing_tests_alone_reach_is_suspected_first() -> None:
    files = seen(PROGRAMS)
    failing = ("test_all.py::test_find", "test_all.py::test_is_known")
    evidence = Evidence(issue="", failing=failing, frames=())
    assert rank(files, evidence)[0].function.name == "find"


def test_what_a_test_does_through_its_helpers_counts() -> None:
    sources = {
        "app.py": "def make_box():\n    return 1\n\ndef other():\n    return 2\n",
        "test_app.py": (
            "def box():\n    return make_box()\n\ndef test_box():\n    assert box() == 2\n"
        ),
    }
    evidence = Evidence(issue="a box of mine", failing=("test_app.py::test_box",), frames=())
    first, *rest = rank(seen(sources), evidence)
    assert first.function.name == "make_box"
    assert first.blame > 3 * max(suspect.blame for suspect in rest)


def test_code_outside_of_functions_is_suspected_where_the_issue_names_it() -> None:
    sources = {"app.py": "LIMIT = 3\nprint(LIMIT)\n\ndef f():\n    return 1\n"}
    evidence = Evidence(issue="LIMIT is wrong", failing=(), frames=())
    first, second = rank(seen(sources), evidence)
    assert (first.function.name, first.blame) == ("", 0.3)
    assert second.blame < first.blame


def test_a_traceback_and_the_issue_raise_suspicion() -> None:
    files = seen(PROGRAMS)
    plain = Evidence(issue="", failing=("test_all.py::test_most_common",), frames=())
    told = Evidence(
        issue="`most_common` is wrong",
        failing=plain.failing,
        frames=(Frame(path="words.py", line=17),),
    )
    by_name = {it.function.name: it for it in rank(files, plain)}
    first = rank(files, told)[0]
    assert first.function.name == "most_common"
    assert first.blame > by_name["most_common"].blame
    assert first.hot_lines == {17: 1.4}
