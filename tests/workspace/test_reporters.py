"""The reporters that run beside the user's tests, as far as they decide without them."""

from pathlib import Path

import pytest

from goldseam.workspace.guest.goldseam_report_file import ReportFile, is_foreign
from goldseam.workspace.guest.goldseam_unittest_report import chosen_arguments, dotted_name


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("tests.test_a.Case.test_b", "tests.test_a.Case.test_b"),
        ("unittest.loader._FailedTest.tests.test_a", "tests.test_a"),
        ("unittest.loader.ModuleSkipped.test_a", "test_a"),
        ("unittest.loader._FailedTest.test_gone", "tests.test_a.Case.test_gone"),
        ("setUpClass (tests.test_a.Case)", "tests.test_a.Case"),
        ("tearDownModule (tests.test_a)", "tests.test_a"),
    ],
)
def test_stand_ins_of_unittest_are_named_by_what_they_stand_for(identity: str, name: str) -> None:
    assert dotted_name(identity, ["tests.test_a.Case.test_gone"]) == name


@pytest.mark.parametrize(
    ("arguments", "left", "top"),
    [
        ([], [], "."),
        (["discover"], [], "."),
        (["discover", "-s", "tests", "-v"], ["-v"], "tests"),
        (["discover", "-s", "p/tests", "-t", "."], [], "."),
        (["discover", "tests", "*_test.py"], [], "tests"),
        (["discover", "p/tests", "*_test.py", "p"], [], "p"),
        (["-f", "tests.test_a", "-k", "pattern"], ["-f"], "."),
    ],
)
def test_chosen_names_take_the_place_of_all_that_chooses(
    arguments: list[str], left: list[str], top: str
) -> None:
    assert chosen_arguments(arguments, ["n.b", "n.a"]) == (
        [*left, "n.a", "n.b"],
        str(Path(top).resolve()),
    )


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("tests/test_a.py::T::test_b[1::2/3]", True),
        ("tests/test_b.py::test_c", True),
        ("other/test_d.py::test", True),
        ("tests/test_a.py::T::test_bc", False),
        ("tests/test_a.py::test_b", False),
        ("others/test_d.py", False),
    ],
)
def test_a_name_chooses_itself_and_all_within_it(name: str, wanted: bool) -> None:
    chosen = frozenset({"tests/test_a.py::T::test_b", "tests/test_b.py", "other"})
    assert ReportFile("", "", chosen).wants(name, ("[", "::", "/")) is wanted
    assert ReportFile("", "", frozenset()).wants(name, ("[",))


@pytest.mark.parametrize(
    ("file", "foreign"),
    [
        ("tree/pkg/__init__.py", False),
        ("tree/src/two/__init__.py", False),
        ("site-packages/pkg/__init__.py", True),
        ("tree/.venv/lib/site-packages/pkg/__init__.py", True),
        ("site-packages/two/__init__.py", True),
        ("user/python/deep/three/__init__.py", True),
        ("site-packages/other/__init__.py", False),
        ("site-packages/tool.py", True),
        ("tree/tool.py", False),
    ],
)
def test_a_module_that_the_tree_has_is_foreign_from_elsewhere(
    tmp_path: Path, file: str, foreign: bool
) -> None:
    ours = ("pkg/__init__.py", "src/two/__init__.py", "python/deep/three/__init__.py", "tool.py")
    path = tmp_path / file
    for made in (*(tmp_path / "tree" / name for name in ours), path):
        made.parent.mkdir(parents=True, exist_ok=True)
        made.touch()
    name = path.parent.name if path.name == "__init__.py" else path.stem
    assert is_foreign(name, str(path), str(tmp_path / "tree")) is foreign
