"""An issue goes in and a verified patch comes out, through the front door."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from e2e.e2e_support import FIXED, Desk, answer, calls

DONE = answer("The slice dropped the first price.")


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file below `folder`, `.git` included, by content and time of change."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_scripted_model_mends_and_the_patch_is_proved_and_applies(desk: Desk) -> None:
    before = fingerprint(desk.repository)
    model = desk.script(
        calls(("read_file", {"path": "shop.py"}), ("run_tests", {})),
        calls(("edit_file", FIXED)),
        DONE,
    )
    ended = desk.goldseam(
        "fix", "totals are wrong", "--repo", "shop", "--model", model, "--out", "out"
    )
    assert ended.code == 0, ended.err
    assert "verified" in ended.err
    assert "-    for price in prices[1:]:" in ended.out
    assert fingerprint(desk.repository) == before
    result = json.loads((desk.folder / "out/result.json").read_bytes())
    assert result["verdict"] == "verified"
    assert result["tests"]["fixed"] == ["test_shop.py::test_total_counts_every_price"]
    assert result["usage"]["model_calls"] == 3
    desk.git("apply", "--check", str(desk.folder / "out/patch.diff"))
    desk.git("apply", str(desk.folder / "out/patch.diff"))
    assert "for price in prices:" in (desk.repository / "shop.py").read_text()


def test_the_record_is_shown_and_work_is_cleared_away(desk: Desk) -> None:
    desk.goldseam(
        "fix", "x", "--repo", "shop", "--model", desk.script(calls(("edit_file", FIXED)), DONE)
    )
    shown = desk.goldseam("show", "last")
    assert shown.code == 0
    for part in ("edit_file", "The slice dropped the first price.", "Proved"):
        assert part in shown.out
    assert list((desk.home / "work").iterdir()) == []
    (run,) = (desk.home / "runs").iterdir()
    assert (run.stat().st_mode & 0o777) == 0o700


def test_the_last_line_of_json_is_the_result_and_each_line_is_an_object(desk: Desk) -> None:
    model = desk.script(calls(("edit_file", FIXED)), DONE)
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--json")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert lines[-1]["type"] == "result"
    assert lines[-1]["verdict"] == "verified"
    assert [line["type"] for line in lines].count("result") == 1
    assert "run_started" in [line["type"] for line in lines]


def test_a_model_that_says_it_is_done_too_soon_is_shown_the_failing_output(desk: Desk) -> None:
    wrong = {**FIXED, "new_text": "prices[2:]"}
    right = {"path": "shop.py", "old_text": "prices[2:]", "new_text": "prices"}
    model = desk.script(
        calls(("edit_file", wrong)), DONE, calls(("edit_file", right)), answer("Now it is.")
    )
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--json")
    assert ended.code == 0, ended.err
    proofs = [
        line["proof"]
        for line in map(json.loads, ended.out.splitlines())
        if line["type"] == "verification_finished"
    ]
    assert [proof["proven"] for proof in proofs] == [False, True]
    assert "test_total_counts_every_price" in proofs[0]["text"]
    assert "assert 3 == 6" in proofs[0]["text"]


def test_a_test_that_is_weakened_proves_nothing(desk: Desk) -> None:
    weaker = {
        "path": "test_shop.py",
        "old_text": "assert total([1, 2, 3]) == 6",
        "new_text": "assert total([1, 2, 3]) == 5",
    }
    model = desk.script(calls(("edit_file", weaker)), *[DONE] * 6)
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--json")
    assert ended.code == 3, ended.err
    assert ended.result["verdict"] == "unverified"
    assert ended.result["tests"]["fixed"] == []
    assert ended.result["files"][0]["is_existing_test"]


def test_a_new_test_that_fails_without_the_patch_proves_it(desk: Desk) -> None:
    small = "from shop import is_large\n\ndef test_small():\n    assert not is_large([1])\n"
    desk.write({"test_shop.py": small})
    desk.git("commit", "-qam", "no test shows it")
    test = "from shop import total\n\ndef test_all():\n    assert total([4, 5]) == 9\n"
    model = desk.script(
        calls(("edit_file", FIXED), ("write_file", {"path": "test_all.py", "content": test})), DONE
    )
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--json")
    assert ended.code == 0, ended.err
    assert ended.result["tests"]["fixed"] == ["test_all.py::test_all"]


@pytest.mark.parametrize(
    ("replies", "words", "code"),
    [
        ([answer("I cannot mend it."), answer("I cannot mend it.")], [], 4),
        ([calls(("edit_file", {**FIXED, "new_text": "prices[2:]"})), *[DONE] * 6], [], 3),
        ([calls(("run_tests", {}))] * 4, ["--max-calls", "2"], 5),
        ([calls(("run_tests", {}))] * 4, ["--max-tokens", "10000"], 5),
        ([{"type": "fails", "kind": "auth", "text": "the key is not valid"}], [], 6),
        ([calls(("run_tests", {}))], [], 6),
    ],
)
def test_each_way_to_end_has_its_exit_code(
    desk: Desk, replies: list[dict[str, object]], words: list[str], code: int
) -> None:
    model = desk.script(*replies)
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--json", *words)
    assert ended.code == code, ended.err
    assert ended.result["exit_code"] == code
    assert Path(ended.result["report"]).is_file()


def test_a_patch_that_is_proved_counts_though_a_limit_was_met(desk: Desk) -> None:
    model = desk.script(calls(("edit_file", FIXED)), calls(("run_tests", {})))
    ended = desk.goldseam(
        "fix", "x", "--repo", "shop", "--model", model, "--json", "--max-calls", "1"
    )
    assert ended.code == 0, ended.err
    assert ended.result["verdict"] == "verified"


def without_bubblewrap() -> tuple[str, ...]:
    """A prefix that runs a command on a machine whose bubblewrap is gone."""
    found = shutil.which("bwrap")
    assert found is not None, "these tests need bubblewrap"
    return (found, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", found)


def test_a_sandbox_that_is_required_and_missing_refuses(desk: Desk) -> None:
    model = desk.script(DONE)
    words = ("fix", "x", "--repo", "shop", "--model", model, "--json", "--require-sandbox")
    ended = desk.goldseam(*words, prefix=without_bubblewrap())
    assert ended.code == 8, ended.err
    assert "bubblewrap" in ended.result["message"]
    assert left_behind(desk) == []


def test_without_a_sandbox_the_run_goes_on_and_says_so_loudly(desk: Desk) -> None:
    model = desk.script(calls(("edit_file", FIXED)), DONE)
    words = ("fix", "x", "--repo", "shop", "--model", model, "--json")
    ended = desk.goldseam(*words, prefix=without_bubblewrap())
    assert ended.code == 0, ended.err
    assert "sandbox: D" in ended.result["sandbox"]
    assert "sandbox: D" in desk.goldseam("show").out


def test_a_run_that_policy_kept_from_its_patch_is_refused_by_policy(desk: Desk) -> None:
    settings = desk.folder / "rules.toml"
    settings.write_text('rules = [{ decision = "deny", tool = "edit_file", why = "read only" }]')
    model = desk.script(calls(("edit_file", FIXED)), DONE, DONE)
    words = ("fix", "x", "--repo", "shop", "--model", model, "--json")
    ended = desk.goldseam(*words, GOLDSEAM_SETTINGS=str(settings))
    assert ended.code == 8, ended.err
    assert "read only" in ended.result["message"]


def left_behind(desk: Desk) -> list[Path]:
    return [path for path in desk.home.rglob("*") if path.name not in {"work", "runs"}]


BAD = [
    (["fix", ""], "empty"),
    (["fix", "nosuch.md", "--repo", "shop"], "no file"),
    (["fix", "x", "--repo", "nosuch"], "nosuch"),
    (["fix", "x", "--repo", "empty"], "no commits"),
    (["fix", "x", "--repo", "untested"], "test"),
    (["fix", "x", "--repo", "shop", "--model", "nobody:none"], "no model"),
    (["fix", "x", "--repo", "shop", "--max-calls", "0"], "model_calls"),
    (["fix", "x", "--repo", "shop", "--max-calls", "many"], "--max-calls"),
    (["fix", "x", "--repo", "shop", "--test", "nosuchprogram"], "nosuchprogram"),
    (["fix", "x", "--repo", "shop", "--out", "shop/shop.py"], "not a folder"),
    (["fix"], "ISSUE"),
    (["show", "last"], "no runs"),
    (["nosuch"], "nosuch"),
]


@pytest.mark.parametrize(("words", "says"), BAD)
def test_bad_input_is_one_clear_line_and_leaves_nothing(
    desk: Desk, words: list[str], says: str
) -> None:
    (desk.folder / "empty").mkdir()
    subprocess.run(["git", "init", "-q", str(desk.folder / "empty")], check=True)
    (desk.folder / "untested").mkdir()
    (desk.folder / "untested/a.py").write_text("x = 1\n")
    ended = desk.goldseam(*words)
    assert ended.code == 2, ended.err
    last = ended.err.splitlines()[-1]
    assert last.startswith("goldseam: ")
    assert says in last
    assert "Traceback" not in ended.err
    assert left_behind(desk) == []


def test_no_words_at_all_print_the_help(desk: Desk) -> None:
    ended = desk.goldseam()
    assert ended.code == 0
    assert "Commands:" in ended.out


def test_a_limit_is_told_by_the_option_that_raises_it(desk: Desk) -> None:
    model = desk.script(*[calls(("run_tests", {}))] * 3)
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--max-calls", "1")
    assert "--max-calls" in ended.err


def test_broken_settings_are_one_line_that_names_the_file(desk: Desk) -> None:
    settings = desk.folder / "settings.toml"
    for content, says in [("model = 3", "str"), ("modle = 'x'", "modle"), ("[", "settings.toml")]:
        settings.write_text(content)
        ended = desk.goldseam("fix", "x", "--repo", "shop", GOLDSEAM_SETTINGS=str(settings))
        assert ended.code == 2
        (line,) = [line for line in ended.err.splitlines() if line.startswith("goldseam:")]
        assert says in line
        assert str(settings) in line


def test_a_dirty_tree_is_refused_or_carried_in(desk: Desk) -> None:
    desk.write({"shop.py": (desk.repository / "shop.py").read_text() + "\nEXTRA = 1\n"})
    model = desk.script(calls(("edit_file", FIXED)), DONE)
    refused = desk.goldseam("fix", "x", "--repo", "shop", "--model", model)
    assert refused.code == 2
    assert "--include-dirty" in refused.err
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", model, "--include-dirty")
    assert ended.code == 0, ended.err
    assert "EXTRA" not in "".join(line for line in ended.out.splitlines() if line.startswith("+"))


def test_an_unwritable_home_is_said_in_one_line(desk: Desk) -> None:
    (desk.folder / "file").write_text("")
    ended = desk.goldseam(
        "fix",
        "x",
        "--repo",
        "shop",
        "--model",
        desk.script(DONE),
        GOLDSEAM_HOME=str(desk.folder / "file/x"),
    )
    assert ended.code == 2
    assert "GOLDSEAM_HOME" in ended.err.splitlines()[-1]


def test_the_issue_may_come_from_standard_input(desk: Desk) -> None:
    model = desk.script(calls(("edit_file", FIXED)), DONE)
    ended = desk.goldseam(
        "fix", "-", "--repo", "shop", "--model", model, stdin="# Sum\n\nis wrong\n"
    )
    assert ended.code == 0, ended.err


def test_no_file_of_the_person_is_read_by_the_model(desk: Desk) -> None:
    secret = desk.folder / "secret.txt"
    secret.write_text("the-secret-word")
    model = desk.script(
        calls(
            ("read_file", {"path": "../secret.txt"}),
            ("read_file", {"path": str(secret)}),
            ("run_command", {"command": f"cat {desk.home}/* ../*/script.json; env"}),
        ),
        answer("no"),
        answer("no"),
    )
    ended = desk.goldseam(
        "fix", "x", "--repo", "shop", "--model", model, "--json", TOKEN_A="hidden-value"
    )
    assert "the-secret-word" not in ended.out
    assert "hidden-value" not in ended.out
    assert os.environ.get("TOKEN_A") is None
