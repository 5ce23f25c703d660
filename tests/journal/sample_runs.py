"""Runs told by hand, with a stranger's text wherever one can stand."""

from collections.abc import Iterable, Sequence

from journal.generated_events import NOON

from goldseam.journal.codec import Entry, Link
from goldseam.journal.reading import Gap, ReadRecord
from goldseam.kernel.budget import Candidate, Limits, Price, Reservation
from goldseam.kernel.conversation import (
    Malformed,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.errors import UnknownConsumption
from goldseam.kernel.events import (
    Allowed,
    ApprovalRequested,
    ApprovalResolved,
    CallJudged,
    ContextCompacted,
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    MustAsk,
    Noted,
    Rejected,
    ReplyRejected,
    RunFinished,
    RunStarted,
    Setting,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
    Waited,
)
from goldseam.kernel.outcome import Completed, Proof
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem, TokenUsage, ToolSpec

RUN_ID = "20261130-101502-7f3a"

HOSTILE = (
    '<script>window.hacked = true</script></pre></details><img src=x onerror="hacked=1">'
    '<a href="javascript:hacked=1">x</a></script></style>&lt;b&gt; $title ${story}\n'
    "\x1b[31mred\x1b[0m \u202eevil\u2066 a\u2028b\u2029c \ud800 \x00 <!-- ]]> \u200b"
)
CHINESE = "价格合计少算了第一项：\uff08total\uff09应为 6，实际为 5。"

_PRICE = Price(input=1_250_000, output=10_000_000, cache_read=125_000, cache_write=1_250_000)
_SPECS = tuple(
    ToolSpec(
        name=name,
        description=f"{name} it",
        parameters='{"properties":{},"type":"object"}',
        reads_only=name == "read_file",
    )
    for name in ("read_file", "edit_file", "run_command", "write_file")
)


def record_of(events: Sequence[Event], *, gaps: tuple[Gap, ...] = ()) -> ReadRecord:
    entries = tuple(
        Entry(link=Link(number, ""), prev="", time=NOON.isoformat(), event=event)
        for number, event in enumerate(events, start=1)
    )
    return ReadRecord(entries=entries, gaps=gaps)


def opening(*, issue: str = "Sum is off by one", task: str = "Mend the sum.") -> RunStarted:
    settings = {
        "repository": "/home/ann/shop",
        "model": "openai:gpt-6.1-terra",
        "sandbox": "sandbox: A (bubblewrap, proved)",
        "tests": "pytest",
        "issue": issue,
    }
    return RunStarted(
        at_s=0.0,
        run_id=RUN_ID,
        history=(Message(role="system", text="You mend code."), Message(role="user", text=task)),
        tools=_SPECS,
        limits=Limits(),
        verifies=True,
        settings=tuple(Setting(name=name, value=value) for name, value in settings.items()),
    )


def chosen(name: str, at_s: float, why: str = "") -> ModelChosen:
    return ModelChosen(at_s=at_s, candidate=Candidate(name=name, price=_PRICE), why=why)


def asked(call: int, at_s: float) -> ModelCallPrepared:
    return ModelCallPrepared(
        at_s=at_s, call=call, reservation=Reservation(tokens=9_000), max_output_tokens=8_192
    )


def replied(call: int, at_s: float, *items: ReplyItem, usage: TokenUsage) -> ModelReplied:
    remarks = (Remark(code="fenced", text="found in a fence"),) if call == 1 else ()
    response = ModelResponse(
        items=items, stop="tool_calls", usage=usage, model="m", remarks=remarks
    )
    return ModelReplied(at_s=at_s, call=call, response=response)


def called(call_id: str, name: str, **arguments: str) -> ToolCall:
    return ToolCall(call_id=call_id, tool_name=name, arguments=arguments_of(arguments))


def ran(call_id: str, at_s: float, content: str, full_text: str | None = None) -> list[Event]:
    result = ToolResult(call_id=call_id, content=content)
    return [
        CallJudged(at_s=at_s, call_id=call_id, phase="initial", verdict=Allowed(why="it is here")),
        ToolStarted(at_s=at_s, call_id=call_id),
        ToolFinished(at_s=at_s + 0.2, result=result, seconds=0.2, full_text=full_text),
    ]


def story(text: str = "plain") -> list[Event]:
    """Return a whole run over two vendors in which `text` stands wherever a stranger can write."""
    thought = Reasoning(
        text=f"I should look first. {text}", seals=(Seal(origin="o", name="n", value="v"),)
    )
    edit = called(
        "c2",
        "edit_file",
        path="shop.py",
        old_text=f"a = 1\nb[1:]\n{text}",
        new_text=f"a = 1\nb\n{text}",
    )
    wrong = ToolCall(
        call_id="c4", tool_name="run_command", arguments=Malformed(raw=text, why="no object")
    )
    no = ToolResult(call_id="c4", content=f"Not an object. {text}", kind="failed")
    return [
        opening(issue=f"Sum is off {text}", task=f"{CHINESE}\n{text}"),
        chosen("openai:gpt-6.1-terra", 0.0),
        asked(1, 0.1),
        replied(
            1,
            2.4,
            thought,
            Message(role="assistant", text=f"I look at the shop. {text}"),
            called("c1", "read_file", path="shop.py"),
            usage=TokenUsage(input=1_200, output=80, reasoning=40),
        ),
        *ran(
            "c1",
            2.5,
            f"shop.py: lines 1-2 of 2\n     1| {text}\n     2| {CHINESE}",
            full_text=f"whole {text}",
        ),
        asked(2, 2.8),
        ReplyRejected(
            at_s=4.0,
            call=2,
            why=f"no JSON {text}",
            excerpt=text,
            feedback=f"Write JSON. {text}",
            usage=TokenUsage(input=300, output=20, cache_read=1_200),
        ),
        asked(3, 4.1),
        ModelCallFailed(
            at_s=6.0,
            call=3,
            kind="overloaded",
            text=f"503 {text}",
            retryable=True,
            consumption=UnknownConsumption(),
            wait_s=1.0,
        ),
        Waited(at_s=7.0, seconds=1.0),
        chosen("anthropic:claude-nova-5", 7.0, why=f"the other is overloaded {text}"),
        asked(4, 7.1),
        replied(
            4,
            9.0,
            Reasoning(),
            edit,
            called("c3", "run_command", command="pytest -q"),
            wrong,
            usage=TokenUsage(input=400, output=210, cache_read=1_500),
        ),
        *ran("c2", 9.1, f"edited shop.py {text}"),
        CallJudged(
            at_s=9.3, call_id="c3", phase="initial", verdict=MustAsk(why="rule", shown=text)
        ),
        ApprovalRequested(at_s=9.3, call_id="c3", why="rule", shown=f"pytest -q {text}"),
        ApprovalResolved(at_s=15.0, call_id="c3", granted=True, why="yes"),
        ToolStarted(at_s=15.0, call_id="c3"),
        ToolFinished(
            at_s=16.0,
            result=ToolResult(call_id="c3", content=f"1 failed\n{text}", kind="failed"),
            seconds=1.0,
        ),
        CallJudged(
            at_s=16.0,
            call_id="c4",
            phase="initial",
            verdict=Rejected(why=f"no object {text}", result=no),
        ),
        Noted(at_s=16.0, remark=Remark(code="lost", text=f"a seal {text}")),
        ContextCompacted(at_s=16.1, call_ids=("c1",), weight_before=9_000, weight_after=2_000),
        asked(5, 16.2),
        replied(
            5,
            18.0,
            Message(role="assistant", text=f"It is mended. {text}"),
            usage=TokenUsage(input=200, output=30, cache_read=1_900),
        ),
        VerificationStarted(at_s=18.0, answer=f"It is mended. {text}"),
        VerificationFinished(
            at_s=20.0,
            proof=Proof(proven=True, text=f"Proved: 1 test fixed. {text}"),
            go_on=False,
            seconds=2.0,
        ),
        RunFinished(
            at_s=20.0,
            outcome=Completed(
                answer=f"It is mended. {text}", proof=Proof(proven=True, text="Proved")
            ),
        ),
    ]


def long_story(turns: int, output: str) -> Iterable[Event]:
    """Yield a run of so many turns, each with one command that prints `output`."""
    yield opening()
    yield chosen("openai:gpt-6.1-terra", 0.0)
    for turn in range(1, turns + 1):
        call = called(f"c{turn}", "run_command", command=f"make part-{turn}")
        yield asked(turn, turn * 1.0)
        yield replied(turn, turn + 0.5, call, usage=TokenUsage(input=turn * 10, output=20))
        yield from ran(f"c{turn}", turn + 0.6, output)
