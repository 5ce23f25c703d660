"""What is left of the kernel: models, summaries, errors, and the record before its first event."""

import pytest
from kernel.fakes import Script, World
from kernel.values import READ, USAGE, call, opening, reply, said

from goldseam.kernel.budget import Candidate, Limits, Price, Reservation
from goldseam.kernel.errors import (
    ActualConsumption,
    GoldseamError,
    InvalidModelOutputError,
    ModelProviderError,
    UnknownConsumption,
)
from goldseam.kernel.events import ModelCallPrepared, ModelChosen, ModelReplied
from goldseam.kernel.record import Record
from goldseam.kernel.state import begin, evolve
from goldseam.kernel.summary import summary_of


def test_a_summary_names_what_was_open_and_shortens_what_is_long() -> None:
    state = begin(opening(Script(tools=(READ,))))
    prepared = ModelCallPrepared(
        at_s=1.0, call=1, reservation=Reservation(tokens=5), max_output_tokens=5
    )
    response = reply(said("w" * 700), call("read", "a"), call("read", "b"))
    state = evolve(evolve(state, prepared), ModelReplied(at_s=2.0, call=1, response=response))
    assert summary_of(state, "tool_s") == (
        "Stopped at the limit tool_s after 1 model calls, 2 action steps and 20 tokens.\n"
        "Open when it stopped: read, read.\n"
        f"The model said last: {'w' * 600} … (700 characters in all)"
    )


def test_a_summary_of_a_run_in_which_nothing_was_said() -> None:
    state = begin(opening(Script()))
    assert summary_of(state, "wall_s") == (
        "Stopped at the limit wall_s after 0 model calls, 0 action steps and 0 tokens."
    )


def test_a_run_is_held_to_what_its_model_holds_gives_and_costs() -> None:
    price = Price(input=1, output=2, cache_read=0, cache_write=0)
    state = begin(opening(Script(), limits=Limits(max_output_tokens=500)))
    assert (state.price, state.window, state.max_output_tokens) == (None, 200_000, 500)
    small = Candidate(name="a", context_tokens=8000, max_output_tokens=100, price=price)
    state = evolve(state, ModelChosen(at_s=1.0, candidate=small))
    assert (state.price, state.window, state.max_output_tokens) == (price, 8000, 100)


def test_a_record_has_no_state_before_its_first_event() -> None:
    with pytest.raises(ValueError, match="the run has not started"):
        _ = Record(World(Script()).ports).state


def test_what_a_failed_call_cost_is_unknown_unless_it_is_said() -> None:  # B1.11, B1.12
    error = ModelProviderError("busy", kind="overloaded")
    assert (error.consumption, error.retryable) == (UnknownConsumption(), False)
    actual = ActualConsumption(usage=USAGE)
    assert ModelProviderError("busy", kind="server", consumption=actual).consumption == actual


def test_a_useless_reply_carries_what_it_cost() -> None:  # B1.9
    error = InvalidModelOutputError("no JSON", excerpt="Sure!", usage=USAGE)
    assert (error.why, error.excerpt, error.usage, str(error)) == (
        "no JSON",
        "Sure!",
        USAGE,
        "no JSON",
    )
    assert isinstance(error, GoldseamError)
