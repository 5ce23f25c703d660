"""The page of a run: whole, self-contained, and of a size that a browser opens."""

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from journal.generated_events import EVENTS
from journal.sample_runs import (
    CHINESE,
    HOSTILE,
    RUN_ID,
    asked,
    called,
    long_story,
    record_of,
    replied,
    story,
)
from msgspec.structs import replace

from goldseam.journal.html import Finding, page_of
from goldseam.journal.viewing import view_of
from goldseam.kernel.conversation import Message
from goldseam.kernel.events import Event, VerificationFinished
from goldseam.kernel.outcome import Proof
from goldseam.kernel.request import TokenUsage

PATCH = "diff --git a/shop.py b/shop.py\n--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-b[1:]\n+b\n"
OURS = {
    *("html", "head", "meta", "title", "style", "body", "a", "header", "h1", "span", "p", "dl"),
    *("div", "dt", "dd", "figure", "svg", "path", "figcaption", "input", "output", "button", "kbd"),
    *("main", "details", "summary", "pre", "i", "h2", "h3", "h4", "code", "article", "section"),
    "script",
}


class Reader(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page(*events: Event, finding: Finding | None = None) -> str:
    return page_of(view_of(RUN_ID, record_of(events)), finding or Finding())


def test_everything_that_happened_is_on_the_page() -> None:
    finding = Finding(verdict="verified", message="1 test mended", patch=PATCH)
    text = "".join(Reader(page(*story("some words"), finding=finding)).text)
    for words in (
        "Sum is off some words",
        "verified",
        "1 test mended",
        "The patch: +1 -1 lines",
        CHINESE,
        "Step 1",
        "I should look first. some words",
        "A sealed thought.",
        "allowed: it is here",
        "The reply could not be used: no JSON",
        "No reply came (overloaded).",
        "the model is anthropic:claude-nova-5: the other is overloaded",
        "the person agreed: yes",
        "The arguments cannot be used: no object",
        "failed in 1.00 s",
        "old results leave the context",
        "Proved: 1 test fixed.",
        "400 in, 210 out, 1,500 cached",
        "$0.0028",
        "fenced: found in a fence",
        "Tokens of each step: the most are 2,130, in step 5.",
    ):
        assert words in text, words


def test_the_page_asks_nobody_for_anything() -> None:
    found = page(*story(HOSTILE), finding=Finding(message=HOSTILE, patch=HOSTILE))
    reader = Reader(found)
    assert set(reader.tags) <= OURS
    assert reader.tags.count("script") == reader.tags.count("style") == 1
    names = {name for name, _ in reader.attributes}
    assert not names & {"src", "srcset", "style", "action", "data", "onerror", "onclick", "onload"}
    assert all(value.startswith("#") for name, value in reader.attributes if name == "href")
    policy = next(value for name, value in reader.attributes if value.startswith("default-src"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u202e\u2066\u200b\ud800]", found)


@given(st.lists(EVENTS, max_size=4))
@settings(max_examples=25)
def test_any_record_makes_a_page_of_our_own_elements(events: list[Event]) -> None:
    found = page(*events)
    found.encode()
    assert set(Reader(found).tags) <= OURS


def test_the_page_of_a_long_run_can_still_be_opened() -> None:
    found = page(*long_story(2_000, "价" * 100_000))
    assert len(found.encode()) < 20_000_000
    assert f"more characters: goldseam show {RUN_ID} --step 2000" in found
    assert found.count('class="step"') == 2_000


def test_a_short_run_is_shown_whole() -> None:
    found = page(*long_story(3, "line\n" * 10_000))
    assert "more characters" not in found


def test_a_long_change_says_where_the_rest_is() -> None:
    found = page(*story(), finding=Finding(patch="+line\n" * 100_000))
    assert "more characters: patch.diff of" in found


def test_a_record_with_nothing_in_it_is_a_page_too() -> None:
    found = page()
    assert f"Run {RUN_ID}" in found
    assert "no end on record" in found


def test_odd_ends_of_steps_are_told() -> None:
    usage = TokenUsage(input=5, output=None)
    whole = replied(1, 1.0, Message(role="assistant", text=""), usage=usage)
    cut = replace(whole, response=replace(whole.response, stop="length"))
    unknown = replied(2, 2.0, called("c7", "read_file", path="a.py"), usage=usage)
    found = page(
        *story()[:3],
        cut,
        asked(2, 1.5),
        unknown,
        asked(3, 3.0),
        VerificationFinished(
            at_s=4.0, proof=Proof(proven=False, text="1 fails"), go_on=True, seconds=1.0
        ),
    )
    text = "".join(Reader(found).text)
    for words in (
        "The reply stopped early: length",
        "never started",
        "No end of this call is on record.",
        "the model was told so",
        "tokens unknown",
    ):
        assert words in text, words
