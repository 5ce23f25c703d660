"""The tests run the clone's code, in the user's own environment, which they cannot change."""

import venv
from pathlib import Path

import pytest
from sandbox_places import Place, make_place, why_no_walls

from goldseam.workspace.sandbox.port import Command
from goldseam.workspace.testing.detect import detect_tests
from goldseam.workspace.testing.run import run_tests


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def install_editable(place: Place, *, top: str) -> str:
    """Give the repository an environment of its own, in which its code in `top` is installed."""
    origin = place.workspace.origin
    venv.create(origin / ".venv", symlinks=True, clear=True)
    packages = next((origin / ".venv").glob("lib/*/site-packages"))
    (packages / "editable.pth").write_text(f"{origin / top}\n", encoding="utf-8")
    for tree, whose in ((origin, "user's"), (place.tree, "clone's")):
        (tree / top / "pkg").mkdir(parents=True)
        (tree / top / "pkg" / "__init__.py").write_text(f"WHOSE = {whose!r}\n", encoding="utf-8")
    case = (
        "import unittest, pkg\nclass T(unittest.TestCase):\n"
        '    def test_whose(self): self.assertEqual(pkg.WHOSE, "clone\'s")\n'
    )
    (place.tree / "tests").mkdir()
    (place.tree / "tests" / "test_whose.py").write_text(case, encoding="utf-8")
    return str(origin / ".venv" / "bin" / "python")


@pytest.mark.anyio
async def test_behind_walls_an_editable_install_finds_the_clones_code_and_is_not_changed(
    place: Place,
) -> None:
    if why_no_walls() is not None:
        pytest.skip(f"no walls on this machine: {why_no_walls()}")
    python = install_editable(place, top="lib")
    origin = place.workspace.origin
    command = detect_tests(place.tree, origin=origin, environ=place.environ)
    assert command.argv == (python, "-m", "unittest", "discover", "-s", "tests")
    walled = place.walled()
    report = await run_tests(walled, command, limit_s=60)
    assert (report.outcomes, report.foreign) == ({"test_whose.T.test_whose": "passed"}, ())
    told_by = ("import pkg; print(pkg.__file__)", "import sys; print(sys.prefix)")
    script = f"{python} -c '{told_by[0]}'; python -c '{told_by[1]}'; touch .venv/x"
    result = await walled.run(Command(argv=("sh", "-c", script), limit_s=60))
    told = result.output.text().splitlines()
    assert told[:2] == [f"{origin}/lib/pkg/__init__.py", f"{origin}/.venv"]
    assert "Read-only file system" in told[2]
    assert not (origin / ".venv" / "x").exists()


@pytest.mark.anyio
@pytest.mark.parametrize(("top", "outcome"), [("src", "passed"), ("lib", "failed")])
async def test_without_walls_the_clones_code_is_first_and_where_it_is_not_the_report_says_so(
    place: Place, top: str, outcome: str
) -> None:
    install_editable(place, top=top)
    origin = place.workspace.origin
    command = detect_tests(place.tree, origin=origin, environ=place.environ)
    report = await run_tests(place.plain(), command, limit_s=60)
    assert report.outcomes == {"test_whose.T.test_whose": outcome}
    foreign = () if outcome == "passed" else (f"pkg ({origin}/lib/pkg/__init__.py)",)
    assert report.foreign == foreign
