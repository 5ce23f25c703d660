"""What commands are given of the user's environment, and what they are not shown."""

from pathlib import Path

import pytest

from goldseam.workspace.sandbox.environment import (
    command_environment,
    interpreter_folders,
    with_additions,
)
from goldseam.workspace.sandbox.masks import lies_beneath, masked_places


def test_the_environment_of_commands_is_what_the_project_needs(tmp_path: Path) -> None:
    (tmp_path / "home" / ".pyenv").mkdir(parents=True)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    (tmp_path / "ui" / "node_modules" / ".bin").mkdir(parents=True)
    made = command_environment(
        {
            "PATH": "rel:/one::.:/two",
            "HOME": str(tmp_path / "home"),
            "TZ": "UTC",
            "TOKEN": "secret",
        },
        origin=tmp_path,
        folders=(".venv", "ui/node_modules"),
        home="/home/inside",
    )
    assert made["PATH"] == f"{tmp_path}/.venv/bin:{tmp_path}/ui/node_modules/.bin:/one:/two"
    assert made["VIRTUAL_ENV"] == f"{tmp_path}/.venv"
    assert made["PYENV_ROOT"] == f"{tmp_path}/home/.pyenv"
    assert (made["HOME"], made["TZ"], made.get("TOKEN")) == ("/home/inside", "UTC", None)


def test_python_paths_are_joined_and_all_else_is_replaced() -> None:
    assert with_additions({"A": "1", "PYTHONPATH": "x"}, {"A": "2", "PYTHONPATH": "y"}) == {
        "A": "2",
        "PYTHONPATH": "x:y",
    }
    assert with_additions({"A": "1"}, {"B": "2"}) == {"A": "1", "B": "2"}


def test_an_interpreter_needs_its_environment_and_the_one_that_it_was_made_from(
    tmp_path: Path,
) -> None:
    (tmp_path / "real" / "bin").mkdir(parents=True)
    (tmp_path / "real" / "bin" / "python3").touch()
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").symlink_to(tmp_path / "real" / "bin" / "python3")
    folders = (str(tmp_path / "real"), str(tmp_path / "venv"))
    assert interpreter_folders(str(tmp_path / "venv" / "bin" / "python")) == folders
    assert interpreter_folders("python3") == ()


def test_masks_follow_links_and_keep_to_the_outermost(tmp_path: Path) -> None:
    home = Path("/var/empty-home")
    there = masked_places(home, (Path("/usr"), Path("/usr/bin"), Path("/tmp/under-scratch")))
    assert "/usr" in there
    assert not [place for place in there if lies_beneath(place, (*there, "/tmp"))]
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".ssh").symlink_to(tmp_path / "elsewhere")
    assert masked_places(tmp_path, ())[-1:] != (str(tmp_path / ".ssh"),)


@pytest.mark.parametrize(
    ("place", "within"), [("/a/b", True), ("/a", False), ("/ab", False), ("/", False)]
)
def test_beneath_compares_whole_names(place: str, within: bool) -> None:  # security 1
    assert lies_beneath(place, ("/a",)) is within
