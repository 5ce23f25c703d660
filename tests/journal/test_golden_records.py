"""Records that earlier versions wrote are read whole. The files are made by `golden/make.py`."""

import json
import shutil
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from journal.golden.make import GOLDEN
from kernel.fakes import fold

from goldseam.journal.codec import MAX_LINE
from goldseam.journal.store import EVENTS, Writing, open_run, read_run
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import SCHEMA_VERSION, Event
from goldseam.kernel.outcome import Completed, Proof

RECORDS = sorted(path for path in GOLDEN.iterdir() if (path / EVENTS).is_file())


def tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


def holds(value: object, written: object) -> bool:
    """Whether all that was written is in `value`; fields that came later may be there too."""
    match value, written:
        case _, {"sha256": str(), "bytes": int(length)}:
            text = value if isinstance(value, str) else ""
            return len(text.encode("utf-8", "surrogatepass")) == length
        case dict(), dict():
            return all(holds(value.get(name), part) for name, part in written.items())
        case ((list() | tuple()), list()):
            return len(value) == len(written) and all(map(holds, value, written))
        case _:
            return value == written


@pytest.mark.parametrize("folder", RECORDS, ids=lambda folder: folder.name)
def test_a_record_of_any_version_is_read_with_all_that_was_written(folder: Path) -> None:
    record = read_run(folder)
    assert (record.gaps, record.torn) == ((), b"")
    lines = [json.loads(line) for line in (folder / EVENTS).read_bytes().splitlines()]
    assert len(record.entries) == len(lines)
    for entry, line in zip(record.entries, lines, strict=True):
        assert (entry.link.seq, entry.link.h, entry.time) == (line["seq"], line["h"], line["t"])
        assert tag(type(entry.event)) == line["type"]
        assert holds(msgspec.to_builtins(entry.event), line["data"])


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_a_run_of_any_version_still_means_the_same(version: int) -> None:
    state = fold(read_run(GOLDEN / f"v{version}-run").events)
    proof = Proof(proven=True, text="all tests pass")
    assert state.outcome == Completed(answer="Now it is.", proof=proof)
    assert (state.ledger.model_calls, state.ledger.action_steps) == (8, 12)
    assert (len(state.conversation), state.verifications) == (27, 2)


def test_every_kind_of_event_stands_in_the_records_of_the_present_version() -> None:
    written = {tag(type(event)) for event in read_run(GOLDEN / f"v{SCHEMA_VERSION}-events").events}
    assert written == {tag(kind) for kind in get_args(Event)}, "run golden/make.py again"


def test_a_newer_version_is_refused_by_name_for_reading_and_writing(tmp_path: Path) -> None:
    folder = shutil.copytree(GOLDEN / f"v{SCHEMA_VERSION}-run", tmp_path / "run")
    content = (folder / EVENTS).read_bytes().replace(b'{"v":1,', b'{"v":2,', 1)
    (folder / EVENTS).write_bytes(content)
    refusal = rf"run/{EVENTS}, line 1: written in format 2, and this version reads up to 1; use a n"
    with pytest.raises(JournalError, match=refusal):
        read_run(folder)
    with pytest.raises(JournalError, match=refusal):
        open_run(folder, writing=Writing(wall=lambda: pytest.fail("nothing is written")))
    assert (folder / EVENTS).read_bytes() == content
    assert len(content) < MAX_LINE
