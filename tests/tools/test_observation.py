import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.observation import cut, failure_text, sendable, without_roots

ROOTS = ("/home/ada/app", "/tmp/clone-1")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('File "/home/ada/app/src/a.py", line 3', 'File "src/a.py", line 3'),
        ("/home/ada/app", "."),
        ("cd /home/ada/app/ && ls /tmp/clone-1/x", "cd ./ && ls x"),
        ("/home/ada/app-old/x", "/home/ada/app-old/x"),
        ("/home/ada/app.bak", "/home/ada/app.bak"),
        ("/mnt/home/ada/app/x", "/mnt/home/ada/app/x"),
        ("/usr/lib/python3/x.py", "/usr/lib/python3/x.py"),
    ],
)
def test_paths_of_the_workspace_become_relative_and_others_stay(text: str, seen: str) -> None:
    # A4.3, A5.6
    assert without_roots(text, ROOTS) == seen


def test_the_root_of_the_whole_machine_is_no_root() -> None:
    assert without_roots("/etc/x", ("/",)) == "/etc/x"


def test_of_an_error_only_its_first_line_is_kept() -> None:
    # A4.3
    message = "\nno such row in /tmp/clone-1/data.db\n  at frame 1\n  at frame 2"
    assert failure_text(message, ROOTS) == "no such row in data.db"
    assert failure_text(" \n", ROOTS) == "no message"
    assert len(failure_text("x" * 1000, ROOTS)) == 400


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("cannot open /srv/app/data/x.db", "cannot open …/x.db"),
        ("at file:///srv/app/x.js:3", "at …/x.js:3"),
        (r"no C:\Users\ada\x.txt here", "no …/x.txt here"),
        (
            "see https://example.org/a/b and and/or/not",
            "see https://example.org/a/b and and/or/not",
        ),
        ("route /login is 404", "route /login is 404"),
        ("<Lock at 0x7f00aa11bb22> is held", "<Lock> is held"),
        ("color #0xff", "color #0xff"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        (
            'Traceback (most recent call last):\n  File "/x/y.py"\nValueError: in /tmp/clone-1/a\n',
            "ValueError: in a",
        ),
        (
            "Traceback (most recent call last):\n  cut off",
            "an error with a traceback and no message",
        ),
    ],
)
def test_an_error_names_neither_the_host_s_places_nor_its_memory(message: str, told: str) -> None:
    # A4.3
    assert failure_text(message, ROOTS) == told


def test_half_characters_are_replaced_and_whole_ones_stay() -> None:
    assert sendable("a\udc80😀") == "a\ufffd😀"


def test_a_cut_text_says_how_much_there_was_what_is_shown_and_what_to_change() -> None:
    # A4.5, A4.6, K7
    text = "".join(f"line {number}\n" for number in range(1000))
    shown = cut(text, lever="raise `limit`", limit_bytes=1_000)
    head, note, tail = shown.partition("\n[… ")[0], shown.split("\n")[-1], shown.split(" …]\n")[1]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert note == ""
    assert (
        f"[… {len(text) - len(head) - len(tail)} of {len(text)} bytes left out; shown: the first "
        f"{len(head)} and the last {len(tail)}. To see more: raise `limit`. …]"
    ) in shown


@given(st.text(max_size=3_000), st.integers(600, 1_500))
def test_a_text_is_kept_whole_or_cut_within_its_limit(text: str, limit: int) -> None:
    shown = cut(text, lever="x", limit_bytes=limit)
    size = len(text.encode())
    assert (shown == text) if size <= limit else (len(shown.encode()) <= limit)
