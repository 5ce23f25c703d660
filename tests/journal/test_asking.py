"""The exact request of each step is what was sent at that time, and the whole one drops nothing."""

import pytest
from journal.golden import make
from journal.golden.make import run_events
from journal.sample_runs import HOSTILE, RUN_ID, asked, record_of, story
from kernel.fakes import World
from kernel.values import opening

from goldseam.journal.asking import asked_in_step, whole_request
from goldseam.journal.telling import step_lines
from goldseam.journal.viewing import view_of
from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import Feedback, ToolResult
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import ContextCompacted, ModelCallPrepared, RunFinished


def test_each_step_shows_the_very_request_that_was_made() -> None:
    world = World(make.RUN)
    world.play(opening(make.RUN, limits=Limits(model_calls=9), verifies=True))
    record = record_of(world.events)
    numbers = [event.call for event in world.events if isinstance(event, ModelCallPrepared)]
    found = [asked_in_step(record, number).request for number in numbers]
    assert [list(request.history) for request in found] == [
        list(request.history) for request in world.model.requests
    ]
    assert [request.tools for request in found] == [
        request.tools for request in world.model.requests
    ]


def test_feedback_is_in_the_request_after_it_alone() -> None:
    record = record_of(story())
    told = [
        any(isinstance(item, Feedback) for item in asked_in_step(record, number).request.history)
        for number in (1, 2, 3, 5)
    ]
    assert told == [False, False, True, False]
    assert asked_in_step(record, 3).model == "openai:gpt-6.1-terra"
    assert asked_in_step(record, 4).model == "anthropic:claude-nova-5"


def test_the_whole_conversation_is_there_whatever_left_the_context() -> None:
    long = "x" * 5_000
    events = story(long)
    assert any(isinstance(event, ContextCompacted) for event in events)
    results = [
        item
        for item in whole_request(record_of(events)).request.history
        if isinstance(item, ToolResult)
    ]
    assert [result.call_id for result in results] == ["c1", "c2", "c3", "c4"]
    assert long in results[0].content
    assert len(list(asked_in_step(record_of(events), 5).request.history)) > 0


def test_a_run_that_was_cut_off_gives_each_open_call_a_result() -> None:
    cut = [event for event in run_events() if not isinstance(event, RunFinished)]
    for end in range(1, len(cut) + 1):
        history = whole_request(record_of(cut[:end])).request.history
        calls = {
            item.call_id
            for item in history
            if not isinstance(item, ToolResult) and hasattr(item, "call_id")
        }
        assert calls == {item.call_id for item in history if isinstance(item, ToolResult)}


def test_what_cannot_be_folded_is_said_and_how_far_the_steps_go() -> None:
    with pytest.raises(JournalError, match="no step 9: they go from 1 to 5"):
        asked_in_step(record_of(story()), 9)
    with pytest.raises(JournalError, match="never asked"):
        asked_in_step(record_of(story()[:2]), 1)
    with pytest.raises(JournalError, match="beginning of the record is lost"):
        asked_in_step(record_of([asked(1, 0.0)]), 1)
    with pytest.raises(JournalError, match="not whole here"):
        asked_in_step(record_of([story()[0], asked(1, 0.0), asked(2, 0.1)]), 2)
    with pytest.raises(JournalError, match="holds no run"):
        whole_request(record_of([]))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_step_is_told_whole_and_safe_to_print(number: int) -> None:  # security 46
    text = HOSTILE + "end " * 2_000 + "last word"
    record = record_of(story(text))
    step = view_of(RUN_ID, record).steps[number - 1]
    lines = list(step_lines(asked_in_step(record, number), step))
    assert all(line.replace("\t", "").isprintable() for line in lines)
    assert sum(line.endswith("last word") for line in lines) >= 1


def test_a_step_without_an_end_says_so() -> None:
    record = record_of(story()[:3])
    lines = list(step_lines(asked_in_step(record, 1), view_of(RUN_ID, record).steps[0]))
    assert lines[-1] == "no end of it is on record"
