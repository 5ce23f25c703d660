"""`goldseam models`: a line for each host, and one that says whether it answers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from models.strict_chat_server import answer, calls, serving

KEY = "key-of-the-command-42"


def goldseam(folder: Path, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in {"PATH", "LANG"} or name.startswith("COVERAGE_PROCESS")
    }
    return subprocess.run(
        [sys.executable, "-m", "goldseam", *words],
        cwd=folder,
        env={**kept, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_table_tells_which_keys_are_set_and_no_key(tmp_path: Path) -> None:
    done = goldseam(tmp_path, "models", OPENAI_API_KEY=KEY, VERTEX_ACCESS_TOKEN=KEY)
    assert (done.returncode, done.stderr) == (0, "")
    assert KEY not in done.stdout
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert rows["openai"] == ["openai_chat", "OPENAI_API_KEY", "set", "gpt-6.1-terra"]
    assert rows["mistral"][1:4] == ["MISTRAL_API_KEY", "not", "set"]
    assert rows["ollama"] == ["openai_chat", "-", "no", "key", "needed", "gpt-oss:20b"]
    assert "set CUSTOM_BASE_URL" in done.stdout
    assert "set GOOGLE_CLOUD_PROJECT" in done.stdout
    assert "name one: azure:MODEL" in done.stdout


def test_json_has_a_line_for_each_host(tmp_path: Path) -> None:
    done = goldseam(tmp_path, "models", "--json", GEMINI_API_KEY=KEY)
    assert done.returncode == 0
    hosts = {row["host"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert hosts["gemini"] == {
        "type": "host",
        "host": "gemini",
        "dialect": "gemini",
        "keys": ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        "needs_key": True,
        "state": "set",
        "model": "gemini-3.8-flash",
    }
    assert hosts["custom"]["model"] is None
    assert KEY not in done.stdout


@pytest.mark.parametrize("as_json", [False, True])
def test_a_ping_is_one_line(tmp_path: Path, as_json: bool) -> None:
    with serving(KEY, answer("  pong\n!")) as server:
        done = goldseam(
            tmp_path,
            *("models", "--ping", "custom:m", *(["--json"] if as_json else [])),
            CUSTOM_BASE_URL=server.url,
            CUSTOM_API_KEY=KEY,
        )
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    if as_json:
        told = json.loads(line)
        assert told.pop("seconds") >= 0
        assert told == {"type": "ping", "model": "custom:m", "said": "pong !"}
    else:
        assert line.startswith("custom:m answered in ")
        assert line.endswith(" s: pong ! (30 tokens in, 5 out)")


def test_a_ping_that_says_nothing_has_answered(tmp_path: Path) -> None:
    with serving("", calls(("f", {}))) as server:
        url = server.url
        done = goldseam(tmp_path, "models", "--ping", "custom:m", CUSTOM_BASE_URL=url)
    assert (done.returncode, done.stderr) == (0, "")
    assert "(no words)" in done.stdout


def test_a_host_that_does_not_answer_is_exit_six_and_one_line(tmp_path: Path) -> None:
    with serving("another") as server:
        environ = {"CUSTOM_BASE_URL": server.url, "CUSTOM_API_KEY": KEY}
        refused = goldseam(tmp_path, "models", "--ping", "custom:m", **environ)
    gone = goldseam(tmp_path, "models", "--ping", "custom:m", "--json", **environ)
    for done in (refused, gone):
        assert done.returncode == 6
        assert len(done.stderr.splitlines()) == 1
        assert KEY not in done.stderr + done.stdout
    assert "401" in refused.stderr
    assert "it was refused" in gone.stderr
    assert json.loads(gone.stdout)["exit_code"] == 6


def test_who_cannot_be_asked_is_exit_two(tmp_path: Path) -> None:
    done = goldseam(tmp_path, "models", "--ping", "nobody")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the hosts are anthropic" in done.stderr
    (tmp_path / "broken.toml").write_text("[hosts.mine]\nurl = 1\n")
    done = goldseam(tmp_path, "models", GOLDSEAM_SETTINGS=str(tmp_path / "broken.toml"))
    assert done.returncode == 2
    assert "broken settings: the host 'mine'" in done.stderr
