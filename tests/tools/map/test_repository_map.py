import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools.map.small_files import SOURCES
from workspace.repositories import make_repository, write

from goldseam.tools.map import cache as cache_module
from goldseam.tools.map.cache import load_sketches, save_sketches
from goldseam.tools.map.languages import language_of
from goldseam.tools.map.repository import BYTES_PER_TOKEN, Question, RepositoryMap
from goldseam.tools.map.sketch import Sketch
from goldseam.tools.map.source import MAX_FILE_BYTES, Source
from goldseam.workspace.clone import Workspace, open_workspace
from goldseam.workspace.errors import WorkspaceError

LONG_S = 60.0
SHOP = {
    "shop/order.py": "class Order:\n    def total(self): ...\n    def _tidy(self): ...\n",
    "shop/tax.py": "from shop.order import Order\n\ndef tax_of(order: Order): ...\n",
    "shop/web.py": "from shop.tax import tax_of\nfrom shop.order import Order\n\ndef page(): ...\n",
    "tests/test_order.py": "from shop.order import Order\n\ndef test_total(): ...\n",
    "README.md": "# Shop\n",
    "docs/a.txt": "words\n",
}

Open = Callable[[dict[str, str | bytes]], Workspace]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def make(files: dict[str, str | bytes]) -> Workspace:
        repository = make_repository(tmp_path / "home" / "shop", files)
        return open_workspace(repository, home=tmp_path / "work")

    return make


def draw(map_: RepositoryMap, *about: str, limit_s: float = LONG_S, **others: Any) -> str:
    question = Question(about=about, limit_s=limit_s, **others)
    return map_.draw(question, threading.Event())


def test_a_small_repository_is_drawn_whole(opened: Open) -> None:
    assert draw(RepositoryMap(opened({**SHOP}))) == (
        "map of .: 6 files, 4 with definitions; the most used elsewhere first\n"
        "shop/order.py\n"
        "     1| class Order\n"
        "     2|   def total(self)\n"
        "     3|   def _tidy(self)\n"
        "shop/tax.py\n"
        "     3| def tax_of(order: Order)\n"
        "shop/web.py\n"
        "     4| def page()\n"
        "tests/test_order.py\n"
        "     3| def test_total()\n"
        "other files:\n"
        "  / 1 file\n"
        "  docs/ 1 file"
    )


def test_what_is_asked_about_comes_first(opened: Open) -> None:
    map_ = RepositoryMap(opened({**SHOP}))
    assert draw(map_, "page").splitlines()[1:3] == ["shop/web.py", "     4| def page()"]
    asked = draw(map_, "order.py").splitlines()
    assert asked[1:3] == ["shop/order.py", "     1| class Order"]
    coloured = RepositoryMap(map_._workspace, task="a page that fails: tax_of is not called")
    assert draw(coloured).splitlines()[1] == "shop/tax.py"


def test_a_folder_is_drawn_in_the_light_of_the_whole(opened: Open) -> None:
    map_ = RepositoryMap(opened({**SHOP}))
    assert draw(map_, path="shop/").splitlines()[:2] == [
        "map of shop: 3 files, 3 with definitions; the most used elsewhere first",
        "shop/order.py",
    ]
    assert draw(map_, path="docs") == (
        "map of docs: 1 file, 0 with definitions; the most used elsewhere first\n"
        "other files:\n"
        "  docs/ 1 file"
    )


@pytest.mark.parametrize("path", ["nowhere", "README.md", "..", "/etc", ".git"])
def test_what_is_no_folder_with_files_is_refused(opened: Open, path: str) -> None:
    with pytest.raises(WorkspaceError):
        draw(RepositoryMap(opened({**SHOP})), path=path)


def test_every_language_is_drawn(opened: Open) -> None:
    text = draw(RepositoryMap(opened({**SOURCES})), max_tokens=10_000)
    shown = [line for line in text.splitlines() if "|" not in line]
    assert sorted(line.partition("  (")[0] for line in shown[1:]) == sorted(SOURCES)


# What changes


def test_changed_new_and_removed_files_are_seen(opened: Open) -> None:
    workspace = opened({**SHOP})
    map_ = RepositoryMap(workspace)
    draw(map_)
    (workspace.root / "shop" / "order.py").write_text("class Purchase: ...\n")
    (workspace.root / "shop" / "tax.py").unlink()
    write(workspace.root, {"shop/new.py": "from shop.order import Purchase\nclass New: ...\n"})
    text = draw(map_)
    assert text == draw(RepositoryMap(workspace))
    assert "class Purchase" in text
    assert "class New" in text
    assert "tax.py" not in text


def test_the_same_repository_gives_the_same_map(opened: Open, tmp_path: Path) -> None:
    # agents 39
    workspace = opened({**SHOP, **SOURCES})
    kept = tmp_path / "cache" / "sketches"
    maps = [RepositoryMap(workspace, cache=kept), RepositoryMap(workspace, cache=kept)]
    drawn = [draw(map_) for map_ in (*maps, *maps, RepositoryMap(workspace))]
    assert len(set(drawn)) == 1


def test_only_changed_files_are_read_again(opened: Open) -> None:
    # agents 38
    workspace = opened({f"m{n}.py": f"def name_{n}(): ...\n" for n in range(400)})
    map_ = RepositoryMap(workspace)
    draw(map_)
    (workspace.root / "m7.py").write_text("def changed(): ...\n")
    book = map_._book
    before = book.version
    draw(map_)
    assert book.version == before + 2  # one forgotten, one learnt


def test_sketches_last_from_run_to_run(opened: Open, tmp_path: Path) -> None:
    workspace = opened({**SHOP})
    kept = tmp_path / "home" / "cache" / "sketches"
    text = draw(RepositoryMap(workspace, cache=kept))
    assert len(load_sketches(kept)) == 4
    assert kept.stat().st_mode & 0o077 == 0
    written = kept.stat().st_mtime_ns
    assert draw(RepositoryMap(workspace, cache=kept)) == text
    assert kept.stat().st_mtime_ns == written


@pytest.mark.parametrize("content", [b"", b"\xc1", b"[]", b"\x82\xa7version\x02\xa8sketches\x80"])
def test_a_cache_that_cannot_be_read_counts_as_empty(
    opened: Open, tmp_path: Path, content: bytes
) -> None:
    kept = tmp_path / "sketches"
    kept.write_bytes(content)
    workspace = opened({**SHOP})
    assert draw(RepositoryMap(workspace, cache=kept)) == draw(RepositoryMap(workspace))
    assert len(load_sketches(kept)) == 4


def test_a_cache_that_cannot_be_written_is_done_without(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    workspace = opened({**SHOP})
    nowhere = RepositoryMap(workspace, cache=tmp_path / "file" / "sketches")
    assert draw(nowhere) == draw(RepositoryMap(workspace))


def test_a_cache_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    huge = Sketch(b"x" * (cache_module.MAX_BYTES + 1), b"")
    save_sketches(tmp_path / "sketches", {b"x": huge})
    assert list(tmp_path.iterdir()) == []


# What is not looked at


def test_links_are_not_followed(opened: Open, tmp_path: Path) -> None:
    # security 2, 5
    outside = tmp_path / "outside"
    write(outside, {"secret.py": "class SecretThing: ...\n"})
    workspace = opened({**SHOP})
    map_ = RepositoryMap(workspace)
    draw(map_)
    (workspace.root / "link.py").symlink_to(outside / "secret.py")
    (workspace.root / "folder").symlink_to(outside)
    # A folder that is listed, and then turns into a link.
    (workspace.root / "shop").rename(tmp_path / "moved")
    write(outside, {"order.py": "class SecretOrder: ...\n", "tax.py": "class SecretTax: ...\n"})
    (workspace.root / "shop").symlink_to(outside)
    text = draw(map_)
    assert "Secret" not in text
    assert "class Order" not in text
    assert "[2 files could not be read]" in text


def test_what_is_no_file_or_no_text_is_passed_over(opened: Open) -> None:
    workspace = opened({**SHOP, "binary.py": b"\x7fELF\0\0 class Nothing: ...", "empty.py": b""})
    os.mkfifo(workspace.root / "pipe.py")
    text = draw(RepositoryMap(workspace))
    assert "Nothing" not in text
    assert "pipe.py" not in text
    assert "  / 3 files" in text


def test_a_huge_file_is_named_and_not_looked_at(opened: Open) -> None:
    huge = b"class Huge: ...\n" + b"#" * MAX_FILE_BYTES
    large = b"class Large: ...\n".ljust(MAX_FILE_BYTES, b"#")
    text = draw(RepositoryMap(opened({**SHOP, "huge.py": huge, "large.py": large})))
    assert text.splitlines()[1] == "[too large to look at: huge.py]"
    assert "class Huge" not in text
    assert "class Large" in text


def test_of_many_huge_files_some_are_named(opened: Open) -> None:
    huge = b"#" * (MAX_FILE_BYTES + 1)
    text = draw(RepositoryMap(opened({**SHOP, **{f"huge{n}.py": huge for n in range(5)}})))
    assert text.splitlines()[1] == (
        "[too large to look at: huge0.py, huge1.py, huge2.py and 2 more]"
    )


def test_a_broken_file_keeps_what_can_be_read(opened: Open) -> None:
    broken = "def broken(:\n    pass\n\nclass Whole:\n    x = 1\n"
    text = draw(RepositoryMap(opened({"a.py": broken})))
    assert "class Whole" in text


def test_hostile_names_and_lines_stay_in_their_place(opened: Open) -> None:
    # security 46
    name = "a\n\x1b[2J\u202e.py"
    source = "class Evil\u202e: ...\ndef caf\u00e9(x='\x1b[31m'): ...\n"
    text = draw(RepositoryMap(opened({name: source, "b\\u202e.py": "class Plain: ...\n"})))
    assert all(line.isprintable() for line in text.splitlines())
    assert "a\\n\\x1b[2J\\u202e.py" in text


# Limits


@pytest.mark.parametrize("max_tokens", [200, 201, 500, 1_000])
def test_the_budget_is_kept(opened: Open, max_tokens: int) -> None:
    files = {
        f"package_{n}/module_{n}.py": "".join(
            f"class Thing{n}x{m}:\n    def method_{m}(self, é): ...\n" for m in range(40)
        )
        for n in range(30)
    }
    text = draw(RepositoryMap(opened({**files})), max_tokens=max_tokens)
    size = len(text.encode()) + 1
    assert size <= max_tokens * BYTES_PER_TOKEN
    assert size >= max_tokens * BYTES_PER_TOKEN * 0.8


def test_a_map_that_has_no_time_says_so_and_goes_on(opened: Open) -> None:
    # agents 38
    workspace = opened({**SHOP})
    map_ = RepositoryMap(workspace)
    assert draw(map_, limit_s=0) == (
        "map of .: 6 files, 0 with definitions; the most used elsewhere first\n"
        "[a part of the map: time was up after 0 s with 4 files not looked at; the next call goes "
        "on from there]\n"
        "other files:\n"
        "  shop/ 3 files\n"
        "  / 1 file\n"
        "  docs/ 1 file\n"
        "  tests/ 1 file"
    )
    assert draw(map_) == draw(RepositoryMap(workspace))
    (workspace.root / "shop" / "order.py").write_text("class Purchase: ...\n")
    stale = draw(map_, limit_s=0)
    assert "with 1 files not looked at" in stale
    assert "shop/order.py" in stale


def test_a_map_that_is_stopped_ends_at_once_and_the_next_one_is_whole(opened: Open) -> None:
    workspace = opened({**SHOP})
    map_ = RepositoryMap(workspace)
    stop = threading.Event()
    stop.set()
    assert "4 files not looked at" in map_.draw(Question(limit_s=LONG_S), stop)
    assert draw(map_) == draw(RepositoryMap(workspace))


def test_a_file_that_turns_into_something_else_while_it_is_read_is_none(tmp_path: Path) -> None:
    # security 13, 14
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "grown.py").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    (tmp_path / "link.py").symlink_to("grown.py")
    python = language_of("a.py")
    assert python is not None
    names = ["folder.py", "pipe.py", "grown.py", "link.py", "gone.py"]
    with Source(tmp_path) as source:
        assert [source.read(name, python) for name in names] == [None] * 5
        assert [source.stamp(name) is not None for name in names] == [0, 0, 1, 0, 0]


class StopsAtTheSecondLook(threading.Event):
    looks = 0

    def is_set(self) -> bool:
        self.looks += 1
        return self.looks > 1


def test_time_may_run_out_while_a_file_is_parsed(opened: Open) -> None:
    workspace = opened({"a.py": "def name_of(): ...\n" * 20_000})
    map_ = RepositoryMap(workspace)
    draw(map_)
    map_._outlines.clear()
    seen = map_.draw(Question(limit_s=LONG_S), StopsAtTheSecondLook())
    assert seen.splitlines()[1:] == ["a.py"]
    assert "def name_of()" in draw(map_)
