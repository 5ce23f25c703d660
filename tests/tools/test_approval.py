import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.kernel.conversation import Malformed, ToolCall, arguments_of
from goldseam.kernel.events import MustAsk
from goldseam.tools.approval import SHOWN_CHARACTERS, HeadlessApprover, shown_for_approval


def command(text: str) -> ToolCall:
    return ToolCall(call_id="1", tool_name="run_command", arguments=arguments_of({"command": text}))


NOTE = "\n  (characters that cannot be seen are written \\u{…})"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ls -la", "ls -la"),
        ("echo 'naïve 日本'", "echo 'naïve 日本'"),
        ("ls\nrm x", "ls\n    rm x"),
        ("ls \x1b[2K\r", f"ls \\u{{1b}}[2K\\u{{d}}{NOTE}"),
        ("ls \u202egnp.sh", f"ls \\u{{202e}}gnp.sh{NOTE}"),
        (
            "r\u200bm \U000e0041 \u3164 \u00a0",
            f"r\\u{{200b}}m \\u{{e0041}} \\u{{3164}} \\u{{a0}}{NOTE}",
        ),
        ("ls" + " " * 300 + "; rm", f"ls \\u{{20}} 300 times ; rm{NOTE}"),
        ("ls" + "\n" * 99 + "rm", f"ls \\u{{a}} 99 times rm{NOTE}"),
        ("\ud800", f"\\u{{d800}}{NOTE}"),
    ],
)
def test_a_person_sees_what_would_run_and_nothing_hides(text: str, seen: str) -> None:
    # security 46
    assert shown_for_approval(command(text)) == f"run_command\n  command: {seen}"


def test_a_long_argument_shows_its_head_and_its_tail_and_says_so() -> None:
    shown = shown_for_approval(command("a" * 5000 + "; rm -rf ."))
    assert shown.startswith("run_command\n  command: " + "a" * (SHOWN_CHARACTERS // 2))
    assert "[… 3010 of 5010 characters are not shown here …]" in shown
    assert shown.endswith("; rm -rf .")


def test_arguments_that_are_no_text_are_shown_as_json_and_unreadable_ones_raw() -> None:
    call = ToolCall(call_id="1", tool_name="t", arguments=arguments_of({"b": [1], "a": None}))
    assert shown_for_approval(call) == "t\n  a: null\n  b: [1]"
    bad = ToolCall(call_id="1", tool_name="t", arguments=Malformed(raw="{", why="cut"))
    assert shown_for_approval(bad) == "t\n  (unreadable) {"


@given(st.text(alphabet=st.characters(categories=["Cc", "Cf", "Cs", "Co", "Zl", "Zp", "L"])))
def test_no_unseen_character_is_ever_shown_as_itself(text: str) -> None:
    shown = shown_for_approval(command(text))
    assert all(character.isprintable() or character == "\n" for character in shown)


@pytest.mark.anyio
async def test_where_nobody_is_there_nothing_is_granted() -> None:
    # agents: fail closed; A5.9
    assert await HeadlessApprover().ask(command("ls"), MustAsk(why="no sandbox", shown="ls")) == (
        False,
        "run_command needs a person's agreement (no sandbox), and nobody is there",
    )
