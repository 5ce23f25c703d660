"""Objects are carried whole from store to store, and nothing that is no object comes along."""

from pathlib import Path

import pytest
from workspace.repositories import write

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.objects import copy_objects, link_objects, objects_size

LOOSE = "ab/" + "c" * 38
PACK = "pack/pack-" + "d" * 40 + ".pack"


def make_store(folder: Path, *, borrows: Path | None = None) -> Path:
    write(folder, {LOOSE: "loose", PACK: "pack", "ab/tmp_obj_x": "half written", "zz": "?"})
    write(folder, {"info/commit-graph": "left behind", "pack/pack-x.keep": ""})
    if borrows is not None:
        write(folder, {"info/alternates": f"# a comment\n{borrows}\n"})
    return folder


def objects(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_only_objects_are_carried(tmp_path: Path) -> None:
    source = make_store(tmp_path / "source")
    (source / "ab" / ("e" * 38)).symlink_to("/etc/passwd")
    (source / "ff").write_text("no folder")
    link_objects(source, tmp_path / "linked")
    copy_objects(source, tmp_path / "copied")
    assert objects(tmp_path / "linked") == {LOOSE: "loose", PACK: "pack"}
    assert objects(tmp_path / "copied") == {LOOSE: "loose", PACK: "pack"}
    assert (tmp_path / "linked" / LOOSE).samefile(source / LOOSE)
    assert not (tmp_path / "copied" / LOOSE).samefile(source / LOOSE)
    assert objects_size(source) == len("loose") + len("pack")


def test_objects_that_are_there_stay(tmp_path: Path) -> None:
    source = make_store(tmp_path / "source")
    link_objects(source, tmp_path / "target")
    link_objects(source, tmp_path / "target")
    assert objects(tmp_path / "target") == {LOOSE: "loose", PACK: "pack"}


def test_borrowed_objects_come_along_even_in_a_circle(tmp_path: Path) -> None:
    first = make_store(tmp_path / "first", borrows=Path("../second"))
    write(
        tmp_path / "second", {"ab/" + "f" * 38: "borrowed", "info/alternates": f"{first}\n/gone\n"}
    )
    link_objects(first, tmp_path / "target")
    assert set(objects(tmp_path / "target")) == {LOOSE, PACK, "ab/" + "f" * 38}


def test_a_long_chain_of_borrowing_is_refused(tmp_path: Path) -> None:
    for number in range(10):
        make_store(tmp_path / str(number), borrows=tmp_path / str(number + 1))
    with pytest.raises(WorkspaceError, match="borrows objects from too many others"):
        link_objects(tmp_path / "0", tmp_path / "target")
