"""What is left of the kernel: waits, summaries, errors, and the record before its first event."""

import pytest
from kernel.fakes import Script, World
from kernel.values import READ, USAGE, call, opening, reply, said
from msgspec.structs import replace

from goldseam.kernel.budget import Price, Reservation
from goldseam.kernel.decide import wait_before_retry
from goldseam.kernel.errors import (
    ActualConsumption,
    GoldseamError,
    InvalidModelOutputError,
    ModelProviderError,
    UnknownConsumption,
)
from goldseam.kernel.events import ModelCallPrepared, ModelReplied
from goldseam.kernel.record import Record
from goldseam.kernel.state import begin, evolve
from goldseam.kernel.summary import summary_of


@pytest.mark.parametrize(
    ("failures", "retry_after_s", "seconds"),
    [
        (1, None, 1.0),
        (2, None, 2.0),
        (6, None, 32.0),
        (7, None, 60.0),
        (5000, None, 60.0),
        (1, 0.0, 0.0),
        (1, 12.5, 12.5),
        (9, 12.5, 12.5),
        (1, -3.0, 0.0),
        (1, 86_400.0, 60.0),
        (1, float("inf"), 60.0),
        (1, float("nan"), 0.0),
    ],
)
def test_waits_double_up_to_a_minute_and_the_provider_may_name_one(
    failures: int, retry_after_s: float | None, seconds: float
) -> None:
    assert wait_before_retry(failures, retry_after_s) == seconds


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


def test_the_price_of_a_run_is_that_of_its_opening() -> None:
    price = Price(input=1, output=2, cache_read=0, cache_write=0)
    assert begin(replace(opening(Script()), price=price)).price == price


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
