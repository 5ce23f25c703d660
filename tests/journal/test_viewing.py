"""What a reader is shown of a record: each thing that happened once, in its place."""

from hypothesis import given, settings
from hypothesis import strategies as st
from journal.generated_events import EVENTS, every_event
from journal.sample_runs import RUN_ID, asked, record_of, story

from goldseam.journal.costs import cost_in_words, dollars, tokens_in_words, total_of
from goldseam.journal.reading import Gap
from goldseam.journal.run_view import NoteView, RunView, StepView
from goldseam.journal.telling import summary_lines
from goldseam.journal.viewing import view_of
from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.events import (
    Event,
    Resumed,
    RunFinished,
    StopRequested,
    ToolFinished,
    VerificationStarted,
)
from goldseam.kernel.outcome import BudgetStopped, ModelFailed, Outcome, Stopped


def seen(*events: Event) -> RunView:
    return view_of(RUN_ID, record_of(events))


def notes(run: RunView) -> list[tuple[str, str]]:
    return [(item.kind, item.title) for item in run.items if isinstance(item, NoteView)]


def test_a_run_is_its_steps_with_what_lay_between() -> None:
    run = seen(*story())
    assert [step.number for step in run.steps] == [1, 2, 3, 4, 5]
    assert run.models == ("openai:gpt-6.1-terra", "anthropic:claude-nova-5")
    assert [kind for kind, _ in notes(run)] == [
        "model",
        "note",
        "model",
        "note",
        "note",
        "proof",
        "end",
    ]
    calls = {view.call.call_id: view for step in run.steps for view in step.calls}
    assert calls["c1"].policy == ("allowed: it is here",)
    assert calls["c1"].full_text == "whole plain"
    assert calls["c3"].policy == (
        "must be asked about: rule",
        "the person was shown:\npytest -q plain",
        "the person agreed: yes",
    )
    assert calls["c4"].result is not None
    assert (calls["c4"].has_started, calls["c4"].result.kind) == (False, "failed")


def test_each_step_costs_what_its_model_asked_for_at_that_time() -> None:
    run = seen(*story())
    assert [step.money for step in run.steps] == [
        1_200 * 1_250_000 + 80 * 10_000_000,
        300 * 1_250_000 + 20 * 10_000_000 + 1_200 * 125_000,
        None,
        400 * 1_250_000 + 210 * 10_000_000 + 1_500 * 125_000,
        200 * 1_250_000 + 30 * 10_000_000 + 1_900 * 125_000,
    ]
    total = total_of(run.steps)
    assert (total.input, total.output, total.cached, total.unsaid) == (2_100, 340, 4_600, 1)
    assert cost_in_words(total) == "at least $0.0066"
    assert tokens_in_words(total) == "2,100 in, 340 out, 4,600 cached (1 step told none)"


def test_what_is_unknown_is_never_nothing() -> None:
    silent = total_of(seen(asked(1, 0.0), asked(2, 1.0)).steps)
    assert (tokens_in_words(silent), cost_in_words(silent)) == ("tokens unknown", "")
    assert (dollars(0), dollars(2 * 10**12), dollars(10**9)) == ("$0.00", "$2.00", "$0.0010")


def test_a_summary_says_in_a_line_what_each_step_and_call_came_to() -> None:
    told = "\n".join(summary_lines(seen(*story())))
    for line in (
        "step 1  openai:gpt-6.1-terra  1,200 in, 80 out  $0.0023",
        '    read_file {"path":"shop.py"}: done',
        ": reply rejected: no JSON plain",
        ": no reply (overloaded): 503 plain",
        "      the person agreed: yes",
        "      result: 1 failed",
        "proven in 2.00 s",
        "run completed: proven",
    ):
        assert line in told, line


def test_an_intent_without_an_end_stays_in_sight() -> None:
    run = seen(*story()[:3], VerificationStarted(at_s=3.0, answer="a"))
    assert run.steps[0].ending is None
    assert notes(run)[-1] == ("proof", "proves the answer")
    told = "\n".join(summary_lines(run))
    assert "no end of it is on record" in told
    assert "the record has no end" in told


def test_what_has_lost_its_place_is_told_as_a_note() -> None:
    stray = ToolFinished(at_s=1.0, result=ToolResult(call_id="c9", content="stray"), seconds=0.1)
    run = view_of(
        RUN_ID,
        record_of(
            [stray, StopRequested(at_s=2.0, why="enough"), story()[3]],
            gaps=(Gap(after=1, line=2, why="line 2: damaged"), Gap(after=9, line=9, why="end")),
        ),
    )
    assert [kind for kind, _ in notes(run)] == ["note", "gap", "note", "gap"]
    assert "line 2: damaged" in notes(run)[1][1]
    assert run.steps[0].number == 1


def test_the_last_words_of_a_run_are_whole() -> None:
    long = "word " * 100
    ends: list[tuple[Outcome, str]] = [
        (BudgetStopped(limit="wall_s", summary=long), long),
        (ModelFailed(kind=None, text=long), long),
        (Stopped(why=long), long),
    ]
    for outcome, words in ends:
        last = seen(RunFinished(at_s=1.0, outcome=outcome)).items[-1]
        assert isinstance(last, NoteView)
        assert last.text == words


def test_a_run_that_was_gone_on_with_says_so() -> None:
    run = seen(*story()[:4], Resumed(at_s=5.0, limits=Limits(), why="more time"), *story()[4:8])
    assert ("note", "the run goes on: more time") in notes(run)
    assert run.steps[0].calls[0].result is not None


@given(st.lists(EVENTS, max_size=8))
@settings(max_examples=40)
def test_any_record_can_be_looked_at_and_none_of_it_is_hidden(events: list[Event]) -> None:
    run = seen(*events)
    assert all(line.isprintable() for line in summary_lines(run))
    prepared = sum(event.__struct_config__.tag == "model_call_prepared" for event in events)
    assert sum(isinstance(item, StepView) for item in run.items) >= prepared


def test_every_kind_of_event_is_told() -> None:
    for event in every_event("word"):
        run = seen(event)
        assert run.items or run.opening or event.__struct_config__.tag == "verification_started"
