"""Limits and the ledger: rows B2.1 to B2.5."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel.scripts import USAGES

from goldseam.kernel.budget import (
    Ledger,
    Limits,
    Price,
    Reservation,
    does_not_fit,
    estimate_tokens,
    overshot,
    reached,
    reservation_for,
    used_shares,
)
from goldseam.kernel.request import TokenUsage

PRICE = Price(input=3, output=15, cache_read=1, cache_write=4)


@given(
    st.lists(
        st.tuples(st.sampled_from(("settle", "release", "hold")), st.integers(0, 900), USAGES)
    ),
    st.sampled_from((None, PRICE)),
)
def test_what_is_reserved_is_settled_released_or_held_and_nothing_is_lost(  # Invariant 5
    calls: list[tuple[str, int, TokenUsage]], price: Price | None
) -> None:
    ledger, spent, held = Ledger(), 0, 0
    for closing, tokens, usage in calls:
        ledger = ledger.reserve(Reservation(tokens=tokens, money=tokens))
        assert ledger.tokens == spent + held + tokens
        match closing:
            case "settle":
                ledger = ledger.settle(usage, price)
            case "release":
                ledger = ledger.release()
            case _:
                ledger = ledger.hold()
        unknown = closing == "hold" or (closing == "settle" and usage.total is None)
        held += tokens if unknown else 0
        spent += (usage.total or 0) if closing == "settle" and not unknown else 0
        assert (ledger.spent_tokens, ledger.held_tokens) == (spent, held)
        assert (ledger.held_money, ledger.reservation) == (held, None)
    assert ledger.model_calls == len(calls)


def test_one_reservation_at_a_time() -> None:  # B2.3
    ledger = Ledger().reserve(Reservation(tokens=1))
    with pytest.raises(ValueError, match="open already"):
        ledger.reserve(Reservation(tokens=1))


def test_usage_adds_up_by_class_and_what_is_unknown_stays_so() -> None:
    known = TokenUsage(input=1, output=2, cache_read=3, cache_write=4, reasoning=1)
    ledger = Ledger().reserve(Reservation(tokens=1)).settle(known, PRICE)
    assert (ledger.usage, ledger.spent_money) == (known, 3 + 30 + 3 + 16)
    ledger = ledger.reserve(Reservation(tokens=1)).settle(TokenUsage(input=1, output=1), None)
    assert ledger.usage == TokenUsage(input=2, output=3)
    assert ledger.spent_money == 52


@pytest.mark.parametrize("name", Limits.__struct_fields__)
@pytest.mark.parametrize(
    "value", [-1, True, math.nan, math.inf, -math.inf, "5", 10**400, 1e19, 0, 1.5]
)
def test_a_limit_is_a_finite_number_above_zero(name: str, value: Any) -> None:  # B2.1
    is_time, may_be_zero = name.endswith("_s"), name.endswith("_retries")
    if (value == 0 and type(value) is int and may_be_zero) or (value == 1.5 and is_time):
        assert getattr(Limits(**{name: value}), name) == value
        return
    with pytest.raises(ValueError, match=f"the limit {name} must be a number above zero"):
        Limits(**{name: value})


def test_money_may_have_no_limit() -> None:
    assert Limits(money=None).money is None
    assert "money" not in used_shares(Ledger(), Limits(), elapsed_s=0)


def test_a_reservation_is_the_worst_case() -> None:
    assert reservation_for(100, max_output_tokens=50, price=None) == Reservation(tokens=150)
    assert reservation_for(100, max_output_tokens=50, price=PRICE) == Reservation(
        tokens=150, money=100 * 4 + 50 * 15
    )


def test_estimates_are_a_third_of_the_bytes_and_a_little() -> None:
    assert (estimate_tokens(0), estimate_tokens(300)) == (64, 164)


LIMITS = Limits(wall_s=10, tool_s=10, model_calls=10, action_steps=10, total_tokens=10, money=10)


@pytest.mark.parametrize(
    ("ledger", "elapsed_s", "met", "passed"),
    [
        (Ledger(), 9.9, None, None),
        (Ledger(), 10.0, "wall_s", None),
        (Ledger(tool_s=11, model_calls=11), 11.0, "wall_s", "wall_s"),
        (Ledger(tool_s=10, model_calls=11), 0, "tool_s", "model_calls"),
        (Ledger(model_calls=10, action_steps=10), 0, "model_calls", None),
        (Ledger(action_steps=11, spent_tokens=11), 0, "action_steps", "action_steps"),
        (Ledger(spent_tokens=4, held_tokens=6), 0, "total_tokens", None),
        (Ledger(spent_money=4, held_money=7), 0, "money", "money"),
    ],
)
def test_limits_stop_in_the_order_of_the_origin(
    ledger: Ledger, elapsed_s: float, met: str | None, passed: str | None
) -> None:  # B2.5
    assert reached(ledger, LIMITS, elapsed_s=elapsed_s) == met
    assert overshot(ledger, LIMITS, elapsed_s=elapsed_s) == passed


def test_a_reservation_fits_as_long_as_it_does_not_pass_a_limit() -> None:  # B2.5
    ledger = Ledger(spent_tokens=3, held_tokens=3, spent_money=5)
    assert does_not_fit(ledger, LIMITS, reservation=Reservation(tokens=4, money=5)) is None
    assert does_not_fit(ledger, LIMITS, reservation=Reservation(tokens=5)) == "total_tokens"
    assert does_not_fit(ledger, LIMITS, reservation=Reservation(tokens=4, money=6)) == "money"
    assert does_not_fit(ledger, Limits(), reservation=Reservation(tokens=4, money=6)) is None


def test_the_total_counts_cache_beside_fresh_input_and_is_unknown_where_a_part_is() -> None:
    assert TokenUsage(input=1, output=2, cache_read=3, cache_write=4, reasoning=2).total == 10
    assert TokenUsage(input=1, output=2).total == 3
    assert TokenUsage(input=1).total is TokenUsage(output=1).total is None
