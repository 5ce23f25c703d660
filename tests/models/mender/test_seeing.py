"""Files are found by what tests and tracebacks name, and read page by page."""

from goldseam.models.mender.program import FileSeen
from goldseam.models.mender.reading import TestsSeen
from goldseam.models.mender.script import Observed, Script, Use
from goldseam.models.mender.seeing import MAX_FILES, MAX_PAGES, see_files


def run_with(*failing: str, output: str = "") -> TestsSeen:
    return TestsSeen(passed=0, bad=len(failing), timed_out=False, failing=failing, output=output)


def page(path: str, text: str, *, first: int = 1, total: int | None = None) -> str:
    lines = [f"{n:>6}| {line}" for n, line in enumerate(text.split("\n"), first)]
    last = first + len(lines) - 1
    return "\n".join([f"{path}: lines {first}-{last} of {total or last}", *lines])


class Shelf:
    """Answers `read_file` and `search` from what it is given, and keeps what was asked."""

    def __init__(self, pages: dict[tuple[str, int], str], found: str = "no match") -> None:
        self.pages = pages
        self.found = found
        self.asked: list[Use] = []

    def play(self, script: Script[tuple[FileSeen, ...]]) -> tuple[FileSeen, ...]:
        try:
            step = next(script)
            while True:
                assert isinstance(step, Use)
                self.asked.append(step)
                step = script.send(self.answer(step))
        except StopIteration as end:
            files: tuple[FileSeen, ...] = end.value
            return files

    def answer(self, use: Use) -> Observed:
        if use.tool == "search":
            return Observed(text=self.found)
        path, start = use.arguments["path"], use.arguments["start_line"]
        assert isinstance(path, str)
        assert isinstance(start, int)
        text = self.pages.get((path, start))
        return Observed(text=text or "missing", is_error=text is None)


def test_a_long_file_is_read_in_pages() -> None:
    pages = {
        ("test_a.py", 1): page("test_a.py", "x = 1\ny = 2", total=3),
        ("test_a.py", 3): page("test_a.py", "z = 3", first=3),
    }
    (file,) = Shelf(pages).play(see_files(run_with("test_a.py::test"), ""))
    assert file.source == "x = 1\ny = 2\nz = 3\n"


def test_a_file_that_is_too_long_or_not_whole_is_passed_over() -> None:
    endless = {("a.py", n): page("a.py", "x", first=n, total=10**6) for n in range(1, 99)}
    shelf = Shelf(endless)
    assert shelf.play(see_files(run_with("a.py::test"), "")) == ()
    assert len([use for use in shelf.asked if use.tool == "read_file"]) == MAX_PAGES
    cut = {("a.py", 1): page("a.py", "x = 1… [2000 of 9000 characters; more]")}
    assert Shelf(cut).play(see_files(run_with("a.py::test"), "")) == ()


def test_names_of_unittest_lead_to_their_files_and_other_names_to_none() -> None:
    shelf = Shelf({})
    failing = ("pkg.test_a.CaseA.test_x", "pkg.test_b", "sh -c x::y")
    shelf.play(see_files(run_with(*failing), ""))
    read = [use.arguments["path"] for use in shelf.asked if use.tool == "read_file"]
    assert read == ["pkg/test_a.py", "pkg/test_b.py"]


def test_what_is_imported_is_read_before_what_bears_a_name_by_chance() -> None:
    pages = {
        ("test_a.py", 1): page("test_a.py", "from b.core import f\nimport c\nf(c.g)"),
        ("z/g.py", 1): page("z/g.py", "def g(): pass"),
        ("b/core.py", 1): page("b/core.py", "def f(): pass"),
    }
    found = "2 matches:\nz/g.py\n     1: def g(): pass\nb/core.py\n     1: def f(): pass"
    files = Shelf(pages, found).play(see_files(run_with("test_a.py::t"), "The `g` of it"))
    assert [file.path for file in files] == ["test_a.py", "b/core.py", "z/g.py"]


def test_imports_are_followed_for_three_rounds() -> None:
    class Chain(Shelf):
        def answer(self, use: Use) -> Observed:
            if use.tool == "search":
                number = len([asked for asked in self.asked if asked.tool == "search"])
                return Observed(text=f"1 matches:\nm{number}.py\n     1: def f{number}(): pass")
            path = str(use.arguments["path"])
            return Observed(text=page(path, f"import m{path[1:-3]}0\nfrom . import x{path[1:-3]}"))

    files = Chain({}).play(see_files(run_with("test_a.py::t"), ""))
    assert [file.path for file in files] == ["test_a.py", "m1.py", "m2.py"]


def test_it_stops_at_a_bounded_number_of_files() -> None:
    paths = [f"m{n}.py" for n in range(40)]
    pages = {(path, 1): page(path, f"def {path[:-3]}(): pass") for path in paths}
    output = "\n".join(f"{path}:1: in x" for path in paths)
    files = Shelf(pages).play(see_files(run_with("missing.py::t", output=output), ""))
    assert len(files) == MAX_FILES


def test_where_all_is_known_nothing_is_searched() -> None:
    shelf = Shelf({("test_a.py", 1): page("test_a.py", "def test_a(): pass")})
    shelf.play(see_files(run_with("test_a.py::test_a"), ""))
    assert [use.tool for use in shelf.asked] == ["read_file"]
