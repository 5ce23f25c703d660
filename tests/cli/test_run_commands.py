"""`goldseam runs`, `show`, `export` and `prune`, as a person and a program say them."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest
from journal.generated_events import NOON
from journal.sample_runs import story

from goldseam.journal.store import Writing, create_run
from goldseam.kernel.events import Event

RUNS = ("20261130-101502-0001", "20261130-101503-0002", "20261130-101504-0003")

Done: TypeAlias = "subprocess.CompletedProcess[str]"
Say: TypeAlias = Callable[..., Done]


@pytest.fixture
def say(tmp_path: Path) -> Say:
    """Return how to run a command in a home with a run that ended, one that broke, one stopped."""

    def run(*words: str, stdin: str = "") -> Done:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in {"PATH", "LANG"} or name.startswith("COVERAGE_PROCESS")
        }
        return subprocess.run(
            [sys.executable, "-m", "goldseam", *words],
            cwd=tmp_path,
            env={**kept, "GOLDSEAM_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path)},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    for name, events in zip(RUNS, (story(), story()[:5], story()), strict=True):
        keep(tmp_path, name, events)
    return run


def keep(tmp_path: Path, name: str, events: list[Event]) -> None:
    async def append() -> None:
        for event in events:
            await journal.append(event, durable=False)

    runs = tmp_path / "home" / "runs"
    with create_run(runs, name, writing=Writing(wall=lambda: NOON)) as journal:
        anyio.run(append)


def objects(done: Done) -> list[dict[str, object]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "home" / "runs").iterdir())


def test_runs_are_listed_newest_first_with_how_to_go_on(say: Say) -> None:
    told = objects(say("runs", "--json"))
    assert [run["run_id"] for run in told] == list(reversed(RUNS))
    assert [run["state"] for run in told] == ["finished", "crashed", "finished"]
    assert told[1]["go_on"] == f"goldseam resume {RUNS[1]}"
    lines = say("runs").stdout.splitlines()
    assert lines[0].split() == [
        "run",
        "state",
        "outcome",
        "calls",
        "tokens",
        "issue",
        "to",
        "go",
        "on",
    ]
    assert [line.split()[0] for line in lines[1:]] == list(reversed(RUNS))
    assert lines[2].endswith(f"goldseam resume {RUNS[1]}")
    assert len(say("runs", "--limit", "1").stdout.splitlines()) == 2
    assert len(objects(say("runs", "--json", "--limit", "2"))) == 2


def test_a_summary_names_steps_and_calls_and_the_ways_to_more(say: Say) -> None:
    done = say("show", RUNS[0])
    assert done.returncode == 0, done.stderr
    for words in (
        "step 1  openai:gpt-6.1-terra  1,200 in, 80 out  $0.0023",
        'edit_file {"new_text"',
        "the person agreed: yes",
        "result: 1 failed",
        "the model is anthropic:claude-nova-5",
        "run completed: proven",
        f"goldseam show {RUNS[0]} --step N",
    ):
        assert words in done.stdout, words


def test_events_and_steps_are_shown_to_people_and_programs(say: Say) -> None:
    assert "asks the model, call 1" in say("show", RUNS[0], "--events").stdout
    events = objects(say("show", RUNS[0], "--events", "--json"))
    assert (events[0]["type"], events[0]["seq"]) == ("run_started", 1)
    shown = say("show", RUNS[0], "--step", "4").stdout
    assert shown.startswith("step 4 asks anthropic:claude-nova-5")
    (step,) = objects(say("show", RUNS[0], "--step", "4", "--json"))
    assert step["request"]["history"][0]["text"] == "You mend code."  # type: ignore[index]  # JSON
    assert step["ending"]["response"]["stop"] == "tool_calls"  # type: ignore[index]  # JSON


def test_a_page_is_written_for_its_owner_alone(say: Say, tmp_path: Path) -> None:
    (tmp_path / "home" / "runs" / RUNS[0] / "patch.diff").write_text("+a line of the patch\n")
    done = say("show", RUNS[0], "--html")
    assert done.stdout == f"{RUNS[0]}.html\n"
    page = tmp_path / f"{RUNS[0]}.html"
    assert page.stat().st_mode & 0o777 == 0o600
    assert "a line of the patch" in page.read_text()
    assert say("show", RUNS[0], "--html", "-").stdout == page.read_text()
    assert say("show", RUNS[0], "--html", "mine.html").stdout == "mine.html\n"
    assert (tmp_path / "mine.html").read_text() == page.read_text()


@pytest.mark.parametrize("form", ["openai", "anthropic", "gemini", "atif"])
def test_exports_are_json_on_standard_output_alone(say: Say, form: str) -> None:
    done = say("export", RUNS[0], "--format", form)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    if form == "gemini":
        assert "not said as it was" in done.stderr
    assert say("export", RUNS[0], "--format", "markdown").stdout.startswith("# Run ")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("show", "--step", "9"), "no step 9"),
        (("show", "nothing"), "no run is called"),
        (("show", "--json"), "--json goes with"),
        (("show", "--html", "last"), "writes a file such as"),
        (("show", "--html", "no/where.html"), "cannot write"),
        (("export", "x", "--format", "atif"), "no run is called"),
        (("prune",), "say what is to go"),
        (("prune", "--older-than", "soon"), "such as 30d"),
        (("prune", "--keep-size", "-1"), "such as 500MB"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(
    say: Say, words: tuple[str, ...], why: str
) -> None:
    done = say(*words)
    assert done.returncode == 2
    assert done.stdout == "" or "--json" in words
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_gaps_are_told_beside_what_is_shown(say: Say, tmp_path: Path) -> None:
    events = tmp_path / "home" / "runs" / RUNS[0] / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join((*lines[:-2], b"damaged\n", lines[-1])))
    assert "the record is not whole" in say("show", RUNS[0]).stdout
    done = say("show", RUNS[0], "--step", "1")
    assert (done.returncode, "the record is not whole" in done.stderr) == (0, True)
    assert "the record is not whole" in say("show", RUNS[0], "--html", "-").stdout


def test_pruning_says_first_and_asks_for_what_could_be_resumed(say: Say, tmp_path: Path) -> None:
    would = say("prune", "--older-than", "0s", "--dry-run")
    assert "3 runs would go" in would.stdout
    assert left(tmp_path) == list(RUNS)
    with (tmp_path / "home" / "runs" / RUNS[2] / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = say("prune", "--older-than", "0s", stdin="y\n")
        assert "1 run gone" in done.stdout
        assert "1 run stayed" in done.stderr
        assert left(tmp_path) == [RUNS[1], RUNS[2]]
        gone = objects(say("prune", "--keep-size", "0", "--yes", "--json"))
        assert [(run["run_id"], run["removed"]) for run in gone] == [(RUNS[1], True)]
        assert left(tmp_path) == [RUNS[2]]


def test_a_size_keeps_the_newest(say: Say, tmp_path: Path) -> None:
    for age, name in enumerate(reversed(RUNS)):
        os.utime(tmp_path / "home" / "runs" / name / "events.jsonl", (10_000 - age, 10_000 - age))
    assert "0 runs gone" in say("prune", "--keep-size", "1GB", "--older-than", "9999w").stdout
    say("prune", "--keep-size", "20kB", "--yes")
    assert RUNS[2] in left(tmp_path)
    assert RUNS[0] not in left(tmp_path)


def test_a_home_without_runs_says_how_to_begin(say: Say, tmp_path: Path) -> None:
    say("prune", "--older-than", "0s", "--yes")
    assert left(tmp_path) == []
    assert "goldseam fix ISSUE" in say("runs").stdout
    assert say("runs", "--json").stdout == ""
