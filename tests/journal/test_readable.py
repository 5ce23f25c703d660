import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal.generated_events import EVENTS, NOON, noted

from goldseam.journal.codec import START, Entry, Link
from goldseam.journal.readable import readable
from goldseam.journal.reading import Gap, ReadRecord
from goldseam.journal.visible import visible
from goldseam.kernel.budget import Limits, Reservation
from goldseam.kernel.conversation import (
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.errors import NoConsumption
from goldseam.kernel.events import (
    Allowed,
    ApprovalRequested,
    ApprovalResolved,
    BudgetWarning,
    CallJudged,
    ContextCompacted,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelReplied,
    MustAsk,
    Noted,
    Rejected,
    ReplyRejected,
    RunFinished,
    RunStarted,
    Setting,
    StopRequested,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
    Waited,
)
from goldseam.kernel.outcome import (
    Aborted,
    BudgetStopped,
    Completed,
    ModelFailed,
    Outcome,
    Proof,
    Stopped,
)
from goldseam.kernel.request import ModelResponse, Remark, TokenUsage, ToolSpec


def record_of(events: Sequence[Event], *, gaps: tuple[Gap, ...] = ()) -> ReadRecord:
    entries = tuple(
        Entry(link=Link(number, ""), prev=START.h, time=NOON.isoformat(), event=event)
        for number, event in enumerate(events, start=1)
    )
    return ReadRecord(entries=entries, gaps=gaps)


def told(*events: Event) -> str:
    return "\n".join(readable(record_of(events)))


@given(st.lists(EVENTS, max_size=6))
def test_any_record_is_told_in_lines_that_are_safe_to_print(events: list[Event]) -> None:
    for line in readable(record_of(events)):  # security 46
        assert line.isprintable()
        line.encode()


@given(st.text(st.characters()))
def test_visible_text_acts_on_no_terminal_and_hides_nothing(text: str) -> None:  # security 46
    shown = visible(text)
    assert shown.isprintable()
    hidden = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
    assert {unicodedata.category(sign) for sign in shown} & hidden == set()
    plain = [sign for sign in text if unicodedata.category(sign)[0] in "LNPS"]
    assert len(shown) >= len(text) >= len(plain)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain naïve 漢字 😀", "plain naïve 漢字 😀"),
        ("\x1b[2J\x9b\x07\r\n\t", r"\u{1b}[2J\u{9b}\u{7}\u{d}\u{a}\u{9}"),
        ("a\u202eb\u2066\u200b\ufeff\xad", r"a\u{202e}b\u{2066}\u{200b}\u{feff}\u{ad}"),
        ("\u3164\u2800\xa0\u3000\u2028", r"\u{3164}\u{2800}\u{a0}\u{3000}\u{2028}"),
        ("\U000e0041\ufe0f\U000e0100\ud800", r"\u{e0041}\u{fe0f}\u{e0100}\u{d800}"),
    ],
)
def test_what_is_not_plainly_seen_is_written_as_its_number(text: str, shown: str) -> None:
    assert visible(text) == shown


USAGE = TokenUsage(input=1200, output=80)
SPEC = ToolSpec(name="read_file", description="", parameters="{}")
REPLY = ModelResponse(
    items=(
        Reasoning(text="look first"),
        Reasoning(),
        Message(role="assistant", text="I look.\nThen I mend."),
        ToolCall(call_id="c1", tool_name="read_file", arguments=arguments_of({"path": "a.py"})),
        ToolCall(call_id="c2", tool_name="x", arguments=Malformed(raw="{", why="not valid JSON")),
    ),
    stop="tool_calls",
    usage=TokenUsage(input=1200, output=None, cache_read=900),
    model="mender",
    remarks=(Remark(code="fenced", text="found in a fence"),),
)
STORY: tuple[Event, ...] = (
    RunStarted(
        at_s=0.0,
        run_id="20261130-101502-7f3a",
        history=(Message(role="user", text="Mend the sum.\nIt is off by one."),),
        tools=(SPEC,),
        limits=Limits(),
        settings=(Setting(name="sandbox", value="A"),),
    ),
    ModelCallPrepared(
        at_s=0.1, call=1, reservation=Reservation(tokens=12_345), max_output_tokens=8_192
    ),
    ModelReplied(at_s=1.5, call=1, response=REPLY),
    CallJudged(at_s=1.5, call_id="c1", phase="initial", verdict=Allowed(why="only reads")),
    CallJudged(at_s=1.5, call_id="c1", phase="initial", verdict=MustAsk(why="rule", shown="s")),
    ApprovalRequested(at_s=1.5, call_id="c1", why="rule", shown="rm -r\n" + "x" * 200),
    ApprovalResolved(at_s=1.6, call_id="c1", granted=True, why="yes"),
    ApprovalResolved(at_s=1.6, call_id="c1", granted=False, why="no"),
    CallJudged(
        at_s=1.6,
        call_id="c2",
        phase="initial",
        verdict=Rejected(why="bad", result=ToolResult(call_id="c2", content="No.", kind="denied")),
    ),
    ToolStarted(at_s=1.6, call_id="c1"),
    ToolFinished(
        at_s=1.7,
        result=ToolResult(call_id="c1", content="\n".join(map(str, range(20)))),
        seconds=0.1,
        full_text="x" * 5000,
    ),
    ToolFinished(at_s=1.7, result=ToolResult(call_id="c9", content=""), seconds=0.1),
    ReplyRejected(
        at_s=2.0, call=2, why="no JSON", excerpt="Hm", feedback="Write JSON.", usage=USAGE
    ),
    ModelCallFailed(
        at_s=2.1,
        call=3,
        kind="rate_limited",
        text="slow down",
        retryable=True,
        consumption=NoConsumption(),
        wait_s=2.0,
    ),
    Waited(at_s=4.1, seconds=2.0),
    ContextCompacted(at_s=4.2, call_ids=("c1",), weight_before=90_000, weight_after=1_000),
    BudgetWarning(at_s=4.2, limit="money", share=0.8),
    Noted(at_s=4.2, remark=Remark(code="switch", text="another model")),
    VerificationStarted(at_s=4.3, answer="Done."),
    VerificationFinished(
        at_s=9.9, proof=Proof(proven=False, text="1 failed"), go_on=True, seconds=5.6
    ),
    VerificationFinished(
        at_s=9.9, proof=Proof(proven=True, text="all pass"), go_on=False, seconds=5.6
    ),
    StopRequested(at_s=9.9, why="Ctrl-C"),
)

TOLD = """\
12:00:00        +0.0s run 20261130-101502-7f3a starts
                      sandbox: A
                      tools: read_file
                      user: Mend the sum.
                            It is off by one.
12:00:00        +0.1s asks the model, call 1 (at most 12,345 tokens)
12:00:00        +1.5s mender replies to call 1: tokens 1,200 in, ? out, 900 cached, stop tool_calls
                      thinks: look first
                      thinks: (sealed)
                      says: I look.
                            Then I mend.
                      calls read_file (c1) {"path":"a.py"}
                      calls x (c2) wrongly (not valid JSON): {
                      remark fenced: found in a fence
12:00:00        +1.5s read_file (c1) allowed: only reads
12:00:00        +1.5s read_file (c1) must be asked about: rule
12:00:00        +1.5s asks the person about read_file (c1): rule
                      rm -r
                      XXX
12:00:00        +1.6s the person agrees: read_file (c1): yes
12:00:00        +1.6s the person refuses: read_file (c1): no
12:00:00        +1.6s x (c2) rejected: bad
                      told: No.
12:00:00        +1.6s read_file (c1) starts
12:00:00        +1.7s read_file (c1) done in 0.10 s, 5,000 characters in full
                      result: 0
                              1
                              2
                              3
                              4
                              5
                              6
                              7
                              … and 12 more lines
12:00:00        +1.7s c9 done in 0.10 s
                      result: (empty)
12:00:00        +2.0s reply to call 2 rejected: no JSON (tokens 1,200 in, 80 out)
                      it began: Hm
                      told: Write JSON.
12:00:00        +2.1s call 3 failed: rate_limited; waits 2.0 s
                      because: slow down
12:00:00        +4.1s waited 2.0 s
12:00:00        +4.2s old results leave the context: 1, 90,000 to 1,000 bytes
12:00:00        +4.2s warning: 80% of money is used
12:00:00        +4.2s note switch
                      note: another model
12:00:00        +4.3s proves the answer
                      answer: Done.
12:00:00        +9.9s not proven in 5.60 s; the run goes on
                      proof: 1 failed
12:00:00        +9.9s proven in 5.60 s
                      proof: all pass
12:00:00        +9.9s asked to stop: Ctrl-C""".replace("XXX", "x" * 200)


def test_a_run_is_told_event_by_event() -> None:
    assert told(*STORY) == TOLD


@pytest.mark.parametrize(
    ("outcome", "lines"),
    [
        (
            Completed(answer="Done.", proof=Proof(proven=True, text="")),
            ["run completed: proven", "answer: Done."],
        ),
        (Completed(answer="Done."), ["run completed: nothing to prove", "answer: Done."]),
        (
            BudgetStopped(limit="wall_s", summary="So far."),
            ["run stopped by its budget: wall_s", "summary: So far."],
        ),
        (
            ModelFailed(kind="auth", text="no key"),
            ["run ended without a usable reply: auth", "because: no key"],
        ),
        (
            ModelFailed(kind=None, text="x"),
            ["run ended without a usable reply: no reply kept the contract", "because: x"],
        ),
        (Stopped(why="Ctrl-C"), ["run stopped: Ctrl-C"]),
        (Aborted(why="KeyError"), ["run aborted by a defect of goldseam: KeyError"]),
    ],
)
def test_every_way_out_is_told(outcome: Outcome, lines: list[str]) -> None:
    head, *details = told(RunFinished(at_s=3723.5, outcome=outcome)).split("\n")
    assert head == f"12:00:00     +3723.5s {lines[0]}"
    assert [detail.strip() for detail in details] == lines[1:]


def test_gaps_are_told_where_they_are() -> None:
    gaps = tuple(Gap(after=after, line=after + 1, why=f"gap {after}") for after in (0, 1, 2))
    record = record_of([noted("a"), noted("b")], gaps=gaps)
    lines = [line for line in readable(record) if "gap" in line or "note:" in line]
    assert [line.strip() for line in lines] == [
        "the record is not whole here: gap 0",
        "note: a",
        "the record is not whole here: gap 1",
        "note: b",
        "the record is not whole here: gap 2",
    ]


def test_an_unfinished_last_line_is_told() -> None:
    assert list(readable(ReadRecord(torn=b"x" * 1234))) == [
        "the last line is unfinished: 1,234 bytes of it are there"
    ]


def test_a_long_line_is_cut_and_says_so() -> None:
    assert told(noted("x" * 5000)).endswith("note: " + "x" * 160 + " … (5,000 characters)")
