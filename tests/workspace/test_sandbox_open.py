"""How a sandbox is chosen: walls are believed once they have been tried."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from sandbox_places import BWRAP, Place, make_place, why_no_walls

from goldseam.workspace.sandbox.bubblewrap import BubblewrapSandbox
from goldseam.workspace.sandbox.open import find_bubblewrap, open_sandbox, why_not
from goldseam.workspace.sandbox.self_test import Attempt, prepare, walls_down


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


@pytest.fixture
def walled(place: Place) -> BubblewrapSandbox:
    if why_no_walls() is not None:
        pytest.skip(f"no walls on this machine: {why_no_walls()}")
    return place.walled()


@pytest.mark.anyio
async def test_without_walls_the_self_test_says_so_of_each(place: Place) -> None:
    (place.state / "self").mkdir()
    prepare(place.state / "self")
    attempt = Attempt(
        folder=place.state / "self",
        tree=place.tree,
        origin=place.workspace.origin,
        folders=(".venv",),
    )
    down = await walls_down(place.plain(), attempt)
    assert down == ("files", "network", "processes", "secrets")
    left = [path.name for path in place.workspace.origin.rglob(".goldseam-*")]
    assert left == []


@pytest.mark.anyio
async def test_walls_that_prove_themselves_are_chosen(
    walled: BubblewrapSandbox, place: Place
) -> None:
    opened = await open_sandbox(
        place.tree, place.workspace, environ=place.environ, hidden=(place.state,)
    )
    assert opened == walled
    assert opened.banner.startswith(
        "sandbox: A bubblewrap (files ✓ network ✓ processes ✓ secrets ✓"
    )
    assert "\n" not in opened.banner
    assert [path.name for path in place.tree.glob(".goldseam*")] == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("program", "said"),
    [
        (None, "bubblewrap was not found. Install bubblewrap (`apt install bubblewrap`"),
        ("echo bwrap: setting up uid map: Permission denied >&2; exit 1", "AppArmor profile"),
        ('shift 3; cd "$HOME"; exec "$@"', "a harmless command failed in it"),
    ],
)
async def test_walls_that_do_not_prove_themselves_are_none_and_the_banner_is_loud(
    place: Place, tmp_path: Path, program: str | None, said: str
) -> None:
    (tmp_path / "bin").mkdir()
    if program is not None:
        (tmp_path / "bin" / "bwrap").write_text(f"#!/bin/sh\n{program}\n", encoding="ascii")
        (tmp_path / "bin" / "bwrap").chmod(0o755)
    environ = place.environ | {"PATH": str(tmp_path / "bin")}
    opened = await open_sandbox(place.tree, place.workspace, environ=environ, hidden=())
    assert opened.level == "D"
    assert said in opened.banner
    assert "RUN WITH ALL YOUR RIGHTS" in opened.banner


@pytest.mark.anyio
async def test_walls_with_a_hole_are_not_relied_on(
    walled: BubblewrapSandbox, tmp_path: Path
) -> None:
    leaky = tmp_path / "leaky"
    # It is applied without an error, and shares the network.
    script = f'#!/bin/sh\nfd=$2; shift 3\nexec {BWRAP} --args $fd --share-net -- "$@"\n'
    leaky.write_text(script, encoding="ascii")
    leaky.chmod(0o755)
    why = await why_not(replace(walled, executable=str(leaky)))
    assert why == "bubblewrap does not hold here: network can be reached"


def test_a_bubblewrap_from_the_trees_that_it_shall_wall_in_is_not_taken(tmp_path: Path) -> None:
    for folder in ("repo/bin", "system"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "bwrap").touch(mode=0o755)
    path = os.pathsep.join(["bin", ".", str(tmp_path / "repo/bin"), str(tmp_path / "system")])
    found = find_bubblewrap({"PATH": path}, apart_from=(tmp_path / "repo",))
    assert found == str(tmp_path / "system" / "bwrap")
