import fcntl
import os
import random
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import median
from threading import Timer

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journal.child_programs import PRELUDE, run_child
from journal.generated_events import EVENTS, NOON, noted

from goldseam.journal.reading import Gap, ReadRecord
from goldseam.journal.store import FileJournal, Writing, create_run, open_run, read_run
from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event, Noted, ToolFinished


def noon() -> datetime:
    return NOON


WRITING = Writing(wall=noon)
RUN = "20261130-120000-0001"


def keep(journal: FileJournal, *events: Event, durable: bool = False) -> None:
    async def append() -> None:
        for event in events:
            await journal.append(event, durable=durable)

    anyio.run(append)


def written(runs: Path, *events: Event) -> Path:
    """Return the folder of a closed run that holds `events`."""
    with create_run(runs, RUN, writing=WRITING) as journal:
        keep(journal, *events)
    return journal.folder


def reopened(folder: Path, *events: Event) -> ReadRecord:
    """Open the run, append `events`, and return what was found at opening."""
    opened = open_run(folder, writing=WRITING)
    with opened.journal as journal:
        keep(journal, *events)
    return opened.record


def notes(*texts: str) -> tuple[Event, ...]:
    return tuple(map(noted, texts))


@settings(max_examples=25)
@given(st.lists(EVENTS, max_size=8), st.lists(EVENTS, max_size=3))
def test_what_is_appended_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, first: list[Event], then: list[Event]
) -> None:
    folder = written(tmp_path_factory.mktemp("runs"), *first)
    assert reopened(folder, *then).events == tuple(first)
    record = read_run(folder)
    assert (record.events, record.gaps, record.torn) == ((*first, *then), (), b"")
    assert [entry.link.seq for entry in record.entries] == list(range(1, len(first + then) + 1))


def test_a_record_is_for_its_owner_alone(tmp_path: Path) -> None:  # security part 5
    folder = written(tmp_path / "home" / "runs", noted("x" * 300_000))
    modes = {
        str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode)
        for path in [folder.parent, folder, *folder.iterdir(), *(folder / "blobs").iterdir()]
    }
    assert {mode for path, mode in modes.items() if Path(tmp_path, path).is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if Path(tmp_path, path).is_file()} == {0o600}


def test_equal_outputs_stand_aside_once(tmp_path: Path) -> None:
    result = ToolResult(call_id="1", content="short")
    event = ToolFinished(at_s=1.0, result=result, seconds=1.0, full_text="0123456789" * 30_000)
    folder = written(tmp_path, event, event)
    assert (folder / "events.jsonl").stat().st_size < 2000
    assert len(list((folder / "blobs").iterdir())) == 1
    assert read_run(folder).events == (event, event)


def test_a_missing_or_changed_blob_is_a_gap_and_what_follows_is_read(tmp_path: Path) -> None:
    folder = written(tmp_path, *notes("x" * 300_000, "after"))
    (blob,) = (folder / "blobs").iterdir()
    blob.write_bytes(b"changed")
    changed = read_run(folder)
    blob.unlink()
    gone = read_run(folder)
    why = f"{RUN}/events.jsonl, line 1: needs blobs/{blob.name}, which"
    assert changed.gaps == (Gap(after=0, line=1, why=f"{why} has been changed"),)
    assert gone.gaps == (Gap(after=0, line=1, why=f"{why} cannot be read"),)
    assert changed.events == gone.events == notes("after")


def test_a_last_line_cut_at_any_byte_costs_that_line_alone(tmp_path: Path) -> None:  # M15, K14
    folder = written(tmp_path, *notes("one", "two", "three"))
    path = folder / "events.jsonl"
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(start, len(whole)):
        for nuls in (b"", b"\0" * 5):
            path.write_bytes(whole[:cut] + nuls)
            kept = ("one", "two", "three") if cut == len(whole) - 1 else ("one", "two")
            found = read_run(folder)
            assert (found.events, found.gaps) == (notes(*kept), ())
            assert found.torn == (b"" if len(kept) == 3 else whole[start:cut])
            assert reopened(folder, noted("new")) == found
            mended = read_run(folder)
            assert (mended.events, mended.gaps, mended.torn) == (notes(*kept, "new"), (), b"")
    torn = (folder / "events.torn").read_bytes().split(b"\n")
    assert torn[-2] == whole[start:-2]


def damaged(lines: list[bytes]) -> Iterator[tuple[list[bytes], tuple[str, ...], tuple[Gap, ...]]]:
    def gap(after: int, line: int, why: str) -> Gap:
        return Gap(after=after, line=line, why=f"{RUN}/events.jsonl, line {line}: {why}")

    a, b, c = lines
    foreign = b.replace(b"two", b"tow")
    yield [a, b"\0" * 99 + b, c], ("one", "two", "three"), (gap(1, 2, "is no event"),)
    yield [a, b"\0" * 99 + b"\n", b, c], ("one", "two", "three"), (gap(1, 2, "is no event"),)
    yield [a, foreign, c], ("one", "three"), (gap(1, 2, "does not match its hash"),)
    yield [a, c], ("one", "three"), (gap(1, 2, "1 events before it are missing"),)
    yield [b, c], ("two", "three"), (gap(0, 1, "1 events before it are missing"),)
    yield [a, b[:40] + b, c], ("one", "two", "three"), (gap(1, 2, "is no event"),)
    yield [a[:-1] + b, c], ("one", "two", "three"), ()
    yield [a, b, b, c], ("one", "two", "three"), (gap(2, 3, "repeats the event before it"),)
    yield (
        [a, b"\xff\xfe\n", b"\n", c[:-1]],
        ("one", "three"),
        (
            gap(1, 2, "is no event"),
            gap(1, 3, "is no event"),
        ),
    )
    yield (
        [b, a],
        ("two", "one"),
        (
            gap(0, 1, "1 events before it are missing"),
            gap(1, 2, "does not follow the event before it"),
        ),
    )


@pytest.mark.parametrize("case", range(10))
def test_damage_in_the_middle_is_a_gap_and_hides_nothing_after_it(
    tmp_path: Path, case: int
) -> None:  # security part 5
    folder = written(tmp_path, *notes("one", "two", "three"))
    path = folder / "events.jsonl"
    lines, texts, gaps = list(damaged(path.read_bytes().splitlines(keepends=True)))[case]
    path.write_bytes(b"".join(lines))
    record = read_run(folder)
    assert (record.events, record.gaps, record.torn) == (notes(*texts), gaps, b"")
    reopened(folder, noted("new"))
    again = read_run(folder)
    assert (again.events, again.gaps) == (notes(*texts, "new"), gaps)


def test_a_newer_format_is_refused_by_name_and_nothing_is_touched(tmp_path: Path) -> None:
    folder = written(tmp_path, noted("one"))
    path = folder / "events.jsonl"
    path.write_bytes(path.read_bytes() + b'{"v":3,"new":"form"}\n{"torn')
    before = path.read_bytes()
    for attempt in range(2):  # the second shows that the lock was let go
        with pytest.raises(JournalError, match=r"events\.jsonl, line 2: written in format 3.* 1;"):
            open_run(folder, writing=WRITING)
        assert path.read_bytes() == before, attempt


def test_a_second_writer_is_told_what_to_do_and_may_read(tmp_path: Path) -> None:  # M15
    with create_run(tmp_path, RUN, writing=WRITING) as journal:
        keep(journal, noted("one"))
        with pytest.raises(JournalError) as refusal:
            open_run(journal.folder, writing=WRITING)
        assert str(refusal.value) == (
            f"run {RUN} is being written by process {os.getpid()}: wait for it or stop it; "
            f"`goldseam show {RUN}` reads it meanwhile"
        )
        assert read_run(journal.folder).events == notes("one")
        keep(journal, noted("two"))
    assert reopened(journal.folder, noted("three")).events == notes("one", "two")


def test_a_child_process_does_not_keep_the_lock(tmp_path: Path) -> None:  # security part 5
    with create_run(tmp_path, RUN, writing=WRITING) as journal:
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        assert reopened(journal.folder).events == ()
    finally:
        child.kill()
        child.wait()


def test_two_runs_of_one_name_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, noted("one"))
    with pytest.raises(JournalError, match="File exists"):
        create_run(tmp_path, RUN, writing=WRITING)
    assert read_run(folder).events == notes("one")


def test_a_directory_that_crashed_while_it_was_made_opens_empty(tmp_path: Path) -> None:
    (tmp_path / RUN).mkdir()
    assert reopened(tmp_path / RUN, noted("one")) == ReadRecord()
    assert read_run(tmp_path / RUN).events == notes("one")


@pytest.mark.parametrize("missing", ["nothing", "a-file/run"])
def test_a_run_that_is_not_there_is_said(tmp_path: Path, missing: str) -> None:
    (tmp_path / "a-file").touch()
    for deed in (read_run, lambda folder: open_run(folder, writing=WRITING)):
        with pytest.raises(JournalError, match=missing):
            deed(tmp_path / missing)


def test_secrets_are_taken_out_on_the_way_in(tmp_path: Path) -> None:
    writing = Writing(wall=noon, secrets=("correct horse",))
    with create_run(tmp_path, RUN, writing=writing) as journal:
        keep(journal, noted("the password is correct horse"))
    assert read_run(journal.folder).events == notes("the password is [redacted]")


def test_somebody_elses_change_stops_the_writing(tmp_path: Path) -> None:
    with create_run(tmp_path, RUN, writing=WRITING) as journal:
        keep(journal, noted("one"))
        path = journal.folder / "events.jsonl"
        path.write_bytes(path.read_bytes() + b"strange\n")
        with pytest.raises(JournalError, match="somebody else changed or deleted it"):
            keep(journal, noted("two"))
        assert path.read_bytes().endswith(b"strange\n")
    with create_run(tmp_path, RUN + "b", writing=WRITING) as journal:
        (journal.folder / "events.jsonl").unlink()
        with pytest.raises(JournalError, match="somebody else changed or deleted it"):
            keep(journal, noted("one"), durable=True)


def test_an_event_that_cannot_be_written_leaves_the_record_usable(tmp_path: Path) -> None:
    with create_run(tmp_path, RUN, writing=WRITING) as journal:
        with pytest.raises(JournalError, match="JSON cannot carry"):
            keep(
                journal,
                ToolFinished(
                    at_s=0, result=ToolResult(call_id="", content=""), seconds=float("nan")
                ),
            )
        keep(journal, noted("one"))
    assert read_run(journal.folder).events == notes("one")


def test_a_clock_that_goes_back_harms_nothing(tmp_path: Path) -> None:
    times = iter([NOON, NOON.replace(year=1999)])
    with create_run(tmp_path, RUN, writing=Writing(wall=lambda: next(times))) as journal:
        keep(journal, *notes("one", "two"))
    record = read_run(journal.folder)
    assert [entry.time[:4] for entry in record.entries] == ["2026", "1999"]
    assert (record.events, record.gaps) == (notes("one", "two"), ())


FULL_DISK = """
journal = create_run(Path(sys.argv[1]), "20261130-120000-0001", writing=WRITING)
keep(journal, noted("one"), durable=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
refused(lambda: keep(journal, noted("x" * 300_000)))
refused(lambda: keep(journal, noted("y" * 20_000), durable=True))
refused(lambda: keep(journal, noted("two")))
"""


def test_a_full_disk_leaves_the_last_good_record_and_ends_the_writing(tmp_path: Path) -> None:
    child = run_child(FULL_DISK, tmp_path)
    folder = tmp_path / RUN
    path = folder / "events.jsonl"
    assert child.stdout.splitlines() == [
        f"{folder}/blobs: File too large",
        f"{path}: cannot be written: File too large",
        f"{path}: an earlier write failed, so nothing more is written",
    ], child.stderr
    assert list((folder / "blobs").iterdir()) == []
    assert read_run(folder).torn == b""
    assert reopened(folder, noted("two")).events == notes("one")


READ_ONLY = """
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
refused(lambda: create_run(Path("."), "20261130-120000-0002", writing=WRITING))
refused(lambda: open_run(Path("20261130-120000-0001"), writing=WRITING))
print(len(read_run(Path("20261130-120000-0001")).events))
"""


def test_a_read_only_directory_is_said_and_can_be_read(tmp_path: Path) -> None:
    folder = written(tmp_path, noted("one"))
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    tmp_path.chmod(0o555)
    try:
        child = run_child(READ_ONLY, tmp_path)
    finally:
        tmp_path.chmod(0o700)
        folder.chmod(0o700)
    assert child.stdout.splitlines() == [
        "20261130-120000-0002: Permission denied",
        f"{RUN}: Permission denied",
        "1",
    ], child.stderr


ENDLESS = """
journal = create_run(Path(sys.argv[1]), "20261130-120000-0001", writing=WRITING)

async def write():
    number = 0
    while True:
        await journal.append(noted(f"{number} " + "x" * 50_000), durable=number % 10 == 0)
        if number == 3:
            print("begun", flush=True)
        number += 1

anyio.run(write)
"""


def killed_writer(runs: Path, *, after_s: float) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + ENDLESS, str(runs)], stdout=subprocess.PIPE
    )
    try:
        assert child.stdout is not None
        assert select.select([child.stdout], [], [], 30)[0]
        time.sleep(after_s)
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()


def test_a_writer_killed_at_any_moment_leaves_a_record_to_go_on_with(tmp_path: Path) -> None:
    dice = random.Random(4)  # M15, K14
    for turn in range(6):
        runs = tmp_path / str(turn)
        killed_writer(runs, after_s=dice.uniform(0.0, 0.03))
        found = reopened(runs / RUN, noted("new"))
        assert found.gaps == ()
        assert len(found.events) >= 4
        whole = read_run(runs / RUN)
        assert whole.events == tuple(
            noted(f"{number} " + "x" * 50_000) for number in range(len(found.events))
        ) + notes("new")
        assert (whole.gaps, whole.torn) == ((), b"")


def test_an_append_costs_the_same_at_any_length(tmp_path: Path) -> None:  # M1
    took: list[float] = []

    async def append_many(journal: FileJournal) -> None:
        for _ in range(4000):
            start = time.perf_counter()
            await journal.append(noted("x" * 500), durable=False)
            took.append(time.perf_counter() - start)

    with create_run(tmp_path, RUN, writing=WRITING) as journal:
        anyio.run(append_many, journal)
    assert median(took[-400:]) < 4 * median(took[:400])


TWO_WRITERS = """
import time
folder, me = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
written = 0
while written < 30:
    try:
        opened = open_run(folder, writing=WRITING)
    except JournalError as error:
        assert "is being written by process" in str(error), error
        continue
    with opened.journal as journal:
        for _ in range(10):
            keep(journal, noted(f"{me} {written} " + "x" * 2000))
            written += 1
"""


def test_writers_that_fight_for_a_record_never_mix_their_lines(tmp_path: Path) -> None:
    (tmp_path / RUN).mkdir()  # M15, agents 15
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", PRELUDE + TWO_WRITERS, tmp_path / RUN, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for name in ("a", "b")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        writer.communicate(b"go\n", timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0]
    record = read_run(tmp_path / RUN)
    assert (record.gaps, record.torn) == ((), b"")
    words = [event.remark.text.split() for event in record.events if isinstance(event, Noted)]
    for name in ("a", "b"):
        assert [int(number) for who, number, _ in words if who == name] == list(range(30))
    owners = [who for who, _, _ in words]
    assert all(len(set(owners[start : start + 10])) == 1 for start in range(0, 60, 10))


def test_a_hundred_megabytes_of_output_are_kept_whole(tmp_path: Path) -> None:
    text = "é2345678\n" * 10_000_000
    event = ToolFinished(
        at_s=1.0,
        result=ToolResult(call_id="1", content="short"),
        seconds=1.0,
        full_text=text,
    )
    folder = written(tmp_path, event)
    assert (folder / "events.jsonl").stat().st_size < 1000
    assert read_run(folder).events == (event,)


def test_an_unfinished_blob_is_swept_away_by_the_next_opening(tmp_path: Path) -> None:
    folder = written(tmp_path, noted("x" * 300_000))
    (folder / "blobs" / "abc.part").write_bytes(b"half")
    assert reopened(folder).events == (noted("x" * 300_000),)
    assert len(list((folder / "blobs").iterdir())) == 1


def test_a_look_at_the_lock_does_not_keep_a_writer_out(tmp_path: Path) -> None:
    folder = written(tmp_path, noted("one"))
    descriptor = os.open(folder / "lock", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    Timer(0.02, os.close, [descriptor]).start()
    assert reopened(folder, noted("two")).events == notes("one")
