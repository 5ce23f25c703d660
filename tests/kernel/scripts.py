"""Random runs: hostile replies, failures of every kind, interruptions, and limits of every kind."""

from hypothesis import strategies as st
from kernel.fakes import FOREVER, Answer, FakeTool, Proving, Script, Turn
from msgspec.structs import replace

from goldseam.kernel.budget import Candidate, Limits, Price
from goldseam.kernel.conversation import (
    Message,
    Reasoning,
    Seal,
    ToolCall,
    arguments_from_text,
)
from goldseam.kernel.errors import (
    ActualConsumption,
    Consumption,
    FailureKind,
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.outcome import Proof
from goldseam.kernel.request import ModelResponse, Remark, StopReason, TokenUsage

HOSTILE_ARGUMENTS = (
    "",
    "{}",
    '{"path": "a.py", "old": "x"}',
    "null",
    "[]",
    "[1]",
    "true",
    '"text"',
    "{",
    "{}{}",
    "NaN",
    '{"n": NaN}',
    '{"n": -Infinity}',
    '{"n": 1e999}',
    '{"n": ' + "9" * 400 + "}",
    '{"n": ' + "9" * 5000 + "}",
    '{"a": 1, "a": 2}',
    '{"a": "\\ud800"}',
    '{"\\udfff": null}',
    '{"a": "\ud800"}',
    '{"a": "\x00"}',
    "[" * 50_000,
    '{"a":' * 100 + "1" + "}" * 100,
    '"' + '\\"' * 5000,
)
HOSTILE_TEXTS = ("", " ", "\n", "Done.", "Fertig – 完了", "\ud800", "\x00", "a" * 3000)

TOOLS = (
    FakeTool("read", reads_only=True),
    FakeTool("look", reads_only=True, seconds=0.0),
    FakeTool("long", reads_only=True, seconds=2.0, content="x" * 2000),
    FakeTool("write", seconds=0.5),
    FakeTool("fail", kind="failed", content="not found"),
    FakeTool("pay", verdict="ask"),
    FakeTool("peek", reads_only=True, verdict="ask_then_reject"),
    FakeTool("rm", verdict="reject"),
    FakeTool("hang", seconds=FOREVER),
    FakeTool("bug", reads_only=True, defect=RuntimeError("a defect in a tool")),
)

SECONDS = st.sampled_from((0.0, 0.25, 1.0, 4.0))
USAGES = st.builds(
    TokenUsage,
    input=st.one_of(st.none(), st.integers(0, 400)),
    output=st.one_of(st.none(), st.integers(0, 400)),
    cache_read=st.one_of(st.none(), st.integers(0, 100)),
    cache_write=st.one_of(st.none(), st.integers(0, 100)),
    reasoning=st.one_of(st.none(), st.integers(0, 100)),
)
SEALS = st.lists(
    st.builds(Seal, origin=st.sampled_from(("one", "other")), name=st.just("s"), value=st.text()),
    max_size=2,
).map(tuple)
CALLS = st.builds(
    ToolCall,
    call_id=st.sampled_from(("a", "b", "c", "a-2", "", " ", "\ud800")),
    tool_name=st.sampled_from((*(tool.name for tool in TOOLS), "unknown", "", "\ud800")),
    arguments=st.sampled_from(HOSTILE_ARGUMENTS).map(arguments_from_text),
    seals=SEALS,
)
GOOD_CALLS = st.builds(
    ToolCall,
    call_id=st.sampled_from(("a", "b", "c", "d")),
    tool_name=st.sampled_from((
        "read",
        "read",
        "look",
        "long",
        "long",
        "write",
        "write",
        "fail",
        "pay",
        "peek",
        "rm",
    )),
    arguments=st.sampled_from(('{"path": "a.py"}', "{}")).map(arguments_from_text),
)
ITEMS = st.one_of(
    st.builds(
        Message,
        role=st.just("assistant"),
        text=st.sampled_from(HOSTILE_TEXTS),
        seals=SEALS,
    ),
    st.builds(Reasoning, text=st.sampled_from((None, *HOSTILE_TEXTS)), seals=SEALS),
    CALLS,
    CALLS,
)
STOPS: st.SearchStrategy[StopReason] = st.sampled_from((
    "end",
    "tool_calls",
    "length",
    "filter",
    "malformed_call",
    "pause",
    "unknown",
))
RESPONSES = st.builds(
    ModelResponse,
    items=st.lists(ITEMS, max_size=5).map(tuple),
    stop=st.one_of(st.sampled_from(("end", "tool_calls")), STOPS),
    usage=USAGES,
    model=st.just("scripted"),
    remarks=st.lists(st.builds(Remark, code=st.just("repair"), text=st.text()), max_size=1).map(
        tuple
    ),
)
GOOD_RESPONSES = st.builds(
    ModelResponse,
    items=st.lists(GOOD_CALLS, min_size=1, max_size=4).map(tuple),
    stop=st.sampled_from(("end", "tool_calls")),
    usage=USAGES,
    model=st.just("scripted"),
)
KINDS: st.SearchStrategy[FailureKind] = st.sampled_from((
    "auth",
    "quota",
    "rate_limited",
    "overloaded",
    "timeout",
    "transport",
    "server",
    "context_overflow",
    "refused",
    "structural",
    "cancelled",
))
CONSUMPTIONS: st.SearchStrategy[Consumption | None] = st.one_of(
    st.none(),
    st.just(NoConsumption()),
    st.just(UnknownConsumption()),
    st.builds(ActualConsumption, usage=USAGES),
)
FAILURES = st.builds(
    ModelProviderError,
    st.just("the provider is ill"),
    kind=KINDS,
    retryable=st.sampled_from((True, True, False)),
    consumption=CONSUMPTIONS,
    retry_after_s=st.sampled_from((None, 0.0, 5.0, -1.0, 1e9, float("inf"), float("nan"))),
)
INVALID = st.builds(
    InvalidModelOutputError,
    st.just("no JSON object"),
    excerpt=st.sampled_from(HOSTILE_TEXTS),
    usage=USAGES,
)
DEFECTS = st.just(RuntimeError("a defect in an adapter"))
GOOD_TURNS = st.builds(Turn, GOOD_RESPONSES, SECONDS)
BAD_TURNS = st.builds(
    Turn,
    st.one_of(RESPONSES, RESPONSES, RESPONSES, FAILURES, FAILURES, INVALID, DEFECTS),
    st.one_of(*[SECONDS] * 5, st.just(FOREVER)),
)
TURNS = st.one_of(GOOD_TURNS, GOOD_TURNS, BAD_TURNS)
PROVINGS = st.builds(
    Proving,
    st.one_of(
        st.builds(Proof, proven=st.booleans(), text=st.just("1 failed")),
        st.just(RuntimeError("a defect in the verifier")),
    ),
    st.booleans(),
    SECONDS,
)


PRICES = st.sampled_from((None, Price(input=3, output=15, cache_read=1, cache_write=4)))
CANDIDATES = st.builds(
    Candidate,
    name=st.sampled_from(("one", "two")),
    context_tokens=st.sampled_from((None, None, None, 3000, 100_000)),
    max_output_tokens=st.sampled_from((None, 150)),
    price=PRICES,
)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Draw a run that is left alone, or cut in one of three ways."""
    moment = st.one_of(st.none(), st.integers(1, 40))
    cut = draw(st.sampled_from(("alone", "alone", "stop", "cancel", "journal")))
    return Script(
        turns=tuple(draw(st.lists(TURNS, min_size=1, max_size=10))),
        tools=TOOLS,
        answers=tuple(
            draw(st.lists(st.builds(Answer, st.booleans(), SECONDS), min_size=2, max_size=5))
        ),
        provings=tuple(draw(st.lists(PROVINGS, max_size=3))),
        append_s=draw(st.sampled_from((0.0, 0.0, 0.25))),
        stop_at=draw(moment) if cut == "stop" else None,
        cancel_at=draw(moment) if cut == "cancel" else None,
        journal_fails_at=draw(moment) if cut == "journal" else None,
        candidates=tuple(draw(st.lists(CANDIDATES, min_size=1, max_size=3))),
    )


TIGHT: dict[str, tuple[float, ...]] = {
    "model_calls": (6, 2, 1),
    "action_steps": (8, 3, 1),
    "total_tokens": (3000, 1000, 1),
    "wall_s": (20.0, 3.0, 0.25),
    "tool_s": (4.0, 0.5),
    "money": (20_000, 5_000, 1),
    "max_output_tokens": (100,),
    "context_tokens": (4000, 800),
    "invalid_retries": (0, 1),
    "verifications": (1, 2),
}


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    """Draw limits of which up to three are tight."""
    names = draw(st.lists(st.sampled_from(sorted(TIGHT)), max_size=3, unique=True))
    chosen = {name: draw(st.sampled_from(TIGHT[name])) for name in names}
    return replace(Limits(max_output_tokens=200), **chosen)
