"""Money as a person says it."""

import pytest

from goldseam.cli.dollars import picodollars, price_of
from goldseam.kernel.budget import Price
from goldseam.kernel.errors import UsageError


def test_dollars_become_whole_picodollars() -> None:
    assert picodollars(0.1, "--max-cost") == 100_000_000_000
    assert picodollars(2, "--max-cost") == 2 * 10**12


@pytest.mark.parametrize("dollars", [0, -1, float("nan"), float("inf"), 1e7])
def test_what_is_no_amount_is_refused(dollars: float) -> None:
    with pytest.raises(UsageError, match="--max-cost must be dollars above zero"):
        picodollars(dollars, "--max-cost")


def test_a_price_is_two_numbers_a_million_tokens() -> None:
    price = Price(input=3_000_000, output=15_000_000, cache_read=3_000_000, cache_write=3_000_000)
    assert price_of("3/15") == price
    assert price_of(" 0.25 / 1.5 ").output == 1_500_000


@pytest.mark.parametrize("text", ["", "3", "3/", "/15", "a/b", "-1/2", "nan/1", "1/inf", "1/2/3"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no price: write IN/OUT"):
        price_of(text)
